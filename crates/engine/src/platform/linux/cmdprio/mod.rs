//! `cmdprio_*`: priorities of single I/Os, drawn as they are pushed.

mod options;
mod plan;
mod split;

use crate::Io;
use iosonde_base::{Op, Slot};
use iosonde_workload::Taus88;

pub(crate) use options::options_with_priorities;
pub(crate) use plan::PriorityOptions;
pub use plan::{CommandPriorities, SizePriorities};
pub(crate) use split::CmdPrioSplit;

/// Draws priorities, and remembers them for each slot.
pub(crate) struct Priorities {
    plan: CommandPriorities,
    draws: Taus88,
    of_slot: Box<[u16]>,
}

impl Priorities {
    /// As asked, for this many slots; none of them where nothing was.
    pub(crate) fn new(plan: Option<&CommandPriorities>, slots: u32) -> Priorities {
        let slots = if plan.is_some() { slots as usize } else { 0 };
        let plan = plan.cloned().unwrap_or_default();
        // The generator takes the lower half of a seed.
        let draws = Taus88::new(plan.seed as u32);
        Priorities { draws, of_slot: vec![0; slots].into(), plan }
    }

    /// Draw for a request, and remember.
    pub(crate) fn draw(&mut self, slot: Slot, io: &Io) {
        let drawn = self.drawn(io);
        if let Some(remembered) = self.of_slot.get_mut(slot.0 as usize) {
            *remembered = drawn;
        }
    }

    fn drawn(&mut self, io: &Io) -> u16 {
        let sizes = match io.op {
            Op::Read => &self.plan.of[0],
            Op::Write => &self.plan.of[1],
            _ => return 0,
        };
        let fits = |bytes: Option<u32>| bytes.is_none_or(|bytes| bytes == io.len);
        let Some(size) = sizes.iter().find(|size| fits(size.bytes)) else { return 0 };
        let mut left = self.draws.below(100);
        for &(percent, raw) in &size.shares {
            if left < percent.into() {
                return raw;
            }
            left -= u64::from(percent);
        }
        0
    }

    /// What was drawn for a slot last; 0 for nothing.
    #[inline(always)]
    pub(crate) fn of(&self, slot: Slot) -> u16 {
        self.of_slot.get(slot.0 as usize).copied().unwrap_or(0)
    }
}
