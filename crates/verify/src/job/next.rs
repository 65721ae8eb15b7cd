//! What a verifying job does next: its own I/Os, reads that check, trims.

use super::open_files::control;
use super::{Checks, Role, VerifyJob, VerifyPhase};
use crate::history::Written;
use crate::schedule::{Backlogs, BlockDue};
use crate::writes_end::WrittenReach;
use iosonde_base::{FileId, Op, Planned, RING, Ring};
use iosonde_workload::{Refill, Source};

impl VerifyJob {
    /// Put the next entries into the empty ring: the job's own, verify reads, or a trim. One at a
    /// time where what comes next depends on what completed.
    ///
    /// [`Refill::PassDone`] also means that the job's own I/Os of this pass are
    /// done and blocks are to be checked: see [`VerifyJob::begin_check`].
    pub fn refill(&mut self, source: &mut Source, ring: &mut Ring) -> Refill {
        ring.clear();
        // What is no I/O is done without being issued.
        (self.handed_count, self.handed_issued) = (0, 0);
        if let Some((entry, role)) = self.pending.pop_front() {
            return self.hand_on(ring, entry, role);
        }
        if self.phase == VerifyPhase::Check {
            return self.refill_check(ring);
        }
        loop {
            let Some(&entry) = self.peek(source) else {
                return self.job_ended(ring);
            };
            let only_imagined = self.spec.checks == Checks::WithoutWriting;
            if entry.op == Op::ZoneReset
                && let Some(refill) = self.hand_on_before_reset(ring, entry)
            {
                return refill;
            }
            if entry.op.is_control() && !only_imagined {
                self.planned.advance(1);
                if let Some(open) = &mut self.open {
                    open.note(&entry);
                }
                return self.hand_on(ring, entry, Role::Plain);
            }
            match self.reach(&entry) {
                WrittenReach::Within if only_imagined => {
                    self.planned.advance(1);
                    self.imagine(&entry);
                }
                WrittenReach::Within => {
                    if let Some(refill) = self.hand_on_due(ring) {
                        return refill;
                    }
                    self.planned.advance(1);
                    let role = self.roles.of(entry.op);
                    let refill = self.hand_on(ring, entry, role);
                    if !self.one_by_one && is_data(&entry) {
                        self.hand_on_data(ring);
                    }
                    return refill;
                }
                WrittenReach::Failed => {
                    self.planned.advance(1);
                    self.leave_out(&entry);
                }
                WrittenReach::Beyond(words) => {
                    self.stopped = Some(words);
                    self.end_job();
                }
            }
        }
    }

    /// Whether an I/O of the job lies within what a state file says was
    /// written.
    fn reach(&self, entry: &Planned) -> WrittenReach {
        match (&self.spec.until, self.spec.checks, entry.op) {
            (Some(end), Checks::Reads, Op::Read)
            | (Some(end), Checks::WithoutWriting, Op::Write) => end.reach(self.roles.number()),
            _ => WrittenReach::Within,
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
            && self.ios_left > 0
            && let Some(refill) = self.hand_on_due(ring)
        {
            return refill;
        }
        if self.has_blocks_to_check() {
            Refill::PassDone
        } else {
            self.ended.unwrap_or(Refill::Done)
        }
    }

    /// Whether the pass is over but for the checks.
    pub fn has_blocks_to_check(&self) -> bool {
        self.phase == VerifyPhase::Job
            && self.ended.is_some_and(|ended| ended != Refill::Broken)
            && self.spec.backlogs.verify
            && match self.redrawn {
                Some(_) => self.roles.number() > self.first_of_pass,
                None => self.schedule.unchecked() > 0,
            }
    }

    /// Hand on what the source has decided already, up to what is no data, or to where something
    /// may be due.
    fn hand_on_data(&mut self, ring: &mut Ring) {
        // One is handed on already.
        let room = usize::try_from(self.schedule.room() - 1).unwrap_or(usize::MAX);
        let entries = self.planned.as_slice();
        let entries = &entries[..entries.len().min(room).min(ring.room())];
        let count = entries.iter().take_while(|entry| is_data(entry)).count();
        let entries = &entries[..count];
        ring.extend(entries);
        let handed = self.handed[self.handed_count % RING..].iter_mut();
        handed.zip(entries).for_each(|(role, entry)| *role = self.roles.of(entry.op));
        self.handed_count += count;
        self.planned.advance(count);
    }

    /// What the backlogs want before the next I/O of the job.
    fn hand_on_due(&mut self, ring: &mut Ring) -> Option<Refill> {
        let Backlogs { verify_after, trim_after, .. } = self.spec.backlogs;
        if verify_after == 0 && trim_after == 0 {
            return None;
        }
        let in_flight = &self.in_flight;
        let unsynced = if self.spec.only_synced { self.synced } else { u64::MAX };
        let waits = |number| {
            number >= unsynced
                || in_flight.iter().any(|role| match role {
                    Role::Write { number: other, .. } => *other == number,
                    _ => false,
                })
        };
        match self.schedule.due(self.last, waits) {
            BlockDue::Nothing => None,
            BlockDue::Verify { write, trimmed } => {
                let role = self.check_of(write, trimmed);
                Some(self.hand_on_own(ring, planned(&write, Op::Read), role))
            }
            BlockDue::Trim(write) => {
                if !self.spec.backlogs.trimmed_are_zero {
                    self.counts.trimmed += 1;
                }
                Some(self.hand_on_own(ring, planned(&write, Op::Trim), Role::Trim))
            }
        }
    }

    /// A zone is about to be reset in the middle of a pass: what it holds could not be checked
    /// afterwards, so all that was written is checked before, once none of it is in flight.
    fn hand_on_before_reset(&mut self, ring: &mut Ring, reset: Planned) -> Option<Refill> {
        if self.schedule.unchecked() == 0 || !self.spec.backlogs.verify {
            return None;
        }
        let writes = |role: &Role| matches!(role, Role::Write { .. });
        if self.in_flight.iter().any(writes) {
            let wait = Planned { op: Op::ZoneWait, ..reset };
            return Some(self.hand_on(ring, wait, Role::Control));
        }
        self.next_check(ring)
    }

    /// The next of the reads that check what was written; none if all is checked.
    fn next_check(&mut self, ring: &mut Ring) -> Option<Refill> {
        while let Some((write, trimmed)) = self.next_to_check() {
            if self.spec.only_synced && write.number >= self.synced {
                self.counts.unsynced += 1;
                continue;
            }
            let role = self.check_of(write, trimmed);
            return Some(self.hand_on_own(ring, planned(&write, Op::Read), role));
        }
        None
    }

    fn refill_check(&mut self, ring: &mut Ring) -> Refill {
        let Some(refill) = self.next_check(ring) else {
            return self.ended.unwrap_or(Refill::Done);
        };
        if self.one_by_one {
            return refill;
        }
        let plain = self.open.is_none() && !self.spec.only_synced;
        while ring.room() > 0 {
            // The same in fewer steps.
            if plain && let Some((write, trimmed)) = self.next_to_check() {
                let role = self.check_of(write, trimmed);
                self.hand(ring, planned(&write, Op::Read), role);
            } else if plain || self.next_check(ring).is_none() {
                break;
            }
        }
        refill
    }

    fn next_to_check(&mut self) -> Option<(Written, bool)> {
        match &mut self.redrawn {
            None => self.schedule.take(),
            Some(redrawn) => redrawn.next(self.issued, &self.failed).map(|write| (write, false)),
        }
    }

    #[inline(always)]
    fn hand(&mut self, ring: &mut Ring, entry: Planned, role: Role) {
        // The ring has as many places.
        self.handed[self.handed_count % RING] = role;
        self.handed_count += 1;
        ring.push(entry);
    }

    fn hand_on(&mut self, ring: &mut Ring, entry: Planned, role: Role) -> Refill {
        self.place = self.planned.place().saturating_sub(1);
        self.hand(ring, entry, role);
        if self.phase == VerifyPhase::Job && entry.op.dir().is_some() {
            self.ios_left = self.ios_left.saturating_sub(1);
            self.pass_left = self.pass_left.saturating_sub(u64::from(entry.len));
            if self.ios_left == 0 {
                self.end_job();
            } else if self.pass_left == 0 {
                self.end_pass();
            }
        }
        Refill::Planned
    }

    /// Hand on an I/O of verify, with what opens its file, if that is closed.
    fn hand_on_own(&mut self, ring: &mut Ring, entry: Planned, role: Role) -> Refill {
        let Some(open) = &mut self.open else { return self.hand_on(ring, entry, role) };
        let file = entry.file;
        let closed = self.phase == VerifyPhase::Job && !open.has(file);
        let before = match self.phase {
            VerifyPhase::Check => open.before_check(file),
            VerifyPhase::Job if closed => vec![control(Op::Open, file)],
            VerifyPhase::Job => Vec::new(),
        };
        self.pending.extend(before.into_iter().map(|entry| (entry, Role::Control)));
        self.pending.push_back((entry, role));
        if closed {
            self.pending.push_back((control(Op::Close, file), Role::Control));
        }
        match self.pending.pop_front() {
            Some((first, role)) => self.hand_on(ring, first, role),
            None => Refill::Planned,
        }
    }
}

/// Whether an entry is an I/O that moves or trims data.
fn is_data(entry: &Planned) -> bool {
    matches!(entry.op, Op::Read | Op::Write | Op::Trim)
}

fn planned(write: &Written, op: Op) -> Planned {
    Planned { offset: write.offset, len: write.len, file: FileId(write.file), op }
}
