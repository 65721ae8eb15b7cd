//! cpuio: a share of a processor is burnt.

use super::always;
use super::beside::{Beside, BesideLoop, BesideTurn, sleep};
use crate::drive::Failure;
use crate::{
    Caps, EngineDef, EngineError, EngineOptionTable, JobContext, OwnOptions, OwnSettings,
    SliceControl,
};
use iosonde_base::Errno;
use iosonde_options::{Category, Diagnostic, options, words};
use iosonde_sys::clock::Clock;

/// Catalogue entry.
pub(crate) static CPUIO: EngineDef = EngineDef {
    name: "cpuio",
    aliases: &[],
    summary: "burns processor time",
    doc: "Burns a share of one processor, cpuload percent, next to jobs that do I/O, and ends \
          with them.",
    caps: Caps { sync: true, diskless: true, no_io: true, ..Caps::NONE },
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| {
        let CpuSettings { load_percent, chunk_us, burn } = with.settings.of();
        if load_percent == 0 {
            return Err(EngineError {
                message: "burn processor time: no share is given".to_owned(),
                help: Some("set cpuload= to 1 to 100 percent".to_owned()),
                errno: Errno::EINVAL,
            });
        }
        let burnt_ns = u64::from(chunk_us.max(1)) * 1000;
        // As long a rest as makes the burn its share.
        let load = u64::from(load_percent.min(100));
        let rest_ns = burnt_ns * (100 - load) / load;
        let work = match burn {
            CpuMode::Noop => Work::Nothing,
            CpuMode::Qsort => Work::Sort(vec![0; SORTED]),
        };
        let phase = Phase::Fresh;
        Ok(BesideLoop::boxed(CpuIo { burnt_ns, rest_ns, work, phase }, accounting))
    },
};

words! {
    /// What cpuio burns time with.
    pub enum CpuMode {
        Noop = "noop" : "no-ops",
        Qsort = "qsort" : "sorting",
    }
}

options! {
    /// cpuio
    struct CpuioOptions in Category::Engine {
        /// Share of a processor to burn, in percent.
        cpuload: u32 = "0" as "cpuload" {
            good: &["0", "85"],
        }
        /// Length of a burn, in microseconds.
        cpuchunks: u32 = "50000" as "cpuchunks" {
            good: &["50000"],
        }
        /// What time is burnt with.
        cpumode: CpuMode = "noop" as "cpumode" {
            good: &["noop", "qsort"],
        }
        /// End when the jobs that do I/O have ended.
        exit_on_io_done: bool = "0" as "exit_on_io_done" {}
    }
}

static OPTIONS: EngineOptionTable = EngineOptionTable::of::<CpuioOptions>(CpuioOptions::OPTIONS);

/// What cpuio burns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSettings {
    /// Share of a processor, in percent; more than 100 is 100.
    pub load_percent: u32,
    /// Length of a burn, in microseconds.
    pub chunk_us: u32,
    /// What time is burnt with.
    pub burn: CpuMode,
}

impl Default for CpuSettings {
    fn default() -> CpuSettings {
        CpuSettings { load_percent: 0, chunk_us: 50_000, burn: CpuMode::Noop }
    }
}

impl OwnSettings for CpuSettings {}

impl OwnOptions for CpuioOptions {
    type Settings = CpuSettings;

    fn settings(&self, _: &JobContext) -> Result<CpuSettings, Diagnostic> {
        Ok(CpuSettings {
            load_percent: *self.cpuload.get(),
            chunk_us: *self.cpuchunks.get(),
            burn: *self.cpumode.get(),
        })
    }
}

/// Numbers sorted at a time: a tenth of a millisecond or so, so that the clock
/// is looked at often enough.
const SORTED: usize = 4096;

struct CpuIo {
    burnt_ns: u64,
    rest_ns: u64,
    work: Work,
    phase: Phase,
}

enum Work {
    Nothing,
    Sort(Vec<u32>),
}

/// Where in a turn it is; moments in ticks.
#[derive(Clone, Copy)]
enum Phase {
    Fresh,
    Burning { since: u64 },
    Resting { until: u64 },
}

impl Beside for CpuIo {
    fn turn(&mut self, clock: &Clock, control: &SliceControl) -> Result<BesideTurn, Failure> {
        if let Phase::Resting { until } = self.phase {
            if !sleep(clock, control, until) {
                return Ok(BesideTurn::Part);
            }
            self.phase = Phase::Fresh;
        }
        let since = match self.phase {
            Phase::Burning { since } => since,
            _ => clock.now(),
        };
        self.phase = Phase::Burning { since };
        let until = clock.after(since, self.burnt_ns);
        loop {
            let now = clock.now();
            if now >= until {
                self.phase = Phase::Resting { until: clock.after(now, self.rest_ns) };
                return Ok(BesideTurn::Whole(now - since));
            }
            if now >= control.until() {
                return Ok(BesideTurn::Part);
            }
            self.work.some();
        }
    }
}

impl Work {
    /// A little of it: microseconds.
    fn some(&mut self) {
        match self {
            Work::Nothing => (0..1000).for_each(|n| {
                std::hint::black_box(n);
            }),
            Work::Sort(numbers) => {
                // Weyl's sequence: never in order, and quick to make.
                let mut number = numbers[0];
                numbers.fill_with(|| {
                    number = number.wrapping_add(0x9E37_79B9);
                    number
                });
                numbers.sort_unstable();
                numbers.reverse();
                std::hint::black_box(numbers);
            }
        }
    }
}
