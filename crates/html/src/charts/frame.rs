//! What each chart has: a title, its finding as a sentence, axes, a legend, and
//! its numbers as a table below.

use super::scale::{Scale, ticks};
use iosonde_base::text::unbroken;
use iosonde_report::series::RunSeries;
use maud::{Markup, html};
use std::fmt::Write;

/// Width of each drawing: with letters of 12 to 13 it can be read on a screen of 390 pixels.
pub(crate) const WIDTH: f64 = 480.0;
/// Room for the labels of the y axis.
pub(crate) const LEFT: f64 = 76.0;
/// Where the drawing ends.
pub(crate) const RIGHT: f64 = WIDTH - 14.0;
/// Where it begins below the legend.
pub(crate) const TOP: f64 = 26.0;

/// A chart with everything around its drawing.
pub(crate) struct Chart<'a> {
    /// A stable name for links.
    pub id: &'a str,
    /// What it shows.
    pub title: &'a str,
    /// The question that it answers, or what it shows here.
    pub finding: String,
    /// Height of the drawing.
    pub height: f64,
    /// The drawing.
    pub drawing: Markup,
    /// Its numbers: heads and rows.
    pub table: (Vec<&'a str>, Vec<Vec<String>>),
}

/// A series of a legend.
pub(crate) struct KeyEntry {
    /// The class of its line.
    pub class: &'static str,
    /// Its name.
    pub name: String,
    /// The marker of its class is shown, too.
    pub is_marked: bool,
}

impl KeyEntry {
    /// A series with the marker of its class, if that has one.
    pub fn marked(class: &'static str, name: impl Into<String>) -> KeyEntry {
        KeyEntry { class, name: name.into(), is_marked: true }
    }
}

impl Chart<'_> {
    /// The chart as a part of the page.
    pub(crate) fn markup(&self) -> Markup {
        let (heads, rows) = &self.table;
        html! {
            figure.chart id=(self.id) {
                // Printed on one sheet.
                div.drawn {
                    h3 { (self.title) }
                    p.finding { (unbroken(&self.finding)) }
                    svg viewBox={ "0 0 " (WIDTH) " " (self.height) } role="img" aria-label=(self.title) {
                        title { (self.title) }
                        desc { (self.finding) }
                        (self.drawing)
                    }
                }
                @if !rows.is_empty() {
                    details {
                        summary { "Numbers" }
                        div.scroll tabindex="0" {
                            table.sortable {
                                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                                tbody { @for row in rows {
                                    tr { @for cell in row { td { (cell) } } }
                                } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A number of an attribute: at most one decimal.
pub(crate) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Lines across the drawing with their values on the left.
pub(crate) fn y_axis(ticks: &[f64], y: &Scale, label: impl Fn(f64) -> String) -> Markup {
    html! {
        g.axis {
            @for &tick in ticks {
                @let place = at(y.at(tick));
                line.grid x1=(at(LEFT)) x2=(at(RIGHT)) y1=(place) y2=(place) {}
                text x=(at(LEFT - 6.0)) y=(at(y.at(tick) + 4.0)) text-anchor="end" {
                    (label(tick))
                }
            }
        }
    }
}

/// Values below the drawing, which ends at `bottom`.
pub(crate) fn x_axis(ticks: &[(f64, String)], x: &Scale, bottom: f64, name: &str) -> Markup {
    let (left, right) = x.ends();
    html! {
        g.axis {
            line.base x1=(at(left)) x2=(at(right)) y1=(at(bottom)) y2=(at(bottom)) {}
            @for (tick, label) in ticks {
                @let place = x.at(*tick);
                line.base x1=(at(place)) x2=(at(place)) y1=(at(bottom)) y2=(at(bottom + 4.0)) {}
                text x=(at(place)) y=(at(bottom + 17.0)) text-anchor=(anchor(place, right)) { (label) }
            }
            text.name x=(at(right)) y=(at(bottom + 32.0)) text-anchor="end" { (name) }
        }
    }
}

/// The axis of the time that the windows of a series take, between two borders:
/// its scale, and the moments that it names.
pub(crate) fn time_axis(
    series: &RunSeries,
    (left, right): (f64, f64),
) -> (Scale, Vec<(f64, String)>) {
    let end = series.begin_ns(series.windows.len()) as f64 / 1e9;
    let all = ticks(end);
    let step = all.get(1).copied().unwrap_or(1.0);
    let named = all.into_iter().filter(|&tick| tick <= end);
    (Scale::linear(0.0, end, left, right), named.map(|tick| (tick, in_steps(tick, step))).collect())
}

/// A value of an axis with the decimals that its step needs.
pub(crate) fn in_steps(value: f64, step: f64) -> String {
    let decimals = (0..6).find(|&decimals| {
        let scaled = step * 10f64.powi(decimals);
        (scaled - scaled.round()).abs() < 1e-6
    });
    format!("{value:.*}", decimals.unwrap_or(6) as usize)
}

/// Where the label of a place stands: one at the right border ends there.
fn anchor(place: f64, right: f64) -> &'static str {
    if place > right - 20.0 { "end" } else { "middle" }
}

/// Height of a line of a legend.
const LEGEND_LINE: f64 = 18.0;
/// Letters of a name in a legend at most.
pub(super) const NAME_LETTERS: usize = 40;

/// Where entries of these widths stand that end at `right`: as many in a line as fit.
pub(crate) fn in_lines(widths: impl IntoIterator<Item = f64>, right: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (LEFT, 0.0);
    let mut places = Vec::new();
    for wide in widths {
        if x + wide > right && x > LEFT {
            (x, y) = (LEFT, y + LEGEND_LINE);
        }
        places.push((x, y));
        x += wide;
    }
    places
}

/// The places of a legend's entries.
fn legend_places<'a>(entries: impl IntoIterator<Item = &'a KeyEntry>) -> Vec<(f64, f64)> {
    let wide = |entry: &KeyEntry| 46.0 + width(&cut(&entry.name, NAME_LETTERS));
    in_lines(entries.into_iter().map(wide), RIGHT + 14.0)
}

/// Where a drawing begins below its legend.
pub(crate) fn below_legend<'a>(entries: impl IntoIterator<Item = &'a KeyEntry>) -> f64 {
    TOP + legend_places(entries).last().map_or(0.0, |place| place.1)
}

/// A chart's numbers: heads and rows.
pub(crate) type ChartTable<'a> = (Vec<&'a str>, Vec<Vec<String>>);

/// An area for each row of a table of windows (`series` in at most `rows`):
/// a pointer on it reads the row, with a script in a line below the drawing.
pub(crate) fn read_outs(
    series: &RunSeries,
    rows: usize,
    (heads, table): &ChartTable<'_>,
    x: &Scale,
    (top, bottom): (f64, f64),
) -> Markup {
    let few = series.in_at_most(rows);
    let border = |index: usize| x.at(few.begin_ns(index) as f64 / 1e9);
    let words = |cells: &[String]| {
        let rest = heads.iter().zip(cells).skip(1).map(|(head, cell)| format!("{head} {cell}"));
        format!(
            "{}: {}",
            cells.first().map_or("", String::as_str),
            rest.collect::<Vec<_>>().join(", ")
        )
    };
    html! {
        g.read-outs {
            @for (index, cells) in table.iter().enumerate() {
                @let (left, right) = (border(index), border(index + 1));
                rect.hit x=(at(left)) width=(at(right - left)) y=(at(top)) height=(at(bottom - top)) {
                    title { (words(cells)) }
                }
            }
        }
    }
}

/// The series with their line styles, above the drawing.
pub(crate) fn legend<'a>(entries: impl IntoIterator<Item = &'a KeyEntry> + Clone) -> Markup {
    html! {
        @for ((x, y), KeyEntry { class, name, is_marked }) in legend_places(entries.clone()).into_iter().zip(entries) {
            g.key data-series=(class) {
                line class={ "line " (class) } x1=(at(x)) x2=(at(x + 24.0)) y1=(at(y + 11.0)) y2=(at(y + 11.0)) {}
                @if *is_marked { (marker(class, (x + 12.0, y + 11.0))) }
                text x=(at(x + 30.0)) y=(at(y + 15.0)) { (cut(name, NAME_LETTERS)) }
            }
        }
    }
}

/// About how wide a text of 12 pixels is, in the usual faces: enough to place it.
pub(crate) fn width(text: &str) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '(' | ')' | '|' => 4.6,
        'm' | 'w' | 'M' | 'W' | '%' => 11.0,
        'A'..='Z' | '_' | '+' | '=' => 8.4,
        _ => 7.4,
    };
    text.chars().map(letter).sum()
}

/// A name that is not longer than so many letters.
pub(crate) fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() > letters {
        name.chars().take(letters - 1).chain("~".chars()).collect()
    } else {
        name.to_owned()
    }
}

/// Classes of the series of a chart, in turn: each has a line, a marker and a hatch of
/// its own.
pub(crate) const SERIES: [&str; 10] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"];

/// The marker of a class at a place; nothing for a class that has none.
pub(crate) fn marker(class: &str, (x, y): (f64, f64)) -> Markup {
    let shape = match class {
        "a" | "s0" => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
        "b" | "s1" => "m-3.2 -3.2h6.4v6.4h-6.4z",
        "s2" => "m0 -4.2l3.9 6.9h-7.8z",
        "s3" => "m0 -4.4l4 4.4l-4 4.4l-4 -4.4z",
        "s4" => "m0 4.2l3.9 -6.9h-7.8z",
        "s5" => "m-3.6 -3.6l7.2 7.2m0 -7.2l-7.2 7.2",
        "s6" => "m-4.3 0h8.6m-4.3 -4.3v8.6",
        "s7" => "m-4.3 -1.5h8.6m-8.6 3h8.6",
        "s8" => "m-1.5 -4.3v8.6m3 -8.6v8.6",
        "s9" => "m-3.9 2.6l3.9 -5.2l3.9 5.2",
        _ => return Markup::default(),
    };
    html! { path class={ "mark " (class) } data-series=(class) d={ "M" (at(x)) " " (at(y)) (shape) } {} }
}

/// A path through the points; one that is `None` leaves a gap, and a point
/// between two gaps is a short line.
pub(crate) fn path(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let mut text = String::new();
    let mut is_open = false;
    for point in points {
        let Some((x, y)) = point else {
            is_open = false;
            continue;
        };
        let command = if is_open { 'L' } else { 'M' };
        // Writing to a String cannot fail.
        let _ = write!(text, "{command}{} {}", at(x), at(y));
        if !is_open {
            let _ = write!(text, "h.5");
        }
        is_open = true;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_the_points_is_a_gap_in_the_line() {
        let points = [Some((0.0, 1.0)), Some((2.0, 3.25)), None, Some((4.0, 5.0))];
        assert_eq!(path(points), "M0 1h.5L2 3.2M4 5h.5");
    }

    #[test]
    fn what_is_no_markup_is_escaped() {
        let chart = Chart {
            id: "a",
            title: "<script>",
            finding: "\"&'".into(),
            height: 10.0,
            drawing: html! {},
            table: (vec!["<b>"], vec![vec!["</td>".into()]]),
        };
        let text = chart.markup().into_string();
        assert!(
            !text.contains("<script>") && !text.contains("<b>") && !text.contains("</td></td>")
        );
    }
}
