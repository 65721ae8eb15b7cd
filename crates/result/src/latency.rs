//! Latencies: of fio 3 in nanoseconds, of fio 2 in microseconds.

use crate::era::FioEra;
use crate::member::{count, note, number, times, whole};
use iosonde_report::{LatencyReport, Quick};
use iosonde_stats::middle;
use serde_json::Value;

/// The latency `name` (`clat`) of an object that has it as `clat_ns` or as
/// `clat`. Where the count is not written it is `ios`.
pub(crate) fn report(
    of: &Value,
    name: &str,
    ios: u64,
    era: FioEra,
    notes: &mut Vec<String>,
) -> LatencyReport {
    let (value, scale) = match of.get(format!("{name}_ns")) {
        Some(value) => (value, 1),
        None => match of.get(name) {
            Some(value) => (value, 1000),
            None => return LatencyReport::default(),
        },
    };
    let scaled = |ns: u64| times(ns, scale);
    let (min_ns, max_ns) = (scaled(count(value, "min")), scaled(count(value, "max")));
    let n = whole(&value["N"]).unwrap_or(if max_ns > 0 { ios } else { 0 });
    if n == 0 {
        return LatencyReport::default();
    }
    if era == FioEra::Two && scale == 1000 {
        note(notes, "latencies are in whole microseconds, as fio 2 writes them");
    }
    let bins = bins(&value["bins"], scale);
    let percentiles = percentiles(&value["percentile"], scale);
    let mut report = LatencyReport {
        n,
        min_ns,
        max_ns,
        mean_ns: number(value, "mean") * scale as f64,
        stddev_ns: number(value, "stddev") * scale as f64,
        percentiles,
        quick: None,
        bins,
    };
    report.quick = quick(&report);
    report
}

/// Add bins that stand elsewhere, as pairs of nanoseconds and counts.
pub(crate) fn add_bins(latency: &mut LatencyReport, pairs: Vec<(u64, u64)>) {
    if latency.n > 0 && latency.bins.is_empty() {
        latency.bins = pairs;
        latency.quick = quick(latency);
    }
}

/// The percentiles that our own report shows, if all four are known.
fn quick(latency: &LatencyReport) -> Option<Quick> {
    Some(Quick {
        p50_ns: latency.at(50.0)?,
        p90_ns: latency.at(90.0)?,
        p99_ns: latency.at(99.0)?,
        p999_ns: latency.at(99.9)?,
    })
}

/// Percentiles in rising order. fio 2 fills its list up with `"0.00" : 0`.
fn percentiles(list: &Value, scale: u64) -> Option<Vec<(f64, u64)>> {
    let member = |(key, value): (&String, &Value)| {
        let percent = key.parse::<f64>().ok().filter(|&percent| percent > 0.0)?;
        Some((percent, times(whole(value)?, scale)))
    };
    let mut list: Vec<(f64, u64)> = list.as_object()?.iter().filter_map(member).collect();
    iosonde_base::sort_by(&mut list, |one, other| one.0.total_cmp(&other.0));
    (!list.is_empty()).then_some(list)
}

/// Bins: the middle in nanoseconds and the count. fio 2 writes the number of
/// the bucket and, beside them, the geometry.
fn bins(bins: &Value, scale: u64) -> Vec<(u64, u64)> {
    let Some(members) = bins.as_object() else { return Vec::new() };
    let by_number = members.keys().any(|key| key.starts_with("FIO_IO_U_PLAT"));
    let member = |(key, value): (&String, &Value)| {
        let at = key.parse::<u64>().ok()?;
        let ns = if by_number {
            middle(usize::try_from(at).ok().filter(|&at| at < iosonde_stats::BUCKETS)?)
        } else {
            at
        };
        Some((times(ns, scale), whole(value).filter(|&count| count > 0)?))
    };
    let mut bins: Vec<(u64, u64)> = members.iter().filter_map(member).collect();
    iosonde_base::sort(&mut bins);
    bins
}
