//! From job specifications to jobs, decided.
//!
//! Looks at what exists (kinds and sizes of files, processors) and touches
//! nothing. Every objection is collected before the plan is refused.

mod buffers;
mod checks;
mod coordination;
mod engine;
mod files;
mod logs;
mod no_files;
mod pacing;
mod paths;
mod replay;
mod reporting;
mod source;

use crate::job::PacePlan;
use crate::job::Plan;
use crate::job::*;
use crate::taps::priorities::PrioTally;
use iosonde_base::{DIRS, Dir, Nanos, PerDir};
use iosonde_engine::{Accounting, Caps, EngineDef, LaysOut};
use iosonde_options::{Diagnostic, Level, Origin, Setting};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::FallocateMode as Word;
use iosonde_stats::WhichLatencies;
use iosonde_sys::priority::IoPriority;
use replay::Replay;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use replay::refuse_writes;

/// Whether percentiles of the total latency are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Totals {
    /// Where `lat_percentiles` asks for them: all that fio's formats tell.
    AsAsked,
    /// Always: what our own report tells.
    Kept,
}

/// A plan, and what there is to say about it.
#[derive(Debug, Default)]
pub struct Planned {
    /// What will run; empty where an error is among the diagnostics.
    pub plan: Plan,
    /// Notes, warnings and errors, each said once.
    pub diagnostics: Vec<Diagnostic>,
}

/// What the job's engine can do, for the rules of the job language; nothing
/// for an engine that is not known, of which [`plan`] will speak.
pub fn caps(spec: &JobSpec) -> Caps {
    let Some(caps) = engine::known_caps(spec) else {
        return Caps { trim: true, atomic: true, ..Caps::NONE };
    };
    // One thread does one thing at a time; a pool of them does many.
    Caps { sync: caps.sync && !engine::is_offloaded(spec), ..caps }
}

/// Resolve and plan one job that nobody typed.
///
/// # Errors
/// The first error among what there is to say about it.
pub fn alone(name: &str, spec: JobSpec) -> Result<Plan, Diagnostic> {
    let mut job = ParsedJob {
        name: name.into(),
        spec,
        globals: Vec::new(),
        typed: Vec::new(),
        origin: Origin::Default,
        begins_file: false,
    };
    let caps = caps(&job.spec);
    let mut said = iosonde_spec::resolve(&mut job.spec, &caps);
    let Planned { plan, diagnostics } = plan(&[job], Totals::AsAsked);
    said.extend(diagnostics);
    match said.into_iter().find(|said| said.level == Level::Error) {
        Some(error) => Err(error),
        None => Ok(plan),
    }
}

/// Plan the jobs of a command line.
pub fn plan(jobs: &[ParsedJob], totals: Totals) -> Planned {
    let mut planner = Planner::new(jobs, totals);
    for (index, job) in jobs.iter().enumerate() {
        planner.section(index, job);
    }
    planner.group();
    pacing::share_flows(&mut planner.plan.jobs);
    buffers::share_sets(&mut planner.plan.jobs);
    logs::share_memory(&mut planner.plan.jobs);
    planner.check();
    planner.done()
}

/// Merge the traces that the jobs name, and plan nothing else.
pub fn merge_only(jobs: &[ParsedJob]) -> Planned {
    let mut planner = Planner::new(jobs, Totals::AsAsked);
    planner.merge_only();
    planner.done()
}

struct Planner<'a> {
    jobs: &'a [ParsedJob],
    totals: Totals,
    plan: Plan,
    /// How far files will reach once the jobs planned so far have laid them
    /// out.
    promised: HashMap<PathBuf, u64>,
    recordings: replay::Recordings,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Planner<'a> {
    fn new(jobs: &'a [ParsedJob], totals: Totals) -> Planner<'a> {
        let (promised, recordings) = Default::default();
        let (plan, diagnostics) = (Plan::default(), Vec::new());
        Planner { jobs, totals, plan, promised, recordings, diagnostics }
    }

    fn done(self) -> Planned {
        let Planner { plan, diagnostics, .. } = self;
        let refused = diagnostics.iter().any(|said| said.level == Level::Error);
        Planned { plan: if refused { Plan::default() } else { plan }, diagnostics }
    }
}

impl Planner<'_> {
    /// Say something, once.
    fn note(&mut self, said: Diagnostic) {
        if !self.diagnostics.contains(&said) {
            self.diagnostics.push(said);
        }
    }

    /// All clones of one section.
    fn section(&mut self, section: usize, job: &ParsedJob) {
        let spec = &job.spec;
        let engine = match engine::find(spec) {
            Ok(engine) => engine,
            Err(error) => return self.note(error),
        };
        if let Err(error) = files::directories_are_there(spec) {
            return self.note(in_job(job, error));
        }
        let opens_wave = self.plan.waves.is_empty() || *spec.job.stonewall.get();
        if opens_wave {
            self.plan.waves.push(Vec::new());
        }
        let count = *spec.job.numjobs.get();
        for index in 0..count {
            // The first clone is number 0, the others count down: fio's order.
            let clone = if index == 0 { 0 } else { count - index };
            match self.clone_of(job, engine, clone) {
                Ok(mut planned) => {
                    planned.section = section;
                    let id = self.plan.jobs.len();
                    self.plan.jobs.push(planned);
                    self.plan.waves.last_mut().expect("a wave was opened").push(id);
                }
                Err(error) => return self.note(in_job(job, error)),
            }
        }
    }

    fn clone_of(
        &mut self,
        job: &ParsedJob,
        engine: &'static EngineDef,
        clone: u32,
    ) -> Result<JobPlan, Diagnostic> {
        let spec = &job.spec;
        let number = self.plan.jobs.len() as u32 + 1;
        let word = spec.order.rw.get().word;
        no_files::one_way(spec, engine)?;
        let replay = self.replay(job, clone, engine)?;
        let dirs = match &replay {
            Some(replay) => replay.dirs(),
            // What such an engine counts are reads.
            None if engine.caps.no_io => PerDir([true, false, false]),
            None => spec.dirs(),
        };
        let sizes = replay.as_ref().map_or_else(|| source::sizes(spec), Replay::sizes);
        let min_bs = u64::from(DIRS.map(|dir| sizes[dir].min()).into_iter().min().unwrap_or(1));
        let max_bs = DIRS.map(|dir| sizes[dir].max()).into_iter().max().unwrap_or(1);
        let need = match engine.caps.lays_out {
            _ if engine.caps.diskless => Need::Nothing,
            LaysOut::Files => files::need(spec, engine.caps.no_extend, dirs[Dir::Read]),
            LaysOut::Directories => Need::Range,
            LaysOut::Nothing => Need::Nothing,
        };
        let parts = match &replay {
            Some(replay) => self.recorded_files(spec, replay, engine)?,
            None if engine.caps.no_io => no_files::no_files(job, min_bs),
            None => {
                let named = self.named(job, clone, engine.caps.diskless);
                self.parts(job, clone, named, need, min_bs)?
            }
        };
        self.promise(&parts.files);
        let window = self.window(job, engine)?;
        let accounting = match *spec.measure.gtod_reduce.get() {
            true => Accounting::CountsOnly,
            false => Accounting::Full,
        };
        let measured = reporting::measured(spec, engine);
        let source = source::source(spec, number, &sizes, &parts);
        let source = match &replay {
            Some(replay) => replay.take(source),
            None => source,
        };
        let timed = replay.as_ref().is_some_and(|replay| replay.timed);
        let mut reporting = reporting::reporting(job, engine, measured, &sizes);
        if let Some(replay) = &replay {
            reporting.what = replay.what(engine, window.depth);
        }
        let moves_data = !engine.caps.diskless && !engine.caps.by_name;
        let fill = self.fill(spec, &source, dirs[Dir::Write] && moves_data)?;
        let place = engine::place(spec, clone)?;
        let settings = engine::settings(job, (number, clone), engine, &parts.files)?;
        let logs =
            logs::logs(job, number, (engine, window.depth), measured, &sizes, place.io_priority)?;
        // Only what was written is synced, unless a recording says when.
        let syncs = dirs[Dir::Write] || dirs[Dir::Trim] || replay.is_some();
        let by_lat = measured.lat && *spec.measure.lat_percentiles.get();
        let sampled = |asked: Nanos, log: &Setting<Option<String>>| {
            logs::sample_every(asked, log.get().is_some(), logs.as_ref())
        };
        Ok(JobPlan {
            name: job.name.clone(),
            section: 0,
            number,
            clone,
            group: 0,
            engine,
            offload: engine::offload(spec, engine)?,
            prios: (settings.sets_priorities() && (by_lat || measured.clat)).then(|| {
                let own = place.io_priority.map_or(0, IoPriority::raw);
                Arc::new(PrioTally::new(own, by_lat))
            }),
            settings,
            accounting,
            latencies: WhichLatencies {
                syncs,
                response: match &replay {
                    Some(replay) if timed => replay.responses(),
                    _ => pacing::responses(spec),
                },
                slat: measured.slat && *spec.measure.slat_percentiles.get(),
                clat: accounting == Accounting::Full,
                lat: measured.lat
                    && (self.totals == Totals::Kept || *spec.measure.lat_percentiles.get()),
                dirs,
            },
            window,
            source,
            pace: PacePlan { recorded: timed, ..pacing::plan(spec) },
            files: parts.files,
            layout: layout(spec, max_bs),
            buffer_bytes: (max_bs as usize).next_multiple_of(4096),
            buffer_align: self.alignment(spec),
            buffer_lead: 0,
            memory: buffers::memory(spec)?,
            locked_bytes: buffers::locked_bytes(spec)?,
            fill,
            tolerance: engine::tolerance(spec),
            sync_range: engine::sync_range(spec),
            time: self.time(job, number),
            end: EndPlan {
                fsync: *spec.durability.end_fsync.get(),
                fdatasync: false,
                syncfs: *spec.durability.end_syncfs.get(),
                unlink: *spec.file_life.unlink.get(),
                unlink_each_loop: *spec.file_life.unlink_each_loop.get(),
            },
            place,
            iolog: spec.replay.write_iolog.get().clone().map(Into::into),
            tap: None,
            trace: false,
            looks: None,
            sample_every: PerDirSamples {
                bandwidth: sampled(spec.measure.bwavgtime.get().nanos(), &spec.log.write_bw_log),
                iops: sampled(spec.measure.iopsavgtime.get().nanos(), &spec.log.write_iops_log),
            },
            logs,
            clock: engine::clock(spec),
            dirs,
            open_mode: engine::open_mode(spec),
            invalidate: *spec.file_life.invalidate.get() && !*spec.file_life.pre_read.get(),
            hint: engine::hint(spec, word.is_random() && replay.is_none()),
            sync_on_close: *spec.durability.fsync_on_close.get(),
            allow_mounted_write: *spec.file_life.allow_mounted_write.get(),
            life: self.life(job)?,
            reporting,
        })
    }

    fn time(&mut self, job: &ParsedJob, number: u32) -> TimePlan {
        let time = &job.spec.time;
        let runtime = *time.runtime.get();
        TimePlan {
            delay: coordination::delay(&job.spec, number),
            ramp: *time.ramp_time.get(),
            runtime: (runtime > Nanos(0)).then_some(runtime),
        }
    }

    /// Reporting groups: a stonewall or `new_group` starts one, if the present
    /// one has jobs.
    fn group(&mut self) {
        let mut group = 0;
        let mut at = 0;
        for (index, job) in self.jobs.iter().enumerate() {
            let starts = *job.spec.job.stonewall.get() || *job.spec.job.new_group.get();
            if index > 0 && starts && at > 0 {
                group += 1;
            }
            for _ in 0..*job.spec.job.numjobs.get() {
                if let Some(planned) = self.plan.jobs.get_mut(at) {
                    planned.group = group;
                }
                at += 1;
            }
        }
    }
}

/// An objection with the job it is about.
fn in_job(job: &ParsedJob, said: Diagnostic) -> Diagnostic {
    Diagnostic { message: format!("{}: {}", job.name, said.message), ..said }
}

fn layout(spec: &JobSpec, max_bs: u32) -> LayoutPlan {
    LayoutPlan {
        fallocate: match spec.file_life.fallocate.get() {
            Word::None => Fallocate::None,
            Word::Native => Fallocate::Native,
            Word::Posix => Fallocate::Posix,
            Word::Keep => Fallocate::Keep,
            Word::Truncate => Fallocate::Truncate,
        },
        sync: *spec.file_life.create_fsync.get(),
        serialize: *spec.file_life.create_serialize.get(),
        on_open: *spec.file_life.create_on_open.get(),
        may_create: *spec.file_life.allow_file_create.get(),
        block: max_bs as usize,
        pre_read: *spec.file_life.pre_read.get(),
        only: *spec.file_life.create_only.get(),
    }
}
