//! A heat map: block sizes from left to right, modes from top to bottom.

use super::mib;
use crate::cell::{self, Access};
use crate::meaning;
use crate::sheet::{ResultCell, Results};
use iosonde_base::text;
use iosonde_html::colour::{ColourScale, hex, ink, shade};
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
    let scale = ColourScale::of(sheet.rows.iter().flatten().filter_map(ResultCell::rate));
    for row in 0..sheet.kinds.len() {
        one_row(&mut svg, sheet, row, scale.as_ref());
    }
    legend(&mut svg, map + 16.0, scale.as_ref());
    for (index, line) in notes.iter().enumerate() {
        text(&mut svg, 16.0, map + 74.0 + 17.0 * index as f64, "fill=\"#333333\"", line);
    }
    svg.push_str("</svg>\n");
    svg
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

fn one_row(svg: &mut String, sheet: &Results, row: usize, scale: Option<&ColourScale>) {
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
    scale: Option<&ColourScale>,
) {
    let x = LEFT + WIDE * column as f64;
    let (fill, ink, words) = match &sheet.rows[row][column] {
        ResultCell::Measured(found) => {
            let colour = shade(scale.map_or(0.5, |scale| scale.share(found.rate)));
            let doubt = if found.settled { "" } else { "~" };
            let words = format!("{doubt}{}", iosonde_base::text::significant(mib(found.rate)));
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

fn legend(svg: &mut String, y: f64, scale: Option<&ColourScale>) {
    const STEPS: usize = 60;
    const LENGTH: f64 = 240.0;
    let step = LENGTH / STEPS as f64;
    for index in 0..STEPS {
        let fill = hex(shade(index as f64 / (STEPS - 1) as f64));
        let x = 16.0 + step * index as f64;
        // A little wider, so that no seam shows.
        let wide = step + 0.5;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"10\" fill=\"{fill}\"/>"
        );
    }
    for (place, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
        let words = text::rate(scale.map_or(0.0, |scale| scale.at(place)));
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
    fn what_xml_would_take_for_its_own_is_escaped() {
        assert_eq!(escaped("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot;\u{fffd}");
    }
}
