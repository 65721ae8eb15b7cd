//! What each chart has: a title, its finding as a sentence, axes, a legend, and
//! its numbers as a table below.

use super::scale::{Scale, ticks};
use iosonde_base::text::count;
use iosonde_report::series::RunSeries;
use maud::{Markup, html};
use std::fmt::Write;

/// Width of each drawing; the page scrolls it where it does not fit.
pub(crate) const WIDTH: f64 = 720.0;
/// Room for the labels of the y axis.
pub(crate) const LEFT: f64 = 76.0;
/// Where the drawing ends.
pub(crate) const RIGHT: f64 = WIDTH - 16.0;
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

/// A series of a legend: its class and its name.
pub(crate) type KeyEntry = (&'static str, String);

impl Chart<'_> {
    /// The chart as a part of the page.
    pub fn markup(&self) -> Markup {
        let (heads, rows) = &self.table;
        html! {
            figure.chart id=(self.id) {
                h3 { (self.title) }
                p.finding { (self.finding) }
                div.scroll tabindex="0" role="group" aria-label=(self.title) {
                    svg viewBox={ "0 0 " (WIDTH) " " (self.height) } role="img"
                        aria-label=(self.title) {
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
    html! {
        g.axis {
            line.base x1=(at(LEFT)) x2=(at(RIGHT)) y1=(at(bottom)) y2=(at(bottom)) {}
            @for (tick, label) in ticks {
                @let place = x.at(*tick);
                line.base x1=(at(place)) x2=(at(place)) y1=(at(bottom)) y2=(at(bottom + 4.0)) {}
                text x=(at(place)) y=(at(bottom + 17.0)) text-anchor=(anchor(place)) { (label) }
            }
            text.name x=(at(RIGHT)) y=(at(bottom + 32.0)) text-anchor="end" { (name) }
        }
    }
}

/// The axis of the time that the windows of a series take: its scale, and the
/// moments that it names.
pub(crate) fn time_axis(series: &RunSeries) -> (Scale, Vec<(f64, String)>) {
    let end = series.interval_ns as f64 / 1e9 * series.windows.len() as f64;
    let named = ticks(end).into_iter().filter(|&tick| tick <= end);
    (Scale::linear(0.0, end, LEFT, RIGHT), named.map(|tick| (tick, count(tick))).collect())
}

/// Where the label of a place stands: one at the right border ends there.
fn anchor(place: f64) -> &'static str {
    if place > RIGHT - 20.0 { "end" } else { "middle" }
}

/// The series with their line styles, above the drawing.
pub(crate) fn legend(entries: &[KeyEntry]) -> Markup {
    let mut x = LEFT;
    let placed: Vec<(f64, &KeyEntry)> = entries
        .iter()
        .map(|entry| {
            let place = x;
            x += 44.0 + 7.2 * entry.1.chars().count() as f64;
            (place, entry)
        })
        .collect();
    html! {
        @for (x, (class, name)) in placed {
            g.key data-series=(class) {
                line class={ "line " (class) } x1=(at(x)) x2=(at(x + 24.0)) y1="11" y2="11" {}
                text x=(at(x + 30.0)) y="15" { (name) }
            }
        }
    }
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
