//! What one job looks at: its files, its thread.

use crate::job::{FileKind, JobPlan, PlannedReadings};
use iosonde_sys::counters::TaskIo;
use iosonde_witness::Fact;
use iosonde_witness::reading::{FileReading, sample};
use std::io;
use std::time::{Duration, Instant};

/// What was observed of a job.
#[derive(Clone, Debug)]
pub struct JobSeen {
    /// Of its files, before and after.
    pub files: Vec<FileReading>,
    /// What its thread counted while the clock ran.
    pub thread_io: Fact<TaskIo>,
    /// What the process counted meanwhile, if the job was alone.
    pub process_io: Option<TaskIo>,
    /// Of the reads that checked what was written, if there was a phase of
    /// them.
    pub verify: Option<VerifySeen>,
    /// When the clock stopped.
    pub ended: Instant,
    /// How long looking took.
    pub took: Duration,
}

/// What was observed while what was written was read back, over all passes.
#[derive(Clone, Debug, Default)]
pub struct VerifySeen {
    /// Bytes that were read.
    pub bytes: u64,
    /// What the job's thread counted.
    pub thread_io: Fact<TaskIo>,
    /// What the process counted, if the job was alone.
    pub process_io: Option<TaskIo>,
}

/// Counters at the beginning of a phase.
struct PhaseLook {
    bytes: u64,
    thread: Fact<TaskIo>,
    process: Option<TaskIo>,
}

/// A job's readings, while it runs.
pub(crate) struct JobReadings {
    plan: PlannedReadings,
    files: Vec<FileReading>,
    thread: Fact<TaskIo>,
    process: Option<TaskIo>,
    checking: Option<PhaseLook>,
    verify: Option<VerifySeen>,
    took: Duration,
}

impl JobReadings {
    /// Look at the files, which are laid out and open; `None` where nothing
    /// was asked for, or the job touches no files.
    pub fn before(job: &JobPlan) -> Option<JobReadings> {
        // What moves no bytes of storage has nothing to be looked at.
        let plan =
            job.measure.readings.filter(|_| !job.engine.caps.diskless && !job.engine.caps.no_io)?;
        let began = Instant::now();
        let holds_data = |kind| matches!(kind, FileKind::Regular | FileKind::Block);
        let look = |at: usize| {
            let file = &job.files[at];
            // What cannot be opened is not looked at; the job itself says what is
            // wrong with it. A recording makes its files when it opens them.
            let read = || match FileReading::before(&file.path, file.offset, file.bytes) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Some(FileReading::absent(&file.path, file.offset, file.bytes))
                }
                found => found.ok(),
            };
            holds_data(file.kind).then(read).flatten()
        };
        let files = sample(job.files.len(), plan.files).filter_map(look).collect();
        let thread = Fact::default();
        let mut readings = JobReadings {
            plan,
            files,
            thread,
            process: None,
            checking: None,
            verify: None,
            took: Duration::ZERO,
        };
        readings.begin();
        readings.took = began.elapsed();
        Some(readings)
    }

    /// The clock starts, or starts anew.
    pub fn begin(&mut self) {
        self.process = self.plan.alone.then(|| TaskIo::of_process().ok()).flatten();
        self.thread = TaskIo::of_thread().into();
    }

    /// What was written is read back from now on; `bytes` were read so far.
    pub fn begin_verify(&mut self, bytes: u64) {
        let process = self.plan.alone.then(|| TaskIo::of_process().ok()).flatten();
        self.checking = Some(PhaseLook { bytes, thread: TaskIo::of_thread().into(), process });
    }

    /// That is over, if it had begun.
    pub fn end_verify(&mut self, bytes: u64) {
        let Some(before) = self.checking.take() else { return };
        let thread = since(&before.thread);
        let process = before
            .process
            .and_then(|before| TaskIo::of_process().ok().map(|now| now.since(&before)));
        let read = bytes.saturating_sub(before.bytes);
        let sum = |one: &TaskIo, other: &TaskIo| TaskIo {
            storage_read_bytes: one.storage_read_bytes + other.storage_read_bytes,
            ..*other
        };
        self.verify = Some(match self.verify.take() {
            None => VerifySeen { bytes: read, thread_io: thread, process_io: process },
            Some(earlier) => VerifySeen {
                bytes: earlier.bytes + read,
                thread_io: match (&earlier.thread_io, &thread) {
                    (Fact::Known(one), Fact::Known(other)) => Fact::Known(sum(one, other)),
                    (Fact::Unknown(why), _) => Fact::Unknown(why.clone()),
                    _ => thread.clone(),
                },
                process_io: earlier.process_io.zip(process).map(|(one, other)| sum(&one, &other)),
            },
        });
    }

    /// The clock has stopped; files are still open.
    pub fn end(mut self) -> Box<JobSeen> {
        let ended = Instant::now();
        let thread_io = since(&self.thread);
        let process_io = match (&self.process, TaskIo::of_process()) {
            (Some(before), Ok(now)) => Some(now.since(before)),
            _ => None,
        };
        self.files.iter_mut().for_each(FileReading::look_again);
        let took = self.took + ended.elapsed();
        let verify = self.verify;
        Box::new(JobSeen { files: self.files, thread_io, process_io, verify, ended, took })
    }
}

/// What this thread has counted since `before`.
fn since(before: &Fact<TaskIo>) -> Fact<TaskIo> {
    match (before, TaskIo::of_thread()) {
        (Fact::Known(before), Ok(now)) => Fact::Known(now.since(before)),
        (Fact::Unknown(why), _) => Fact::Unknown(why.clone()),
        (_, Err(error)) => Fact::unknown(error.to_string()),
    }
}
