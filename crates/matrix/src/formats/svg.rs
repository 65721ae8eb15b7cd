//! A heat map: block sizes from left to right, modes from top to bottom.

use super::mib;
use crate::cell::{self, Access};
use crate::meaning;
use crate::sheet::{ResultCell, Results};
use iosonde_base::text;
use std::fmt::Write;

const LEFT: f64 = 268.0;
const TOP: f64 = 92.0;
const WIDE: f64 = 62.0;
const HIGH: f64 = 24.0;
const FONT: &str = "font-family=\"Helvetica,Arial,sans-serif\"";

/// One drawing, with everything in it that it needs.
pub fn write(sheet: &Results) -> String {
    let width = (LEFT + WIDE * sheet.sizes.len() as f64 + 20.0).max(760.0);
    let notes = paragraphs(sheet, width);
    let map = TOP + HIGH * sheet.kinds.len() as f64 + gaps(sheet, sheet.kinds.len());
    let height = map + 62.0 + 17.0 * notes.len() as f64 + 14.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" {FONT} font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let title = format!("{}: first {}", sheet.about.words(), text::bytes(sheet.span));
    text(&mut svg, 16.0, 28.0, "font-size=\"15\" font-weight=\"bold\"", &title);
    let subtitle =
        "MiB/s by block size and durability, one block at a time; colours are logarithmic";
    text(&mut svg, 16.0, 48.0, "fill=\"#555555\"", subtitle);
    heads(&mut svg, sheet);
    let scale = ColourScale::of(sheet);
    for row in 0..sheet.kinds.len() {
        one_row(&mut svg, sheet, row, &scale);
    }
    legend(&mut svg, map + 16.0, &scale);
    for (index, line) in notes.iter().enumerate() {
        text(&mut svg, 16.0, map + 74.0 + 17.0 * index as f64, "fill=\"#333333\"", line);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Logarithmic, from the slowest cell to the fastest.
struct ColourScale {
    low: f64,
    high: f64,
}

impl ColourScale {
    fn of(sheet: &Results) -> ColourScale {
        let rates = || sheet.rows.iter().flatten().filter_map(ResultCell::rate);
        let low = rates().fold(f64::INFINITY, f64::min);
        let high = rates().fold(0.0, f64::max);
        if high > 0.0 { ColourScale { low, high } } else { ColourScale { low: 1.0, high: 1.0 } }
    }

    /// From 0 to 1.
    fn place(&self, rate: f64) -> f64 {
        if self.high > self.low {
            (rate / self.low).ln() / (self.high / self.low).ln()
        } else {
            0.5
        }
    }

    fn at(&self, place: f64) -> f64 {
        self.low * (self.high / self.low).powf(place)
    }
}

/// Viridis (van der Walt and Smith, 2015) at five points: even to the eye, and
/// distinguished by the colour-blind and in grey.
const COLOURS: [[f64; 3]; 5] = [
    [68.0, 1.0, 84.0],
    [59.0, 82.0, 139.0],
    [33.0, 145.0, 140.0],
    [94.0, 201.0, 98.0],
    [253.0, 231.0, 37.0],
];

fn colour(place: f64) -> [f64; 3] {
    let at = place.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let index = (at as usize).min(COLOURS.len() - 2);
    let part = at - index as f64;
    std::array::from_fn(|c| COLOURS[index][c] * (1.0 - part) + COLOURS[index + 1][c] * part)
}

fn hex(colour: [f64; 3]) -> String {
    let [red, green, blue] = colour.map(|part| part.round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Black or white, whichever is read more easily on it.
fn ink(colour: [f64; 3]) -> &'static str {
    let [red, green, blue] = colour;
    if 0.299 * red + 0.587 * green + 0.114 * blue > 130.0 { "#000000" } else { "#ffffff" }
}

/// A little room above each group of rows.
fn gaps(sheet: &Results, row: usize) -> f64 {
    let starts = |&at: &usize| {
        at > 0
            && sheet.kinds.get(at).is_some_and(|kind| kind.group() != sheet.kinds[at - 1].group())
    };
    (0..=row).filter(starts).count() as f64 * 6.0
}

fn heads(svg: &mut String, sheet: &Results) {
    for (column, &size) in sheet.sizes.iter().enumerate() {
        let x = LEFT + WIDE * (column as f64 + 0.5);
        let style = "text-anchor=\"middle\" font-weight=\"bold\"";
        text(svg, x, TOP - 10.0, style, &cell::short(u64::from(size)));
    }
}

fn one_row(svg: &mut String, sheet: &Results, row: usize, scale: &ColourScale) {
    let y = TOP + HIGH * row as f64 + gaps(sheet, row);
    let kind: Access = sheet.kinds[row];
    text(svg, LEFT - 10.0, y + 16.0, "text-anchor=\"end\"", &kind.name());
    for column in 0..sheet.sizes.len() {
        one_cell(svg, sheet, (row, column), y, scale);
    }
}

fn one_cell(
    svg: &mut String,
    sheet: &Results,
    (row, column): (usize, usize),
    y: f64,
    scale: &ColourScale,
) {
    let x = LEFT + WIDE * column as f64;
    let (fill, ink, words) = match &sheet.rows[row][column] {
        ResultCell::Measured(found) => {
            let colour = colour(scale.place(found.rate));
            let doubt = if found.settled { "" } else { "~" };
            let words = format!("{doubt}{}", meaning::figures(mib(found.rate)));
            (hex(colour), ink(colour), words)
        }
        ResultCell::Not(_) => ("#eeeeee".to_owned(), "#777777", "-".to_owned()),
    };
    let (wide, high) = (WIDE - 2.0, HIGH - 2.0);
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"{fill}\">"
    );
    let hint = hint(sheet, row, column);
    let _ = writeln!(svg, "<title>{}</title></rect>", escaped(&hint));
    if sheet.is_best_of_row(row, column) {
        let (x, y, wide, high) = (x + 1.5, y + 1.5, wide - 3.0, high - 3.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"none\" \
             stroke=\"{ink}\" stroke-width=\"1.5\" pointer-events=\"none\"/>"
        );
    }
    let weight = if sheet.is_best_of_column(row, column) {
        " font-weight=\"bold\" text-decoration=\"underline\""
    } else {
        ""
    };
    let style = format!("text-anchor=\"middle\" fill=\"{ink}\" pointer-events=\"none\"{weight}");
    text(svg, x + wide / 2.0, y + 15.5, &style, &words);
}

/// The tooltip of a cell.
fn hint(sheet: &Results, row: usize, column: usize) -> String {
    let head =
        format!("{} of {}: ", sheet.kinds[row].name(), text::bytes(u64::from(sheet.sizes[column])));
    match &sheet.rows[row][column] {
        ResultCell::Measured(found) => format!(
            "{head}{}, median of {} slices, {} to {}",
            text::rate(found.rate),
            found.slices,
            text::rate(found.low),
            text::rate(found.high)
        ),
        ResultCell::Not(why) => format!("{head}not measured: {}", why.words()),
    }
}

fn legend(svg: &mut String, y: f64, scale: &ColourScale) {
    const STEPS: usize = 60;
    const LENGTH: f64 = 240.0;
    let step = LENGTH / STEPS as f64;
    for index in 0..STEPS {
        let fill = hex(colour(index as f64 / (STEPS - 1) as f64));
        let x = 16.0 + step * index as f64;
        // A little wider, so that no seam shows.
        let wide = step + 0.5;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"10\" fill=\"{fill}\"/>"
        );
    }
    for (place, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
        let words = text::rate(scale.at(place));
        let style = format!("text-anchor=\"{anchor}\" fill=\"#555555\" font-size=\"11\"");
        text(svg, 16.0 + LENGTH * place, y + 24.0, &style, &words);
    }
    let words = "framed: best block size of its line; bold, underlined: best durable write, or";
    text(svg, 290.0, y + 6.0, "fill=\"#555555\" font-size=\"11\"", words);
    let words = "read from storage, of its block size; ~ not settled within 5 %; - not measured";
    text(svg, 290.0, y + 21.0, "fill=\"#555555\" font-size=\"11\"", words);
}

/// The summary, in lines that fit.
fn paragraphs(sheet: &Results, width: f64) -> Vec<String> {
    // Letters are 6 to 7 wide on the average, by the face that is found.
    let letters = ((width - 32.0) / 7.0) as usize;
    let mut lines = Vec::new();
    let meaning = meaning::sentences(sheet).join(" ");
    for words in std::iter::once(meaning).chain(meaning::notes(sheet)) {
        let mut line = String::new();
        for word in words.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > letters {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}

fn text(svg: &mut String, x: f64, y: f64, style: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" {style}>{}</text>", escaped(words));
}

/// XML 1.0 has no way to write most control characters.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for c in words.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            _ if c.is_control() => text.push('\u{fffd}'),
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_run_from_dark_to_bright_and_ink_stays_readable() {
        assert_eq!(hex(colour(0.0)), "#440154");
        assert_eq!(hex(colour(1.0)), "#fde725");
        assert_eq!(hex(colour(0.5)), "#21918c");
        assert_eq!((ink(colour(0.0)), ink(colour(1.0))), ("#ffffff", "#000000"));
        assert_eq!(hex(colour(f64::NAN)).len(), 7);
    }

    #[test]
    fn a_scale_of_one_figure_or_none_is_finite() {
        let one = ColourScale { low: 5.0, high: 5.0 };
        assert_eq!((one.place(5.0), one.at(0.5)), (0.5, 5.0));
    }

    #[test]
    fn what_xml_would_take_for_its_own_is_escaped() {
        assert_eq!(escaped("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot;\u{fffd}");
    }
}
