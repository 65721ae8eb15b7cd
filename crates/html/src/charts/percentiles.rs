//! Latency by percentile: how bad is the tail?

use super::frame::{
    Chart, ChartTable, KeyEntry, LEFT, RIGHT, at, below_legend, legend, width, x_axis, y_axis,
};
use super::scale::{Scale, log_ticks};
use crate::figures::NamedLatency;
use iosonde_base::text::{duration, short_duration};
use iosonde_report::LatencyReport;
use maud::{Markup, html};
use std::fmt::Write;

/// Height of the drawing below its legend.
const HEIGHT: f64 = 220.0;
/// A percentile above which fewer values lie is not part of the solid line.
const VALUES_LEAST: f64 = 10.0;

/// A step of a curve: up to this share of the values, this latency.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CurveStep {
    share: f64,
    ns: u64,
}

/// The chart of some latencies.
pub(crate) fn chart(id: &str, latencies: &[NamedLatency]) -> Option<Markup> {
    titled(id, "Latency by percentile", latencies)
}

/// The chart under another title.
pub(crate) fn titled(id: &str, title: &str, latencies: &[NamedLatency]) -> Option<Markup> {
    let some: Vec<&NamedLatency> =
        latencies.iter().filter(|one| !steps(&one.latency).is_empty()).collect();
    let low = some.iter().map(|one| lowest(&one.latency)).min()?.max(1);
    let high = some.iter().map(|one| one.latency.max_ns).max()?;
    let values = some.iter().map(|one| one.latency.n).max()?;
    let names: Vec<_> =
        some.iter().map(|one| KeyEntry::marked(one.class, one.name.as_str())).collect();
    let top = below_legend(&names);
    let bottom = top + HEIGHT;
    let y = Scale::log(low as f64 / 1.2, high as f64 * 1.2, bottom, top);
    let y_ticks = log_ticks(y.low(), y.high(), false);
    // Nines: 0 for p0, 1 for p90, 2 for p99. One more than the values can tell.
    let nines = (values as f64).log10().ceil().clamp(2.0, 7.0);
    let x = Scale::linear(0.0, nines, LEFT, RIGHT);
    let labels: Vec<(f64, String)> = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
        .into_iter()
        .map(|percent| (nines_of(percent / 100.0), percent.to_string()))
        .filter(|(place, _)| *place <= nines + 1e-6)
        .collect();
    let labels = with_room(labels, &x);
    let drawing = html! {
        (y_axis(&y_ticks, &y, |ns| short_duration(ns as u64)))
        (x_axis(&labels, &x, bottom, "percentile"))
        @for one in &some {
            @let curve = LatencyCurve::of(&one.latency, &x, &y);
            path class={ "line " (one.class) } data-series=(one.class) d=(curve.solid) {}
            path class={ "line thin " (one.class) } data-series=(one.class) d=(curve.beyond) {}
            circle class={ "dot " (one.class) } data-series=(one.class) r="3.5"
                cx=(at(RIGHT)) cy=(at(y.at(one.latency.max_ns as f64))) {}
        }
        (legend(&names))
    };
    Some(
        Chart {
            id,
            title,
            finding: finding(&some),
            height: bottom + 40.0,
            drawing,
            table: table(&some),
        }
        .markup(),
    )
}

/// So many times below p1 the axis begins at most: one I/O that took next to nothing would make
/// the rest of the curve flat.
const BELOW_MOST: u64 = 20;

/// Where the axis has to begin.
fn lowest(latency: &LatencyReport) -> u64 {
    latency.at(1.0).map_or(latency.min_ns, |p1| latency.min_ns.max(p1 / BELOW_MOST))
}

/// The labels that do not touch: the first and the last, and of the others as many as fit.
fn with_room(mut labels: Vec<(f64, String)>, x: &Scale) -> Vec<(f64, String)> {
    let last = labels.pop();
    let ends_at = |label: &(f64, String)| x.at(label.0) + width(&label.1) / 2.0;
    let begins_at = |label: &(f64, String)| x.at(label.0) - width(&label.1) / 2.0;
    // That of the last stands on the left of the border.
    let limit = last.as_ref().map_or(f64::MAX, |last| x.at(last.0) - width(&last.1) - 8.0);
    let mut kept: Vec<(f64, String)> = Vec::new();
    for label in labels {
        let before = kept.last().map_or(f64::MIN, ends_at);
        if begins_at(&label) > before + 6.0 && ends_at(&label) < limit {
            kept.push(label);
        }
    }
    kept.into_iter().chain(last).collect()
}

/// How many nines a share has: the place on the axis.
fn nines_of(share: f64) -> f64 {
    -(1.0 - share.min(1.0 - 1e-9)).log10()
}

/// The steps of a curve: of the bins, else of the percentiles that were reported.
fn steps(latency: &LatencyReport) -> Vec<CurveStep> {
    if latency.bins.is_empty() {
        let reported = latency.percentiles.as_deref().unwrap_or_default();
        return reported
            .iter()
            .map(|&(percent, ns)| CurveStep { share: percent / 100.0, ns })
            .collect();
    }
    let total = latency.bins.iter().map(|bin| bin.1).sum::<u64>().max(1) as f64;
    let mut seen = 0;
    latency
        .bins
        .iter()
        .map(|&(ns, count)| {
            seen += count;
            let ns = ns.clamp(latency.min_ns, latency.max_ns.max(latency.min_ns));
            CurveStep { share: seen as f64 / total, ns }
        })
        .collect()
}

/// A curve in two parts: up to the last percentile that rests on enough
/// values, and beyond.
struct LatencyCurve {
    solid: String,
    beyond: String,
}

impl LatencyCurve {
    fn of(latency: &LatencyReport, x: &Scale, y: &Scale) -> LatencyCurve {
        let sure = 1.0 - VALUES_LEAST / latency.n.max(1) as f64;
        let mut curve = LatencyCurve { solid: String::new(), beyond: String::new() };
        let (mut last_x, mut last_y) = (x.at(0.0), None::<f64>);
        for step in steps(latency) {
            let (right, height) = (x.at(nines_of(step.share)), y.at(step.ns as f64));
            // Steps that look the same are left out.
            if last_y.is_some_and(|last| (last - height).abs() < 0.4) && right - last_x < 0.6 {
                continue;
            }
            let part = if step.share <= sure || last_y.is_none() {
                &mut curve.solid
            } else {
                &mut curve.beyond
            };
            if part.is_empty() {
                let _ = write!(part, "M{} {}", at(last_x), at(last_y.unwrap_or(height)));
            }
            let _ = write!(part, "V{}H{}", at(height), at(right));
            (last_x, last_y) = (right, Some(height));
        }
        curve
    }
}

fn finding(some: &[&NamedLatency]) -> String {
    let one = |one: &&NamedLatency| {
        let at = |percent| one.latency.at(percent).map_or("-".to_owned(), duration);
        let max = duration(one.latency.max_ns);
        format!("{}: p50 {}, p99 {}, max {max}", one.name, at(50.0), at(99.0))
    };
    let all: Vec<String> = some.iter().map(one).collect();
    let thin = "Thin where fewer than 10 I/Os lie above; the dot is the maximum.";
    format!("{}. {thin}", all.join("; "))
}

const PERCENTS: [f64; 8] = [1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// A column for each latency.
fn table<'a>(some: &[&'a NamedLatency]) -> ChartTable<'a> {
    let row = |name: String, text: &dyn Fn(&LatencyReport) -> String| -> Vec<String> {
        std::iter::once(name).chain(some.iter().map(|one| text(&one.latency))).collect()
    };
    let mut rows = vec![row("min".to_owned(), &|one| duration(one.min_ns))];
    for percent in PERCENTS {
        rows.push(row(format!("p{percent}"), &|one| {
            one.at(percent).map_or("-".to_owned(), duration)
        }));
    }
    rows.push(row("max".to_owned(), &|one| duration(one.max_ns)));
    rows.push(row("I/Os".to_owned(), &|one| one.n.to_string()));
    (std::iter::once("").chain(some.iter().map(|one| one.name.as_str())).collect(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_thin_where_few_values_lie_above() {
        let latency = LatencyReport {
            n: 1000,
            min_ns: 100,
            max_ns: 9_000,
            bins: vec![(100, 900), (1_000, 95), (9_000, 5)],
            ..LatencyReport::default()
        };
        let x = Scale::linear(0.0, 3.0, 0.0, 300.0);
        let y = Scale::log(100.0, 10_000.0, 200.0, 0.0);
        let curve = LatencyCurve::of(&latency, &x, &y);
        // 900 of 1000 is one nine: a third of the axis.
        assert_eq!(curve.solid, "M0 200V200H100");
        assert!(curve.beyond.starts_with("M100 200V100H"), "{}", curve.beyond);
    }

    #[test]
    fn two_modes_are_two_levels() {
        let bins = vec![(100_000, 900), (10_000_000, 100)];
        let latency = LatencyReport {
            n: 1000,
            min_ns: 100_000,
            max_ns: 10_000_000,
            bins,
            ..LatencyReport::default()
        };
        let found = steps(&latency);
        assert_eq!(found[0], CurveStep { share: 0.9, ns: 100_000 });
        assert_eq!(found[1], CurveStep { share: 1.0, ns: 10_000_000 });
        assert_eq!(latency.at(95.0), Some(10_000_000));
    }
}
