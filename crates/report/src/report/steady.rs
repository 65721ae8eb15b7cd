//! The steady state that a job was to reach (`steadystate`), and its window.

use super::Report;

/// `steadystate` and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyResult {
    /// `iops`, `iops_slope`, `bw`, `bw_slope`, `lat`, `lat_slope`.
    pub what: String,
    /// The limit as a number.
    pub limit: f64,
    /// Whether the limit is in percent of the mean.
    pub limit_is_percent: bool,
    /// `ss_dur`.
    pub duration_s: u64,
    /// Whether it was attained.
    pub attained: bool,
    /// What was compared with the limit (in percent of the mean where the
    /// limit is): a deviation or a slope.
    pub criterion: f64,
    /// Largest deviation from the mean.
    pub max_deviation: f64,
    /// Slope of the least squares line.
    pub slope: f64,
    /// The window's samples, oldest first.
    pub samples: Vec<SteadySample>,
    /// How many samples a full window has.
    pub samples_max: usize,
}

impl Report {
    /// Zeroes in place of the samples that steady state windows lack, as fio
    /// has them: programs divide by the length of a window.
    pub fn pad_steady_windows(&mut self) {
        for steady in self.jobs.iter_mut().filter_map(|job| job.steady.as_mut()) {
            let padded = steady.samples_max.min(PADDED_SAMPLES_MAX);
            if steady.samples.len() < padded {
                steady.samples.resize(padded, SteadySample::default());
            }
        }
    }
}

/// Windows are not padded further: `ss_dur` may be years.
const PADDED_SAMPLES_MAX: usize = 1 << 20;

/// One interval (`ss_interval`) of a steady state window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SteadySample {
    pub iops: u64,
    pub bw_bytes_per_s: u64,
    pub lat_ns: u64,
}
