//! Completions of a queue: collected, counted in runs, done again where they
//! came back short, and what failed among them.

use super::flight::{Batch, Flight, FreeList, Tag};
use super::{AnyQueueLoop, PATIENCE, QueueLoop};
use crate::drive::Failure;
use crate::retries::{Attempt, GIVEN_UP};
use crate::{Drive, Io, Queued, Wanted};
use iosonde_base::{Completion, Errno, Op, Slot};
use iosonde_stats::{Lane, batch_class};
use iosonde_sys::clock::Clock;
use std::ops::Range;

impl<E: Queued + 'static, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// Collect, and account in runs: completions that were submitted together and
    /// completed together have the same latencies, so one weighted addition
    /// counts them all, exactly as one by one would. The moment, in ticks.
    #[inline(always)]
    pub(super) fn collect(
        &mut self,
        drive: &mut Drive,
        min: u32,
        max: u32,
    ) -> Result<u64, Failure> {
        let (now, reaped) = self.reap(&drive.clock, Wanted { min, max, patience: PATIENCE });
        self.any().settle_reaped(drive, now, reaped)
    }

    /// Collect what has come back, at most `max`, on the way to a full queue.
    #[inline(never)]
    pub(super) fn poll(&mut self, drive: &mut Drive, max: u32) -> Result<u64, Failure> {
        self.collect(drive, 0, max)
    }
}

impl<const STAMPED: bool> AnyQueueLoop<STAMPED> {
    /// Collect, but wait no longer than this.
    pub(super) fn collect_within(
        &mut self,
        drive: &mut Drive,
        wanted: Wanted,
    ) -> Result<u64, Failure> {
        let (now, reaped) = self.reap(&drive.clock, wanted);
        self.settle_reaped(drive, now, reaped)
    }

    /// Account for what was collected at this moment.
    #[inline(always)]
    fn settle_reaped(
        &mut self,
        drive: &mut Drive,
        now: u64,
        reaped: Result<(), Errno>,
    ) -> Result<u64, Failure> {
        self.settle(drive, now);
        match reaped {
            Ok(()) => Ok(now),
            Err(errno) => Err(self.abandon("collect completions", errno)),
        }
    }

    /// Account for what was collected.
    #[inline(always)]
    pub(super) fn settle(&mut self, drive: &mut Drive, now: u64) {
        let collected = self.done.len() as u32;
        if collected == 0 {
            return;
        }
        let depth = &drive.writer.counters().depth;
        depth.complete[batch_class(collected)].add(1);
        depth.completes.add(1);
        if self.watched {
            return self.settle_watched(drive, now);
        }

        let mut at = 0;
        while let Some(first) = self.done.get(at) {
            let tag = self.flights[first.slot.0 as usize].tag;
            let (count, bytes) = self.land_run(at, tag);
            if count > 0 {
                self.account(drive, tag, count as u64, bytes, now);
                at += count;
            } else {
                self.one(drive, at, now);
                at += 1;
            }
        }
    }

    /// Check what was collected, where that is to be checked: before the slots
    /// are free.
    #[cold]
    #[inline(never)]
    fn check_done(&mut self, drive: &mut Drive) {
        for at in 0..self.done.len() {
            let Completion { slot, result } = self.done[at];
            let flight = self.flights[slot.0 as usize];
            let entry = flight.entry();
            let done = match result {
                Err(errno) if self.goes_on(drive, slot, errno) => continue,
                _ if entry.op.dir().is_none() => {
                    drive.synced(&entry, slot.0, result.is_ok());
                    continue;
                }
                Ok(n) if flight.moved + n >= entry.len => true,
                // Engines may say of a trim that it is done without saying how far.
                Ok(0) => entry.op == Op::Trim,
                // The rest is still to come.
                Ok(_) => continue,
                Err(_) => false,
            };
            let checked = drive.check(&entry, slot.0, done);
            self.keep_first(checked);
        }
    }

    /// The same where there is more to a completion than to count it: a check, a pace to
    /// keep to, a tape to keep.
    #[inline(never)]
    fn settle_watched(&mut self, drive: &mut Drive, now: u64) {
        if drive.watches_completions() {
            self.check_done(drive);
        }
        let plain = drive.pacing.as_ref().is_some_and(|pacing| pacing.is_plain());
        if drive.pacing.is_some() && !plain {
            self.respond(drive, 0..self.done.len(), now);
        }
        let mut at = 0;
        while let Some(first) = self.done.get(at) {
            let tag = self.flights[first.slot.0 as usize].tag;
            let (count, bytes) = self.land_run(at, tag);
            let which = at..at + count.max(1);
            at = which.end;
            if count == 0 {
                if plain {
                    self.respond(drive, which.clone(), now);
                }
                self.one(drive, which.start, now);
                continue;
            }
            if plain {
                self.respond_alike(drive, which.clone(), tag, now);
            }
            if STAMPED && drive.tape.is_some() {
                self.tape_alike(drive, which, tag, now);
            }
            self.account(drive, tag, count as u64, bytes, now);
        }
    }

    /// Free the slots of whole data I/Os with this tag, from the completion at
    /// `at` to the first that is anything else: how many, and their bytes.
    #[inline(always)]
    fn land_run(&mut self, at: usize, tag: Tag) -> (usize, u64) {
        if tag.kind() > Op::Trim as usize {
            return (0, 0);
        }
        let (flights, done) = (&self.flights[..], &self.done[at..]);
        let taken = self.slots.taken;
        // What came back first is taken last, as if given back one by one.
        let places = &mut self.slots.numbers[taken - done.len()..taken];
        let (mut count, mut bytes) = (0, 0);
        for (&Completion { slot, result }, place) in done.iter().zip(places.iter_mut().rev()) {
            let flight = &flights[slot.0 as usize];
            let len = flight.len;
            if flight.tag != tag || result != Ok(len) {
                break;
            }
            *place = slot.0;
            count += 1;
            bytes += u64::from(len);
        }
        self.slots.taken -= count;
        (count, bytes)
    }

    /// Count I/Os that were submitted together and completed together.
    #[inline(always)]
    fn account(&mut self, drive: &Drive, tag: Tag, ios: u64, bytes: u64, now: u64) {
        let batch = &mut self.batches[tag.batch()];
        batch.live -= ios as u32;
        let Batch { slat, issue, live } = *batch;
        if live == 0 {
            self.free_batches.give_back(tag.batch() as u32);
        }
        let lane = &drive.writer.counters().lanes[tag.kind()];
        if STAMPED {
            let clat = drive.clock.ticks_to_ns(now.wrapping_sub(issue));
            count_done(lane, ios, bytes, [clat, slat + clat]);
        } else {
            lane.ios.add(ios);
            lane.bytes.add(bytes);
        }
    }

    /// Take in a completion that is not of a whole data I/O.
    #[cold]
    #[inline(never)]
    fn one(&mut self, drive: &mut Drive, at: usize, now: u64) {
        let Completion { slot, result } = self.done[at];
        let Flight { len, tag, .. } = self.flights[slot.0 as usize];
        if self.partial(drive, slot, result, now) {
            if let Drive { tape: Some(tape), clock, .. } = drive
                && STAMPED
            {
                let offset = self.flights[slot.0 as usize].offset;
                let latencies = self.latencies(clock, tag, now);
                let kind = tag.kind() as u32 | u32::from(self.engine.priority(slot)) << 16;
                tape.add(now, offset, len, kind, latencies);
            }
            self.give_back(slot);
            self.account(drive, tag, 1, len.into(), now);
        }
    }

    /// Record, for logs, whole data I/Os with this tag: they were submitted together
    /// and have the same latencies.
    #[inline(never)]
    fn tape_alike(&self, drive: &mut Drive, which: Range<usize>, tag: Tag, now: u64) {
        let Drive { tape: Some(tape), clock, .. } = drive else { return };
        let latencies = self.latencies(clock, tag, now);
        tape.add_all(now, tag.kind() as u32, latencies, &self.done[which], |done| {
            let Flight { offset, len, .. } = self.flights[done.slot.0 as usize];
            (offset, len, self.engine.priority(done.slot))
        });
    }

    /// Submission and completion latency of what comes back now.
    pub(super) fn latencies(&self, clock: &Clock, tag: Tag, now: u64) -> [u64; 2] {
        let Batch { slat, issue, .. } = self.batches[tag.batch()];
        [slat, clock.ticks_to_ns(now.wrapping_sub(issue))]
    }

    /// What is not a whole data I/O: a queued sync, a short one that goes on,
    /// an error. Whether it is to be counted as a whole one now.
    fn partial(
        &mut self,
        drive: &mut Drive,
        slot: Slot,
        result: Result<u32, Errno>,
        now: u64,
    ) -> bool {
        let flight = self.flights[slot.0 as usize];
        let (entry, Flight { moved, tag, .. }) = (flight.entry(), flight);
        if let Err(errno) = result
            && self.goes_on(drive, slot, errno)
        {
            // Interrupted before anything was done.
            self.go_on(drive, slot, 0);
            return false;
        }
        if entry.op.is_sync() {
            // The system may do all of it within the submission.
            let [slat, clat] = self.latencies(&drive.clock, tag, now);
            drive.count_sync(slat + clat);
            drive.trace_completed(&entry);
            self.land(slot, tag);
            self.retries.forget(slot.0 as usize);
            let tolerated = result.map(drop).or_else(|errno| drive.tolerate_sync(&entry, errno));
            self.keep_first(tolerated.map_err(|failure| Failure {
                detail: self.explain(entry.op, failure.errno),
                ..failure
            }));
            return false;
        }
        let lane = &drive.writer.counters().lanes[entry.op as usize];
        let failure = match result {
            // Engines may say of a trim that it is done without saying how far.
            Ok(0) if entry.op == Op::Trim => return true,
            // As in fio, past the end of a file an I/O counts with what it moved.
            Ok(0) if entry.op == Op::Read => {
                self.give_back(slot);
                self.account(drive, tag, 1, moved.into(), now);
                return false;
            }
            Ok(0) => Failure::end_of_file(&entry),
            Ok(n) if moved + n >= entry.len => return true,
            Ok(n) => {
                lane.short.add(1);
                self.go_on(drive, slot, n);
                return false;
            }
            Err(errno) => {
                Failure { detail: self.explain(entry.op, errno), ..Failure::of(&entry, errno) }
            }
        };
        lane.errors.add(1);
        self.land(slot, tag);
        let offset = Some(entry.offset + u64::from(moved));
        let tolerated = drive.tolerate(&entry, Failure { offset, ..failure });
        self.keep_first(tolerated);
        false
    }

    /// Whether an error is passing and its I/O is tried again.
    fn goes_on(&mut self, drive: &Drive, slot: Slot, errno: Errno) -> bool {
        if !self.engine.is_passing(errno) {
            return false;
        }
        let Flight { file, offset, moved, tag, .. } = self.flights[slot.0 as usize];
        let issue = self.batches[tag.batch()].issue;
        let attempt = Attempt { file, offset, moved, issue };
        self.retries.again(slot.0 as usize, attempt, drive.control.stop_asked())
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        let given_up = self.engine.is_passing(errno).then_some(GIVEN_UP);
        self.engine.explain(op, errno).or(given_up)
    }

    /// Push the rest of an I/O of which `n` more bytes were moved.
    fn go_on(&mut self, drive: &Drive, slot: Slot, n: u32) {
        let flight = &mut self.flights[slot.0 as usize];
        flight.moved += n;
        let (entry, moved) = (flight.entry(), flight.moved);
        let whole = drive.io(&entry, slot.0);
        let rest = Io {
            offset: entry.offset + u64::from(moved),
            buffer: whole.buffer.wrapping_add(moved as usize),
            len: entry.len - moved,
            ..whole
        };
        self.engine.push(slot, &rest);
        if let Err(errno) = self.engine.submit() {
            // The next collection will say so again; the first words count.
            self.keep_first(Err(Failure::engine("submit", errno)));
        }
    }

    fn land(&mut self, slot: Slot, tag: Tag) {
        self.give_back(slot);
        let live = &mut self.batches[tag.batch()].live;
        *live -= 1;
        if *live == 0 {
            self.free_batches.give_back(tag.batch() as u32);
        }
    }

    pub(super) fn give_back(&mut self, slot: Slot) {
        self.flights[slot.0 as usize].moved = 0;
        self.slots.give_back(slot.0);
    }

    fn keep_first(&mut self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            self.failed.get_or_insert(failure);
        }
    }

    /// The queue is broken: nothing comes back any more, so stop waiting for
    /// it. The failure that was met first.
    #[cold]
    pub(super) fn abandon(&mut self, doing: &'static str, errno: Errno) -> Failure {
        let depth = self.flights.len() as u32;
        self.slots = FreeList::new(depth);
        self.free_batches = FreeList::new(depth);
        self.flights.fill(Flight::default());
        self.waiting = None;
        let detail = self.engine.broken();
        self.failed.take().unwrap_or(Failure { detail, ..Failure::engine(doing, errno) })
    }
}

/// Count I/Os that were done whole, `bytes` in all, with their latencies from
/// issue, and in all.
#[inline(always)]
pub(super) fn count_done(lane: &Lane, ios: u64, bytes: u64, [clat, lat]: [u64; 2]) {
    lane.ios.add(ios);
    lane.bytes.add(bytes);
    lane.clat.add_many(clat, ios);
    lane.lat.add_many(lat, ios);
    if let Some(histogram) = &lane.clat_histogram {
        histogram.add_many(clat, ios);
    }
    if let Some(histogram) = &lane.lat_histogram {
        histogram.add_many(lat, ios);
    }
}
