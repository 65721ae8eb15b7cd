//! A job among others, decided: whom it waits for, whom it ends, what is
//! around it.

use iosonde_base::Nanos;
use iosonde_spec::values::{ExitWhat, SteadyGoal};
use iosonde_sys::numa::MemoryPolicy;
use rustix::time::ClockId;

/// What a job asks for besides its I/O.
#[derive(Clone, Debug)]
pub struct LifePlan {
    /// Starts when all jobs of this section have ended.
    pub waits_for: Option<usize>,
    /// Which jobs end when it ends (`exitall`).
    pub end_ends: Option<ExitWhat>,
    /// Which jobs end when it fails (`exitall_on_error`).
    pub failure_ends: Option<ExitWhat>,
    /// For the shell, before.
    pub before: Option<String>,
    /// For the shell, after.
    pub after: Option<String>,
    /// What the system calls its thread.
    pub comm: Option<String>,
    /// Its thread's user.
    pub user: Option<u32>,
    /// Its thread's group.
    pub group: Option<u32>,
    /// Where its memory is taken from.
    pub memory: Option<MemoryPolicy>,
    /// The control group it runs in.
    pub cgroup: Option<CgroupPlan>,
    /// The scheduler of the disks under its files.
    pub scheduler: Option<String>,
    /// Whether its files are locked.
    pub lock: LockMode,
    /// Move this many bytes before anything counts; zero for none.
    pub ramp_bytes: u64,
    /// The clock that tells when counting began.
    pub start_clock: ClockId,
    /// When its numbers are steady, and it ends.
    pub steady: Option<SteadyPlan>,
    /// Errors that are borne are told one by one (`error_dump`).
    pub tells_errors: bool,
}

/// A control group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupPlan {
    /// Its name, below the root of the hierarchy.
    pub name: String,
    /// Weight of its I/O.
    pub weight: Option<u32>,
    /// It is left in place.
    pub stays: bool,
}

/// `lockfile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// No locks.
    #[default]
    None,
    /// One job at a time.
    Exclusive,
    /// Jobs that only read, together; one that writes, alone.
    ReadWrite,
}

/// `steadystate`, `steadystate_duration`, `_ramp_time` and `_check_interval`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyPlan {
    /// What is watched, and how far off is still steady.
    pub goal: SteadyGoal,
    /// How long it must hold.
    pub duration: Nanos,
    /// How long to run before looking.
    pub ramp: Nanos,
    /// How often to look; `duration` is a multiple.
    pub interval: Nanos,
}
