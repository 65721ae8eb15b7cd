//! The rate over time of A and of B, over one another.

use super::frame::{ChartTable, LEFT, RIGHT, TOP, time_axis};
use super::lines::{DrawnLine, ExtremesStyle, LineChart, LinePoint, XAxis, YAxis};
use crate::FigureUnit;
use iosonde_base::median;
use iosonde_base::text::counted;
use iosonde_report::series::RunSeries;
use maud::Markup;

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
        let few = |one: &&RunSeries| one.in_at_most(one.windows.len().div_ceil(together));
        runs.iter().map(few).collect::<Vec<_>>()
    });
    let rates = [0, 1].map(|side: usize| SideRates::of(&few[side]));
    let length = rates.iter().map(|one| one.middle.len()).max()?;
    let most = rates
        .iter()
        .flat_map(|one| one.range.iter().flatten())
        .map(|range| range.1)
        .fold(0.0, f64::max);
    if length < 2 || most <= 0.0 {
        return None;
    }
    let span = RunSeries {
        interval_ns,
        windows: vec![Default::default(); length],
        ..RunSeries::default()
    };
    let (scale, labels) = time_axis(&span, (LEFT, RIGHT));
    let chart = LineChart {
        id: "rate",
        title: "Rate over time, A and B",
        finding:
            "All directions together: the line is the median of a side's runs in each window, the \
                  band their range."
                .to_owned(),
        x: XAxis { scale, labels, name: "seconds".to_owned() },
        y: YAxis::from_zero(FigureUnit::BytesPerSecond, most, (BOTTOM, TOP)),
        lines: vec![rates[0].line("a", "A", interval_ns), rates[1].line("b", "B", interval_ns)],
        has_legend: true,
        behind: Markup::default(),
        above: Markup::default(),
        table: ChartTable::default(),
    };
    Some(chart.markup())
}

fn side_name(side: &str, runs: usize) -> String {
    format!("{side}, {}", counted(runs as u64, "run"))
}

impl SideRates {
    fn of(runs: &[RunSeries]) -> SideRates {
        let length = runs.iter().map(|one| one.windows.len()).max().unwrap_or(0);
        let rate = |one: &RunSeries, index: usize| {
            Some(one.windows.get(index)?.bytes()? as f64 / one.rate_seconds(index)?)
        };
        let at = |index: usize| {
            let mut rates: Vec<f64> = runs.iter().filter_map(|one| rate(one, index)).collect();
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

    fn line(&self, class: &'static str, side: &str, interval_ns: u64) -> DrawnLine {
        let point = |index: usize| {
            let (y, (low, high)) = (self.middle[index]?, self.range[index]?);
            Some(LinePoint { x: (index as f64 + 0.5) * interval_ns as f64 / 1e9, y, low, high })
        };
        let points = (0..self.middle.len()).map(point).collect();
        let name = side_name(side, self.runs);
        DrawnLine { extremes: ExtremesStyle::Band, ..DrawnLine::new(class, &name, points) }
    }
}
