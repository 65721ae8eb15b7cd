//! A bound on latency, and the depth that meets it.

use iosonde_base::Nanos;
use iosonde_options::{Category, TimeUnit, Triple, options};

options! {
    /// Latency goals
    pub struct LatencyGoalOptions in Category::Rate {
        /// End the job when an I/O takes longer than this; in microseconds.
        max_latency: Triple<Nanos> = "0" as "max_latency" {
            unit: TimeUnit::Micros,
            good: &["0", "100ms", "100ms,200ms"],
        }
        /// Find the highest depth at which latency stays below this; in microseconds.
        latency_target: Nanos = "0" as "latency_target" {
            unit: TimeUnit::Micros,
            good: &["0", "500", "10ms"],
        }
        /// How long each depth is tried; in microseconds.
        latency_window: Nanos = "0" as "latency_window" {
            needs: &["latency_target"],
            unit: TimeUnit::Micros,
            with: &["latency_target=10ms"],
            good: &["0", "500", "10ms"],
        }
        /// Percentage of I/Os that must meet the target.
        latency_percentile: f64 = "100" as "latency_percentile" {
            needs: &["latency_target"],
            min: Some(0),
            max: Some(100),
            with: &["latency_target=10ms"],
            good: &["99.9", "100"],
            bad: &["101", "most"],
        }
        /// Keep adjusting the depth once it is found.
        latency_run: bool = "0" as "latency_run" {
            needs: &["latency_target"],
            with: &["latency_target=10ms"],
        }
    }
}
