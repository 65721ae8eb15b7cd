//! Options of libaio, and what they mean for a context.

use crate::platform::cmdprio::{CommandPriorities, options_with_priorities};
use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Category, Diagnostic};

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<LibaioOptions>(LibaioOptions::OPTIONS);

options_with_priorities! {
    /// libaio
    pub(super) struct LibaioOptions in Category::Engine
    {
        /// Take completions from the ring in memory, without a call.
        userspace_reap: bool = "0" as "userspace_reap" {
            bare: Some("1"),
        }
        /// Fail with EAGAIN rather than wait (RWF_NOWAIT).
        nowait: bool = "0" as "nowait" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Use vectored reads and writes.
        libaio_vectored: bool = "0" as "libaio_vectored" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
    }
    {}
}

/// How requests are made and completions taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibaioSettings {
    /// Completions are read from the ring in memory before the kernel is asked.
    pub userspace_reap: bool,
    /// PREADV and PWRITEV rather than PREAD and PWRITE.
    pub vectored: bool,
    /// RWF_NOWAIT: fail with EAGAIN rather than wait.
    pub nowait: bool,
    /// RWF_ATOMIC: writes are atomic (the core option `atomic`).
    pub atomic: bool,
    /// Priorities of single I/Os (`cmdprio_*`).
    pub priorities: Option<CommandPriorities>,
}

impl OwnSettings for LibaioSettings {
    fn sets_priorities(&self) -> bool {
        self.priorities.is_some()
    }
}

impl OwnOptions for LibaioOptions {
    type Settings = LibaioSettings;

    fn settings(&self, job: &JobContext) -> Result<LibaioSettings, Diagnostic> {
        Ok(LibaioSettings {
            // Buffered I/O is done by the time io_submit(2) returns: there is
            // nothing to wait for in the kernel.
            userspace_reap: *self.userspace_reap.get() || !job.direct,
            vectored: *self.libaio_vectored.get(),
            nowait: *self.nowait.get(),
            atomic: job.atomic,
            priorities: self.priorities().plan(job)?,
        })
    }
}
