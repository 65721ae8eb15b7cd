//! One job of all hosts: counts and histograms added up.

use iosonde_base::{DIRS, PerDir};
use iosonde_report::{
    CpuUse, DepthReport, DirReport, ErrorCount, JobFailure, JobReport, LatencyTotal, OurJob,
    SyncReport, VerifyReport, WindowReport,
};

/// A job's counts so far.
#[derive(Debug, Default)]
pub(super) struct JobSum {
    clones: u32,
    start_unix_ms: Option<u64>,
    elapsed_s: u64,
    failure: Option<JobFailure>,
    dirs: PerDir<DirSum>,
    mixed: Option<DirSum>,
    sync_ios: u64,
    sync: LatencyTotal,
    cpu: CpuUse,
    depth: DepthReport,
    classes: [u64; 32],
    errors: Option<ErrorCount>,
    response: PerDir<Option<LatencyTotal>>,
    lateness: Option<LatencyTotal>,
    verify: Option<VerifyReport>,
    name: String,
    what: String,
}

/// A direction's counts so far.
#[derive(Debug, Default)]
struct DirSum {
    io_bytes: u64,
    issued_ios: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat: LatencyTotal,
    clat: LatencyTotal,
    lat: LatencyTotal,
    bw_kib: WindowReport,
    iops_windows: WindowReport,
}

impl JobSum {
    /// The first host's.
    pub fn new(host: &str, job: &JobReport, ours: Option<&OurJob>) -> JobSum {
        let mut sum = JobSum {
            name: job.name.clone(),
            what: ours.map(|ours| ours.what.clone()).unwrap_or_default(),
            ..JobSum::default()
        };
        sum.add(host, job, ours);
        sum
    }

    /// Add another host's.
    pub fn add(&mut self, host: &str, job: &JobReport, ours: Option<&OurJob>) {
        self.clones += job.clones;
        let began = self.start_unix_ms.get_or_insert(job.start_unix_ms);
        *began = (*began).min(job.start_unix_ms);
        self.elapsed_s = self.elapsed_s.max(job.elapsed_s);
        if let (None, Some(failure)) = (&self.failure, &job.failure) {
            let place = match failure.place.as_str() {
                "" => host.to_owned(),
                place => format!("{host}: {place}"),
            };
            self.failure = Some(JobFailure { place, ..failure.clone() });
        }
        DIRS.into_iter().for_each(|dir| self.dirs[dir].add(&job.dirs[dir]));
        if let Some(mixed) = &job.mixed {
            self.mixed.get_or_insert_default().add(mixed);
        }
        self.sync_ios += job.sync.total_ios;
        self.sync.add(&job.sync.lat);
        self.cpu.wall_ms += job.cpu.wall_ms;
        self.cpu.user_ns += job.cpu.user_ns;
        self.cpu.system_ns += job.cpu.system_ns;
        self.cpu.ctx += job.cpu.ctx;
        self.cpu.majf += job.cpu.majf;
        self.cpu.minf += job.cpu.minf;
        add_all(&mut self.depth.level, &job.depth.level);
        add_all(&mut self.depth.submit, &job.depth.submit);
        add_all(&mut self.depth.complete, &job.depth.complete);
        self.depth.submits += job.depth.submits;
        self.depth.completes += job.depth.completes;
        add_all(&mut self.classes, &job.latency_classes);
        if let Some(errors) = job.errors {
            let all = self.errors.get_or_insert_default();
            all.total += errors.total;
            if all.first_errno == 0 {
                all.first_errno = errors.first_errno;
            }
        }
        if let Some(ours) = ours {
            self.add_ours(ours);
        }
    }

    fn add_ours(&mut self, ours: &OurJob) {
        for dir in DIRS {
            if let Some(response) = &ours.response[dir] {
                self.response[dir].get_or_insert_default().add(response);
            }
        }
        if let Some(lateness) = &ours.lateness {
            self.lateness.get_or_insert_default().add(lateness);
        }
        if let Some(verify) = &ours.verify {
            self.verify.get_or_insert_default().merge(verify);
        }
    }

    /// The sum as a job that took `run_ms`: from the first start to the last end on any
    /// host, so that its rate is never above what was reached.
    pub fn report(&self, template: &JobReport, run_ms: u64) -> JobReport {
        JobReport {
            clones: self.clones,
            start_unix_ms: self.start_unix_ms.unwrap_or_default(),
            elapsed_s: self.elapsed_s,
            failure: self.failure.clone(),
            dirs: PerDir(DIRS.map(|dir| self.dirs[dir].report(run_ms))),
            mixed: self.mixed.as_ref().map(|mixed| mixed.report(run_ms)),
            sync: SyncReport { total_ios: self.sync_ios, lat: self.sync.report() },
            cpu: self.cpu,
            depth: self.depth,
            latency_classes: self.classes,
            errors: self.errors,
            steady: None,
            ..template.clone()
        }
    }

    /// What fio does not tell of it.
    pub fn into_ours(self) -> OurJob {
        let response = self.response.0.map(|total| total.map(|total| total.report()));
        OurJob {
            name: self.name,
            response: PerDir(response),
            lateness: self.lateness.map(|total| total.report()),
            what: self.what,
            verify: self.verify,
            ..OurJob::default()
        }
    }

    /// Keep of a job what is the same on all hosts.
    pub fn forget_counts(job: &mut JobReport) {
        (job.dirs, job.mixed, job.sync) = Default::default();
        job.steady = None;
    }
}

impl DirSum {
    fn add(&mut self, dir: &DirReport) {
        self.io_bytes += dir.io_bytes;
        self.issued_ios += dir.issued_ios;
        self.total_ios += dir.total_ios;
        self.short_ios += dir.short_ios;
        self.drop_ios += dir.drop_ios;
        self.slat.add(&dir.slat);
        self.clat.add(&dir.clat);
        self.lat.add(&dir.lat);
        add_windows(&mut self.bw_kib, &dir.bw_kib);
        add_windows(&mut self.iops_windows, &dir.iops_windows);
    }

    fn report(&self, run_ms: u64) -> DirReport {
        DirReport {
            io_bytes: self.io_bytes,
            runtime_ms: if self.issued_ios == 0 { 0 } else { run_ms },
            issued_ios: self.issued_ios,
            total_ios: self.total_ios,
            short_ios: self.short_ios,
            drop_ios: self.drop_ios,
            slat: self.slat.report(),
            clat: self.clat.report(),
            lat: self.lat.report(),
            bw_kib: self.bw_kib,
            iops_windows: self.iops_windows,
            ..DirReport::default()
        }
    }
}

/// Windows of jobs side by side: extremes and means are sums, as fio has them.
fn add_windows(sum: &mut WindowReport, other: &WindowReport) {
    let spread = |one: &WindowReport| one.stddev.powi(2) * one.samples.saturating_sub(1) as f64;
    let squares = spread(sum) + spread(other);
    sum.samples += other.samples;
    sum.min += other.min;
    sum.max += other.max;
    sum.mean += other.mean;
    sum.stddev = (squares / sum.samples.max(2).saturating_sub(1) as f64).sqrt();
}

fn add_all<const N: usize>(sum: &mut [u64; N], other: &[u64; N]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}
