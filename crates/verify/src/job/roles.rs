//! The part of verify in each I/O of a job, and what is remembered of its writes.

use super::{Checks, Role, VerifyJob, written};
use crate::history::{CheckOrder, Written};
use iosonde_base::{Op, Planned};

impl VerifyJob {
    pub(super) fn check_of(&mut self, write: Written, trimmed: bool) -> Role {
        // Drawn again only where the order of checks is that of the writes.
        let seed = match self.spec.order {
            CheckOrder::Issue if self.spec.compare_seed => self.again.of(write.number),
            _ => None,
        };
        Role::Check { number: write.number, seed, trimmed }
    }

    /// The part of verify in a data I/O or a sync of the job.
    pub(super) fn role_of(&mut self, entry: &Planned) -> Role {
        match (entry.op, self.spec.checks) {
            (Op::Write, Checks::Writes) => {
                let (number, seed) = (self.number, self.draw_seed());
                self.number += 1;
                Role::Write { number, seed, mark: self.draw_mark() }
            }
            (Op::Read, Checks::Reads) => {
                self.number += 1;
                let seed = self.spec.compare_seed.then(|| self.draw_seed());
                Role::JobRead { seed }
            }
            (Op::Sync | Op::DataSync, Checks::Writes) => Role::Sync { below: 0 },
            _ => Role::Plain,
        }
    }

    /// Remember what the job would do, without doing it.
    pub(super) fn imagine(&mut self, entry: &Planned) {
        if let Some(dir) = entry.op.dir() {
            self.counts.imagined[dir] += 1;
        }
        if entry.op == Op::Write {
            self.draw_seed();
            let mark = self.draw_mark();
            self.remember(written(entry, self.number), mark);
            self.number += 1;
            self.issued = self.number;
            self.counts.written += 1;
        }
    }

    /// A write that failed when the job wrote, or a read of its place: only
    /// what was drawn for it is drawn.
    pub(super) fn leave_out(&mut self, entry: &Planned) {
        self.failed.insert(self.number);
        if entry.op == Op::Write {
            self.draw_seed();
            self.draw_mark();
            self.counts.failed += 1;
        } else if self.spec.compare_seed {
            self.draw_seed();
        }
        self.number += 1;
        self.issued = self.number;
    }

    fn draw_seed(&mut self) -> u64 {
        if self.spec.format.content().uses_seed() { self.seeds.draw() } else { 0 }
    }

    /// Whether a write is trimmed later.
    #[inline]
    fn draw_mark(&mut self) -> bool {
        let percentage = self.spec.trim_percentage;
        let share = u32::MAX / 100 * percentage.min(100);
        percentage > 0 && self.marks.draw() <= share
    }

    /// Remember a write until it is checked. `mark`: it is to be trimmed before.
    #[inline(always)]
    pub(super) fn remember(&mut self, write: Written, mark: bool) {
        if self.redrawn.is_none() && self.schedule.remembers() {
            let before = self.schedule.unchecked();
            self.schedule.wrote(write, mark);
            self.counts.replaced += before + 1 - self.schedule.unchecked();
        }
    }
}
