//! The rate over time of A and of B, over one another.

use super::frame::{Chart, LEFT, RIGHT, TOP, at, legend, path, time_axis, x_axis, y_axis};
use super::scale::{Scale, byte_ticks};
use iosonde_base::median;
use iosonde_base::text::{counted, rate};
use iosonde_report::series::RunSeries;
use maud::{Markup, html};

const BOTTOM: f64 = 226.0;
/// Windows that are drawn at most.
const WINDOWS_MOST: usize = 300;

/// A side's rate in each window: the median of its runs, and their range.
struct SideRates {
    middle: Vec<Option<f64>>,
    range: Vec<Option<(f64, f64)>>,
    runs: usize,
}

/// The chart of the series of each side's runs.
pub(crate) fn chart(sides: [&[&RunSeries]; 2]) -> Option<Markup> {
    let all = || sides.iter().flat_map(|runs| runs.iter());
    let interval_ns = all().next()?.interval_ns;
    // Windows of different length are not the same moments.
    if sides.iter().any(|runs| runs.is_empty()) || all().any(|one| one.interval_ns != interval_ns) {
        return None;
    }
    let windows = all().map(|one| one.windows.len()).max()?;
    let together = windows.div_ceil(WINDOWS_MOST).max(1);
    let interval_ns = interval_ns.saturating_mul(together as u64);
    let few = sides.map(|runs| {
        runs.iter()
            .map(|one| one.in_at_most(one.windows.len().div_ceil(together)))
            .collect::<Vec<_>>()
    });
    let rates = [0, 1].map(|side: usize| SideRates::of(&few[side], interval_ns));
    let length = rates.iter().map(|one| one.middle.len()).max()?;
    let most = rates
        .iter()
        .flat_map(|one| one.range.iter().flatten())
        .map(|range| range.1)
        .fold(0.0, f64::max);
    if length < 2 || most <= 0.0 {
        return None;
    }
    let y_ticks = byte_ticks(most);
    let y = Scale::linear(0.0, y_ticks[y_ticks.len() - 1], BOTTOM, TOP);
    let span = RunSeries {
        interval_ns,
        windows: vec![Default::default(); length],
        ..RunSeries::default()
    };
    let (x, labels) = time_axis(&span, (LEFT, RIGHT));
    let moment = |index: usize| x.at((index as f64 + 0.5) * interval_ns as f64 / 1e9);
    let line = |rates: &SideRates| {
        let points = rates.middle.iter().enumerate();
        path(points.map(|(index, rate)| Some((moment(index), y.at((*rate)?)))))
    };
    let names = [("a", side_name("A", rates[0].runs)), ("b", side_name("B", rates[1].runs))];
    let drawing = html! {
        (y_axis(&y_ticks, &y, rate))
        (x_axis(&labels, &x, BOTTOM, "seconds"))
        @for (class, rates) in ["a", "b"].into_iter().zip(&rates) {
            path class={ "range-band " (class) } data-series=(class) d=(rates.band(&moment, &y)) {}
        }
        @for (class, rates) in ["a", "b"].into_iter().zip(&rates) {
            path class={ "line " (class) } data-series=(class) d=(line(rates)) {}
        }
        (legend(&names))
    };
    let chart = Chart {
        id: "rate",
        title: "Rate over time, A and B",
        finding:
            "All directions together: the line is the median of a side's runs in each window, the \
                  band their range."
                .to_owned(),
        height: BOTTOM + 40.0,
        drawing,
        table: (Vec::new(), Vec::new()),
    };
    Some(chart.markup())
}

fn side_name(side: &str, runs: usize) -> String {
    format!("{side}, {}", counted(runs as u64, "run"))
}

impl SideRates {
    fn of(runs: &[RunSeries], interval_ns: u64) -> SideRates {
        let length = runs.iter().map(|one| one.windows.len()).max().unwrap_or(0);
        let seconds = interval_ns as f64 / 1e9;
        let at = |index: usize| {
            let mut rates: Vec<f64> = runs
                .iter()
                .filter_map(|one| Some(one.windows.get(index)?.bytes()? as f64 / seconds))
                .collect();
            rates.sort_by(f64::total_cmp);
            rates
        };
        let all: Vec<Vec<f64>> = (0..length).map(at).collect();
        SideRates {
            middle: all.iter().map(|rates| (!rates.is_empty()).then(|| median(rates))).collect(),
            range: all.iter().map(|rates| Some((*rates.first()?, *rates.last()?))).collect(),
            runs: runs.len(),
        }
    }

    /// The area between the lowest and the highest run.
    fn band(&self, moment: &dyn Fn(usize) -> f64, y: &Scale) -> String {
        let known: Vec<(usize, (f64, f64))> =
            self.range.iter().enumerate().filter_map(|(at, range)| Some((at, (*range)?))).collect();
        if known.len() < 2 {
            return String::new();
        }
        let point = |index: usize, value: f64| format!("{} {}", at(moment(index)), at(y.at(value)));
        let up = known.iter().map(|(index, range)| point(*index, range.1));
        let down = known.iter().rev().map(|(index, range)| point(*index, range.0));
        format!("M{}z", up.chain(down).collect::<Vec<_>>().join("L"))
    }
}
