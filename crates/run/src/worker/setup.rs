//! Before the gate: thread, memory, the engine, files.

use super::requirements::Requirements;
use super::sampler::Sampler;
use super::thread;
use super::{Worker, logs, verify};
use crate::control::{JobStage, Shared};
use crate::evidence::job_readings::JobReadings;
use crate::job::{BufferPlan, FileKind, FilePlan, JobError, JobPlan, LayoutPlan};
use crate::layout;
use iosonde_base::{Dir, Errno, Ring};
use iosonde_direct::RawBuf;
use iosonde_engine::{
    Drive, Failure, FileSetup, Files, IoLog, Loop, Memory, OpenMode, OpenWith, Tolerance, Trace,
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
    #[inline(never)]
    pub(super) fn settle_in(
        job: &'a JobPlan,
        writer: CountersWriter,
        shared: &'a Shared,
    ) -> Result<Box<Worker<'a>>, (Box<JobError>, Arc<Counters>)> {
        shared.enter(JobStage::Opening);
        let fail = |error: JobError| (Box::new(error), shared.counters.clone());
        let mut worker = Worker::open(job, writer, shared).map_err(fail)?;
        worker.prepare_files().map_err(fail)?;
        worker.readings = JobReadings::before(job);
        Ok(worker)
    }

    /// All but its files.
    #[inline(never)]
    fn open(
        job: &'a JobPlan,
        writer: CountersWriter,
        shared: &'a Shared,
    ) -> Result<Box<Worker<'a>>, JobError> {
        let mut notes = Vec::new();
        let clock = Clock::pick(job.measure.clock)
            .map_err(|error| JobError::other("pick the clock", Errno::EINVAL, &error))?;
        // The thread of the logs shall not run on the job's processors.
        let logs = logs::open(job, clock, shared)?;
        set_up_thread(job, &mut notes)?;
        thread::settle(job)?;
        let born = clock.now();
        let locked = lock_memory(job)?;
        let mut memory = allocate_buffers(job)?;
        let mut fill = job.fill.for_writes();
        fill.prepare(&mut memory);
        let engine = open_engine(job, memory.span(), clock)?;
        let source = Source::new(job.source.clone())
            .map_err(|error| JobError::other("plan its I/O", Errno::EINVAL, &error))?;
        let tell = shared.with_others.report_error.clone();
        let drive = Drive {
            clock,
            source,
            ring: Ring::default(),
            files: Files::new(file_setups(job)),
            memory,
            fill,
            writer,
            control: shared.control.clone(),
            window: job.window,
            tolerance: Tolerance { tell, ..job.tolerance.clone() },
            log: None,
            tape: None,
            sync_tap: None,
            sync_range: job.sync_range,
            pacing: job.pace.pacing(&job.source, &clock),
            verify: verify::of_job(job, shared, &clock)?,
            zones: job.zones.clone(),
        };
        Ok(Box::new(Worker {
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
            run_delay_before: None,
            counting: false,
            ran_out: false,
            is_past_time: false,
            error: None,
            notes,
            sampler: Sampler::new(job, &clock),
            requirements: Requirements::new(&job.pace, job.window.depth),
            _locked: locked,
            logs,
            tap_next: u64::MAX,
            readings: None,
            paced: None,
            check: Default::default(),
        }))
    }

    fn prepare_files(&mut self) -> Result<(), JobError> {
        let stop = || self.shared.control.stop_asked();
        if !self.job.layout.serialize {
            layout::lay_out(self.job, &stop).map(drop).map_err(JobError::from)?;
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
        self.forget_cached().map_err(|failure| self.describe(failure))?;
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

fn allocate_buffers(job: &JobPlan) -> Result<Memory, JobError> {
    let (slots, BufferPlan { lead, bytes: each, align, memory, .. }) =
        (job.window.depth, &job.buffers);
    let bytes = lead + slots as usize * each;
    let memory = RawBuf::new(memory, bytes.max(1), *align)
        .map_err(|error| JobError::other("allocate buffers", Errno::ENOMEM, &error))?;
    Ok(Memory::after(*lead, memory, slots, *each))
}

/// `memory`: the first byte of the buffers, and how many there are.
fn open_engine(
    job: &JobPlan,
    memory: (*mut u8, usize),
    clock: Clock,
) -> Result<Box<dyn Loop>, JobError> {
    let with = OpenWith {
        depth: job.window.depth,
        files: job.files.len() as u32,
        memory,
        clock,
        settings: job.settings.clone(),
        sync_range: job.sync_range,
    };
    let open = job.offload.unwrap_or(job.engine.open);
    open(&with, job.measure.accounting).map_err(|error| {
        let detail = match &error.help {
            Some(help) => format!("{} ({help})", error.message),
            None => error.message.clone(),
        };
        JobError {
            failure: Failure::engine("open the engine", error.errno),
            path: None,
            detail: Some(detail),
        }
    })
}

/// Its table of open files, processors and priorities.
fn set_up_thread(job: &JobPlan, notes: &mut Vec<String>) -> Result<(), JobError> {
    // Descriptors shared by many threads cost a reference count on each call.
    let unshared = iosonde_sys::process::unshare_files();
    // A system that has no such tables costs nothing for it.
    if let Err(error) = unshared
        && error.kind() != std::io::ErrorKind::Unsupported
    {
        notes.push(format!("job {} shares its table of open files: {error}", job.name));
    }
    let thread = &job.thread;
    if let Some(cpus) = &thread.cpus {
        cpus.pin().map_err(|error| {
            let words = format!("processors {cpus}");
            JobError::other("set cpus_allowed", error.into(), &words)
        })?;
    }
    if let Some(nice) = thread.nice {
        iosonde_sys::priority::add_nice(nice)
            .map_err(|error| JobError::other("set nice", error.into(), &"setpriority(2)"))?;
    }
    if let Some(priority) = thread.io_priority {
        priority.set().map_err(|error| {
            JobError::other("set prio", error.into(), &"ioprio_set(2) refused the class or level")
        })?;
    }
    Ok(())
}

/// Lock memory that the job shall do without (`lockmem`).
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
            read: job.dirs[Dir::Read] || job.verify.is_some(),
            write: job.writes(),
            create: may_create && (on_open || job.dirs[Dir::Write] && !job.only_verifies()),
            overlapped: job.engine.caps.overlapped,
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
