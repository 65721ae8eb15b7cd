//! I/Os one by one: when or where, and how long.

use super::frame::{ChartTable, LEFT, RIGHT, TOP, at};
use super::lines::{LineChart, XAxis, YAxis};
use super::scale::Scale;
use crate::FigureUnit;
use crate::png::IndexedPicture;
use iosonde_base::Dir;
use maud::{Markup, html};

const BOTTOM: f64 = 266.0;
/// Pixels of the picture for one of the drawing, so that dots stay small.
const FINENESS: f64 = 2.0;
/// A dot, in pixels of the picture.
const DOT: usize = 3;

/// Colours that have 3:1 on both grounds (4.2 and 4.5; 4.2 and 4.5; 4.6 and 4.1).
const COLOURS: [[u8; 3]; 3] = [[0x2b, 0x7b, 0xd0], [0xc4, 0x62, 0x1f], [0x8f, 0x63, 0xc9]];

/// A chart of I/Os of one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct DotsChart {
    /// A name for links, of letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Its finding, a sentence.
    pub finding: String,
    /// The x axis, and what it is of.
    pub x: (FigureUnit, String),
    /// The direction.
    pub dir: Dir,
    /// Place and nanoseconds of each I/O.
    pub dots: Vec<(f64, u64)>,
}

/// The chart; `None` without a dot.
pub(crate) fn chart(chart: &DotsChart) -> Option<Markup> {
    let low = chart.dots.iter().map(|dot| dot.1).min()?.max(1) as f64 * 0.9;
    let high = chart.dots.iter().map(|dot| dot.1).max()?.max(2) as f64 * 1.1;
    let end = chart.dots.iter().map(|dot| dot.0).fold(0.0, f64::max);
    let y = YAxis::of_ratios(FigureUnit::Nanoseconds, (low, high), (BOTTOM, TOP));
    let (unit, name) = &chart.x;
    let scale = Scale::linear(0.0, end, LEFT, RIGHT);
    let picture = picture(chart, &scale, &y.scale);
    let chart = LineChart {
        id: &chart.id,
        title: &chart.title,
        finding: chart.finding.clone(),
        x: XAxis { scale, labels: unit.labels(end), name: name.clone() },
        y,
        lines: Vec::new(),
        has_legend: false,
        behind: html! {
            image href=(picture.uri()) x=(at(LEFT)) y=(at(TOP)) width=(at(RIGHT - LEFT))
                height=(at(BOTTOM - TOP)) preserveAspectRatio="none" {}
        },
        above: Markup::default(),
        table: ChartTable::default(),
    };
    Some(chart.markup())
}

fn picture(chart: &DotsChart, x: &Scale, y: &Scale) -> IndexedPicture {
    let width = ((RIGHT - LEFT) * FINENESS) as usize;
    let height = ((BOTTOM - TOP) * FINENESS) as usize;
    let mut pixels = vec![0; width * height];
    for &(place, ns) in &chart.dots {
        let column = ((x.at(place) - LEFT) * FINENESS) as usize;
        let row = ((y.at(ns as f64) - TOP) * FINENESS) as usize;
        let (left, top) = (column.saturating_sub(DOT / 2), row.saturating_sub(DOT / 2));
        for row in top..(top + DOT).min(height) {
            let line = &mut pixels[row * width..(row + 1) * width];
            line[left.min(width)..(left + DOT).min(width)].fill(1);
        }
    }
    let palette = vec![[0; 3], COLOURS[chart.dir as usize]];
    IndexedPicture { width, height, pixels, palette }
}
