//! One line's figures: of a window or of the whole run, as plain data.

use crate::bench::{Benchmark, LatencyUnit, MB, WorkerRole};
use crate::latencies::{Latencies, Ranked, percentiles};

/// The figures of one line.
#[derive(Clone, Debug)]
pub struct Figures {
    /// It covers the run, not a window.
    pub total: bool,
    /// When it was printed, in milliseconds since 1970.
    pub unix_ms: u64,
    /// Workers that run now, and the most that ran at once.
    pub workers: (u32, u32),
    /// How long it covers, in nanoseconds.
    pub elapsed_ns: u64,
    /// The seconds that were requested, in the total of a run that lasted as long.
    pub requested_s: Option<u64>,
    /// Records done.
    pub latencies: Latencies,
    /// Percentiles of the line's format.
    pub ranked: Ranked,
    /// Records requested in this time, and those not completed;
    /// `None` where they are not counted apart.
    pub requests: Option<(u64, u64)>,
}

impl Figures {
    /// The figures of some records over some time.
    pub fn of(
        bench: &Benchmark,
        mut latencies: Latencies,
        elapsed_ns: u64,
        total: bool,
    ) -> Figures {
        let output = &bench.output;
        let ranked = latencies.ranked(percentiles(output.format), output.unit);
        Figures {
            total,
            unix_ms: iosonde_base::time::unix_ms(),
            workers: (0, 0),
            elapsed_ns,
            requested_s: None,
            latencies,
            ranked,
            requests: None,
        }
    }

    /// The whole seconds that a line shows. The last record of a timed run ends a
    /// little before its time or after it; the total shows the time.
    pub fn seconds(&self) -> u64 {
        self.requested_s.unwrap_or(self.elapsed_ns / 1_000_000_000)
    }

    /// Something a second, over the time of these figures.
    pub fn per_second(&self, n: f64) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { n / (self.elapsed_ns as f64 / 1e9) }
    }

    /// Records a second.
    pub fn records_per_second(&self) -> f64 {
        self.per_second(self.latencies.records as f64)
    }

    /// MiB, which SBK calls MB.
    pub fn mb(&self) -> f64 {
        self.latencies.bytes as f64 / MB
    }

    /// The mean, shortest and longest latency in a unit; the last two whole.
    pub fn spread(&self, unit: LatencyUnit) -> (f64, u64, u64) {
        let latencies = &self.latencies;
        (latencies.mean(unit), latencies.least() / unit.ns(), latencies.max / unit.ns())
    }

    /// Writers and readers now, and the most of each.
    pub fn workers_of(&self, action: WorkerRole) -> [u32; 4] {
        let (now, most) = self.workers;
        match action {
            WorkerRole::Write => [now, 0, most, 0],
            WorkerRole::Read => [0, now, 0, most],
        }
    }
}
