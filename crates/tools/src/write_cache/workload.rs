//! The jobs that are compared: which they are, whether they write to the disk,
//! and one run of them.

use super::device;
use iosonde_base::Dir;
use iosonde_base::exit;
use iosonde_command::format::printable;
use iosonde_options::Origin;
use iosonde_run::conductor::Unseen;
use iosonde_run::job::{FileKind, Plan};
use iosonde_run::worker::JobResult;
use iosonde_session::Personality;
use iosonde_session::jobs::without_effect;
use iosonde_session::prepare::{PrepareError, Prepared, parse, prepare_parsed};
use iosonde_session::{RunEnd, RunRules, Session, Work, write_back, written};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::Parsed;
use iosonde_spec::values::SyncMode;
use iosonde_stats::{HistogramSnapshot, LaneSnapshot};
use iosonde_sys::counters::DiskCounters;
use std::path::PathBuf;

/// Jobs that run together, and how they make writes durable.
#[derive(Clone, Debug)]
pub struct Workload {
    /// `fsync=1`; of jobs that say so themselves, `as it is`.
    pub name: &'static str,
    parsed: Parsed,
}

/// The results of one job in one run; its copies (`numjobs`) together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobResultSummary {
    /// The job's name.
    pub job: String,
    /// Writes a second.
    pub iops: f64,
    /// Writes.
    pub writes: LaneSnapshot,
    /// Syncs.
    pub syncs: LaneSnapshot,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// Of each job that writes, in the order of the job file.
    pub jobs: Vec<JobResultSummary>,
    /// Flushes that the disk was sent meanwhile, by whomever; `None` if it
    /// does not count them.
    pub flushes: Option<u64>,
}

/// The ways to make writes durable that are set beside each other where a job
/// names none: what the job says, an fsync for each write, an fdatasync for
/// many.
const WAYS: [(&str, Option<(&str, &str)>); 3] = [
    ("no syncs", None),
    ("fsync=1", Some(("fsync", "1"))),
    ("fdatasync=1000", Some(("fdatasync", "1000"))),
];

/// Read a command line of jobs; and notes about it.
///
/// # Errors
/// The exit code and the reasons, a line each.
pub fn read(words: &[String], disk: &str) -> Result<(Vec<Workload>, Vec<String>), PrepareError> {
    let refuse = |why: String| {
        let reasons = vec![format!("iosonde: write-cache: --compare: {why}")];
        PrepareError { code: exit::REFUSED, reasons }
    };
    let parsed = parse(Personality::Native, words);
    let report = "it prints one table, or with --json one document";
    if let Some(why) = without_effect(&parsed.flags, report) {
        return Err(refuse(why));
    }
    // What is wrong with the jobs is found before anything is changed.
    let Prepared { plan, notes: mut said, data_warnings, .. } =
        prepare_parsed(Personality::Native, parsed.clone())?;
    said.extend(data_warnings.into_iter().map(|warning| warning.line));
    if plan.jobs.is_empty() {
        return Err(refuse("no job: name a job file, or give --name=... and options".into()));
    }
    is_on(&plan, disk).map_err(refuse)?;
    let workloads = if parsed.jobs.iter().any(|job| names_syncs(&job.spec)) {
        vec![Workload { name: "as it is", parsed }]
    } else {
        WAYS.iter().map(|way| Workload::of(&parsed, way)).collect()
    };
    Ok((workloads, said))
}

fn names_syncs(spec: &JobSpec) -> bool {
    let durability = &spec.durability;
    *durability.fsync.get() > 0
        || *durability.fdatasync.get() > 0
        || *durability.sync.get() != SyncMode::None
}

impl Workload {
    fn of(parsed: &Parsed, (name, option): &(&'static str, Option<(&str, &str)>)) -> Workload {
        let mut parsed = parsed.clone();
        if let Some((option, value)) = option {
            for job in &mut parsed.jobs {
                let set = job.spec.set(option, Some(value), Origin::Default);
                set.expect("the options and values of WAYS are in the table");
            }
        }
        Workload { name, parsed }
    }

    /// Run it once and leave nothing of it to be written later.
    ///
    /// # Errors
    /// If a job fails, or a signal comes.
    pub fn run(&self, disk: &str, session: &Session) -> Result<RunSummary, RunEnd> {
        let prepared = prepare_parsed(Personality::Native, self.parsed.clone())?;
        let rules = RunRules::may_erase(&self.parsed.flags.jobs.erase);
        let before = DiskCounters::of(disk).ok();
        let measured = session.measure(Work::Planned(prepared.plan), &rules, &mut Unseen)?;
        let after = DiskCounters::of(disk).ok();
        let flushes = before.zip(after).map(|(before, after)| after.since(&before).flushes);
        let jobs = summaries(&measured.plan, &measured.outcome.results).map_err(RunEnd::failed)?;
        write_back(&measured.plan)?;
        Ok(RunSummary { jobs, flushes })
    }
}

/// The results of jobs that write, copies added up.
fn summaries(plan: &Plan, results: &[Option<JobResult>]) -> Result<Vec<JobResultSummary>, String> {
    let mut jobs: Vec<(usize, JobResultSummary)> = Vec::new();
    for (job, result) in plan.jobs.iter().zip(results) {
        let Some(result) = result.as_ref().filter(|_| job.dirs[Dir::Write]) else { continue };
        if !jobs.iter().any(|(section, _)| *section == job.section) {
            jobs.push((
                job.section,
                JobResultSummary { job: job.name.clone(), ..JobResultSummary::default() },
            ));
        }
        let (_, summary) = jobs.last_mut().expect("one was just put there");
        let writes = &result.snapshot.lanes[Dir::Write as usize];
        summary.iops += writes.ios as f64 / result.runtime.secs_f64().max(1e-9);
        summary.writes.merge(writes);
        summary.syncs.merge(&result.snapshot.sync);
    }
    match jobs.iter().find(|(_, summary)| summary.writes.ios == 0) {
        Some((_, summary)) => Err(format!("job {}: wrote nothing", summary.job)),
        None => Ok(jobs.into_iter().map(|(_, summary)| summary).collect()),
    }
}

/// Whether all that is written is on the disk.
fn is_on(plan: &Plan, disk: &str) -> Result<(), String> {
    let mut looked: Vec<&PathBuf> = Vec::new();
    let mut writes = false;
    for (job, file) in written(plan) {
        writes = true;
        if !matches!(file.kind, FileKind::Regular | FileKind::Block) {
            return Err(format!(
                "job {} does not write to storage (ioengine={}), so a write cache has no effect",
                job.name, job.engine.name
            ));
        }
        // Files of one folder are on one file system, unless they are devices.
        let place = file.path.parent().map(PathBuf::from);
        if looked.iter().any(|seen| seen.parent().map(PathBuf::from) == place)
            && file.kind == FileKind::Regular
            && !file.path.is_symlink()
        {
            continue;
        }
        looked.push(&file.path);
        let there = file.path.exists();
        let path = if there { Some(file.path.clone()) } else { nearest(&file.path) };
        let (_, disks) = device::below(path.as_deref().unwrap_or(&file.path))?;
        if !disks.iter().any(|facts| facts.disk == disk) {
            let on: Vec<&str> = disks.iter().map(|facts| facts.disk.as_str()).collect();
            let on = if on.is_empty() { "no device".to_owned() } else { on.join(", ") };
            return Err(format!(
                "job {} writes to {}, which is on {on} and not on {disk}: name a file there \
                 (filename=, directory=), or that device",
                job.name,
                printable(&file.path)
            ));
        }
    }
    if writes { Ok(()) } else { Err("no job writes: a write cache has no effect on reads".into()) }
}

/// The nearest folder that exists.
fn nearest(path: &std::path::Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find(|folder| folder.exists()).map(PathBuf::from)
}

/// The latency that this share of operations kept, in nanoseconds; `None`
/// where none were counted.
pub fn percentile(lane: &LaneSnapshot, percent: f64) -> Option<u64> {
    let sides = [(&lane.lat_histogram, lane.lat.max), (&lane.clat_histogram, lane.clat.max)];
    let (histogram, most): (&HistogramSnapshot, u64) = sides
        .into_iter()
        .filter_map(|(histogram, most)| Some((histogram.as_ref()?, most)))
        .find(|(histogram, _)| histogram.total() > 0)?;
    Some(histogram.percentile(percent).min(most))
}
