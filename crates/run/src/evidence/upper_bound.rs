//! How fast this machine could have gone: the same jobs with an engine that
//! does nothing, for a moment.

use crate::control::{Gate, Shared, WithOthers};
use crate::job::{
    CoordinationPlan, EndPlan, FileKind, JobPlan, MeasurePlan, Need, OpenPlan, PacePlan, Plan,
    ThreadPlan, TimePlan,
};
use crate::worker::{self, JobResult};
use iosonde_base::Nanos;
use iosonde_engine::EngineSettings;
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
        let (pen, ledger) = CountersWriter::new(&job.measure.latencies);
        let shared = Shared::new(ledger, job.measure.clock, WithOthers::default());
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
/// the system and filling them is no small part of the time.
fn first_use(job: &JobPlan) -> u64 {
    const SMALL: u64 = 1 << 20;
    let all = job.buffers.bytes as u64 * u64::from(job.window.depth);
    if all < SMALL { 0 } else { all }
}

/// The same sizes, offsets, depth and content, and nothing around them.
fn shape(job: &JobPlan) -> Option<JobPlan> {
    let mut shape = JobPlan {
        engine: iosonde_engine::find("null")?,
        offload: None,
        settings: EngineSettings::default(),
        pace: PacePlan::default(),
        time: TimePlan {
            delay: Nanos(0),
            ramp: Nanos(0),
            ramp_bytes: first_use(job),
            runtime: Some(TRY),
            steady: None,
            start_clock: job.time.start_clock,
        },
        end: EndPlan::default(),
        thread: ThreadPlan { cpus: job.thread.cpus.clone(), ..ThreadPlan::default() },
        open: OpenPlan::default(),
        coordination: CoordinationPlan::default(),
        measure: MeasurePlan {
            // Counts of the job itself, which would be counted on.
            priorities: None,
            tap: None,
            iolog: None,
            logs: None,
            trace: false,
            dump_errors: false,
            looks: None,
            ..job.measure.clone()
        },
        ..job.clone()
    };
    for file in &mut shape.files {
        (file.kind, file.need) = (FileKind::None, Need::Nothing);
    }
    shape.buffers.locked_bytes = 0;
    (shape.layout.only, shape.layout.pre_read) = (false, false);
    shape.source.time_based = true;
    shape.source.number_ios = 0;
    shape.source.pace = PaceSpec::default();
    shape.measure.latencies.response = Default::default();
    Some(shape)
}
