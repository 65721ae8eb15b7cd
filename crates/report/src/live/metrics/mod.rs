//! A run as metrics, for Prometheus and what reads its formats: plain data, and
//! the two text formats of it ([docs/metrics.md](../../../../../docs/metrics.md)).

mod classic;
mod names;
mod openmetrics;

pub use names::{JOBS_MOST, REST, labels};

use super::page_server::{ServedPage, TEXT_FORMAT};
use iosonde_base::PerDir;
use iosonde_stats::OCTAVES;

/// A run at one moment.
#[derive(Clone, Debug, Default)]
pub struct RunMetrics {
    /// What the run is.
    pub run: RunLabels,
    /// What it is doing.
    pub state: RunState,
    /// The share that is done, from 0 to 1, where that is known.
    pub progress: Option<f64>,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// The jobs; of more than [`JOBS_MOST`] the last is all others together.
    pub jobs: Vec<JobMetrics>,
    /// The devices below the files.
    pub devices: Vec<DeviceMetrics>,
    /// The result, once there is one.
    pub result: Option<ResultMetrics>,
}

/// Facts of a run.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct RunLabels {
    pub tool: String,
    pub kernel: String,
    pub engine: String,
    pub block_size: String,
    /// A hash of the options of the jobs.
    pub fingerprint: String,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunState {
    /// Laying out files, opening them.
    #[default]
    Preparing,
    /// Jobs run.
    Running,
    /// Jobs have ended; the result is made.
    Finishing,
    /// The result is there.
    Done,
}

impl RunState {
    /// All of them.
    pub const ALL: [RunState; 4] =
        [RunState::Preparing, RunState::Running, RunState::Finishing, RunState::Done];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            RunState::Preparing => "preparing",
            RunState::Running => "running",
            RunState::Finishing => "finishing",
            RunState::Done => "done",
        }
    }
}

/// A job.
#[derive(Clone, Debug, Default)]
pub struct JobMetrics {
    /// Its label, which no other job has.
    pub name: String,
    /// The directions that it uses.
    pub dirs: PerDir<Option<DirMetrics>>,
    /// Syncs, where it may sync and latencies are kept.
    pub syncs: Option<Durations>,
    /// Bytes of its files that are dirty in the page cache, where that is known.
    pub only_in_memory_bytes: Option<u64>,
    /// `iodepth`.
    pub depth_requested: u64,
    /// Mean number of its I/Os in flight of late.
    pub depth_observed: Option<f64>,
}

/// A direction of a job.
#[derive(Clone, Debug, Default)]
pub struct DirMetrics {
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// From start to completion.
    pub service: Option<Durations>,
    /// From when an I/O was due, of paced directions.
    pub response: Option<Durations>,
}

/// Durations by powers of two microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durations {
    /// How many in each bucket.
    pub counts: [u64; OCTAVES],
    /// Their sum, in nanoseconds.
    pub sum_ns: u128,
}

impl Default for Durations {
    fn default() -> Durations {
        Durations { counts: [0; OCTAVES], sum_ns: 0 }
    }
}

/// A device.
#[derive(Clone, Debug, Default)]
pub struct DeviceMetrics {
    /// The kernel's name.
    pub name: String,
    /// Bytes since the run began: read, written, discarded.
    pub bytes: [u64; 3],
    /// Cache flushes since the run began.
    pub flushes: u64,
    /// Mean requests in flight of late.
    pub depth: Option<f64>,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct ResultMetrics {
    /// Rule and severity of each finding.
    pub findings: Vec<(String, String)>,
    /// Bytes per second with write-back included, of all writes.
    pub durable_bytes_per_s: Option<f64>,
    /// Job, direction, percentile, nanoseconds.
    pub percentiles: Vec<(String, &'static str, &'static str, u64)>,
}

/// The percentiles of a result.
pub const RESULT_PERCENTILES: [(&str, f64); 5] =
    [("50", 50.0), ("90", 90.0), ("99", 99.0), ("99.9", 99.9), ("100", 100.0)];

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl JobMetrics {
    /// Add another job.
    pub fn merge(&mut self, other: &JobMetrics) {
        for (mine, theirs) in self.dirs.0.iter_mut().zip(&other.dirs.0) {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_default();
            mine.ios += theirs.ios;
            mine.bytes += theirs.bytes;
            mine.errors += theirs.errors;
            merge(&mut mine.service, &theirs.service);
            merge(&mut mine.response, &theirs.response);
        }
        merge(&mut self.syncs, &other.syncs);
        if let Some(bytes) = other.only_in_memory_bytes {
            *self.only_in_memory_bytes.get_or_insert(0) += bytes;
        }
        self.depth_requested += other.depth_requested;
        if let Some(depth) = other.depth_observed {
            *self.depth_observed.get_or_insert(0.0) += depth;
        }
    }
}

fn merge(mine: &mut Option<Durations>, theirs: &Option<Durations>) {
    let Some(theirs) = theirs else { return };
    let mine = mine.get_or_insert_default();
    mine.counts.iter_mut().zip(&theirs.counts).for_each(|(mine, theirs)| *mine += theirs);
    mine.sum_ns += theirs.sum_ns;
}

impl RunMetrics {
    /// As OpenMetrics 1.0.
    pub fn openmetrics(&self) -> String {
        openmetrics::text(self)
    }

    /// In the text format of Prometheus, 0.0.4.
    pub fn classic(&self) -> String {
        classic::of(&openmetrics::text(self))
    }

    /// In the format that an `Accept` header asks for.
    pub fn page(&self, accept: &str) -> ServedPage {
        if wants_openmetrics(accept) {
            ServedPage { content_type: OPENMETRICS, text: self.openmetrics() }
        } else {
            ServedPage { content_type: TEXT_FORMAT, text: self.classic() }
        }
    }
}

/// Whether OpenMetrics is accepted, and no less than the text format.
fn wants_openmetrics(accept: &str) -> bool {
    let weight = |wanted: &str| {
        let weights = accept.split(',').filter_map(|choice| {
            let mut parts = choice.split(';').map(str::trim);
            let is_it = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f64>().ok());
            is_it.then(|| weight.unwrap_or(1.0))
        });
        weights.fold(0.0, f64::max)
    };
    let openmetrics = weight("application/openmetrics-text");
    openmetrics > 0.0 && openmetrics >= weight("text/plain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_one_that_is_preferred() {
        // As Prometheus 2.42 and 3.0 send it.
        let of_2_42 = "application/openmetrics-text;version=1.0.0,\
                       application/openmetrics-text;version=0.0.1;q=0.75,\
                       text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert!(wants_openmetrics(of_2_42));
        assert!(wants_openmetrics("application/openmetrics-text; version=1.0.0; q=0.6,*/*"));
        for text in ["", "*/*", "text/plain", "text/html,application/xml;q=0.9,*/*;q=0.8"] {
            assert!(!wants_openmetrics(text), "{text}");
        }
        assert!(!wants_openmetrics("application/openmetrics-text;q=0.3,text/plain;q=0.4"));
        assert!(!wants_openmetrics("application/openmetrics-text;q=0"));
    }
}
