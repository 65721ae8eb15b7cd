//! How fast this machine could have gone: the same jobs with an engine that
//! does nothing, for a moment.

use crate::control::{Gate, Shared, WithOthers};
use crate::job::{
    EndPlan, FileKind, JobPlan, LifePlan, LockMode, Need, PacePlan, PlacePlan, Plan, TimePlan,
};
use crate::worker::{self, JobResult};
use iosonde_base::Nanos;
use iosonde_engine::{EngineSettings, OpenMode};
use iosonde_stats::CountersWriter;
use iosonde_witness::Observed;
use iosonde_workload::PaceSpec;
use std::thread;

/// How long one try takes.
const TRY: Nanos = Nanos(8_000_000);
/// Sections that are tried; the clones of one are alike.
const TRIES_MOST: usize = 4;

/// By job, I/Os a second of the null engine in its place.
pub(super) fn try_out(
    plan: &Plan,
    results: &[Option<JobResult>],
    stop: &dyn Fn() -> bool,
) -> Vec<Observed<f64>> {
    let mut tried: Vec<(usize, Observed<f64>)> = Vec::new();
    let mut told = Vec::new();
    for (job, result) in plan.jobs.iter().zip(results) {
        let known = tried.iter().find(|(section, _)| *section == job.section);
        told.push(match (known, result) {
            (_, None) => Observed::unknown("the job did not run"),
            (Some((_, ceiling)), _) => ceiling.clone(),
            (None, _) if stop() => Observed::unknown("the run was stopped"),
            (None, _) if job.engine.caps.no_io || job.engine.caps.by_name => {
                Observed::unknown("the engine does no I/O that another could do in its place")
            }
            (None, _) if tried.len() >= TRIES_MOST => {
                Observed::unknown("it was tried for the first kinds of jobs only")
            }
            (None, _) => {
                let ceiling = one(job);
                tried.push((job.section, ceiling.clone()));
                ceiling
            }
        });
    }
    told
}

fn one(job: &JobPlan) -> Observed<f64> {
    let Some(job) = shape(job) else { return Observed::unknown("there is no null engine") };
    let body = move || {
        let (pen, ledger) = CountersWriter::new(&job.latencies);
        let shared = Shared::new(ledger, job.clock, WithOthers::default());
        let gate = Gate::default();
        gate.open();
        worker::work(&job, pen, &shared, &gate, || {})
    };
    // A thread of its own: a job changes its thread, and not back.
    let started = thread::Builder::new().name("ceiling".to_owned()).spawn(body);
    let result = match started.map(thread::JoinHandle::join) {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => return Observed::unknown("the try failed"),
        Err(error) => return Observed::unknown(error.to_string()),
    };
    let ios: u64 = result.snapshot.lanes.iter().map(|lane| lane.ios).sum();
    match (result.error, result.runtime.0) {
        (Some(error), _) => Observed::unknown(error.to_string()),
        (None, ns) if ns == 0 || ios == 0 => Observed::unknown("the try did no I/O"),
        // On a busy machine the try may not have had the processor for all of its moment.
        (None, ns) => {
            let worked = result.usage.user_ns + result.usage.system_ns;
            let ns = if worked * 10 >= ns { ns.min(worked) } else { ns };
            Observed::Is(ios as f64 * 1e9 / ns as f64)
        }
    }
}

/// Bytes after which all buffers have been used once: taking large ones from
/// the system and filling them is no small part of a moment.
fn first_use(job: &JobPlan) -> u64 {
    const SMALL: u64 = 1 << 20;
    let all = job.buffer_bytes as u64 * u64::from(job.window.depth);
    if all < SMALL { 0 } else { all }
}

/// The job's shape: sizes, places, depth, content, and nothing around it.
fn shape(job: &JobPlan) -> Option<JobPlan> {
    let mut shape = JobPlan {
        engine: iosonde_engine::find("null")?,
        settings: EngineSettings::default(),
        pace: PacePlan::default(),
        locked_bytes: 0,
        time: TimePlan { delay: Nanos(0), ramp: Nanos(0), runtime: Some(TRY) },
        end: EndPlan::default(),
        place: PlacePlan { cpus: job.place.cpus.clone(), ..PlacePlan::default() },
        iolog: None,
        logs: None,
        trace: false,
        open_mode: OpenMode::default(),
        invalidate: false,
        hint: None,
        sync_on_close: false,
        looks: None,
        life: LifePlan {
            waits_for: None,
            end_ends: None,
            failure_ends: None,
            before: None,
            after: None,
            comm: None,
            user: None,
            group: None,
            memory: None,
            cgroup: None,
            scheduler: None,
            lock: LockMode::None,
            ramp_bytes: first_use(job),
            start_clock: job.life.start_clock,
            steady: None,
            tells_errors: false,
        },
        ..job.clone()
    };
    for file in &mut shape.files {
        (file.kind, file.need) = (FileKind::None, Need::Nothing);
    }
    (shape.layout.only, shape.layout.pre_read) = (false, false);
    shape.source.time_based = true;
    shape.source.number_ios = 0;
    shape.source.pace = PaceSpec::default();
    shape.latencies.response = Default::default();
    Some(shape)
}
