//! One job from one clone of a section: what depends on what, in that order.

use super::files::Parts;
use super::replay::Replay;
use super::{
    Planner, buffers, depth, engine, files, measure, no_files, pacing, reporting, source, thread,
};
use crate::job::{BufferPlan, EndPlan, Fallocate, JobPlan, LayoutPlan, Need, OpenPlan, PacePlan};
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_engine::{EngineDef, LaysOut};
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::FallocateMode as Word;
use iosonde_workload::Sizes;

/// A clone of a section, to be planned.
#[derive(Clone, Copy)]
pub(super) struct CloneOf<'a> {
    pub job: &'a ParsedJob,
    pub engine: &'static EngineDef,
    /// Which section of the command line.
    pub section: usize,
    /// Which clone of it.
    pub clone: u32,
    /// Thread number over all jobs, from 1.
    pub number: u32,
}

/// The I/O of a job: what most of its plan depends on.
pub(super) struct Shape {
    pub replay: Option<Replay>,
    pub dirs: PerDir<bool>,
    pub sizes: PerDir<Sizes>,
    pub min_bs: u64,
    pub max_bs: u32,
}

impl Shape {
    fn new(spec: &JobSpec, engine: &EngineDef, replay: Option<Replay>) -> Shape {
        let dirs = match &replay {
            Some(replay) => replay.dirs(),
            // What such an engine counts are reads.
            None if engine.caps.no_io => PerDir([true, false, false]),
            None => spec.dirs(),
        };
        let sizes = replay.as_ref().map_or_else(|| source::sizes(spec), Replay::sizes);
        let min_bs = u64::from(DIRS.map(|dir| sizes[dir].min()).into_iter().min().unwrap_or(1));
        let max_bs = DIRS.map(|dir| sizes[dir].max()).into_iter().max().unwrap_or(1);
        Shape { replay, dirs, sizes, min_bs, max_bs }
    }

    /// It keeps to the times of its recording.
    pub fn is_timed(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.timed)
    }
}

impl Planner<'_> {
    /// Everything about one job. Its group is decided with the others.
    pub(super) fn job(&mut self, of: &CloneOf<'_>) -> Result<JobPlan, Diagnostic> {
        let &CloneOf { job, engine, section, clone, number } = of;
        let spec = &job.spec;
        no_files::one_way(spec, engine)?;
        let replay = self.replay(job, clone, engine)?;
        let shape = Shape::new(spec, engine, replay);
        let parts = self.files_of(of, &shape)?;
        self.promise(&parts.files);
        let window = depth::window(spec, engine);
        let measured = reporting::measured(spec, engine);
        let queued = depth::is_queued(engine, &window);
        let mut source = source::source(spec, number, &shape.sizes, &parts, queued);
        let mut reporting = reporting::reporting(job, engine, measured, &shape.sizes);
        if let Some(replay) = &shape.replay {
            source = replay.take(source);
            reporting.what = replay.what(engine, window.depth);
        }
        let moves_data = !engine.caps.diskless && !engine.caps.by_name;
        let fill = self.fill(spec, &source, shape.dirs[Dir::Write] && moves_data)?;
        let thread = thread::thread(spec, clone)?;
        let settings = engine::settings(job, (number, clone), engine, &parts.files)?;
        let priority = measure::Priorities {
            own: thread.io_priority,
            of_single_ios: settings.sets_priorities(),
        };
        Ok(JobPlan {
            name: job.name.clone(),
            section,
            number,
            clone,
            group: 0,
            engine,
            offload: depth::offload(spec, engine)?,
            settings,
            measure: measure::measure(of, &shape, window.depth, (measured, self.totals), priority)?,
            window,
            source,
            dirs: shape.dirs,
            pace: PacePlan { recorded: shape.is_timed(), ..pacing::plan(spec) },
            files: parts.files,
            layout: layout(spec, shape.max_bs),
            open: open(spec, &shape),
            buffers: BufferPlan {
                bytes: (shape.max_bs as usize).next_multiple_of(4096),
                align: self.alignment(spec),
                lead: 0,
                memory: buffers::memory(spec)?,
                locked_bytes: buffers::locked_bytes(spec)?,
            },
            fill,
            tolerance: engine::tolerance(spec),
            sync_range: engine::sync_range(spec),
            time: self.time(job, number)?,
            end: end(spec),
            thread,
            coordination: self.coordination(job)?,
            reporting,
        })
    }

    /// Its files, and what must be there before it runs.
    fn files_of(&mut self, of: &CloneOf<'_>, shape: &Shape) -> Result<Parts, Diagnostic> {
        let &CloneOf { job, engine, clone, .. } = of;
        let need = match engine.caps.lays_out {
            _ if engine.caps.diskless => Need::Nothing,
            LaysOut::Files => files::need(&job.spec, engine.caps.no_extend, shape.dirs[Dir::Read]),
            LaysOut::Directories => Need::Range,
            LaysOut::Nothing => Need::Nothing,
        };
        match &shape.replay {
            Some(replay) => self.recorded_files(&job.spec, replay, engine),
            None if engine.caps.no_io => Ok(no_files::no_files(job, shape.min_bs)),
            None => {
                let named = self.named(of);
                let parts = self.parts(job, clone, named, need, shape.min_bs);
                self.refused += usize::from(parts.is_err());
                parts
            }
        }
    }
}

fn open(spec: &JobSpec, shape: &Shape) -> OpenPlan {
    let random = spec.order.rw.get().word.is_random() && shape.replay.is_none();
    OpenPlan {
        mode: engine::open_mode(spec),
        invalidate: *spec.file_life.invalidate.get() && !*spec.file_life.pre_read.get(),
        hint: engine::hint(spec, random),
        sync_on_close: *spec.durability.fsync_on_close.get(),
        allow_mounted_write: *spec.file_life.allow_mounted_write.get(),
    }
}

fn end(spec: &JobSpec) -> EndPlan {
    EndPlan {
        fsync: *spec.durability.end_fsync.get(),
        fdatasync: false,
        syncfs: *spec.durability.end_syncfs.get(),
        unlink: *spec.file_life.unlink.get(),
        unlink_each_loop: *spec.file_life.unlink_each_loop.get(),
    }
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
