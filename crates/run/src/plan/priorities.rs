//! From a job's options to priorities of single I/Os (`cmdprio_*`).

use iosonde_engine::{CommandPriorities, SizePriorities};
use iosonde_options::{Diagnostic, Setting, Triple};
use iosonde_spec::JobSpec;
use iosonde_spec::topics::engines::{IoUring, LibAio};
use iosonde_spec::values::{CmdPrioSplit, PrioPortion};
use iosonde_sys::priority::IoClass;

/// The options, of whichever engine.
pub(super) struct Asked<'a> {
    percentage: &'a Setting<Triple<u32>>,
    class: &'a Setting<Triple<Option<u32>>>,
    hint: &'a Setting<Triple<Option<u32>>>,
    level: &'a Setting<Triple<Option<u32>>>,
    split: &'a Setting<Option<CmdPrioSplit>>,
}

impl<'a> From<&'a LibAio> for Asked<'a> {
    fn from(own: &'a LibAio) -> Asked<'a> {
        Asked {
            percentage: &own.cmdprio_percentage,
            class: &own.cmdprio_class,
            hint: &own.cmdprio_hint,
            level: &own.cmdprio,
            split: &own.cmdprio_bssplit,
        }
    }
}

impl<'a> From<&'a IoUring> for Asked<'a> {
    fn from(own: &'a IoUring) -> Asked<'a> {
        Asked {
            percentage: &own.cmdprio_percentage,
            class: &own.cmdprio_class,
            hint: &own.cmdprio_hint,
            level: &own.cmdprio,
            split: &own.cmdprio_bssplit,
        }
    }
}

impl Asked<'_> {
    /// What the engine is to do, if anything, for the job with this number.
    ///
    /// # Errors
    /// Where options contradict each other.
    pub(super) fn plan(
        &self,
        spec: &JobSpec,
        number: u32,
    ) -> Result<Option<CommandPriorities>, Diagnostic> {
        let percentages = &self.percentage.get().0[..2];
        let by_percentage = percentages.iter().any(|&percent| percent > 0);
        let of = match (self.split.get(), by_percentage) {
            (Some(_), true) => {
                return Err(Diagnostic::error(
                    "cmdprio_percentage and cmdprio_bssplit options are mutually exclusive",
                )
                .about("cmdprio_bssplit", self.split.origin()));
            }
            (None, false) => return Ok(None),
            (None, true) => [0, 1].map(|dir| match percentages[dir] {
                0 => Vec::new(),
                percent => {
                    let shares = vec![(percent, self.of(dir))];
                    vec![SizePriorities { bytes: None, shares }]
                }
            }),
            (Some(split), false) => [0, 1].map(|dir| self.sizes(dir, &split.0[dir])),
        };
        if super::engine::is_offloaded(spec) {
            return Err(Diagnostic::error("threads of a pool draw no priorities of single I/Os")
                .help("leave io_submit_mode out, or cmdprio_percentage and cmdprio_bssplit")
                .about("io_submit_mode", spec.depth.io_submit_mode.origin()));
        }
        let seed = iosonde_workload::priority_seed(*spec.random.randseed.get(), number);
        Ok(Some(CommandPriorities { of, seed }))
    }

    /// The priority that is meant where none is named: the highest there is.
    fn of(&self, dir: usize) -> u16 {
        let of = |setting: &Setting<Triple<Option<u32>>>| setting.get().0[dir];
        // The ranges of the options are those of priorities.
        let number = |asked: Option<u32>, otherwise| asked.map_or(otherwise, |asked| asked as u16);
        let real_time = IoClass::RealTime as u16;
        raw([
            number(of(self.class), real_time),
            number(of(self.level), 0),
            number(of(self.hint), 0),
        ])
    }

    fn sizes(&self, dir: usize, portions: &[PrioPortion]) -> Vec<SizePriorities> {
        let mut sizes: Vec<SizePriorities> = Vec::new();
        for portion in portions {
            let bytes = u32::try_from(portion.size.0).ok();
            let share = (portion.percent, portion.priority.map_or_else(|| self.of(dir), raw));
            match sizes.iter_mut().find(|size| size.bytes == bytes) {
                Some(size) => size.shares.push(share),
                None => sizes.push(SizePriorities { bytes, shares: vec![share] }),
            }
        }
        sizes
    }
}

/// Class, level and hint as ioprio_set(2) has them.
fn raw([class, level, hint]: [u16; 3]) -> u16 {
    class << 13 | hint << 3 | level
}
