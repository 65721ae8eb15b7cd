//! A latency in fio's JSON.

use crate::report::LatencyReport;
use serde_json::{Map, Value};

/// Whether latency bins are included: only in json+.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bins {
    Included,
    Omitted,
}

/// A latency: extremes, moments, percentiles where they were asked for.
pub(super) fn latency_value(latency: &LatencyReport, bins: Bins) -> Value {
    let mut value = Map::new();
    value.insert("min".into(), latency.min_ns.into());
    value.insert("max".into(), latency.max_ns.into());
    value.insert("mean".into(), latency.mean_ns.into());
    value.insert("stddev".into(), latency.stddev_ns.into());
    value.insert("N".into(), latency.n.into());
    if let Some(list) = &latency.percentiles {
        value.insert("percentile".into(), percentiles(list));
        // fio has no bins where it has no percentiles.
        if bins == Bins::Included {
            let bin = |&(ns, count): &(u64, u64)| (ns.to_string(), Value::from(count));
            value.insert("bins".into(), latency.bins.iter().map(bin).collect());
        }
    }
    Value::Object(value)
}

/// Programs look for exactly six decimals in these keys.
pub(super) fn percentiles(list: &[(f64, u64)]) -> Value {
    list.iter().map(|(percent, value)| (format!("{percent:.6}"), Value::from(*value))).collect()
}
