//! Verify within one job: between the source that decides the job's I/Os and
//! the loop that does them.

use crate::block::{BlockFormat, BlockIdentity, Expected};
use crate::check::BlockCheck;
use crate::history::{CheckOrder, Written};
use crate::schedule::{Backlogs, BlockDue, LastDone, VerifySchedule};
use crate::seeds::{SeedsAgain, WriteSeeds};
use iosonde_base::{FileId, Op, Planned, Ring};
use iosonde_workload::{Refill, Source, Taus88, seeds};

/// Which of a job's numbered streams decides what is trimmed.
const TRIM_STREAM: usize = 8;

/// Which I/Os a job with verify checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// What it wrote, by reads of their own after or among the writes.
    Writes,
    /// What it would have written (`verify_only`): nothing is written.
    WithoutWriting,
    /// Each of its reads, as it completes: a job that only reads.
    Reads,
}

/// What verify does in one job.
#[derive(Clone, Debug)]
pub struct VerifySpec {
    /// How blocks are made.
    pub format: BlockFormat,
    /// What is checked.
    pub checks: Checks,
    /// Whether the engine moves data: blocks of one that does not are read
    /// and not looked at.
    pub moves_data: bool,
    /// In which order.
    pub order: CheckOrder,
    /// When.
    pub backlogs: Backlogs,
    /// `verify_header_seed`.
    pub compare_seed: bool,
    /// `verify_write_sequence`.
    pub compare_number: bool,
    /// Share of written blocks that are trimmed again, 0 to 100.
    pub trim_percentage: u32,
    /// Seed of the job's streams.
    pub randseed: u64,
    /// Number of the job, from 1.
    pub thread: u32,
    /// Whether generators have 64 bits.
    pub wide: bool,
    /// Whether each pass draws what the first drew (`randrepeat` without
    /// `randseed`).
    pub repeat: bool,
    /// I/Os in flight at most.
    pub slots: usize,
}

/// What was written and what of it was checked, for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyCounts {
    /// Writes that completed, or with `verify_only` would have.
    pub written: u64,
    /// Blocks that were read and compared.
    pub checked: u64,
    /// Of those, how many were wrong.
    pub wrong: u64,
    /// Blocks that could not be read.
    pub unreadable: u64,
    /// Writes that a later write replaced before they were checked.
    pub replaced: u64,
    /// Writes that failed: there is nothing to check.
    pub failed: u64,
    /// Blocks that were trimmed and are not to be read.
    pub trimmed: u64,
}

impl VerifyCounts {
    /// Writes that completed, were to be checked, and were not.
    pub fn unchecked(&self) -> u64 {
        let accounted = self.checked + self.unreadable + self.replaced + self.trimmed;
        self.written.saturating_sub(accounted)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VerifyPhase {
    /// The job's own I/Os, and what the backlogs put among them.
    Job,
    /// Reading what was written.
    Check,
}

/// What an I/O is to verify.
#[derive(Clone, Copy, Debug, Default)]
enum Role {
    /// Nothing: a read of a job that writes too, a trim of the workload.
    #[default]
    Plain,
    /// A write of the job.
    Write { write: Written, seed: u64 },
    /// A read of a job that only reads.
    JobRead { seed: Option<u64> },
    /// A read of a block that the job wrote.
    Check { write: Written, seed: Option<u64>, trimmed: bool },
    /// A block that was drawn to be trimmed.
    Trim,
}

/// Verify within one job.
#[derive(Debug)]
pub struct VerifyJob {
    spec: VerifySpec,
    schedule: VerifySchedule,
    seeds: WriteSeeds,
    /// Draws the seeds of the pass again, in the order of the checks.
    again: SeedsAgain,
    marks: Taus88,
    /// Writes chosen so far, over all passes: the number of the next.
    number: u64,
    phase: VerifyPhase,
    last: LastDone,
    /// What the source decided, not handed on yet.
    planned: Ring,
    /// How the source ended this pass.
    ended: Option<Refill>,
    /// What the entry handed on last is.
    next: Role,
    in_flight: Vec<Role>,
    /// Numbers of the writes that failed.
    failed: Vec<u64>,
    counts: VerifyCounts,
}

impl VerifyJob {
    /// Verify as `spec` says.
    pub fn new(spec: VerifySpec) -> VerifyJob {
        let seeds = WriteSeeds::new(spec.randseed, spec.thread, spec.wide);
        VerifyJob {
            schedule: VerifySchedule::new(spec.backlogs, spec.order),
            again: SeedsAgain::new(seeds.clone(), 0),
            marks: marks(&spec),
            number: 0,
            phase: VerifyPhase::Job,
            last: LastDone::Other,
            planned: Ring::default(),
            ended: None,
            next: Role::Plain,
            in_flight: vec![Role::Plain; spec.slots.max(1)],
            failed: Vec::new(),
            counts: VerifyCounts::default(),
            seeds,
            spec,
        }
    }

    /// What was written and checked so far.
    pub fn counts(&self) -> &VerifyCounts {
        &self.counts
    }

    /// How the job's blocks are made.
    pub fn format(&self) -> &BlockFormat {
        &self.spec.format
    }

    /// Whether the I/O handed on last is verify's own, which no pace holds
    /// back.
    pub fn next_is_own(&self) -> bool {
        matches!(self.next, Role::Check { .. } | Role::Trim)
    }

    /// Blocks that were marked and never trimmed in this pass.
    pub fn untrimmed(&self) -> u64 {
        self.schedule.untrimmed()
    }

    /// Numbers of the writes in flight, one place for each slot.
    pub fn writes_in_flight(&self) -> Vec<Option<u64>> {
        let number = |role: &Role| match role {
            Role::Write { write, .. } => Some(write.number),
            _ => None,
        };
        self.in_flight.iter().map(number).collect()
    }

    /// Writes chosen so far, and the numbers of those that failed.
    pub fn writes(&self) -> (u64, &[u64]) {
        (self.number, &self.failed)
    }

    /// Put the next entry into the empty ring: the job's own, a verify read, or
    /// a trim. One at a time, as what comes next depends on what completed.
    ///
    /// [`Refill::PassDone`] also means that the job's own I/Os of this pass are
    /// done and blocks are to be checked: see [`VerifyJob::begin_check`].
    pub fn refill(&mut self, source: &mut Source, ring: &mut Ring) -> Refill {
        ring.clear();
        if self.phase == VerifyPhase::Check {
            return self.refill_check(ring);
        }
        loop {
            let Some(&entry) = self.peek(source) else {
                return self.job_ended(ring);
            };
            if entry.op.is_control() {
                self.planned.advance(1);
                if self.spec.checks == Checks::WithoutWriting {
                    continue;
                }
                return self.hand_on(ring, entry, Role::Plain);
            }
            if self.spec.checks == Checks::WithoutWriting {
                self.planned.advance(1);
                self.imagine(&entry);
                continue;
            }
            if let Some(refill) = self.hand_on_due(ring) {
                return refill;
            }
            self.planned.advance(1);
            let role = self.role_of(&entry);
            return self.hand_on(ring, entry, role);
        }
    }

    /// The job's next entry. None if the pass is over.
    fn peek(&mut self, source: &mut Source) -> Option<&Planned> {
        while self.planned.waiting() == 0 && self.ended.is_none() {
            match source.refill(&mut self.planned) {
                Refill::Planned => {}
                ended if self.planned.waiting() == 0 => self.ended = Some(ended),
                _ => {}
            }
        }
        self.planned.peek()
    }

    /// The source has ended the pass. Trims go on while the rule lets them.
    fn job_ended(&mut self, ring: &mut Ring) -> Refill {
        if self.schedule.untrimmed() > 0
            && let Some(refill) = self.hand_on_due(ring)
        {
            return refill;
        }
        match self.has_blocks_to_check() {
            true => Refill::PassDone,
            false => self.ended.unwrap_or(Refill::Done),
        }
    }

    /// Whether the pass is over but for the checks.
    pub fn has_blocks_to_check(&self) -> bool {
        self.phase == VerifyPhase::Job
            && self.ended.is_some_and(|ended| ended != Refill::Broken)
            && self.spec.backlogs.verify
            && self.schedule.unchecked() > 0
    }

    /// What the backlogs want before the next I/O of the job.
    fn hand_on_due(&mut self, ring: &mut Ring) -> Option<Refill> {
        let in_flight = &self.in_flight;
        let is_in_flight = |number| {
            in_flight.iter().any(|role| match role {
                Role::Write { write, .. } => write.number == number,
                _ => false,
            })
        };
        match self.schedule.due(self.last, is_in_flight) {
            BlockDue::Nothing => None,
            BlockDue::Verify { write, trimmed } => {
                let role = self.check_of(write, trimmed);
                Some(self.hand_on(ring, planned(&write, Op::Read), role))
            }
            BlockDue::Trim(write) => {
                if !self.spec.backlogs.trimmed_are_zero {
                    self.counts.trimmed += 1;
                }
                Some(self.hand_on(ring, planned(&write, Op::Trim), Role::Trim))
            }
        }
    }

    fn refill_check(&mut self, ring: &mut Ring) -> Refill {
        match self.schedule.take() {
            Some((write, trimmed)) => {
                let role = self.check_of(write, trimmed);
                self.hand_on(ring, planned(&write, Op::Read), role)
            }
            None => self.ended.unwrap_or(Refill::Done),
        }
    }

    fn hand_on(&mut self, ring: &mut Ring, entry: Planned, role: Role) -> Refill {
        self.next = role;
        ring.push(entry);
        Refill::Planned
    }

    fn check_of(&mut self, write: Written, trimmed: bool) -> Role {
        // Drawn again only where the order of checks is that of the writes.
        let seed = match self.spec.order {
            CheckOrder::Issue if self.spec.compare_seed => self.again.of(write.number),
            _ => None,
        };
        Role::Check { write, seed, trimmed }
    }

    /// The part of verify in a data I/O or a sync of the job.
    fn role_of(&mut self, entry: &Planned) -> Role {
        match (entry.op, self.spec.checks) {
            (Op::Write, Checks::Writes) => {
                let seed = self.draw_seed();
                Role::Write { write: self.remember(entry), seed }
            }
            (Op::Read, Checks::Reads) => {
                let seed = self.spec.compare_seed.then(|| self.draw_seed());
                Role::JobRead { seed }
            }
            _ => Role::Plain,
        }
    }

    /// Remember what the job would do, without doing it.
    fn imagine(&mut self, entry: &Planned) {
        if entry.op == Op::Write {
            self.draw_seed();
            self.remember(entry);
            self.counts.written += 1;
        }
    }

    fn draw_seed(&mut self) -> u64 {
        match self.spec.format.content().uses_seed() {
            true => self.seeds.draw(),
            false => 0,
        }
    }

    fn remember(&mut self, entry: &Planned) -> Written {
        let Planned { offset, len, file, .. } = *entry;
        let write = Written { file: file.0, offset, len, number: self.number };
        self.number += 1;
        let percentage = self.spec.trim_percentage;
        let share = u32::MAX / 100 * percentage.min(100);
        let mark = percentage > 0 && self.marks.draw() <= share;
        let before = self.schedule.unchecked();
        self.schedule.wrote(write, mark);
        if self.schedule.remembers() {
            self.counts.replaced += before + 1 - self.schedule.unchecked();
        }
        write
    }

    /// The entry handed on last is about to be issued from the buffer of
    /// `slot`: of a write, what its block is to be made of. `time` is the job's
    /// clock, seconds and nanoseconds.
    pub fn issue(
        &mut self,
        slot: usize,
        entry: &Planned,
        time: (u32, u32),
    ) -> Option<BlockIdentity> {
        let role = std::mem::take(&mut self.next);
        if let Some(place) = self.in_flight.get_mut(slot) {
            *place = role;
        }
        let Role::Write { write, seed } = role else { return None };
        self.spec.moves_data.then_some(BlockIdentity {
            seed,
            offset: entry.offset,
            number: write.number,
            // fio keeps the low half too.
            thread: self.spec.thread as u16,
            time_sec: time.0,
            time_nsec: time.1,
        })
    }

    /// The I/O of `slot` has completed, wholly (`done`) or with an error. Of
    /// what was read, how it is to be checked: the caller does so, and says how
    /// that ended by [`VerifyJob::count_checked`].
    pub fn complete(&mut self, slot: usize, entry: &Planned, done: bool) -> Option<BlockCheck> {
        let role = self.in_flight.get_mut(slot).map(std::mem::take).unwrap_or_default();
        self.last = match entry.op {
            Op::Read => LastDone::Read,
            Op::Trim => LastDone::Trim,
            _ => LastDone::Other,
        };
        let offset = entry.offset;
        let (seed, number, trimmed) = match role {
            Role::Plain | Role::Trim => return None,
            Role::Write { write, .. } => {
                self.note_written(&write, done);
                return None;
            }
            _ if !self.spec.moves_data => return None,
            _ if !done => {
                self.counts.unreadable += 1;
                return None;
            }
            Role::JobRead { seed } => (seed, None, false),
            Role::Check { write, seed, trimmed } => {
                (seed, self.spec.compare_number.then_some(write.number), trimmed)
            }
        };
        Some(BlockCheck { expected: Expected { offset, seed, number }, trimmed })
    }

    fn note_written(&mut self, write: &Written, done: bool) {
        if done {
            self.counts.written += 1;
            return;
        }
        self.schedule.failed(write);
        self.failed.push(write.number);
        self.counts.failed += 1;
    }

    /// Blocks were checked, and so many of them are wrong.
    pub fn count_checked(&mut self, checked: u64, wrong: u64) {
        self.counts.checked += checked;
        self.counts.wrong += wrong;
    }

    /// Nothing more can be written: the pass ends here, and the job with it.
    pub fn stop_writing(&mut self) {
        self.planned.forget();
        self.ended = Some(Refill::Done);
    }

    /// Begin to check what this pass wrote; everything in flight has come back.
    pub fn begin_check(&mut self) {
        self.phase = VerifyPhase::Check;
    }

    /// Begin the next pass of the job.
    pub fn next_pass(&mut self) {
        self.phase = VerifyPhase::Job;
        self.ended = None;
        self.schedule.clear();
        if self.spec.repeat {
            self.seeds = WriteSeeds::new(self.spec.randseed, self.spec.thread, self.spec.wide);
            self.marks = marks(&self.spec);
        }
        self.again = SeedsAgain::new(self.seeds.clone(), self.number);
    }
}

fn marks(spec: &VerifySpec) -> Taus88 {
    // The low half of the seed, as in fio.
    Taus88::new(seeds(spec.randseed, spec.thread)[TRIM_STREAM] as u32)
}

fn planned(write: &Written, op: Op) -> Planned {
    Planned { offset: write.offset, len: write.len, file: FileId(write.file), op }
}
