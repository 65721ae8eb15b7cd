//! What the conductor looks at: the machine around each wave, bytes over time.

use super::durability::WriteBackError;
use super::residency::ResidencyWatch;
use super::series::SeriesWatcher;
use super::stops::StopWatch;
use super::{durability, upper_bound};
use crate::control::Shared;
use crate::job::{FileKind, JobId, JobPlan, Plan};
use crate::worker::JobResult;
use iosonde_base::Dir;
use iosonde_report::JobPhase;
use iosonde_report::series::RunSeries;
use iosonde_sys::counters::{GroupLimits, Groups};
use iosonde_sys::environment::Machine;
use iosonde_witness::reading::{
    FileReading, Locations, MachineReading, device_facts, holes_below, sample,
};
use iosonde_witness::{DurableAfter, Fact, HolesBelow, ResidencySample, Wave};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was seen of a run, beside what its jobs saw.
#[derive(Clone, Debug, Default)]
pub struct RunSeen {
    pub(super) waves: Vec<Wave>,
    /// By job, the wave it ran in.
    pub(super) wave_of: Vec<usize>,
    pub(super) places: Locations,
    pub(super) facts: Vec<(String, iosonde_report::ledger::DeviceDescription)>,
    pub(super) machine: Machine,
    pub(super) phases: Vec<JobPhase>,
    pub(super) series: RunSeries,
    /// By job, how its data became durable.
    pub(super) durability: Vec<Fact<DurableAfter>>,
    /// By job, the error of writing its data back after it had ended.
    pub(crate) write_back: Vec<Option<WriteBackError>>,
    /// By job.
    pub(super) ceilings: Vec<Fact<f64>>,
    pub(super) took: Duration,
    /// For how long the process was stopped and continued, at least.
    pub(super) stopped: Duration,
    /// Limits of control groups while jobs ran, each time that they had changed.
    pub(super) limits: Vec<GroupLimits>,
    /// By job, what of its files was in the page cache while it ran.
    pub(super) residency: Vec<Vec<ResidencySample>>,
    pub(super) holes_below: Vec<HolesBelow>,
}

impl RunSeen {
    /// The jobs whose data could not be written back after they had ended, and why.
    pub fn write_back_errors(&self) -> impl Iterator<Item = (JobId, &str)> {
        let errors = self.write_back.iter().enumerate();
        errors.filter_map(|(job, error)| Some((job, error.as_ref()?.words.as_str())))
    }

    /// Of the files that jobs only read, what the loop devices below them show and their
    /// backing files do not have.
    fn holes_below(&self, plan: &Plan, results: &[Option<JobResult>]) -> Vec<HolesBelow> {
        let read_only = |job: &JobPlan| job.dirs[Dir::Read] && !job.dirs[Dir::Write];
        let jobs = plan.jobs.iter().zip(results).filter(|(job, _)| read_only(job));
        let seen = jobs.filter_map(|(_, result)| result.as_ref()?.seen.as_ref());
        let mut known = BTreeSet::new();
        let files = seen.flat_map(|seen| &seen.files);
        let files = files.filter(|file| known.insert((&file.path, file.offset, file.bytes)));
        let of_file = |file: &FileReading| {
            let place = self.places.0.iter().find(|place| place.device == file.device)?;
            holes_below(place, &file.path, file.offset, file.bytes)
        };
        files.filter_map(of_file).collect()
    }
}

/// Looks at the machine while a plan runs; at nothing if no job was asked to.
#[derive(Default)]
pub(crate) struct Watcher {
    on: bool,
    seen: RunSeen,
    devices: Vec<String>,
    series: SeriesWatcher,
    residency: ResidencyWatch,
    stops: StopWatch,
    groups: Groups,
    limits_due: Option<Instant>,
    before: Option<MachineReading>,
}

/// A reading at the end of a wave is also that of the beginning of the next,
/// if that follows at once: of hundreds of short jobs one after the other,
/// half the looks.
const AT_ONCE: Duration = Duration::from_millis(2);

/// Some twenty small files are read each time: 0.2 ms, 0.02 % of it.
const LIMITS_EVERY: Duration = Duration::from_secs(1);

impl Watcher {
    /// For a plan of which nothing has begun.
    pub fn new(plan: &Plan) -> Watcher {
        let on = plan.jobs.iter().any(|job| job.measure.readings.is_some());
        let mut watcher = Watcher {
            on,
            seen: RunSeen { wave_of: vec![0; plan.jobs.len()], ..RunSeen::default() },
            devices: Vec::new(),
            series: if on { SeriesWatcher::new(plan) } else { SeriesWatcher::default() },
            residency: ResidencyWatch::new(plan),
            stops: if on { StopWatch::start() } else { StopWatch::default() },
            groups: Groups::default(),
            limits_due: None,
            before: None,
        };
        if on {
            watcher.look_around(plan);
        }
        watcher
    }

    /// No longer look for stops of the process: MPI libraries give up a connection whose
    /// making a signal interrupts, and launchers send SIGCONT before they end a run.
    pub fn leave_stops(&mut self) {
        self.stops = StopWatch::default();
    }

    fn look_around(&mut self, plan: &Plan) {
        let began = Instant::now();
        for job in &plan.jobs {
            let files = job.measure.readings.map_or(1, |readings| readings.files);
            for at in sample(job.files.len(), files) {
                if job.files[at].kind != FileKind::None {
                    self.seen.places.add(&job.files[at].path);
                }
            }
        }
        self.seen.machine = Machine::this();
        self.groups = Groups::of_thread();
        self.seen.took += began.elapsed();
    }

    fn timed(&mut self, what: &str, began: Instant) {
        let duration_ns = began.elapsed().as_nanos() as u64;
        self.seen.phases.push(JobPhase { name: what.to_owned(), duration_ns, start_ns: None });
    }

    /// Files were laid out, since `began`.
    pub fn laid_out(&mut self, began: Instant) {
        if self.on {
            self.timed("layout", began);
        }
    }

    /// Jobs of a wave are about to be let go; others of it may run already.
    pub fn wave_begins(&mut self, jobs: &[JobId]) {
        if !self.on {
            return;
        }
        let began = Instant::now();
        for &job in jobs {
            self.seen.wave_of[job] = self.seen.waves.len();
        }
        if self.before.is_none() {
            let devices = self.seen.places.devices();
            self.devices = devices.iter().map(|(layer, _)| layer.name.clone()).collect();
            self.before = Some(self.just_read().unwrap_or_else(|| self.read()));
            let top = devices.iter().filter(|(_, level)| *level == 0);
            let top = top.map(|(layer, _)| layer.name.clone()).collect();
            self.series.begin(top);
        }
        self.residency.begin(jobs);
        self.seen.took += began.elapsed();
    }

    fn read(&self) -> MachineReading {
        MachineReading::now(self.devices.iter().map(String::as_str), &self.groups)
    }

    /// The reading at the end of the wave before, if that was just now.
    fn just_read(&self) -> Option<MachineReading> {
        let last = &self.seen.waves.last()?.after;
        last.at.filter(|at| at.elapsed() < AT_ONCE).map(|_| last.clone())
    }

    /// All jobs of the wave have ended.
    pub fn wave_ended(&mut self, shared: &[Arc<Shared>], results: &[Option<JobResult>]) {
        let Some(before) = self.before.take() else { return };
        let began = Instant::now();
        self.series.end(self.ended(began, shared, results), shared);
        let after = self.read();
        self.seen.waves.push(Wave { before, after });
        self.seen.took += began.elapsed();
    }

    /// When the last job of this wave stopped counting.
    fn ended(
        &self,
        now: Instant,
        shared: &[Arc<Shared>],
        results: &[Option<JobResult>],
    ) -> Instant {
        let wave = self.seen.waves.len();
        let jobs = shared.iter().zip(results).zip(&self.seen.wave_of);
        let of_wave = jobs.filter(|(_, of)| **of == wave).map(|(job, _)| job);
        // One that was given up counted until now.
        let ago = |(shared, result): (&Arc<Shared>, &Option<JobResult>)| {
            let runtime = Duration::from_nanos(result.as_ref()?.runtime.0);
            Some(shared.began_ago()?.saturating_sub(runtime))
        };
        let ago = of_wave.map(|job| ago(job).unwrap_or_default()).min().unwrap_or_default();
        now.checked_sub(ago).unwrap_or(now)
    }

    /// When it wants to look at the jobs' counts again.
    pub fn due(&self) -> Option<Instant> {
        self.on.then(|| self.series.due())
    }

    /// Look at the jobs' counts, if it is time.
    pub fn look(&mut self, shared: &[Arc<Shared>]) {
        if self.on {
            let now = Instant::now();
            self.stops.look(self.series.due(), now);
            self.series.look(shared);
            self.residency.look(now, shared);
            self.look_at_limits(now);
        }
    }

    /// Limits may be set and taken away again while jobs run.
    fn look_at_limits(&mut self, now: Instant) {
        let due = *self.limits_due.get_or_insert(now + LIMITS_EVERY);
        if now < due || self.before.is_none() {
            return;
        }
        self.limits_due = Some(now + LIMITS_EVERY);
        let limits = self.groups.limits();
        if self.seen.limits.last() != Some(&limits) {
            self.seen.limits.push(limits);
        }
        self.seen.took += now.elapsed();
    }

    /// Everything has ended: watch data become durable and try what the
    /// machine could have done, unless the user wants the end.
    pub fn finish(
        mut self,
        plan: &Plan,
        results: &[Option<JobResult>],
        stop: &dyn Fn() -> bool,
    ) -> Option<RunSeen> {
        if !self.on {
            return None;
        }
        self.seen.stopped = self.stops.stopped();
        let began = Instant::now();
        self.seen.facts = self
            .seen
            .places
            .devices()
            .into_iter()
            .map(|(layer, _)| (layer.name.clone(), device_facts(&layer.name, layer.id)))
            .collect();
        self.seen.residency = std::mem::take(&mut self.residency).finish(plan.jobs.len());
        self.seen.holes_below = self.seen.holes_below(plan, results);
        self.seen.took += began.elapsed();
        let began = Instant::now();
        (self.seen.durability, self.seen.write_back) =
            durability::watch(plan, results, &self.seen.wave_of, stop);
        self.timed("until durable", began);
        let began = Instant::now();
        self.seen.ceilings = upper_bound::measure(plan, results, stop);
        self.timed("upper bound", began);
        self.seen.series = self.series.finish(plan);
        Some(self.seen)
    }
}
