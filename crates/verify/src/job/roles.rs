//! The part of verify in each I/O of a job, and what is remembered of its writes.

use super::{Checks, Role, VerifyJob, VerifySpec, written};
use crate::history::{CheckOrder, Written};
use crate::seeds::{SeedsAgain, WriteSeeds};
use iosonde_base::{Op, Planned};
use iosonde_workload::{Taus88, seeds};

/// Which of a job's numbered streams decides what is trimmed.
const TRIM_STREAM: usize = 8;

/// What each of the job's own I/Os is to verify, in the order in which they are chosen.
#[derive(Debug)]
pub(super) struct Roles {
    checks: Checks,
    /// Whether a write's content follows from a seed.
    seeded: bool,
    compare_seed: bool,
    /// Writes for which no more than this is drawn are trimmed later, if any are.
    marked: Option<u32>,
    seeds: WriteSeeds,
    marks: Taus88,
    /// Writes chosen so far, over all passes (of a job that only reads, its
    /// reads): the number of the next.
    number: u64,
}

impl Roles {
    pub(super) fn new(spec: &VerifySpec) -> Roles {
        let percentage = spec.trim_percentage.min(100);
        Roles {
            checks: spec.checks,
            seeded: spec.format.content().uses_seed(),
            compare_seed: spec.compare_seed,
            marked: (percentage > 0).then_some(u32::MAX / 100 * percentage),
            seeds: WriteSeeds::new(spec.randseed, spec.thread, spec.wide),
            // The low half of the seed, as in fio.
            marks: Taus88::new(seeds(spec.randseed, spec.thread)[TRIM_STREAM] as u32),
            number: 0,
        }
    }

    /// Draw what the first pass drew.
    pub(super) fn repeat(&mut self, spec: &VerifySpec) {
        *self = Roles { number: self.number, ..Roles::new(spec) };
    }

    /// The number of the next write.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Draws again what is drawn from here on.
    pub(super) fn seeds_again(&self) -> SeedsAgain {
        SeedsAgain::new(self.seeds.clone(), self.number)
    }

    /// The part of verify in a data I/O or a sync of the job.
    #[inline(always)]
    pub(super) fn of(&mut self, op: Op) -> Role {
        match (op, self.checks) {
            (Op::Write, Checks::Writes) => {
                let (number, seed) = (self.number, self.draw_seed());
                self.number += 1;
                Role::Write { number, seed, mark: self.draw_mark() }
            }
            (Op::Read, Checks::Reads) => {
                self.number += 1;
                let seed = self.compare_seed.then(|| self.draw_seed());
                Role::JobRead { seed }
            }
            (Op::Sync | Op::DataSync, Checks::Writes) => Role::Sync { below: 0 },
            _ => Role::Plain,
        }
    }

    /// Draw for a write that is not done: its number, and whether it would be trimmed.
    fn pass_over_write(&mut self) -> (u64, bool) {
        self.draw_seed();
        self.number += 1;
        (self.number - 1, self.draw_mark())
    }

    /// Draw for a read that is not done.
    fn pass_over_read(&mut self) {
        if self.compare_seed {
            self.draw_seed();
        }
        self.number += 1;
    }

    #[inline(always)]
    fn draw_seed(&mut self) -> u64 {
        if self.seeded { self.seeds.draw() } else { 0 }
    }

    /// Whether a write is trimmed later.
    #[inline(always)]
    fn draw_mark(&mut self) -> bool {
        self.marked.is_some_and(|most| self.marks.draw() <= most)
    }
}

impl VerifyJob {
    pub(super) fn check_of(&mut self, write: Written, trimmed: bool) -> Role {
        // Drawn again only where the order of checks is that of the writes.
        let seed = match self.spec.order {
            CheckOrder::Issue if self.spec.compare_seed => self.again.of(write.number),
            _ => None,
        };
        Role::Check { number: write.number, seed, trimmed }
    }

    /// Remember what the job would do, without doing it.
    pub(super) fn imagine(&mut self, entry: &Planned) {
        if let Some(dir) = entry.op.dir() {
            self.counts.imagined[dir] += 1;
        }
        if entry.op == Op::Write {
            let (number, mark) = self.roles.pass_over_write();
            self.remember(written(entry, number), mark);
            self.issued = self.roles.number();
            self.counts.written += 1;
        }
    }

    /// A write that failed when the job wrote, or a read of its place: only
    /// what was drawn for it is drawn.
    pub(super) fn leave_out(&mut self, entry: &Planned) {
        self.failed.insert(self.roles.number());
        if entry.op == Op::Write {
            self.roles.pass_over_write();
            self.counts.failed += 1;
        } else {
            self.roles.pass_over_read();
        }
        self.issued = self.roles.number();
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
