//! A job among others, decided: which jobs it waits for and ends, and what it
//! changes around it.

use iosonde_base::Nanos;
use iosonde_spec::values::{ExitWhat, SteadyGoal};

/// What depends on other jobs, or changes the machine around a job.
#[derive(Clone, Debug, Default)]
pub struct CoordinationPlan {
    /// Starts when all jobs of this section have ended.
    pub waits_for: Option<usize>,
    /// Which jobs end when it ends (`exitall`).
    pub end_ends: Option<ExitWhat>,
    /// Which jobs end when it fails (`exitall_on_error`).
    pub failure_ends: Option<ExitWhat>,
    /// A shell command before it (`exec_prerun`).
    pub before: Option<String>,
    /// A shell command after it (`exec_postrun`).
    pub after: Option<String>,
    /// The control group it runs in.
    pub cgroup: Option<CgroupPlan>,
    /// The scheduler of the disks under its files.
    pub scheduler: Option<String>,
    /// Whether its files are locked.
    pub lock: LockMode,
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
