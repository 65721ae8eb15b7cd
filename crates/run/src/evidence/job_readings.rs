//! What one job looks at: its files, its thread.

use crate::job::{FileKind, JobPlan, Looks};
use iosonde_sys::counters::TaskIo;
use iosonde_witness::Observed;
use iosonde_witness::reading::{FileReading, sample};
use std::time::{Duration, Instant};

/// What was observed of a job.
#[derive(Clone, Debug)]
pub struct JobSeen {
    /// Of its files, before and after.
    pub files: Vec<FileReading>,
    /// What its thread counted while the clock ran.
    pub thread_io: Observed<TaskIo>,
    /// What the process counted meanwhile, if the job was alone.
    pub process_io: Option<TaskIo>,
    /// When the clock stopped.
    pub ended: Instant,
    /// How long looking took.
    pub took: Duration,
}

/// A job's looks, while it runs.
pub(crate) struct JobLook {
    looks: Looks,
    files: Vec<FileReading>,
    thread: Observed<TaskIo>,
    process: Option<TaskIo>,
    took: Duration,
}

impl JobLook {
    /// Look at the files, which are laid out and open; `None` where nothing
    /// was asked for, or the job touches no files.
    pub fn before(job: &JobPlan) -> Option<JobLook> {
        // What moves no bytes of storage has nothing to be looked at.
        let looks =
            job.measure.looks.filter(|_| !job.engine.caps.diskless && !job.engine.caps.no_io)?;
        let began = Instant::now();
        let holds_data = |kind| matches!(kind, FileKind::Regular | FileKind::Block);
        let look = |at: usize| {
            let file = &job.files[at];
            // What cannot be opened, or is not there before it is written, is
            // not looked at; the job itself says what is wrong with it.
            let read = || FileReading::before(&file.path, file.offset, file.bytes).ok();
            holds_data(file.kind).then(read).flatten()
        };
        let files = sample(job.files.len(), looks.files).filter_map(look).collect();
        let thread = Observed::default();
        let mut look = JobLook { looks, files, thread, process: None, took: Duration::ZERO };
        look.begin();
        look.took = began.elapsed();
        Some(look)
    }

    /// The clock starts, or starts anew.
    pub fn begin(&mut self) {
        self.process = self.looks.alone.then(|| TaskIo::of_process().ok()).flatten();
        self.thread = TaskIo::of_thread().into();
    }

    /// The clock has stopped; files are still open.
    pub fn end(mut self) -> Box<JobSeen> {
        let ended = Instant::now();
        let since = |now: TaskIo, before: &TaskIo| now.since(before);
        let thread_io = match (&self.thread, TaskIo::of_thread()) {
            (Observed::Is(before), Ok(now)) => Observed::Is(since(now, before)),
            (Observed::Unknown(why), _) => Observed::Unknown(why.clone()),
            (_, Err(error)) => Observed::unknown(error.to_string()),
        };
        let process_io = match (&self.process, TaskIo::of_process()) {
            (Some(before), Ok(now)) => Some(since(now, before)),
            _ => None,
        };
        self.files.iter_mut().for_each(FileReading::look_again);
        let took = self.took + ended.elapsed();
        Box::new(JobSeen { files: self.files, thread_io, process_io, ended, took })
    }
}
