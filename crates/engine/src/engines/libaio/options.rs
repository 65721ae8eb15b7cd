//! Options of libaio, and what they mean for a context.

use crate::engines::cmdprio::{CmdPrioSplit, CommandPriorities, PriorityOptions};
use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Category, Diagnostic, options};

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<LibaioOptions>(LibaioOptions::OPTIONS);

options! {
    /// libaio
    pub(super) struct LibaioOptions in Category::Engine {
        /// Take completions from the ring in memory, without a call.
        userspace_reap: bool = "0" as "userspace_reap" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
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
        /// Share of I/Os with a priority of their own, in percent; for reads, for writes.
        cmdprio_percentage: iosonde_options::Triple<u32> = "0" as "cmdprio_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "20", "20,0"],
            bad: &["101", "some"],
        }
        /// Class of that priority: 1 real time, 2 best effort, 3 idle.
        cmdprio_class: iosonde_options::Triple<Option<u32>> = "" as "cmdprio_class" {
            min: Some(1),
            max: Some(3),
            good: &["1", "2,3"],
            bad: &["0", "4"],
        }
        /// A hint to the device that goes with that priority.
        cmdprio_hint: iosonde_options::Triple<Option<u32>> = "" as "cmdprio_hint" {
            min: Some(0),
            max: Some(1023),
            good: &["0", "1"],
            bad: &["1024"],
        }
        /// That priority within its class, 0 the highest.
        cmdprio: iosonde_options::Triple<Option<u32>> = "" as "cmdprio" {
            min: Some(0),
            max: Some(7),
            good: &["0", "7"],
            bad: &["8"],
        }
        /// Shares of I/Os with that priority, by block size: `4k/20:64k/0`.
        ///
        /// For reads, for writes. A share may name its own priority, class, level and hint:
        /// `4k/20/1/0:4k/10/2/7/1`.
        cmdprio_bssplit: Option<CmdPrioSplit> = "" as "cmdprio_bssplit" {
            good: &["4k/20:64k/0", "4k/20/1/0:4k/10/2/7,64k/5", "4k/20/1/0/3"],
            bad: &["4k/20/1", "/20", "4k/60:4k/60", "4k/20/4/0", "4k/20/1/8"],
        }
    }
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
        let priorities = PriorityOptions {
            percentage: &self.cmdprio_percentage,
            class: &self.cmdprio_class,
            hint: &self.cmdprio_hint,
            level: &self.cmdprio,
            split: &self.cmdprio_bssplit,
        };
        Ok(LibaioSettings {
            // Buffered I/O is done by the time io_submit(2) returns: there is
            // nothing to wait for in the kernel.
            userspace_reap: *self.userspace_reap.get() || !job.direct,
            vectored: *self.libaio_vectored.get(),
            nowait: *self.nowait.get(),
            atomic: job.atomic,
            priorities: priorities.plan(job)?,
        })
    }
}
