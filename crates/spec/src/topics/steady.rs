//! Ending a job once its numbers hold still.

use iosonde_base::Nanos;
use iosonde_options::{Category, TimeUnit, options};

use crate::values::SteadyGoal;

options! {
    /// Steady state
    pub struct SteadyOptions in Category::SteadyState {
        /// Criterion of the steady state: `iops:5%`, `bw_slope:0.1%`, `lat:1ms`.
        steadystate: Option<SteadyGoal> = "" as "steadystate" | "ss" {
            unit: TimeUnit::Micros,
            with: &["steadystate_duration=60"],
            good: &["iops:10", "iops:10%", "iops_slope:0.3%", "bw:1g", "bw_slope:5%"],
            bad: &["iops", "iops:", "iops:x", "speed:5%"],
        }
        /// Window in which the criterion must be met; 0 for off. A multiple of the check interval.
        steadystate_duration: Nanos = "0" as "steadystate_duration" | "ss_dur" {
            parent: Some("steadystate"),
            with: &["steadystate=iops:5%"],
            good: &["0", "60", "10s"],
        }
        /// Time to run before data is collected.
        steadystate_ramp_time: Nanos = "0" as "steadystate_ramp_time" | "ss_ramp" {
            parent: Some("steadystate"),
            with: &["steadystate=iops:5%", "steadystate_duration=60"],
            good: &["0", "60", "10s"],
        }
        /// Interval at which data is collected.
        steadystate_check_interval: Nanos = "1" as "steadystate_check_interval" | "ss_interval" {
            parent: Some("steadystate"),
            with: &["steadystate=iops:5%", "steadystate_duration=60"],
            good: &["1", "500ms"],
        }
    }
}
