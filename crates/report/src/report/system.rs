//! What the machine did while the jobs ran: processors and disks.

/// Processor use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// Run time of all clones added up; percentages are of this.
    pub wall_ms: u64,
    /// Time in user mode.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Context switches, voluntary and not.
    pub ctx: u64,
    /// Page faults that needed I/O.
    pub majf: u64,
    /// Page faults that did not.
    pub minf: u64,
}

impl CpuUse {
    /// User time in percent of wall time.
    pub fn user_percent(&self) -> f64 {
        self.percent(self.user_ns)
    }

    /// System time in percent of wall time.
    pub fn system_percent(&self) -> f64 {
        self.percent(self.system_ns)
    }

    /// Add another job's.
    pub(crate) fn merge(&mut self, other: &CpuUse) {
        self.wall_ms += other.wall_ms;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.ctx += other.ctx;
        self.majf += other.majf;
        self.minf += other.minf;
    }

    fn percent(&self, ns: u64) -> f64 {
        if self.wall_ms == 0 { 0.0 } else { ns as f64 / (self.wall_ms as f64 * 1e4) }
    }
}

/// A disk under the files, and what it did while the jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskReport {
    /// The kernel's name: `vda`, `dm-0`.
    pub name: String,
    /// Differences of its counters.
    pub counts: DiskCounts,
    /// Means over the disks below, for a stacked device.
    pub aggregate: Option<DiskCounts>,
    /// The disks below, each by itself.
    pub slaves: Vec<DiskReport>,
}

/// Differences of a disk's counters (the kernel's iostats).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskCounts {
    /// Requests done: read, write.
    pub ios: [u64; 2],
    /// Sectors of 512 bytes: read, write; `None` where a result does not have
    /// them (fio's before 3.38).
    pub sectors: Option<[u64; 2]>,
    /// Requests merged into others: read, write.
    pub merges: [u64; 2],
    /// Milliseconds that requests took, added up: read, write.
    pub ticks_ms: [u64; 2],
    /// Milliseconds of requests in the queue, weighted.
    pub in_queue_ms: u64,
    /// Share of time with a request in flight, in percent, at most 100.
    pub util_percent: f64,
}

/// How idle processors were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuIdle {
    /// Of the whole system, in percent.
    pub system_percent: f64,
    /// Of each processor, in percent; empty unless asked (`percpu`).
    pub per_cpu_percent: Vec<f64>,
    /// Mean time of one unit of idle work, in microseconds.
    pub unit_mean_us: f64,
    /// Its deviation.
    pub unit_stddev_us: f64,
}
