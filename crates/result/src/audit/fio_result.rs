//! The parts of a fio result that an audit needs.

use crate::StoredResult;
use iosonde_base::{Dir, PerDir};
use iosonde_report::{DirReport, DiskReport, JobReport, OptionTexts, Unified};

/// One result.
pub struct FioResult {
    /// As written: `fio-3.33`.
    pub version: String,
    /// Its jobs, or groups of them.
    pub jobs: Vec<FioJob>,
    /// The lowest of the disks that it counts; none if it counts none.
    pub disks: Vec<FioDisk>,
}

/// One entry of `jobs`: a job, or a group of them.
pub struct FioJob {
    pub name: String,
    /// Of reads and of writes.
    pub ios: [u64; 2],
    pub bytes: [u64; 2],
    pub syncs: u64,
    pub runtime_ms: u64,
    /// User and system time of one processor, in percent.
    pub cpu: f64,
    pub direct: bool,
    pub random: bool,
    pub end_sync: bool,
    /// `O_SYNC` or `O_DSYNC`.
    pub sync_writes: bool,
    pub depth: u64,
    /// A rate or think time holds it back.
    pub paced: bool,
    /// It ran uncounted for a while first, which the disks counted.
    pub ramped: bool,
    pub count: u64,
    pub engine: String,
    pub error: i64,
}

/// One entry of `disk_util`.
pub struct FioDisk {
    pub name: String,
    /// Requests of reads and of writes that the device did.
    pub requests: [u64; 2],
    /// Requests that went into others.
    pub merges: [u64; 2],
    /// Summed time of requests in flight, in milliseconds.
    pub queue_ms: u64,
    /// Percent of the time.
    pub util: f64,
}

impl FioResult {
    /// The part that a stored result has.
    pub fn of(stored: &StoredResult) -> FioResult {
        let report = &stored.report;
        let globals = report.global_options.as_deref().unwrap_or_default();
        // Disks that stand on others carry sums of those below.
        let lowest = report.disks.iter().filter(|disk| disk.aggregate.is_none());
        FioResult {
            version: report.version.clone(),
            jobs: report.jobs.iter().map(|job| FioJob::of(job, globals)).collect(),
            disks: lowest.map(FioDisk::of).collect(),
        }
    }

    /// One line on it.
    pub fn what(&self) -> String {
        let jobs = match &self.jobs[..] {
            [one] => format!("job {}", one.name),
            many => format!("{} jobs", many.len()),
        };
        let disks: Vec<&str> = self.disks.iter().map(|disk| &disk.name[..]).collect();
        let on = if disks.is_empty() { "no disk counters".to_owned() } else { disks.join(", ") };
        format!("{}, {jobs}, on {on}", self.version)
    }

    /// The sum over all jobs.
    pub fn sum(&self, of: impl Fn(&FioJob) -> u64) -> u64 {
        self.jobs.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The sum over all disks.
    pub fn requests(&self, way: usize) -> u64 {
        let all = |disk: &FioDisk| disk.requests[way].saturating_add(disk.merges[way]);
        self.disks.iter().map(all).fold(0, u64::saturating_add)
    }

    /// The longest of the jobs.
    pub fn runtime_ms(&self) -> u64 {
        self.jobs.iter().map(|job| job.runtime_ms).max().unwrap_or(0)
    }
}

/// Options that keep a queue from being full.
const PACES: [&str; 4] = ["rate", "rate_iops", "thinktime", "flow"];

impl FioJob {
    fn of(job: &JobReport, globals: &[(String, String)]) -> FioJob {
        let option = |name: &str| option(&job.options, globals, name).unwrap_or_default();
        // An option without a value is on.
        let given = |name: &str| self::option(&job.options, globals, name).is_some();
        let on = |name: &str| given(name) && !matches!(option(name), "0" | "none");
        let dirs = data(job);
        let ways = [Dir::Read, Dir::Write];
        FioJob {
            name: job.name.clone(),
            ios: ways.map(|way| dirs[way].issued_ios),
            bytes: ways.map(|way| dirs[way].io_bytes),
            syncs: job.sync.total_ios,
            runtime_ms: ways.map(|way| dirs[way].runtime_ms).into_iter().max().unwrap_or(0),
            cpu: job.cpu.user_percent() + job.cpu.system_percent(),
            direct: on("direct") || given("buffered") && !on("buffered"),
            random: option("rw").starts_with("rand") || option("readwrite").starts_with("rand"),
            end_sync: on("end_fsync") || on("fsync_on_close"),
            sync_writes: on("sync"),
            ramped: on("ramp_time") || on("ramp_size"),
            paced: PACES.iter().any(|name| on(name)),
            depth: option("iodepth").parse().unwrap_or(1),
            count: option("numjobs").parse().unwrap_or(1),
            engine: match option("ioengine") {
                "" => "psync".to_owned(),
                name => name.to_owned(),
            },
            error: job.shown_errno().into(),
        }
    }
}

/// Reads and writes of a job. Where only their sum was reported it belongs to
/// the direction of a job that has one, and is unknown for a mixed job.
fn data(job: &JobReport) -> PerDir<DirReport> {
    let mut dirs = job.dirs.clone();
    if let (Unified::Mixed, Some(mixed)) = (job.unified, &job.mixed) {
        match option(&job.options, &[], "rw").unwrap_or_default() {
            "read" | "randread" => dirs[Dir::Read] = mixed.clone(),
            "write" | "randwrite" => dirs[Dir::Write] = mixed.clone(),
            _ => {}
        }
    }
    dirs
}

/// An option of a job, or of those before the first job.
fn option<'a>(
    own: &'a OptionTexts,
    globals: &'a [(String, String)],
    name: &str,
) -> Option<&'a str> {
    let all = own.iter().chain(globals);
    let mut found = all.filter(|(known, _)| known == name);
    found.next().map(|(_, text)| text.as_str())
}

impl FioDisk {
    fn of(disk: &DiskReport) -> FioDisk {
        FioDisk {
            name: disk.name.clone(),
            requests: disk.counts.ios,
            merges: disk.counts.merges,
            queue_ms: disk.counts.in_queue_ms,
            util: disk.counts.util_percent,
        }
    }
}
