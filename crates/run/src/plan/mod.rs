//! From job specifications to jobs, decided.
//!
//! Looks at what exists (kinds and sizes of files, processors) and touches
//! nothing. Every objection is collected before the plan is refused.

mod buffers;
mod builder;
mod checks;
mod clone_of;
mod coordination;
mod depth;
mod engine;
mod files;
mod job_io;
mod logs;
mod measure;
mod memory;
mod no_files;
mod one_job;
mod pacing;
mod paths;
mod ranges;
mod rank_share;
mod refuse;
mod replay;
mod reporting;
mod simulated;
mod source;
mod thread;
mod time;
mod verify;
mod verify_memory;
mod zone_target;
mod zones;

use crate::job::Plan;
use clone_of::CloneOf;
use iosonde_engine::Caps;
use iosonde_engine::sim::SimulatedDevice;
use iosonde_options::{Diagnostic, Level};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use builder::{JobBuilder, plan_built};
pub use engine::ExternalEngines;
pub use rank_share::RankShare;

/// Whether percentiles of the total latency are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Totals {
    /// Where `lat_percentiles` asks for them: all that fio's formats show.
    AsAsked,
    /// Always: our own report shows them.
    Kept,
}

/// A plan, and what there is to say about it.
#[derive(Debug, Default)]
pub struct PlannedJobs {
    /// What will run; empty where an error is among the diagnostics.
    pub plan: Plan,
    /// Notes, warnings and errors, each said once.
    pub diagnostics: Vec<Diagnostic>,
    /// Jobs whose files cannot be what is asked for; fio's exit code counts them.
    pub refused: usize,
}

/// What the job's engine can do, for the rules of the job language; nothing
/// for an engine that is not known, which [`plan`] refuses.
fn caps(spec: &JobSpec, external: ExternalEngines) -> Caps {
    let Some(caps) = engine::known_caps(spec, external) else {
        return Caps { trim: true, atomic: true, ..Caps::NONE };
    };
    // One thread does one thing at a time; a pool of them does many.
    Caps { sync: caps.sync && !depth::is_offloaded(spec), ..caps }
}

/// Apply the rules of the job language to each job: what is implied, capped,
/// or refused.
pub fn resolve(jobs: &mut [ParsedJob], external: ExternalEngines) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut before: Option<&JobSpec> = None;
    for job in jobs {
        let caps = caps(&job.spec, external);
        diagnostics.extend(zones::sizes_in_device_zones(&mut job.spec));
        diagnostics.extend(iosonde_spec::resolve(&mut job.spec, &caps));
        if let Some(before) = before {
            job.spec.share_with(before);
        }
        before = Some(&job.spec);
    }
    diagnostics
}

/// Plan jobs that are resolved.
pub fn plan(jobs: &[ParsedJob], totals: Totals) -> PlannedJobs {
    plan_with(Planner::new(jobs, totals))
}

/// Plan jobs that are resolved, each with the part of its files that is this host's.
pub fn plan_shared(
    jobs: &[ParsedJob],
    totals: Totals,
    shares: Vec<Option<RankShare>>,
) -> PlannedJobs {
    plan_with(Planner { shares, ..Planner::new(jobs, totals) })
}

fn plan_with(mut planner: Planner<'_>) -> PlannedJobs {
    if let Err(error) = memory::check(planner.jobs) {
        planner.note(error);
        return planner.done();
    }
    for (index, job) in planner.jobs.iter().enumerate() {
        planner.section(index, job);
    }
    planner.refuse_unwritten_files();
    planner.group();
    pacing::share_flows(&mut planner.plan.jobs);
    buffers::share_sets(&mut planner.plan.jobs);
    let room = memory::check_buffers(&planner.plan);
    if let Err(error) = room.and_then(|()| memory::check_threads(&planner.plan)) {
        planner.note(error);
    }
    logs::share_memory(&mut planner.plan.jobs);
    planner.check();
    planner.done()
}

/// Merge the traces that the jobs name, and plan nothing else.
pub fn merge_only(jobs: &[ParsedJob]) -> PlannedJobs {
    let mut planner = Planner::new(jobs, Totals::AsAsked);
    planner.merge_only();
    planner.done()
}

struct Planner<'a> {
    jobs: &'a [ParsedJob],
    /// By section, its only file, where the program made the jobs itself;
    /// empty for jobs that were typed.
    paths: Vec<PathBuf>,
    /// By section, the part of its files that is this host's; empty without other hosts.
    shares: Vec<Option<RankShare>>,
    totals: Totals,
    plan: Plan,
    /// How far files will reach once the jobs planned so far have laid them
    /// out.
    promised: HashMap<PathBuf, u64>,
    /// Zones of the files of jobs with `zonemode=zbd`, by path: jobs on one file share them.
    zones: HashMap<PathBuf, zone_target::ZoneTarget>,
    /// Simulated devices (`ioengine=sim`) of jobs that need one, by path.
    simulated: HashMap<PathBuf, Arc<SimulatedDevice>>,
    recordings: replay::Recordings,
    diagnostics: Vec<Diagnostic>,
    /// Jobs whose files cannot be what is asked for.
    refused: usize,
}

impl<'a> Planner<'a> {
    fn new(jobs: &'a [ParsedJob], totals: Totals) -> Planner<'a> {
        let (promised, zones, simulated, recordings) = Default::default();
        let (plan, diagnostics) = (Plan::default(), Vec::new());
        Planner {
            jobs,
            paths: Vec::new(),
            shares: Vec::new(),
            totals,
            plan,
            promised,
            zones,
            simulated,
            recordings,
            diagnostics,
            refused: 0,
        }
    }

    fn done(self) -> PlannedJobs {
        let Planner { plan, diagnostics, refused, .. } = self;
        let is_refused = diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error);
        PlannedJobs { plan: if is_refused { Plan::default() } else { plan }, diagnostics, refused }
    }
}

impl Planner<'_> {
    /// Say something, once.
    fn note(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
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
            let number = self.plan.jobs.len() as u32 + 1;
            match self.job(&CloneOf { job, engine, section, clone, number }) {
                Ok(planned) => {
                    let id = self.plan.jobs.len();
                    self.plan.jobs.push(planned);
                    self.plan.waves.last_mut().expect("a wave was opened").push(id);
                }
                Err(error) => {
                    self.note(in_job(job, error));
                    // Other clones may be refused for their files, too.
                    if self.refused == 0 {
                        return;
                    }
                }
            }
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
fn in_job(job: &ParsedJob, diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { message: format!("{}: {}", job.name, diagnostic.message), ..diagnostic }
}
