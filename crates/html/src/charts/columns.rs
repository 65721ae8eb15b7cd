//! Columns: a figure of results against an option of their jobs.

use super::frame::{Chart, LEFT, RIGHT, SERIES, at, cut, in_lines, y_axis};
use super::scale::Scale;
use crate::FigureUnit;
use maud::{Markup, html};

const HEIGHT: f64 = 210.0;
/// Numbers are written above the columns up to this many.
const NUMBERS_MOST: usize = 16;
/// A column is not wider than this.
const WIDTH_MOST: f64 = 56.0;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// The value; the median of several results.
    pub value: f64,
    /// The smallest of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
}

/// A chart of columns in groups: a group for each value of an option.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnsChart {
    /// A name for links, of letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Its finding, a sentence.
    pub finding: String,
    /// What the groups are.
    pub x_name: String,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The names of the columns in each group; one without a name where there is
    /// no second option.
    pub series: Vec<String>,
    /// The unit of the values.
    pub y: FigureUnit,
    /// For each group a column for each series, where there is a result.
    pub columns: Vec<Vec<Option<Column>>>,
}

/// The chart; `None` without a column.
pub(crate) fn chart(chart: &ColumnsChart) -> Option<Markup> {
    let all = || chart.columns.iter().flatten().flatten();
    all().next()?;
    let most = all().map(|column| column.high).fold(0.0, f64::max);
    let has_legend = chart.series.len() > 1;
    let (legend, top) = if has_legend { legend(chart) } else { (html! {}, 26.0) };
    let bottom = top + HEIGHT;
    let y_ticks = chart.y.ticks(most);
    let y = Scale::linear(0.0, y_ticks[y_ticks.len() - 1], bottom, top);
    let group_width = (RIGHT - LEFT) / chart.groups.len().max(1) as f64;
    let width = (group_width * 0.8 / chart.series.len().max(1) as f64).min(WIDTH_MOST);
    let has_numbers = all().count() <= NUMBERS_MOST;
    let drawing = html! {
        (patterns(&chart.id))
        (y_axis(&y_ticks, &y, |value| chart.y.on_axis(value, y_ticks[1])))
        @for (group, (name, columns)) in chart.groups.iter().zip(&chart.columns).enumerate() {
            @let middle = LEFT + group_width * (group as f64 + 0.5);
            @let left = middle - width * chart.series.len() as f64 / 2.0;
            @for (series, column) in columns.iter().enumerate() {
                @if let Some(column) = column {
                    (drawn(column, (left + width * series as f64, width), &fill(&chart.id, series), &y))
                    @if has_numbers {
                        text.inside x=(at(left + width * (series as f64 + 0.5))) y=(at(y.at(column.high) - 4.0))
                            text-anchor="middle" { (chart.y.text(column.value)) }
                    }
                }
            }
            text x=(at(middle)) y=(at(bottom + 17.0)) text-anchor="middle" { (cut(name, letters_in(group_width))) }
        }
        line.base x1=(at(LEFT)) x2=(at(RIGHT)) y1=(at(bottom)) y2=(at(bottom)) {}
        text.name x=(at(RIGHT)) y=(at(bottom + 32.0)) text-anchor="end" { (chart.x_name) }
        (legend)
    };
    Some(
        Chart {
            id: &chart.id,
            title: &chart.title,
            finding: chart.finding.clone(),
            height: bottom + 40.0,
            drawing,
            table: table(chart),
        }
        .markup(),
    )
}

/// A column, with a line from the smallest to the largest where it is of several.
fn drawn(column: &Column, (left, width): (f64, f64), fill: &str, y: &Scale) -> Markup {
    let (top, bottom) = (y.at(column.value), y.at(0.0));
    let middle = at(left + width / 2.0);
    html! {
        rect.column fill=(fill) x=(at(left + 1.0)) y=(at(top)) width=(at((width - 2.0).max(1.0))) height=(at((bottom - top).max(0.5))) {}
        @if column.low < column.high {
            line.whisker x1=(middle) x2=(middle) y1=(at(y.at(column.high))) y2=(at(y.at(column.low))) {}
        }
    }
}

fn legend(chart: &ColumnsChart) -> (Markup, f64) {
    let wide = |name: &String| 32.0 + 7.2 * name.chars().count() as f64;
    let places = in_lines(chart.series.iter().map(wide), RIGHT);
    let below = 32.0 + places.last().map_or(0.0, |place| place.1);
    let drawing = html! {
        @for (index, ((x, y), name)) in places.into_iter().zip(&chart.series).enumerate() {
            rect.column fill=(fill(&chart.id, index)) x=(at(x)) y=(at(y + 4.0)) width="12" height="12" {}
            text x=(at(x + 17.0)) y=(at(y + 15.0)) { (name) }
        }
    };
    (drawing, below)
}

/// Series that differ to the eye.
pub(crate) const SERIES_MOST: usize = SERIES.len();
/// Turns of the hatches, in degrees, and how much of them is filled.
const HATCHES: [(i32, f64); SERIES_MOST] = [
    (0, 7.0),
    (45, 3.5),
    (0, 3.5),
    (-45, 3.5),
    (90, 3.5),
    (0, 0.0),
    (45, 1.5),
    (0, 1.5),
    (-45, 1.5),
    (90, 1.5),
];

/// The name of the hatch of a series.
fn fill(id: &str, series: usize) -> String {
    format!("url(#{id}-fill-{})", series % SERIES_MOST)
}

/// Hatches, so that series differ without colour.
fn patterns(id: &str) -> Markup {
    html! {
        defs {
            @for (series, (turn, width)) in HATCHES.into_iter().enumerate() {
                pattern id={ (id) "-fill-" (series) } width="7" height="7" patternUnits="userSpaceOnUse"
                    patternTransform={ "rotate(" (turn) ")" } {
                    rect.ground width="7" height="7" {}
                    rect class={ "ink " (SERIES[series]) } width=(at(width)) height="7" {}
                }
            }
        }
    }
}

/// Letters of a group's name that there is room for.
fn letters_in(width: f64) -> usize {
    ((width / 7.0) as usize).max(3)
}

fn table(chart: &ColumnsChart) -> (Vec<&str>, Vec<Vec<String>>) {
    let words = |column: &Option<Column>| match column {
        None => "-".to_owned(),
        Some(Column { value, low, high }) if low < high => {
            format!("{} ({} to {})", chart.y.text(*value), chart.y.text(*low), chart.y.text(*high))
        }
        Some(column) => chart.y.text(column.value),
    };
    let heads = std::iter::once(chart.x_name.as_str());
    let series = chart.series.iter().map(|name| match name.as_str() {
        "" => "value",
        name => name,
    });
    let row = |(name, columns): (&String, &Vec<Option<Column>>)| {
        std::iter::once(name.clone()).chain(columns.iter().map(words)).collect()
    };
    (heads.chain(series).collect(), chart.groups.iter().zip(&chart.columns).map(row).collect())
}
