//! From what jobs handed over to what reports tell.

pub mod cpu_idle;
pub mod disks;
mod ending;

pub use ending::ending;

use crate::job::{JobError, JobPlan, Plan, Reporting};
use crate::taps::priorities as prios;
use crate::worker::{JobResult, VerifyResult};
use disks::DiskUse;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_engine::Accounting;
use iosonde_report::conclusion::{RunEnding, conclude};
use iosonde_report::{
    CpuIdle, CpuUse, ErrorCount, JobAccount, JobFacts, JobFailure, JobPhase, JobReport,
    LatencyCounts, LatencyTarget, MeasuredKinds, PrioCounts, Report, VerifyReport, account,
};
use iosonde_stats::Snapshot;
use iosonde_sys::priority::IoPriority;

/// Parts of a report besides the jobs.
#[derive(Clone, Debug, Default)]
pub struct ReportContext {
    /// Options before the first job, as written; `None` when there are none.
    pub global_options: Option<Vec<(String, String)>>,
    /// Disks under the files, and what they did.
    pub disks: DiskUse,
    /// How idle the processors were, where that was asked.
    pub cpu_idle: Option<CpuIdle>,
    /// Where the bytes went, where that was looked for.
    pub ledger: Option<Box<iosonde_report::ledger::Ledger>>,
    /// The settings, where they are printed.
    pub settings: Option<iosonde_report::RunSettings>,
    /// Notes and warnings.
    pub diagnostics: Vec<String>,
    /// How it ended; `None` while it runs.
    pub ending: Option<RunEnding>,
    /// Where and when it ran, where it is one of several hosts.
    pub host: Option<Box<iosonde_report::hosts::HostStamp>>,
}

/// The report of a run. Jobs without a result never ran and are shown as such.
pub fn report(plan: &Plan, results: &[Option<JobResult>], extras: &ReportContext) -> Report {
    let accounts: Vec<JobAccount> =
        plan.jobs.iter().zip(results).map(|(job, result)| of_job(job, result.as_ref())).collect();
    let (jobs, groups, mut ours) = account(&accounts);
    count_from_first(&mut ours);
    let mut diagnostics = extras.diagnostics.clone();
    for (job, result) in plan.jobs.iter().zip(results) {
        diagnostics.extend(remarks(job, result.as_ref()));
    }
    let mut report = Report {
        version: crate::FIO_VERSION.to_owned(),
        tool: concat!("iosonde ", env!("CARGO_PKG_VERSION")).to_owned(),
        time_unix_ms: iosonde_base::time::unix_ms(),
        utc_offset_s: iosonde_sys::local_time::utc_offset_s(),
        global_options: extras.global_options.clone(),
        jobs,
        groups,
        disks: extras.disks.reports(),
        cpu_idle: extras.cpu_idle.clone(),
        diagnostics: diagnostics.clone(),
        ours: iosonde_report::Ours {
            jobs: ours,
            notes: Vec::new(),
            conclusion: None,
            ledger: extras.ledger.clone(),
            settings: extras.settings.clone(),
            host: extras.host.clone(),
            hosts: None,
        },
    };
    report.ours.conclusion = extras.ending.as_ref().map(|ending| conclude(&report, ending));
    report
}

/// Phases begin at so much after the first of all jobs, not by the clock of the machine.
fn count_from_first(jobs: &mut [iosonde_report::OurJob]) {
    let phases = || jobs.iter().flat_map(|job| &job.phases);
    let first = phases().filter_map(|phase| phase.start_ns).min().unwrap_or(0);
    for phase in jobs.iter_mut().flat_map(|job| &mut job.phases) {
        phase.start_ns = phase.start_ns.map(|start| start - first);
    }
}

/// An option as fio's JSON shows it: a bare one has an empty text.
pub fn shown_option(asked: &iosonde_spec::TypedOption) -> (String, String) {
    (asked.name.to_owned(), asked.value.clone().unwrap_or_default())
}

fn remarks(job: &JobPlan, result: Option<&JobResult>) -> Vec<String> {
    let Some(result) = result else {
        return vec![format!("job {} never ran: the run was stopped before", job.name)];
    };
    let mut remarks = result.notes.clone();
    if result.never_counted && result.error.is_none() && job.time.ramp.0 > 0 {
        remarks.push(format!(
            "job {} ended within its ramp_time of {} ms: its figures are those of the ramp",
            job.name,
            job.time.ramp.millis()
        ));
    }
    if result.never_counted && result.error.is_none() && job.time.ramp_bytes > 0 {
        remarks.push(format!(
            "job {} ended within its ramp_size of {} bytes: its figures are those of the ramp",
            job.name, job.time.ramp_bytes
        ));
    }
    remarks.extend(idle(job, result));
    remarks
}

/// What to say of a job that did no I/O at all.
pub fn idle(job: &JobPlan, result: &JobResult) -> Option<String> {
    let reason = result.idle.as_ref()?;
    Some(format!("job {} did no I/O: {reason}", job.name))
}

/// What is known of a job before it has run; `depth_found` is the one that kept its latency target.
fn planned(job: &JobPlan, depth_found: Option<u32>) -> JobFacts {
    let Reporting { options, .. } = &job.reporting;
    let mut report = JobReport {
        name: job.name.clone(),
        group: job.group,
        options: options.clone(),
        description: job.reporting.description.clone(),
        units: job.reporting.units,
        unified: job.reporting.unified,
        significant_figures: job.reporting.significant_figures,
        latency: LatencyTarget { depth: job.window.depth, ..LatencyTarget::default() },
        ..JobReport::default()
    };
    if let Some(target) = &job.pace.target {
        report.latency = LatencyTarget {
            depth: depth_found.unwrap_or(job.window.depth),
            target_ns: target.target.0,
            window_ns: target.window.0,
            percentile: target.percentile,
        };
    }
    JobFacts {
        report,
        group_reporting: job.reporting.group_reporting,
        reported: job.reporting.reported,
        what: job.reporting.what.clone(),
        measured: job.reporting.measured,
        percentiles: job.reporting.percentiles.clone(),
        ..JobFacts::default()
    }
}

fn of_job(job: &JobPlan, result: Option<&JobResult>) -> JobAccount {
    let mut facts = planned(job, result.and_then(|result| result.depth_found));
    let Some(result) = result else { return JobAccount::new(facts, Snapshot::default()) };
    let mut counts = result.snapshot.clone();
    complete(job, &mut counts);
    let runtime_ms = whole_ms(result.runtime.0);
    facts.report.pid = result.thread_id;
    facts.report.start_unix_ms = result.began_unix_ms;
    facts.report.failure = result.error.as_ref().map(failure);
    facts.report.elapsed_s = result.elapsed.0.div_ceil(1_000_000_000).max(1);
    // Turns of an engine that does no I/O took no time of a direction.
    let has_run = |at: usize| counts.lanes[at].ios > 0 && !job.engine.caps.no_io;
    facts.runtime_ms = PerDir(DIRS.map(|dir| if has_run(dir as usize) { runtime_ms } else { 0 }));
    if let Some(verify) = &result.verify {
        runtimes_of_phases(job, verify, &mut facts.runtime_ms);
        facts.gone_over = verify.counts.imagined;
    }
    facts.report.cpu = CpuUse {
        wall_ms: runtime_ms,
        user_ns: result.usage.user_ns,
        system_ns: result.usage.system_ns,
        ctx: result.usage.voluntary_switches + result.usage.involuntary_switches,
        majf: result.usage.major_faults,
        minf: result.usage.minor_faults,
    };
    facts.report.errors = job.reporting.counts_errors.then(|| ErrorCount {
        total: result.tolerated.0,
        first_errno: result.tolerated.1.map_or(0, |errno| errno.0),
    });
    facts.zone_resets = job.source.zbd.is_some().then_some(result.zone_resets);
    facts.report.steady.clone_from(&result.steady);
    facts.phases = result
        .phases
        .iter()
        .map(|phase| JobPhase {
            name: phase.name.to_owned(),
            duration_ns: phase.took.0,
            start_ns: Some(phase.began.0),
        })
        .collect();
    let mut account = JobAccount::new(facts, counts);
    account.response = responses(&result.snapshot);
    account.lateness = result.lateness.as_ref().map(|late| LatencyCounts {
        moments: late.moments,
        histogram: Some(late.histogram.clone()),
    });
    account.prios = priorities(job, &account.counts);
    account.verify = result.verify.as_ref().map(verify_report);
    account
}

/// Writes are rated by the time of the job's own I/O, reads that only check by
/// that of the checks, as in fio. Reads among the writes take all of it.
fn runtimes_of_phases(job: &JobPlan, verify: &VerifyResult, runtime_ms: &mut PerDir<u64>) {
    let after = whole_ms(verify.after_writes.0);
    for dir in [Dir::Write, Dir::Trim] {
        if runtime_ms[dir] > 0 {
            runtime_ms[dir] = runtime_ms[dir].saturating_sub(after).max(1);
        }
    }
    let among = job.verify.as_ref().is_some_and(|plan| plan.spec.backlogs.verify_after > 0);
    if !job.dirs[Dir::Read] && !among && runtime_ms[Dir::Read] > 0 {
        runtime_ms[Dir::Read] = whole_ms(verify.reading.0).max(1);
    }
}

fn verify_report(result: &VerifyResult) -> VerifyReport {
    VerifyReport {
        counts: result.counts.clone(),
        unchecked: result.counts.unchecked(),
        unchecked_reason: result.unchecked_reason.clone(),
        wrong_blocks: result.wrong_blocks.clone(),
    }
}

/// Response times, where they were kept: where there is a pace.
fn responses(counts: &Snapshot) -> PerDir<Option<LatencyCounts>> {
    PerDir(counts.lanes.each_ref().map(|lane| {
        let histogram = lane.response_histogram.clone()?;
        (lane.response.n > 0)
            .then_some(LatencyCounts { moments: lane.response, histogram: Some(histogram) })
    }))
}

/// Latencies by priority; of one, where single I/Os have none of their own.
fn priorities(job: &JobPlan, counts: &Snapshot) -> PerDir<Vec<PrioCounts>> {
    if let Some(tally) = &job.measure.priorities {
        return tally.counts();
    }
    let own = job.thread.io_priority.map_or(0, IoPriority::raw);
    PerDir(counts.lanes.each_ref().map(|lane| {
        let (moments, histogram) = if job.reporting.percentiles.lat {
            (lane.lat, &lane.lat_histogram)
        } else {
            (lane.clat, &lane.clat_histogram)
        };
        vec![prios::counts(own, LatencyCounts { moments, histogram: histogram.clone() })]
    }))
}

/// fio's milliseconds: at least one for a run that did anything.
fn whole_ms(ns: u64) -> u64 {
    match ns {
        0 => 0,
        _ => (ns / 1_000_000).max(1),
    }
}

/// What the loop leaves to be derived. Where an engine of plain system calls
/// takes two stamps, the total latency is the service; what was switched off
/// is left out.
fn complete(job: &JobPlan, counts: &mut Snapshot) {
    let MeasuredKinds { slat, clat, lat, bw } = job.reporting.measured;
    for lane in &mut counts.lanes {
        if lane.lat.n == 0 && job.measure.accounting == Accounting::Full {
            lane.lat = lane.clat;
            if lane.lat_histogram.is_some() {
                lane.lat_histogram.clone_from(&lane.clat_histogram);
            }
        }
        if !slat {
            (lane.slat, lane.slat_histogram) = Default::default();
        }
        if !lat {
            (lane.lat, lane.lat_histogram) = Default::default();
        }
        if !clat {
            (lane.clat, lane.clat_histogram) = Default::default();
        }
        if !bw {
            (lane.window_bw, lane.window_iops) = Default::default();
        }
    }
}

fn failure(error: &JobError) -> JobFailure {
    JobFailure {
        errno: error.failure.errno,
        place: error.path.as_ref().map_or(String::new(), |path| path.display().to_string()),
        doing: error.failure.doing.to_owned(),
    }
}
