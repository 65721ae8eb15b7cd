//! Before the gate: a place on the machine, memory, the engine, files.

use super::requirements::Goals;
use super::sampler::Sampler;
use super::thread;
use super::{Worker, logs};
use crate::control::{JobStage, Shared};
use crate::evidence::job_readings::JobLook;
use crate::job::{FileKind, FilePlan, JobError, JobPlan, LayoutPlan};
use crate::layout;
use iosonde_base::{Dir, Errno, Ring};
use iosonde_direct::RawBuf;
use iosonde_engine::{
    Drive, Failure, FileSetup, Files, IoLog, Memory, OpenMode, OpenWith, Tolerance, Trace,
};
use iosonde_stats::{Counters, CountersWriter};
use iosonde_sys::clock::Clock;
use iosonde_sys::counters::Usage;
use iosonde_sys::memory::LockedMemory;
use iosonde_workload::Source;
use std::path::PathBuf;
use std::sync::Arc;

impl<'a> Worker<'a> {
    /// Affinity, priority, memory, engine, files.
    pub(super) fn settle_in(
        job: &'a JobPlan,
        writer: CountersWriter,
        shared: &'a Shared,
    ) -> Result<Worker<'a>, (Box<JobError>, Arc<Counters>)> {
        shared.enter(JobStage::Opening);
        let fail = |error: JobError| (Box::new(error), shared.counters.clone());
        let mut notes = Vec::new();
        let clock = Clock::pick(job.measure.clock)
            .map_err(|error| fail(JobError::other("pick the clock", Errno::EINVAL, &error)))?;
        // Their thread shall not share the job's place.
        let logs = logs::open(job, clock, shared).map_err(fail)?;
        take_place(job, &mut notes).map_err(fail)?;
        thread::settle(job).map_err(fail)?;
        let born = clock.now();

        let locked = lock_memory(job).map_err(fail)?;
        let slots = job.window.depth;
        let bytes = job.buffers.lead + slots as usize * job.buffers.bytes;
        let memory = RawBuf::new(&job.buffers.memory, bytes.max(1), job.buffers.align)
            .map_err(|error| fail(JobError::other("allocate buffers", Errno(12), &error)))?;
        let mut memory = Memory::after(job.buffers.lead, memory, slots, job.buffers.bytes);
        let mut fill = job.fill.for_writes();
        fill.prepare(&mut memory);

        let with = OpenWith {
            depth: slots,
            files: job.files.len() as u32,
            memory: memory.span(),
            clock,
            settings: job.settings.clone(),
            sync_range: job.sync_range,
        };
        let open = job.offload.unwrap_or(job.engine.open);
        let engine = open(&with, job.measure.accounting).map_err(|error| {
            let detail = match &error.help {
                Some(help) => format!("{} ({help})", error.message),
                None => error.message.clone(),
            };
            fail(JobError {
                failure: Failure::engine("open the engine", error.errno),
                path: None,
                detail: Some(detail),
            })
        })?;
        let source = Source::new(job.source.clone())
            .map_err(|error| fail(JobError::other("plan its I/O", Errno::EINVAL, &error)))?;
        let drive = Drive {
            clock,
            source,
            ring: Ring::default(),
            files: Files::new(file_setups(job)),
            memory,
            fill,
            pen: writer,
            control: shared.pulse.clone(),
            window: job.window,
            tolerance: Tolerance {
                tell: shared.with_others.report_error.clone(),
                ..job.tolerance.clone()
            },
            log: None,
            tape: None,
            sync_tap: None,
            sync_range: job.sync_range,
            pacing: job.pace.pacing(&job.source, &clock),
            verify: None,
        };
        let mut worker = Worker {
            job,
            shared,
            engine,
            drive,
            clock,
            phase_began: born,
            phases: Vec::new(),
            start: born,
            run_began: born,
            began: 0,
            began_unix_ms: 0,
            usage_before: Usage::default(),
            counting: false,
            error: None,
            notes,
            sampler: Sampler::new(job, &clock),
            goals: Goals::new(&job.pace, job.window.depth),
            _locked: locked,
            logs,
            tap_next: u64::MAX,
            look: None,
        };
        worker.prepare_files().map_err(fail)?;
        worker.look = JobLook::before(job);
        Ok(worker)
    }

    fn prepare_files(&mut self) -> Result<(), JobError> {
        let stop = || self.shared.pulse.stop_asked();
        if !self.job.layout.serialize {
            layout::lay_out(self.job, &stop).map_err(JobError::from)?;
        }
        if self.job.layout.only {
            return Ok(());
        }
        if self.job.layout.pre_read {
            layout::pre_read(self.job, &stop).map_err(JobError::from)?;
            self.end_phase("pre_read");
        }
        if stop() {
            // What was to be laid out may not be there.
            return Ok(());
        }
        self.open_files().map_err(|failure| self.describe(failure))?;
        self.end_phase("open");
        self.drive.log = self.open_log()?;
        Ok(())
    }

    /// `write_iolog`, `--debug=io`.
    fn open_log(&self) -> Result<Option<IoLog>, JobError> {
        let names = || self.job.files.iter().map(|file| file.path_or_name()).collect::<Vec<_>>();
        let thread = iosonde_sys::process::thread_id();
        let trace = self.job.measure.trace.then(|| Trace::new(names(), thread));
        let Some(path) = &self.job.measure.iolog else {
            return Ok(trace.map(|trace| IoLog::only_trace(trace, self.job.files.len())));
        };
        let log = IoLog::open(path, names(), self.clock.now()).map_err(|error| JobError {
            failure: Failure::engine("open", error.into()),
            path: Some(path.clone()),
            detail: Some("write_iolog".into()),
        })?;
        Ok(Some(log.with_trace(trace)))
    }
}

fn take_place(job: &JobPlan, notes: &mut Vec<String>) -> Result<(), JobError> {
    // Descriptors shared by many threads cost a reference count on each call.
    if let Err(error) = iosonde_sys::process::unshare_files() {
        notes.push(format!("job {} shares its table of open files: {error}", job.name));
    }
    let place = &job.thread;
    if let Some(cpus) = &place.cpus {
        cpus.pin().map_err(|error| {
            let words = format!("processors {cpus}");
            JobError::other("set cpus_allowed", error.into(), &words)
        })?;
    }
    if let Some(nice) = place.nice {
        iosonde_sys::priority::add_nice(nice)
            .map_err(|error| JobError::other("set nice", error.into(), &"setpriority(2)"))?;
    }
    if let Some(priority) = place.io_priority {
        priority.set().map_err(|error| {
            JobError::other("set prio", error.into(), &"ioprio_set(2) refused the class or level")
        })?;
    }
    Ok(())
}

/// Take from the machine what the job is to do without (`lockmem`).
fn lock_memory(job: &JobPlan) -> Result<Option<LockedMemory>, JobError> {
    let bytes = usize::try_from(job.buffers.locked_bytes).unwrap_or(usize::MAX);
    let take = |bytes| {
        LockedMemory::take(bytes).map_err(|error| {
            let errno = Errno::from(std::io::Error::from(error.kind()));
            JobError::other("lock memory (see ulimit -l)", errno, &error)
        })
    };
    (bytes > 0).then(|| take(bytes)).transpose()
}

fn file_setups(job: &JobPlan) -> Vec<FileSetup> {
    let LayoutPlan { on_open, may_create, pre_read, .. } = job.layout;
    let setup = |file: &FilePlan| FileSetup {
        path: if file.kind == FileKind::None { PathBuf::new() } else { file.path.clone() },
        mode: OpenMode {
            read: job.dirs[Dir::Read],
            write: job.dirs[Dir::Write] || job.dirs[Dir::Trim] || job.engine.caps.changes,
            create: may_create && (on_open || job.dirs[Dir::Write]),
            ..job.open.mode
        },
        offset: file.offset,
        bytes: file.bytes,
        block_device: file.kind == FileKind::Block,
        invalidate: job.open.invalidate && !pre_read,
        hint: job.open.hint,
        sync_on_close: job.open.sync_on_close,
    };
    job.files.iter().map(setup).collect()
}
