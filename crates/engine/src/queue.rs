//! The loop of engines with a queue.

use crate::drive::{Failure, io};
use crate::{Drive, Ended, Files, Io, Loop, Memory, Queued};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Planned, Slot};
use iosonde_stats::{batch_class, depth_class};

/// No wait is longer than this, so that a stop is seen even while a device
/// stands still.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// One I/O in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    entry: Planned,
    /// Bytes moved by earlier, short, attempts.
    moved: u32,
    /// Which batch it went down with: where its stamps are.
    batch: u32,
}

/// What I/Os of one direction that went down together share.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// When the first of them was taken up.
    start: u64,
    /// When the submission returned.
    issue: u64,
    /// How many are still in flight.
    live: u32,
    op: Op,
}

/// A queued engine and its loop. `STAMPED` is whether latencies are kept.
pub struct QueueLoop<E, const STAMPED: bool> {
    engine: E,
    flights: Vec<Flight>,
    free: Vec<u32>,
    batches: Vec<Batch>,
    free_batches: Vec<u32>,
    done: Vec<Completion>,
    /// An entry that cannot go down now: a control entry until the queue is
    /// empty, an I/O until it overlaps none in flight. A slot is kept for it.
    waiting: Option<Planned>,
    /// The first error that the job does not bear.
    failed: Option<Failure>,
    /// The source has no more, for this pass or for good.
    out: Option<Ended>,
    /// The queue was full and is running down to `Window::low`.
    full: bool,
    /// Which slots are free, while overlaps are looked for.
    idle: Vec<bool>,
}

/// Kinds of I/O that share a batch when they go down together: the three
/// directions, and each kind of sync.
const OPS: [Op; KINDS] = [Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync, Op::SyncRange];
const KINDS: usize = 6;

/// A submission that is being put together.
struct Filling {
    start: u64,
    pushed: u32,
    /// How many of each kind.
    counts: [u32; KINDS],
    /// The batch of each kind that has any.
    batches: [u32; KINDS],
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
            flights: vec![Flight::default(); slots],
            free: (0..depth).rev().collect(),
            batches: vec![Batch::default(); slots],
            free_batches: (0..depth).rev().collect(),
            done: Vec::with_capacity(slots),
            waiting: None,
            failed: None,
            out: None,
            full: false,
            idle: vec![true; slots],
        }
    }

    fn in_flight(&self) -> u32 {
        (self.flights.len() - self.free.len()) as u32
    }

    /// Take up a batch and hand it down. An entry that cannot simply be pushed
    /// ends it and goes to `waiting`; so does the end of the source, and goes to
    /// `out`.
    #[inline(always)]
    fn fill(&mut self, drive: &mut Drive, taps: bool) -> Result<(), Failure> {
        let mut filling = self.begin(drive);
        let mut room = (drive.window.batch.max(1) as usize).min(self.free.len());
        let one_by_one = taps || drive.window.serialize_overlap;
        while room > 0 {
            let Some(&entry) = drive.ring.as_slice().first() else {
                match drive.refill() {
                    None => continue,
                    ended => {
                        self.out = ended;
                        break;
                    }
                }
            };
            if self.is_special(drive, &entry) {
                drive.ring.advance(1);
                self.waiting = Some(entry);
                break;
            }
            let batch = self.batch_for(&mut filling, entry.op);
            let most = if one_by_one { 1 } else { room };
            if taps {
                drive.tap(entry, self.free[self.free.len() - 1]);
            }
            let count = self.push_run(drive, batch, entry.op, most);
            filling.counts[entry.op as usize] += count as u32;
            filling.pushed += count as u32;
            room -= count;
        }
        self.hand_down(drive, &filling)
    }

    /// Whether an entry takes more than a slot and a push.
    #[inline(always)]
    fn is_special(&mut self, drive: &Drive, entry: &Planned) -> bool {
        if entry.op as u8 > Op::Trim as u8 {
            return !(E::QUEUES_SYNCS && entry.op.is_sync());
        }
        drive.window.serialize_overlap && self.overlaps(entry)
    }

    #[inline(always)]
    fn begin(&self, drive: &Drive) -> Filling {
        let start = if STAMPED { drive.clock.now() } else { 0 };
        Filling { start, pushed: 0, counts: [0; KINDS], batches: [0; KINDS] }
    }

    /// The batch for I/Os of this kind in this submission.
    #[inline(always)]
    fn batch_for(&mut self, filling: &mut Filling, op: Op) -> u32 {
        let kind = op as usize;
        if filling.counts[kind] == 0 {
            // As many batches as slots: each live one holds a slot, and so
            // does each of this submission.
            filling.batches[kind] = self.free_batches.pop().expect("a live batch holds a slot");
        }
        filling.batches[kind]
    }

    /// Push entries of one kind from the ring, at most `most`: how many.
    #[inline(always)]
    fn push_run(&mut self, drive: &mut Drive, batch: u32, op: Op, most: usize) -> usize {
        let entries = drive.ring.as_slice();
        let entries = &entries[..entries.len().min(most)];
        let slots = &self.free[self.free.len() - entries.len()..];
        let (flights, engine) = (&mut self.flights[..], &mut self.engine);
        let tables = (&drive.memory, &drive.files);
        let count = push_alike(entries, slots, flights, engine, tables, (batch, op));
        self.free.truncate(self.free.len() - count);
        drive.ring.advance(count);
        count
    }

    /// Submit what was pushed, stamp and count it.
    #[inline(always)]
    fn hand_down(&mut self, drive: &mut Drive, filling: &Filling) -> Result<(), Failure> {
        let &Filling { start, pushed, ref counts, ref batches } = filling;
        if pushed == 0 {
            return Ok(());
        }
        if let Err(errno) = self.engine.submit() {
            return Err(self.abandon("submit", errno));
        }
        let issue = if STAMPED { drive.clock.now() } else { 0 };
        let ledger = drive.pen.ledger();
        let mut left = pushed;
        for op in OPS {
            let live = counts[op as usize];
            if live == 0 {
                continue;
            }
            left -= live;
            self.batches[batches[op as usize] as usize] = Batch { start, issue, live, op };
            if let Some(lane) = ledger.lanes.get(op as usize) {
                lane.issued.add(u64::from(live));
                if STAMPED {
                    let slat = drive.clock.ticks_to_ns(issue.wrapping_sub(start));
                    lane.slat.add_many(slat, u64::from(live));
                    if let Some(histogram) = &lane.slat_histogram {
                        histogram.add_many(slat, u64::from(live));
                    }
                }
            }
            if left == 0 {
                break;
            }
        }
        let depth = &ledger.depth;
        depth.level[depth_class(self.in_flight())].add(u64::from(pushed));
        depth.submit[batch_class(pushed)].add(1);
        depth.submits.add(1);
        Ok(())
    }

    /// Collect, and account in runs: completions that went down together and
    /// came back together have the same latencies, so one weighted addition
    /// counts them all, exactly as one by one would. The moment, in ticks.
    #[inline]
    fn collect(&mut self, drive: &mut Drive, min: u32, max: u32) -> Result<u64, Failure> {
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        let reaped = self.engine.reap(min, max, Some(PATIENCE), &mut done);
        let now = if STAMPED { drive.clock.now() } else { 0 };
        self.settle(drive, &done, now);
        self.done = done;
        match reaped {
            Ok(()) => Ok(now),
            Err(errno) => Err(self.abandon("collect", errno)),
        }
    }

    #[inline(always)]
    fn settle(&mut self, drive: &mut Drive, done: &[Completion], now: u64) {
        if done.is_empty() {
            return;
        }
        let depth = &drive.pen.ledger().depth;
        depth.complete[batch_class(done.len() as u32)].add(1);
        depth.completes.add(1);

        let mut rest = done;
        while let Some(first) = rest.first() {
            let batch = self.flights[first.slot.0 as usize].batch;
            let (count, bytes) = self.run_of(rest, batch);
            let (run, after) = rest.split_at(count);
            if count > 0 {
                self.free.extend(run.iter().map(|done| done.slot.0));
                self.account(drive, batch, count as u64, bytes, now);
                rest = after;
            } else {
                self.one(drive, first, now);
                rest = &rest[1..];
            }
        }
    }

    /// How many of the first completions are of whole data I/Os of `batch`,
    /// and their bytes.
    #[inline(always)]
    fn run_of(&self, done: &[Completion], batch: u32) -> (usize, u64) {
        if self.batches[batch as usize].op as u8 > Op::Trim as u8 {
            return (0, 0);
        }
        let flights = &self.flights[..];
        let mut bytes = 0;
        let mut rest = done.iter();
        while let Some(&Completion { slot, result }) = rest.next() {
            let flight = &flights[slot.0 as usize];
            let len = flight.entry.len;
            if flight.batch != batch || result != Ok(len) {
                return (done.len() - rest.len() - 1, bytes);
            }
            bytes += u64::from(len);
        }
        (done.len(), bytes)
    }

    /// Count I/Os that went down together and came back together.
    #[inline(always)]
    fn account(&mut self, drive: &Drive, batch: u32, ios: u64, bytes: u64, now: u64) {
        let Batch { start, issue, op, .. } = self.batches[batch as usize];
        let lane = &drive.pen.ledger().lanes[op as usize];
        lane.ios.add(ios);
        lane.bytes.add(bytes);
        if STAMPED {
            let clat = drive.clock.ticks_to_ns(now.wrapping_sub(issue));
            let lat = drive.clock.ticks_to_ns(now.wrapping_sub(start));
            lane.clat.add_many(clat, ios);
            lane.lat.add_many(lat, ios);
            if let Some(histogram) = &lane.clat_histogram {
                histogram.add_many(clat, ios);
            }
            if let Some(histogram) = &lane.lat_histogram {
                histogram.add_many(lat, ios);
            }
        }
        self.leave_batch(batch, ios as u32);
    }

    /// Take in a completion that is not of a whole data I/O.
    #[cold]
    #[inline(never)]
    fn one(&mut self, drive: &mut Drive, done: &Completion, now: u64) {
        let Flight { entry, batch, .. } = self.flights[done.slot.0 as usize];
        if self.partial(drive, done.slot, done.result, now) {
            self.free.push(done.slot.0);
            self.account(drive, batch, 1, entry.len.into(), now);
        }
    }

    #[inline(always)]
    fn leave_batch(&mut self, batch: u32, n: u32) {
        let live = &mut self.batches[batch as usize].live;
        *live -= n;
        if *live == 0 {
            self.free_batches.push(batch);
        }
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
        let Flight { entry, moved, batch } = self.flights[slot.0 as usize];
        if entry.op.is_sync() {
            let issue = self.batches[batch as usize].issue;
            drive.count_sync(drive.clock.ticks_to_ns(now.wrapping_sub(issue)));
            self.land(slot, batch);
            let borne = result.map(drop).or_else(|errno| drive.bear_sync(&entry, errno));
            self.keep_first(borne);
            return false;
        }
        let lane = &drive.pen.ledger().lanes[entry.op as usize];
        let failure = match result {
            // Engines may say of a trim that it is done without saying how far.
            Ok(0) if entry.op == Op::Trim => return true,
            Ok(0) => Failure::end_of_file(&entry),
            Ok(n) if moved + n >= entry.len => return true,
            Ok(n) => {
                lane.short.add(1);
                self.go_on(drive, slot, n);
                return false;
            }
            // Interrupted before anything was done.
            Err(Errno(libc::EINTR)) => {
                self.go_on(drive, slot, 0);
                return false;
            }
            Err(errno) => Failure {
                detail: self.engine.explain(entry.op, errno),
                ..Failure::of(&entry, errno)
            },
        };
        lane.errors.add(1);
        self.land(slot, batch);
        let offset = Some(entry.offset + u64::from(moved));
        let borne = drive.bear(&entry, Failure { offset, ..failure });
        self.keep_first(borne);
        false
    }

    /// Push the rest of an I/O of which `n` more bytes were moved.
    fn go_on(&mut self, drive: &Drive, slot: Slot, n: u32) {
        let flight = &mut self.flights[slot.0 as usize];
        flight.moved += n;
        let Flight { entry, moved, .. } = *flight;
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

    fn land(&mut self, slot: Slot, batch: u32) {
        self.free.push(slot.0);
        self.leave_batch(batch, 1);
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
        self.free = (0..depth).rev().collect();
        self.free_batches = (0..depth).rev().collect();
        self.batches.fill(Batch::default());
        self.waiting = None;
        self.failed.take().unwrap_or(Failure::engine(doing, errno))
    }

    /// Whether an I/O in flight touches a byte of this one.
    #[cold]
    fn overlaps(&mut self, entry: &Planned) -> bool {
        self.idle.fill(false);
        for &slot in &self.free {
            self.idle[slot as usize] = true;
        }
        let end = |entry: &Planned| entry.offset + u64::from(entry.len);
        self.flights.iter().zip(&self.idle).any(|(Flight { entry: other, .. }, idle)| {
            !idle
                && other.op.dir().is_some()
                && other.file == entry.file
                && other.offset < end(entry)
                && entry.offset < end(other)
        })
    }

    /// Do what waits, unless it has to wait on: whether it was done.
    #[cold]
    #[inline(never)]
    fn do_waiting(&mut self, drive: &mut Drive) -> Result<bool, Failure> {
        let Some(entry) = self.waiting else { return Ok(true) };
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
        if entry.op.is_control() && self.in_flight() > 0 {
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

    /// Issue the entry that waited, in the slot that was kept for it.
    fn issue_alone(&mut self, drive: &mut Drive, entry: Planned) -> Result<(), Failure> {
        let mut filling = self.begin(drive);
        let batch = self.batch_for(&mut filling, entry.op);
        let slot = self.free.pop().expect("filling stopped with a slot in hand");
        if drive.has_taps() {
            drive.tap(entry, slot);
        }
        self.flights[slot as usize] = Flight { entry, moved: 0, batch };
        self.engine.push(Slot(slot), &drive.io(&entry, slot));
        filling.counts[entry.op as usize] = 1;
        filling.pushed = 1;
        self.hand_down(drive, &filling)
    }

    /// One round: fill, then collect. True ends the slice: with `out`, if that
    /// is there and nothing flies; because of the time, if not.
    #[inline(always)]
    fn round(&mut self, drive: &mut Drive, taps: bool) -> Result<bool, Failure> {
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
        self.full |= self.free.is_empty();
        let window = drive.window;
        let now = if in_flight > 0 && (self.full || blocked || self.out.is_some()) {
            let min = window.reap_min.clamp(1, in_flight);
            self.collect(drive, min, window.reap_max.max(min))?
        } else if in_flight > 0 && window.reap_min == 0 {
            self.collect(drive, 0, window.reap_max.max(1))?
        } else if look {
            drive.clock.now()
        } else {
            return Ok(false);
        };
        if self.in_flight() <= window.low.min(window.depth.saturating_sub(1)) {
            self.full = false;
        }
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        let now = if STAMPED || look { now } else { drive.clock.now() };
        Ok(now >= drive.pulse.until())
    }
}

/// Push entries of one kind, each with the last slot that is left: how many
/// there were. By itself, so that the compiler sees that none of these overlap
/// and keeps what it knows of them in registers.
#[inline(never)]
fn push_alike<E: Queued>(
    entries: &[Planned],
    slots: &[u32],
    flights: &mut [Flight],
    engine: &mut E,
    (memory, files): (&Memory, &Files),
    (batch, op): (u32, Op),
) -> usize {
    let mut rest = entries.iter().zip(slots.iter().rev());
    loop {
        let left = rest.len();
        let Some((entry, &slot)) = rest.next() else { return entries.len() };
        if entry.op as u8 != op as u8 {
            return entries.len() - left;
        }
        flights[slot as usize] = Flight { entry: *entry, moved: 0, batch };
        engine.push(Slot(slot), &io(memory, files, entry, slot));
    }
}

impl<E: Queued, const STAMPED: bool> Loop for QueueLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        let taps = drive.has_taps();
        loop {
            match self.round(drive, taps) {
                Ok(false) => {}
                Ok(true) if self.in_flight() == 0 && self.out.is_some() => {
                    return self.out.take().unwrap_or(Ended::Done);
                }
                Ok(true) => return Ended::Time,
                Err(failure) => {
                    // The first failure is the one to tell.
                    let _ = self.drain(drive);
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
