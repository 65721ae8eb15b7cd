//! The loop of engines with a queue.

mod due;
mod exchange;
mod flight;
mod paced;

use crate::drive::{Failure, io};
use crate::retries::{Attempt, GIVEN_UP, SlotRetries};
use crate::{Drive, Ended, Files, Io, Loop, Memory, Queued, Window};
use flight::{Batch, Filling, Flight, FreeList, OPS, Tag};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Planned, Slot};
use iosonde_stats::{Counters, Lane, batch_class, depth_class};
use iosonde_sys::clock::Clock;
use std::ops::Range;

/// No wait is longer than this, so that a stop is seen even while a device
/// stops.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// A queued engine and its loop. `STAMPED` is whether latencies are kept.
pub struct QueueLoop<E, const STAMPED: bool> {
    engine: E,
    flights: Box<[Flight]>,
    /// Which of `flights` are free.
    slots: FreeList,
    batches: Box<[Batch]>,
    /// Which of `batches` are free. There are as many batches as slots: each
    /// live one holds a slot.
    free_batches: FreeList,
    done: Vec<Completion>,
    /// An entry that cannot go down now: a control entry until the queue is
    /// empty, an I/O until it overlaps none in flight. A slot is kept for it.
    waiting: Option<Planned>,
    /// The first error that the job does not tolerate.
    failed: Option<Failure>,
    /// The source has no more, for this pass or for good.
    out: Option<Ended>,
    /// The queue was full and is running down to `Window::low`.
    full: bool,
    /// Which slots are free, while overlaps are looked for.
    idle: Vec<bool>,
    /// When the I/O of each slot was due, in ticks; empty without a pace.
    dues: Box<[u64]>,
    /// When the entry taken last was due.
    due: u64,
    /// What was measured ends the slice.
    settled: bool,
    /// Each completion is checked or printed: [`Drive::watches_completions`].
    watches: bool,
    /// I/Os that were interrupted.
    retries: SlotRetries,
}

impl<E: Queued, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// The loop around `engine`, for at most `depth` in flight.
    ///
    /// # Panics
    /// If `depth` is zero.
    pub fn new(engine: E, depth: u32) -> Self {
        assert!(depth > 0, "a queue holds at least one I/O");
        let slots = depth as usize;
        QueueLoop {
            engine,
            flights: vec![Flight::default(); slots].into(),
            slots: FreeList::new(depth),
            batches: vec![Batch::default(); slots].into(),
            free_batches: FreeList::new(depth),
            done: Vec::with_capacity(slots),
            waiting: None,
            failed: None,
            out: None,
            full: false,
            idle: vec![true; slots],
            dues: Box::default(),
            due: 0,
            settled: false,
            watches: false,
            retries: SlotRetries::default(),
        }
    }

    #[inline(always)]
    fn in_flight(&self) -> u32 {
        self.slots.taken as u32
    }

    /// Take up a batch and hand it down. An entry that cannot simply be pushed
    /// ends it and goes to `waiting`; so does the end of the source, and goes to
    /// `out`.
    #[inline(always)]
    fn fill(&mut self, drive: &mut Drive, taps: bool) -> Result<(), Failure> {
        let mut filling = self.begin(drive);
        let mut room = (drive.window.batch.max(1) as usize).min(self.slots.free().len());
        let one_by_one = taps || drive.window.serialize_overlap;
        while room > 0 {
            let entries = drive.ring.as_slice();
            let Some(first) = entries.first() else {
                match drive.refill() {
                    None => continue,
                    ended => {
                        self.out = ended;
                        break;
                    }
                }
            };
            if self.is_special(drive, first) {
                self.waiting = drive.ring.pop();
                break;
            }
            let op = first.op;
            let count = if one_by_one { 1 } else { alike(&entries[..entries.len().min(room)], op) };
            let entries = if taps {
                drive.tap(*first, self.slots.next());
                drive.ring.as_slice()
            } else {
                entries
            };
            let tag = Tag::new(filling.batch, op);
            self.push_run(&drive.memory, &drive.files, &entries[..count], tag);
            drive.ring.advance(count);
            filling.note(op, count as u32);
            room -= count;
        }
        self.submit_filling(drive, &filling)
    }

    /// Whether an entry takes more than a slot and a push.
    #[inline(always)]
    fn is_special(&mut self, drive: &Drive, entry: &Planned) -> bool {
        if entry.op as u8 > Op::Trim as u8 {
            return !(E::QUEUES_SYNCS && entry.op.is_sync());
        }
        drive.window.serialize_overlap && self.overlaps(entry)
    }

    /// A submission, for which a slot is free.
    #[inline(always)]
    fn begin(&self, drive: &Drive) -> Filling {
        let start = if STAMPED { drive.clock.now() } else { 0 };
        Filling {
            start,
            batch: self.free_batches.next(),
            pushed: 0,
            counts: [0; OPS],
            op: Op::Read,
        }
    }

    /// Push entries of one kind.
    #[inline(always)]
    fn push_run(&mut self, memory: &Memory, files: &Files, entries: &[Planned], tag: Tag) {
        let (flights, count) = (&mut self.flights[..], entries.len());
        let ios = entries.iter().zip(&self.slots.free()[..count]);
        // Noted as they are pushed: one walk instead of two.
        self.engine.push_all(ios.map(|(entry, &slot)| {
            flights[slot as usize].begin(entry, tag);
            (Slot(slot), io(memory, files, entry, slot))
        }));
        self.slots.take(count);
    }

    /// Submit what was pushed, stamp and count it.
    #[inline(always)]
    fn submit_filling(&mut self, drive: &mut Drive, filling: &Filling) -> Result<(), Failure> {
        let &Filling { start, batch, pushed, ref counts, op } = filling;
        if pushed == 0 {
            return Ok(());
        }
        if let Err(errno) = self.engine.submit() {
            return Err(self.abandon("submit", errno));
        }
        let issue = if STAMPED { drive.clock.now() } else { 0 };
        let slat = if STAMPED { drive.clock.ticks_to_ns(issue.wrapping_sub(start)) } else { 0 };
        self.batches[batch as usize] = Batch { slat, issue, live: pushed };
        self.free_batches.take(1);
        let ledger = drive.pen.counters();
        if counts[op as usize] == pushed {
            if let Some(lane) = ledger.lanes.get(op as usize) {
                Self::count_issued(lane, pushed, slat);
            }
        } else {
            Self::count_mixed(ledger, counts, slat);
        }
        let depth = &ledger.depth;
        depth.level[depth_class(self.in_flight())].add(u64::from(pushed));
        depth.submit[batch_class(pushed)].add(1);
        depth.submits.add(1);
        Ok(())
    }

    #[inline(never)]
    fn count_mixed(ledger: &Counters, counts: &[u32], slat: u64) {
        for (lane, &ios) in ledger.lanes.iter().zip(counts) {
            if ios > 0 {
                Self::count_issued(lane, ios, slat);
            }
        }
    }

    #[inline(always)]
    fn count_issued(lane: &Lane, ios: u32, slat: u64) {
        let ios = u64::from(ios);
        lane.issued.add(ios);
        if STAMPED {
            lane.slat.add_many(slat, ios);
            if let Some(histogram) = &lane.slat_histogram {
                histogram.add_many(slat, ios);
            }
        }
    }

    /// Collect, and account in runs: completions that were submitted together and
    /// completed together have the same latencies, so one weighted addition
    /// counts them all, exactly as one by one would. The moment, in ticks.
    #[inline(always)]
    fn collect(&mut self, drive: &mut Drive, min: u32, max: u32) -> Result<u64, Failure> {
        self.collect_within(drive, min, max, PATIENCE)
    }

    /// Collect, but wait no longer than this.
    #[inline(always)]
    fn collect_within(
        &mut self,
        drive: &mut Drive,
        min: u32,
        max: u32,
        patience: Nanos,
    ) -> Result<u64, Failure> {
        self.done.clear();
        let reaped = self.engine.reap(min, max, Some(patience), &mut self.done);
        let now = if STAMPED { drive.clock.now() } else { 0 };
        self.settle(drive, now);
        match reaped {
            Ok(()) => Ok(now),
            Err(errno) => Err(self.abandon("collect", errno)),
        }
    }

    /// Collect what has come back, at most `max`, on the way to a full queue.
    #[inline(never)]
    fn poll(&mut self, drive: &mut Drive, max: u32) -> Result<u64, Failure> {
        self.collect(drive, 0, max)
    }

    /// Account for what was collected.
    #[inline(always)]
    fn settle(&mut self, drive: &mut Drive, now: u64) {
        let collected = self.done.len() as u32;
        if collected == 0 {
            return;
        }
        let depth = &drive.pen.counters().depth;
        depth.complete[batch_class(collected)].add(1);
        depth.completes.add(1);
        if self.watches {
            self.check_done(drive);
        }
        if drive.pacing.is_some() || drive.tape.is_some() {
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
                _ if entry.op.dir().is_none() => {
                    drive.synced(&entry, slot.0, result.is_ok());
                    continue;
                }
                Ok(n) if flight.moved + n >= entry.len => true,
                // Engines may say of a trim that it is done without saying how far.
                Ok(0) => entry.op == Op::Trim,
                // The rest is still to come.
                Ok(_) => continue,
                Err(errno) if self.goes_on(drive, slot, errno) => continue,
                Err(_) => false,
            };
            let checked = drive.check(&entry, slot.0, done);
            self.keep_first(checked);
        }
    }

    /// The same where there is a pace to keep to, or a tape to keep.
    #[inline(never)]
    fn settle_watched(&mut self, drive: &mut Drive, now: u64) {
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
        while count < done.len() {
            let Completion { slot, result } = done[count];
            let flight = &flights[slot.0 as usize];
            let len = flight.len;
            if flight.tag != tag || result != Ok(len) {
                break;
            }
            count += 1;
            places[done.len() - count] = slot.0;
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
        let lane = &drive.pen.counters().lanes[tag.kind()];
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
    fn latencies(&self, clock: &Clock, tag: Tag, now: u64) -> [u64; 2] {
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
        if entry.op.is_sync() {
            // The system may do all of it within the submission.
            let [slat, clat] = self.latencies(&drive.clock, tag, now);
            drive.count_sync(slat + clat);
            drive.trace_completed(&entry);
            self.land(slot, tag);
            let tolerated = result.map(drop).or_else(|errno| drive.tolerate_sync(&entry, errno));
            self.keep_first(tolerated.map_err(|failure| Failure {
                detail: self.engine.explain(entry.op, failure.errno),
                ..failure
            }));
            return false;
        }
        let lane = &drive.pen.counters().lanes[entry.op as usize];
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
            // Interrupted before anything was done.
            Err(errno) if self.goes_on(drive, slot, errno) => {
                self.go_on(drive, slot, 0);
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
        self.retries.again(slot.0 as usize, attempt, &drive.control)
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

    fn give_back(&mut self, slot: Slot) {
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
    fn abandon(&mut self, doing: &'static str, errno: Errno) -> Failure {
        let depth = self.flights.len() as u32;
        self.slots = FreeList::new(depth);
        self.free_batches = FreeList::new(depth);
        self.flights.fill(Flight::default());
        self.waiting = None;
        let detail = self.engine.broken();
        self.failed.take().unwrap_or(Failure { detail, ..Failure::engine(doing, errno) })
    }

    /// Whether an I/O in flight touches a byte of this one.
    #[cold]
    fn overlaps(&mut self, entry: &Planned) -> bool {
        self.idle.fill(false);
        for &slot in self.slots.free() {
            self.idle[slot as usize] = true;
        }
        let end = |entry: &Planned| entry.offset + u64::from(entry.len);
        self.flights.iter().zip(&self.idle).any(|(other, idle)| {
            !idle
                && other.tag.kind() <= Op::Trim as usize
                && other.file == entry.file
                && other.offset < end(entry)
                && entry.offset < end(&other.entry())
        })
    }

    /// Do what waits, unless it has to wait on: whether it was done.
    #[cold]
    #[inline(never)]
    fn do_waiting(&mut self, drive: &mut Drive) -> Result<bool, Failure> {
        let Some(entry) = self.waiting else { return Ok(true) };
        if entry.op.is_zone_command() {
            return self.zone_command(drive, &entry);
        }
        if entry.op.dir().is_some() {
            if self.overlaps(&entry) {
                return Ok(false);
            }
            self.waiting = None;
            self.issue_alone(drive, entry)?;
            return Ok(true);
        }
        // A sync made by the loop covers the writes that came back before it,
        // as in fio; opening and closing need quiet.
        let needs_quiet = matches!(entry.op, Op::Open | Op::Close);
        if needs_quiet && self.in_flight() > 0 {
            return Ok(false);
        }
        self.waiting = None;
        match entry.op {
            Op::Open => self.open(drive, entry.file)?,
            Op::Close => self.close(drive, entry.file)?,
            Op::Invalidate => drive.files.invalidate(entry.file)?,
            _ => drive.sync_now(&entry)?,
        }
        Ok(true)
    }

    /// Execute a command to a zone once the queue is empty: whether it was done.
    #[cold]
    fn zone_command(&mut self, drive: &mut Drive, entry: &Planned) -> Result<bool, Failure> {
        if self.in_flight() > 0 {
            return Ok(false);
        }
        self.waiting = None;
        if entry.op != Op::ZoneTrim {
            return drive.zone_command(entry).map(|()| true);
        }
        drive.tap(*entry, self.slots.next());
        let [begin, end] = drive.zone_trim(entry)?;
        if let Drive { tape: Some(tape), clock, .. } = drive
            && STAMPED
        {
            let took = clock.ticks_to_ns(end.wrapping_sub(begin));
            tape.add(end, entry.offset, entry.len, Op::Trim as u32, [0, took]);
        }
        drive.trace_completed(entry);
        Ok(true)
    }

    /// Issue the entry that waited, in the slot that was kept for it.
    fn issue_alone(&mut self, drive: &mut Drive, entry: Planned) -> Result<(), Failure> {
        let mut filling = self.begin(drive);
        // Filling stopped with a slot in hand.
        let slot = self.slots.next();
        if drive.has_taps() {
            drive.tap(entry, slot);
        }
        if let Some(due) = self.dues.get_mut(slot as usize) {
            *due = self.due;
        }
        self.slots.take(1);
        let tag = Tag::new(filling.batch, entry.op);
        self.flights[slot as usize].begin(&entry, tag);
        self.engine.push(Slot(slot), &drive.io(&entry, slot));
        filling.note(entry.op, 1);
        self.submit_filling(drive, &filling)
    }

    /// One round: fill, then collect. True ends the slice: with `out`, if that
    /// is there and nothing is in flight; because of the time, if not.
    #[inline(always)]
    fn round(&mut self, drive: &mut Drive, taps: bool, exchanges: bool) -> Result<bool, Failure> {
        let mut blocked = false;
        // What was done alone may have taken long.
        let mut look = false;
        if self.waiting.is_none() && self.out.is_none() && !self.full {
            self.fill(drive, taps)?;
        }
        if self.waiting.is_some() {
            blocked = !self.do_waiting(drive)?;
            look = !blocked;
        }
        let in_flight = self.in_flight();
        if in_flight == 0 && self.out.is_some() {
            return Ok(true);
        }
        if in_flight as usize == self.flights.len() {
            self.full = true;
            if exchanges
                && self.waiting.is_none()
                && self.out.is_none()
                && let Some(over) = self.exchange(drive)?
            {
                return Ok(over);
            }
        }
        let Window { reap_min, reap_max, .. } = drive.window;
        let now = if in_flight > 0 && (self.full || blocked || self.out.is_some()) {
            let min = reap_min.clamp(1, in_flight);
            self.collect(drive, min, reap_max.max(min))?
        } else if in_flight > 0 && reap_min == 0 {
            self.poll(drive, reap_max.max(1))?
        } else if look {
            drive.clock.now()
        } else {
            return Ok(false);
        };
        if self.in_flight() <= drive.window.low && self.in_flight() < drive.window.depth {
            self.full = false;
        }
        if self.failed.is_some() {
            return self.failed.take().map_or(Ok(false), Err);
        }
        let now = if STAMPED || look { now } else { drive.clock.now() };
        Ok(now >= drive.control.until())
    }
}

/// Count I/Os that were done whole, `bytes` in all, with their latencies from
/// issue, and in all.
#[inline(always)]
fn count_done(lane: &Lane, ios: u64, bytes: u64, [clat, lat]: [u64; 2]) {
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

/// How many of the first entries are of this kind.
#[inline(always)]
fn alike(entries: &[Planned], op: Op) -> usize {
    let mut fours = entries.chunks_exact(4);
    let mut count = 0;
    for four in &mut fours {
        if !four.iter().all(|entry| entry.op == op) {
            break;
        }
        count += 4;
    }
    count + entries[count..].iter().take_while(|entry| entry.op == op).count()
}

impl<E: Queued, const STAMPED: bool> Loop for QueueLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        let (taps, paced) = (drive.has_taps(), drive.pacing.is_some());
        self.watches = drive.watches_completions();
        let exchanges = Self::may_exchange(drive);
        loop {
            let round = match paced {
                true => self.round_paced(drive, taps, exchanges),
                false => self.round(drive, taps, exchanges),
            };
            match round {
                Ok(false) => {}
                Ok(true) if self.in_flight() == 0 && self.out.is_some() => {
                    return self.out.take().unwrap_or(Ended::Done);
                }
                Ok(true) => return Ended::Time,
                Err(failure) => {
                    // The first failure is the one to tell.
                    let _ = self.drain(drive);
                    // A job that goes on all the same begins something else.
                    (self.waiting, self.out) = (None, None);
                    return Ended::Failed(failure);
                }
            }
        }
    }

    fn drain(&mut self, drive: &mut Drive) -> Result<(), Failure> {
        while self.in_flight() > 0 {
            let in_flight = self.in_flight();
            self.collect(drive, in_flight, in_flight)?;
        }
        self.full = false;
        self.failed.take().map_or(Ok(()), Err)
    }

    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        let opened = drive.files.open(file)?;
        self.engine
            .opened(&opened)
            .map_err(|errno| Failure { file: Some(file), ..Failure::engine("open", errno) })
    }

    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.engine.closing(file);
        drive.close(file)
    }
}
