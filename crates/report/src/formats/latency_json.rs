//! A latency in fio's JSON.

use crate::report::LatencyReport;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Whether latency bins are included: only in json+.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bins {
    Included,
    Omitted,
}

/// A latency as fio writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyDocument {
    /// The smallest.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "ns")))]
    min: u64,
    /// The largest.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "ns")))]
    max: u64,
    /// The mean.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "ns")))]
    mean: f64,
    /// The sample's standard deviation.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "ns")))]
    stddev: f64,
    /// How many values.
    #[serde(rename = "N")]
    n: u64,
    /// By percent with six decimals (`99.000000`), the latency that so many values do not
    /// exceed. Missing without values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Numbers>", extend("unit" = "ns")))]
    percentile: Option<Map<String, Value>>,
    /// Only in json+: by the middle of a bucket in nanoseconds, the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Numbers>"))]
    bins: Option<Map<String, Value>>,
}

#[cfg(feature = "schema")]
type Numbers = std::collections::BTreeMap<String, u64>;

impl LatencyDocument {
    /// Extremes, moments, percentiles where they were asked for.
    pub(crate) fn of(latency: &LatencyReport, bins: Bins) -> LatencyDocument {
        let list = latency.percentiles.as_deref();
        // fio has no bins where it has no percentiles.
        let with_bins = list.is_some() && bins == Bins::Included;
        let bin = |&(ns, count): &(u64, u64)| (ns.to_string(), Value::from(count));
        LatencyDocument {
            min: latency.min_ns,
            max: latency.max_ns,
            mean: latency.mean_ns,
            stddev: latency.stddev_ns,
            n: latency.n,
            percentile: list.map(percentiles),
            bins: with_bins.then(|| latency.bins.iter().map(bin).collect()),
        }
    }
}

/// A latency as a value.
pub(super) fn latency_value(latency: &LatencyReport, bins: Bins) -> Value {
    json!(LatencyDocument::of(latency, bins))
}

/// Programs look for exactly six decimals in these keys.
pub(super) fn percentiles(list: &[(f64, u64)]) -> Map<String, Value> {
    list.iter().map(|(percent, value)| (format!("{percent:.6}"), Value::from(*value))).collect()
}
