//! One job from one clone of a section: what depends on what, in that order.

use super::clone_of::CloneOf;
use super::files::Parts;
use super::job_io::JobIo;
use super::{
    Planner, buffers, depth, engine, files, measure, no_files, pacing, reporting, source, thread,
    verify, verify_memory, zones,
};
use crate::job::{
    BufferPlan, EndPlan, Fallocate, JobPlan, LayoutPlan, Need, OpenPlan, PacePlan, VerifyPlan,
};
use iosonde_base::Dir;
use iosonde_engine::{EngineDef, LaysOut};
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_spec::values::FallocateMode as Word;
use iosonde_verify::Checks;
use iosonde_workload::SourceSpec;

impl Planner<'_> {
    /// Everything about one job. Its group is decided with the others.
    pub(super) fn job(&mut self, of: &CloneOf<'_>) -> Result<JobPlan, Diagnostic> {
        let &CloneOf { job, engine, section, clone, number } = of;
        let spec = &job.spec;
        no_files::one_way(spec, engine)?;
        let replay = self.replay(job, clone, engine)?;
        let io = JobIo::new(spec, engine, replay);
        let parts = self.files_of(of, &io)?;
        self.promise(&parts.files);
        let mut window = depth::window(spec, engine);
        let measured = reporting::measured(spec, engine);
        let queued = depth::is_queued(engine, &window);
        let mut source = source::source(spec, number, &io.sizes, &parts, queued);
        let mut reporting = reporting::reporting(job, engine, measured, &io.sizes);
        if let Some(replay) = &io.replay {
            source = replay.take(source);
            reporting.what = replay.what(engine, window.depth);
        }
        let mut verify = self.verify(of, &io, &source, &window)?;
        if let Some(verify) = &verify
            && let Some(warning) = verify_memory::judge(spec, &source, verify)?
        {
            self.note(warning);
        }
        reads_back(&mut source, verify.as_mut());
        source.zbd = zones::zbd(of, &io, &parts, verify.as_ref(), window.depth)?;
        // Two writes of one place in flight leave either; a check beside a write, neither.
        window.serialize_overlap |= verify.as_ref().is_some_and(VerifyPlan::may_overlap);
        let fill = self.fill(spec, &source, fills_buffers(engine, &io, verify.as_ref()))?;
        let thread = thread::thread(spec, clone)?;
        let mut settings = engine::settings(job, (number, clone), engine, &parts.files)?;
        self.simulate(of, &parts, verify.as_ref(), &mut settings)?;
        // As in fio: a thread of the kernel submits, at a moment that nobody sees.
        reporting.hide_slat(settings.kernel_thread_polls());
        let (own, of_single_ios) = (thread.io_priority, settings.sets_priorities());
        let priority = measure::JobPriorities { own, of_single_ios };
        let mut measure =
            measure::measure(of, &io, window.depth, (measured, self.totals), priority)?;
        // What is read back is counted as reads.
        measure.latencies.dirs[Dir::Read] |= verify.is_some();
        Ok(JobPlan {
            name: job.name.clone(),
            section,
            number,
            clone,
            group: 0,
            engine,
            offload: depth::offload(spec, engine)?,
            settings,
            measure,
            window,
            source,
            zones: zones::devices(&parts),
            dirs: io.dirs,
            pace: PacePlan { recorded: io.is_timed(), ..pacing::plan(spec) },
            files: parts.files,
            layout: layout(spec, io.max_bs),
            open: open(spec, &io),
            buffers: self.buffer_plan(spec, io.max_bs)?,
            fill,
            verify,
            tolerance: engine::tolerance(spec),
            sync_range: engine::sync_range(spec),
            time: self.time(job, number)?,
            end: end(spec),
            thread,
            coordination: self.coordination(job)?,
            reporting,
        })
    }

    /// Its buffers, each for the largest block.
    fn buffer_plan(&mut self, spec: &JobSpec, max_bs: u32) -> Result<BufferPlan, Diagnostic> {
        Ok(BufferPlan {
            bytes: (max_bs as usize).next_multiple_of(4096),
            align: self.alignment(spec),
            lead: 0,
            memory: buffers::memory(spec)?,
            locked_bytes: buffers::locked_bytes(spec)?,
        })
    }

    /// Its files, and what must be there before it runs.
    fn files_of(&mut self, of: &CloneOf<'_>, io: &JobIo) -> Result<Parts, Diagnostic> {
        let &CloneOf { job, engine, .. } = of;
        let need = match engine.caps.lays_out {
            _ if engine.caps.diskless || verify::only_reads_back(&job.spec) => Need::Nothing,
            LaysOut::Files => files::need(&job.spec, engine.caps.no_extend, io.dirs[Dir::Read]),
            LaysOut::Directories => Need::Range,
            LaysOut::Nothing => Need::Nothing,
        };
        match &io.replay {
            Some(replay) => self.recorded_files(&job.spec, replay, engine),
            None if engine.caps.no_io => Ok(no_files::no_files(job, io.min_bs)),
            None => {
                let named = self.named(of);
                let parts = self.parts(of, io, named, need);
                self.refused += usize::from(parts.is_err());
                parts
            }
        }
    }
}

/// What the checks mean for the I/Os, and the length of a pass for the checks.
fn reads_back(source: &mut SourceSpec, verify: Option<&mut VerifyPlan>) {
    source.verify = verify.is_some();
    let Some(verify) = verify else { return };
    source.reads_back = verify.reads_back();
    source.reads_back_among = verify.reads_back_among();
    if source.time_based {
        verify.spec.pass_bytes_most = source.pass_bytes_most();
        // As in fio, what was written once is gone over once.
        source.time_based = verify.spec.checks != Checks::WithoutWriting;
    }
}

/// Whether writes take what the options of buffers say: verify makes its own.
fn fills_buffers(engine: &EngineDef, io: &JobIo, verify: Option<&VerifyPlan>) -> bool {
    io.dirs[Dir::Write]
        && engine.caps.has_descriptors()
        && !verify.is_some_and(VerifyPlan::makes_content)
}

fn open(spec: &JobSpec, io: &JobIo) -> OpenPlan {
    let random = spec.order.rw.get().word.is_random() && io.replay.is_none();
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
        may_extend: true,
        block: max_bs as usize,
        pre_read: *spec.file_life.pre_read.get(),
        only: *spec.file_life.create_only.get(),
    }
}
