//! From a job's options to priorities of single I/Os (`cmdprio_*`).

use super::split::{CmdPrioSplit, PrioPortion};
use crate::JobContext;
use iosonde_options::{Diagnostic, Setting, Triple};
use iosonde_sys::priority::IoClass;

/// Which I/Os have a priority of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPriorities {
    /// Of reads, then of writes: by size, the first that fits. Empty for none.
    pub of: [Vec<SizePriorities>; 2],
    /// The start of the random draws.
    pub seed: u64,
}

/// Shares of the I/Os of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizePriorities {
    /// The size; `None` for all.
    pub bytes: Option<u32>,
    /// Percent, and the priority as ioprio_set(2) has it. What is missing to
    /// 100 has none.
    pub shares: Vec<(u32, u16)>,
}

/// The options `cmdprio_*` of an engine.
pub(crate) struct PriorityOptions<'a> {
    pub percentage: &'a Setting<Triple<u32>>,
    pub class: &'a Setting<Triple<Option<u32>>>,
    pub hint: &'a Setting<Triple<Option<u32>>>,
    pub level: &'a Setting<Triple<Option<u32>>>,
    pub split: &'a Setting<Option<CmdPrioSplit>>,
}

impl PriorityOptions<'_> {
    /// The priorities to draw, if any were asked for.
    ///
    /// # Errors
    /// Where options contradict each other.
    pub(crate) fn plan(&self, job: &JobContext) -> Result<Option<CommandPriorities>, Diagnostic> {
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
        if let Some(origin) = job.offload {
            return Err(Diagnostic::error("threads of a pool draw no priorities of single I/Os")
                .help("leave io_submit_mode out, or cmdprio_percentage and cmdprio_bssplit")
                .about("io_submit_mode", origin));
        }
        Ok(Some(CommandPriorities { of, seed: job.priority_seed }))
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
