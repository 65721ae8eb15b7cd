//! Ending a job once its numbers hold still.

use iosonde_base::Nanos;
use iosonde_options::{Category, TimeUnit, options};

use crate::values::SteadyGoal;

options! {
    /// Steady state
    pub struct SteadyOptions in Category::SteadyState {
        /// What counts as steady: `iops:5%`, `bw_slope:0.1%`, `lat:1ms`.
        steadystate: Option<SteadyGoal> = "" as "steadystate" | "ss" {
            unit: TimeUnit::Micros,
            good: &["iops:10", "iops:10%", "iops_slope:0.3%", "bw:1g", "bw_slope:5%"],
            bad: &["iops", "iops:", "iops:x", "speed:5%"],
        }
        /// How long it must hold; 0 for never. A multiple of the check interval.
        steadystate_duration: Nanos = "0" as "steadystate_duration" | "ss_dur" {
            parent: Some("steadystate"),
            good: &["0", "60", "10s"],
            bad: &["long"],
        }
        /// How long to run before looking.
        steadystate_ramp_time: Nanos = "0" as "steadystate_ramp_time" | "ss_ramp" {
            parent: Some("steadystate"),
            good: &["0", "60", "10s"],
            bad: &["long"],
        }
        /// How often to look.
        steadystate_check_interval: Nanos = "1" as "steadystate_check_interval" | "ss_interval" {
            parent: Some("steadystate"),
            good: &["1", "500ms"],
            bad: &["often"],
        }
    }
}
