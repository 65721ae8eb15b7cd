//! Latency over time: one population or two, and when did it stall?

use super::colour::{hex, shade};
use super::frame::width as text_width;
use super::frame::{Chart, LEFT, RIGHT, TOP, at, path, read_outs, time_axis, x_axis, y_axis};
use super::scale::{Scale, decades};
use crate::figures::class;
use crate::png::IndexedPicture;
use iosonde_base::Dir;
use iosonde_base::text::{counted, duration, short_duration};
use iosonde_report::series::{RunSeries, SeriesWindow};
use iosonde_stats::{CoarseCounts, coarse_lowest};
use maud::{Markup, html};

const BOTTOM: f64 = 266.0;
/// Columns at most.
const WINDOWS_MOST: usize = 300;
/// Colours of the picture; more cannot be distinguished.
const COLOURS: usize = 48;
/// Rows of the table at most.
const ROWS_MOST: usize = 60;
/// Dots for cells that stand alone, at most.
const DOTS_MOST: usize = 150;

/// What a map is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeatOf {
    /// The I/Os of a direction.
    Dir(Dir),
    /// The syncs.
    Syncs,
}

impl HeatOf {
    fn name(self) -> &'static str {
        match self {
            HeatOf::Dir(dir) => class(dir),
            HeatOf::Syncs => "sync",
        }
    }

    /// What one of them is called.
    fn unit(self) -> &'static str {
        match self {
            HeatOf::Dir(_) => "I/O",
            HeatOf::Syncs => "sync",
        }
    }

    fn latency(self, window: &SeriesWindow) -> &CoarseCounts {
        match self {
            HeatOf::Dir(dir) => &window.dirs[dir].latency,
            HeatOf::Syncs => &window.syncs.latency,
        }
    }

    fn ios(self, window: &SeriesWindow) -> u64 {
        match self {
            HeatOf::Dir(dir) => window.dirs[dir].ios,
            HeatOf::Syncs => window.syncs.ios,
        }
    }

    fn percentile(self, series: &RunSeries, window: &SeriesWindow, percent: f64) -> Option<u64> {
        let latency = self.latency(window);
        match self {
            HeatOf::Dir(_) => series.percentile(latency, percent),
            HeatOf::Syncs => series.sync_percentile(latency, percent),
        }
    }
}

/// The map of what a run did.
pub(crate) fn chart(series: &RunSeries, of: HeatOf) -> Option<Markup> {
    let title = format!("Latency of {}s over time", of.name());
    named_chart(&format!("latency-{}", of.name()), &title, series, of)
}

/// The map under another name.
pub(crate) fn named_chart(id: &str, title: &str, series: &RunSeries, of: HeatOf) -> Option<Markup> {
    let few = series.in_at_most(WINDOWS_MOST);
    let scale = HeatScale::of(&[&few], of)?;
    let table = table(series, of);
    let drawing = html! {
        (scale.y_axis())
        (panel(&few, &scale, (LEFT, RIGHT)))
        (read_outs(series, ROWS_MOST, &table, &time_axis(&few, (LEFT, RIGHT)).0, (TOP, BOTTOM)))
        (scale.legend())
    };
    Some(
        Chart {
            id,
            title,
            finding: format!(
                "Each column is {}; the colour is the number of {}s (from 1 to {}). Lines: p50 \
                 solid, p99 dashed.",
                short_duration(few.interval_ns),
                of.unit(),
                scale.most
            ),
            height: BOTTOM + 40.0,
            drawing,
            table,
        }
        .markup(),
    )
}

/// Space between two maps.
const GAP: f64 = 18.0;

/// The maps of A and B beside each other, on one scale of latency and colour.
pub(crate) fn beside(series: [&RunSeries; 2], of: HeatOf) -> Option<Markup> {
    let few = series.map(|series| series.in_at_most(WINDOWS_MOST / 2));
    let scale = HeatScale::of(&[&few[0], &few[1]], of)?;
    let middle = (LEFT + RIGHT) / 2.0;
    let places = [(LEFT, middle - GAP / 2.0), (middle + GAP / 2.0, RIGHT)];
    let drawing = html! {
        (scale.y_axis())
        @for ((side, few), (left, right)) in ["A", "B"].into_iter().zip(&few).zip(places) {
            text x=(at(left)) y=(at(BOTTOM + 33.0)) { (side) }
            (panel(few, &scale, (left, right)))
        }
        (scale.legend())
    };
    Some(
        Chart {
            id: &format!("latency-{}", of.name()),
            title: &format!("Latency of {}s over time, A and B", of.name()),
            finding: format!(
                "All runs of a side together, A on the left and B on the right, on one scale. Each \
                 column is {}; the colour is the number of {}s (from 1 to {}). Lines: p50 solid, \
                 p99 dashed.",
                short_duration(few[0].interval_ns),
                of.unit(),
                scale.most
            ),
            height: BOTTOM + 40.0,
            drawing,
            table: (Vec::new(), Vec::new()),
        }
        .markup(),
    )
}

/// What maps beside each other have in common.
struct HeatScale {
    of: HeatOf,
    /// The buckets that are drawn.
    low: usize,
    high: usize,
    /// The largest count.
    most: u64,
    y: Scale,
}

impl HeatScale {
    /// Of series that have two windows and an I/O at least.
    fn of(all: &[&RunSeries], of: HeatOf) -> Option<HeatScale> {
        if all.iter().any(|series| series.windows.len() < 2) {
            return None;
        }
        let windows = || all.iter().flat_map(|series| &series.windows);
        let cells = || windows().flat_map(|window| of.latency(window).iter());
        let (low, high) =
            (cells().map(|cell| cell.0).min()?, cells().map(|cell| cell.0).max()? + 1);
        let most = cells().map(|cell| cell.1).max()?;
        let (lowest, highest) = (coarse_lowest(low).max(1) as f64, coarse_lowest(high) as f64);
        Some(HeatScale { of, low, high, most, y: Scale::log(lowest, highest, BOTTOM, TOP) })
    }

    fn y_axis(&self) -> Markup {
        let ticks = latency_ticks(self.y.low(), self.y.high());
        y_axis(&ticks, &self.y, |ns| short_duration(ns as u64))
    }

    /// What the colours mean.
    fn legend(&self) -> Markup {
        const STEPS: usize = 8;
        let width = 14.0;
        let words = counted(self.most, self.of.unit());
        let left = RIGHT - width * STEPS as f64 - text_width(&words) - 6.0;
        html! {
            text x=(at(left - 6.0)) y="15" text-anchor="end" { "1" }
            @for step in 0..STEPS {
                @let colour = hex(shade(step as f64 / (STEPS - 1) as f64));
                rect x=(at(left + width * step as f64)) y="5" width=(at(width)) height="12" fill=(colour) {}
            }
            text x=(at(left + width * STEPS as f64 + 6.0)) y="15" { (words) }
        }
    }
}

/// One map between two borders, with its axis of time and its percentiles.
fn panel(few: &RunSeries, scale: &HeatScale, (left, right): (f64, f64)) -> Markup {
    let (y, of) = (&scale.y, scale.of);
    let (x, labels) = time_axis(few, (left, right));
    let count = few.windows.len();
    let columns_ns = few.interval_ns as f64 * count as f64;
    let wide = (right - left) * columns_ns / few.begin_ns(count).max(1) as f64;
    let picture = picture(few, scale);
    let line = |percent: f64| {
        let point = |(column, window): (usize, &SeriesWindow)| {
            let ns = of.percentile(few, window, percent)?;
            Some((x.at(few.middle_s(column)), y.at(ns as f64)))
        };
        path(few.windows.iter().enumerate().map(point))
    };
    html! {
        (x_axis(&labels, &x, BOTTOM, "seconds"))
        // The last column is as wide as the others, and cut off where its window is shorter.
        svg x=(at(left)) y=(at(TOP)) width=(at(right - left)) height=(at(BOTTOM - TOP)) {
            image href=(picture.uri()) width=(at(wide))
                height=(at(BOTTOM - TOP)) preserveAspectRatio="none" {}
        }
        @for (column, bucket) in alone(few, of).into_iter().take(DOTS_MOST) {
            circle.outlier r="1.8" cx=(at(x.at(few.middle_s(column))))
                cy=(at(y.at(middle(bucket)))) {}
        }
        @for (class, percent) in [("p50", 50.0), ("p99", 99.0)] {
            @let line = line(percent);
            path.halo data-series=(class) d=(line) {}
            path class={ "line thin " (class) } data-series=(class) d=(line) {}
        }
    }
}

/// Round latencies within two: more of them in a decade where there are few decades.
pub(crate) fn latency_ticks(lowest: f64, highest: f64) -> Vec<f64> {
    let steps: &[f64] = match highest / lowest {
        ratio if ratio > 1e4 => &[1.0],
        ratio if ratio > 100.0 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    let all = decades(lowest, highest).into_iter();
    let all = all.flat_map(|decade| steps.iter().map(move |step| decade * step));
    all.filter(|&ns| ns >= lowest && ns <= highest).collect()
}

/// The middle of a bucket on a logarithmic scale.
fn middle(bucket: usize) -> f64 {
    (coarse_lowest(bucket).max(1) as f64 * coarse_lowest(bucket + 1) as f64).sqrt()
}

/// One pixel for each window and bucket; the colour is the logarithm of the
/// count.
fn picture(series: &RunSeries, scale: &HeatScale) -> IndexedPicture {
    let (width, height) = (series.windows.len(), scale.high - scale.low);
    let mut pixels = vec![0; width * height];
    for (column, window) in series.windows.iter().enumerate() {
        for (bucket, count) in scale.of.latency(window).iter() {
            let row = height - 1 - (bucket - scale.low);
            pixels[row * width + column] = colour(count, scale.most) as u8;
        }
    }
    let shade = |at: usize| shade((at as f64 - 1.0).max(0.0) / (COLOURS as f64 - 2.0));
    IndexedPicture { width, height, pixels, palette: (0..COLOURS).map(shade).collect() }
}

/// The number of the colour of a count: 1 for 1, the last for the largest.
fn colour(count: u64, most: u64) -> usize {
    let share = (count as f64).ln() / (most.max(2) as f64).ln();
    1 + (share.clamp(0.0, 1.0) * (COLOURS as f64 - 2.0)).round() as usize
}

/// Cells of few I/Os without a neighbour: too small to be seen as pixels.
fn alone(series: &RunSeries, of: HeatOf) -> Vec<(usize, usize)> {
    let has = |column: usize, bucket: usize| {
        let window = series.windows.get(column);
        window.is_some_and(|window| of.latency(window).iter().any(|(at, _)| at == bucket))
    };
    let mut found = Vec::new();
    for (column, window) in series.windows.iter().enumerate() {
        for (bucket, count) in of.latency(window).iter().filter(|(_, count)| *count <= 2) {
            let columns = column.saturating_sub(1)..=column + 1;
            let buckets = bucket.saturating_sub(1)..=bucket + 1;
            let near = columns.flat_map(|column| buckets.clone().map(move |at| (column, at)));
            let others = near.filter(|&cell| cell != (column, bucket));
            if count > 0 && others.into_iter().all(|(column, at)| !has(column, at)) {
                found.push((column, bucket));
            }
        }
    }
    found
}

fn table(series: &RunSeries, of: HeatOf) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let few = series.in_at_most(ROWS_MOST);
    let row = |(index, window): (usize, &SeriesWindow)| {
        let at = |percent| of.percentile(&few, window, percent).map_or("-".to_owned(), duration);
        let moment = duration(few.begin_ns(index));
        vec![moment, of.ios(window).to_string(), at(50.0), at(99.0), at(99.9), at(100.0)]
    };
    let heads = vec![
        "from",
        if of == HeatOf::Syncs { "syncs" } else { "I/Os" },
        "p50",
        "p99",
        "p99.9",
        "longest",
    ];
    (heads, few.windows.iter().enumerate().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_rise_with_the_count_and_none_is_transparent() {
        assert_eq!((colour(1, 1000), colour(1000, 1000)), (1, COLOURS - 1));
        assert!(colour(10, 1000) < colour(100, 1000));
        assert_eq!(colour(1, 1), 1);
    }
}
