//! The structure of charts: no text leaves its drawing, and none lies on another.
//!
//! A drawing is scaled as a whole, so its letters are as large against it on every screen, but
//! for narrow ones, where the style makes them larger.

/// Letters of a drawing: on a screen of 1280 or 800 pixels, and of 390.
const LETTERS: [f64; 2] = [12.0, 13.0];
/// So far a text may leave its drawing or reach into another: widths are estimates.
const TOLERANCE: f64 = 3.0;

/// A text of a drawing.
#[derive(Debug)]
struct TextBox {
    words: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// What is wrong with the drawings of a page.
pub fn faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for drawing in page.split("<svg viewBox=\"0 0 ").skip(1) {
        let Some((drawing, _)) = drawing.split_once("</svg>") else { continue };
        for letters in LETTERS {
            faults.extend(of_drawing(drawing, letters));
        }
    }
    faults
}

fn of_drawing(drawing: &str, letters: f64) -> Vec<String> {
    let size = drawing.split_once('"').map_or("", |(size, _)| size);
    let (width, height) = size.split_once(' ').unwrap_or(("0", "0"));
    let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
    let title = value(drawing, "aria-label").unwrap_or_default();
    let boxes: Vec<TextBox> = texts(drawing, letters);
    let mut faults = Vec::new();
    for one in &boxes {
        let is_inside = one.left >= -TOLERANCE
            && one.right <= width + TOLERANCE
            && one.top >= -TOLERANCE
            && one.bottom <= height + TOLERANCE;
        if !is_inside {
            faults.push(format!("{title}: {one:?} leaves {width} x {height}"));
        }
    }
    for (index, one) in boxes.iter().enumerate() {
        for other in &boxes[index + 1..] {
            let across = one.right.min(other.right) - one.left.max(other.left);
            let down = one.bottom.min(other.bottom) - one.top.max(other.top);
            if across > TOLERANCE && down > TOLERANCE {
                faults.push(format!("{title}: {:?} lies on {:?}", one.words, other.words));
            }
        }
    }
    faults
}

fn texts(drawing: &str, letters: f64) -> Vec<TextBox> {
    let starts = drawing.match_indices("<text").map(|(at, _)| at);
    let text = |at: usize| {
        let (tag, rest) = drawing[at..].split_once('>')?;
        let words = rest.split_once("</text>")?.0;
        let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let small = ["class=\"inside\"", "class=\"point\""].iter().any(|class| tag.contains(class));
        let own = tag.split_once("font-size:").and_then(|(_, size)| size.split("px").next());
        let size = match own {
            Some(own) => own.parse().ok()?,
            None if small => letters - 1.0,
            None => letters,
        };
        let wide = width(&words) * size / 12.0;
        let (x, y): (f64, f64) = (value(tag, " x")?.parse().ok()?, value(tag, " y")?.parse().ok()?);
        let left = match value(tag, "text-anchor").as_deref() {
            Some("end") => x - wide,
            Some("middle") => x - wide / 2.0,
            _ => x,
        };
        // Letters reach from about three quarters of their size above the line to a quarter below.
        let (top, bottom) = (y - size * 0.75, y + size * 0.22);
        Some(TextBox { words, left, right: left + wide, top, bottom })
    };
    starts.filter_map(text).collect()
}

/// The value of an attribute.
fn value(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// About how wide a text of 12 pixels is in Liberation Sans, rounded down.
fn width(text: &str) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | '|' | '\'' => 2.8,
        't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '(' | ')' | '/' => 3.6,
        'm' | 'M' | 'W' | '%' => 10.0,
        'w' | 'A'..='Z' => 8.2,
        _ => 6.5,
    };
    text.chars().map(letter).sum()
}
