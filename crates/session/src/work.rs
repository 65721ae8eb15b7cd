//! Which jobs run, and by which rules.

use crate::personality::Personality;
use crate::prepare::Prepared;
use iosonde_run::account::cpu_idle::IdleDetail;
use iosonde_run::job::Plan;
use iosonde_run::preflight::write_access::{DeviceData, LockedFiles};
use iosonde_spec::cli::flags::{Flags, IdleProf, OutputFlags};
use std::path::Path;

/// Which jobs run.
pub enum Work {
    /// Those of a command line, parsed and planned. Their report has the settings and notes.
    Typed(Box<Prepared>),
    /// A plan of the caller's own.
    Planned(Plan),
}

/// Who sees to it that nothing is overwritten on devices that must not be.
#[derive(Clone, Copy, Debug)]
pub enum DeviceAccess<'a> {
    /// The session: devices in use are refused, and data on others is dealt with so.
    Guarded(DeviceData<'a>),
    /// The caller, who holds all that the plan writes to.
    Held,
}

/// What a run may do besides its I/O, and what is looked at.
#[derive(Clone, Copy, Debug)]
pub struct RunRules<'a> {
    /// Devices that are written to.
    pub devices: DeviceAccess<'a>,
    /// Files and devices that are written to, and that another program has locked.
    pub locked: LockedFiles,
    /// A file that the caller writes, besides those of the plan.
    pub output: Option<&'a Path>,
    /// Count what the disks under the files do.
    pub disks: bool,
    /// Read the counters that the ledger is made of. Only typed jobs have one.
    pub ledger: bool,
    /// Measure how idle the processors are.
    pub idle: Option<IdleDetail>,
}

impl Default for RunRules<'_> {
    /// Devices that hold data are refused; nothing is looked at but the jobs.
    fn default() -> Self {
        RunRules {
            devices: DeviceAccess::Guarded(DeviceData::Refuse(&[])),
            locked: LockedFiles::Refuse,
            output: None,
            disks: false,
            ledger: false,
            idle: None,
        }
    }
}

impl<'a> RunRules<'a> {
    /// Those of a plan whose caller holds what it writes to.
    pub fn held() -> RunRules<'a> {
        RunRules { devices: DeviceAccess::Held, ..RunRules::default() }
    }

    /// Those of a plan that may overwrite the devices that these words name (`--erase`).
    pub fn may_erase(words: &'a [String]) -> RunRules<'a> {
        let devices = DeviceAccess::Guarded(DeviceData::Refuse(words));
        RunRules { devices, ..RunRules::default() }
    }

    /// Those that the flags of typed jobs ask for.
    pub fn of_flags(personality: Personality, flags: &'a Flags) -> RunRules<'a> {
        let data = match personality {
            // As fio: written to, with a note.
            Personality::Fio => DeviceData::Note,
            Personality::Native => DeviceData::Refuse(&flags.jobs.erase),
        };
        // In our own name the ledger is made unless it is turned off; as fio only if it is
        // turned on.
        let ledger =
            flags.run.ledger.unwrap_or(personality == Personality::Native || flags.run.strict);
        let idle = flags.run.idle_prof.map(|detail| match detail {
            IdleProf::System => IdleDetail::System,
            IdleProf::PerCpu => IdleDetail::Each,
        });
        let locked = locked_files(personality, &flags.output);
        let devices = DeviceAccess::Guarded(data);
        RunRules { devices, locked, output: None, disks: true, ledger, idle }
    }
}

/// What to do about files that another program has locked: as fio, and with `--force`, they are
/// written to, with a note.
pub fn locked_files(personality: Personality, flags: &OutputFlags) -> LockedFiles {
    match personality {
        Personality::Native if !flags.force => LockedFiles::Refuse,
        _ => LockedFiles::Note,
    }
}
