//! cpuio: a share of a processor is burnt.

use super::always;
use super::beside::{Beside, BesideLoop, Turn, sleep};
use crate::drive::Failure;
use crate::{Burn, Caps, CpuKnobs, EngineDef, EngineError, Pulse};
use iosonde_base::Errno;
use iosonde_sys::clock::Clock;

/// Catalogue entry.
pub(crate) static CPUIO: EngineDef = EngineDef {
    name: "cpuio",
    aliases: &[],
    doc: "Burns a share of one processor, cpuload percent, beside jobs that do I/O, and ends \
          with them.",
    caps: Caps { sync: true, diskless: true, no_io: true, ..Caps::NONE },
    options: &["cpuload", "cpuchunks", "cpumode", "exit_on_io_done"],
    available: always,
    open: |with, accounting| {
        let CpuKnobs { load_percent, chunk_us, burn } = with.knobs.cpu;
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
            Burn::Nothing => Work::Nothing,
            Burn::Sort => Work::Sort(vec![0; SORTED]),
        };
        let phase = Phase::Fresh;
        Ok(BesideLoop::boxed(CpuIo { burnt_ns, rest_ns, work, phase }, accounting))
    },
};

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
    fn turn(&mut self, clock: &Clock, pulse: &Pulse) -> Result<Turn, Failure> {
        if let Phase::Resting { until } = self.phase {
            if !sleep(clock, pulse, until) {
                return Ok(Turn::Part);
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
                return Ok(Turn::Whole(now - since));
            }
            if now >= pulse.until() {
                return Ok(Turn::Part);
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
