//! The loop of engines with a queue.

use crate::drive::{Failure, Taken};
use crate::{Drive, Ended, Io, Loop, Queued};
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

/// What I/Os that went down together share.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// When the first of them was taken up.
    start: u64,
    /// When the submission returned.
    issue: u64,
    /// How many are still in flight.
    live: u32,
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

/// How far filling got.
enum Filled {
    /// A batch, or as much as the window holds.
    Enough,
    /// The entry in `waiting` cannot simply be pushed.
    Special,
    /// The source has no more.
    Out(Ended),
}

/// A batch that is being taken up.
struct Filling {
    batch: u32,
    start: u64,
    /// Data I/Os of each direction.
    by_dir: [u32; 3],
    /// All that was pushed.
    pushed: u32,
}

/// Completions that share their stamps and direction.
struct Run {
    op: Op,
    batch: u32,
    ios: u32,
    bytes: u64,
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
            batches: vec![Batch::default(); slots + 1],
            free_batches: (0..=depth).rev().collect(),
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

    /// Take up a batch and hand it down.
    #[inline]
    fn fill(&mut self, drive: &mut Drive, taps: bool) -> Result<Filled, Failure> {
        let mut filling = self.begin(drive);
        let most = drive.window.batch.max(1);
        let mut filled = Filled::Enough;
        while filling.pushed < most && !self.free.is_empty() {
            let entry = match drive.take() {
                Taken::Entry(entry) => entry,
                Taken::Out(ended) => {
                    filled = Filled::Out(ended);
                    break;
                }
            };
            if self.is_special(drive, &entry) {
                self.waiting = Some(entry);
                filled = Filled::Special;
                break;
            }
            self.push(drive, &mut filling, &entry, taps);
        }
        self.hand_down(drive, &filling)?;
        Ok(filled)
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
        // There is one batch more than slots, so one is always free.
        let batch = *self.free_batches.last().expect("a live batch holds a slot");
        let start = if STAMPED { drive.clock.now() } else { 0 };
        Filling { batch, start, by_dir: [0; 3], pushed: 0 }
    }

    #[inline(always)]
    fn push(&mut self, drive: &mut Drive, filling: &mut Filling, entry: &Planned, taps: bool) {
        let slot = self.free.pop().expect("the caller saw a free slot");
        if taps {
            drive.tap(entry, slot);
        }
        self.flights[slot as usize] = Flight { entry: *entry, moved: 0, batch: filling.batch };
        if let Some(count) = filling.by_dir.get_mut(entry.op as usize) {
            *count += 1;
        }
        filling.pushed += 1;
        let io = Io {
            offset: entry.offset,
            buffer: drive.memory.buffer(slot),
            len: entry.len,
            op: entry.op,
            file: entry.file,
            fd: drive.files.fd(entry.file),
        };
        self.engine.push(Slot(slot), &io);
    }

    /// Submit what was pushed, stamp and count it.
    #[inline(always)]
    fn hand_down(&mut self, drive: &mut Drive, filling: &Filling) -> Result<(), Failure> {
        let &Filling { batch, start, by_dir, pushed } = filling;
        if pushed == 0 {
            return Ok(());
        }
        if let Err(errno) = self.engine.submit() {
            return Err(self.abandon("submit", errno));
        }
        self.free_batches.pop();
        let issue = if STAMPED { drive.clock.now() } else { 0 };
        self.batches[batch as usize] = Batch { start, issue, live: pushed };
        let ledger = drive.pen.ledger();
        for (lane, n) in ledger.lanes.iter().zip(by_dir) {
            if n == 0 {
                continue;
            }
            lane.issued.add(u64::from(n));
            if STAMPED {
                let slat = drive.clock.ticks_to_ns(issue.wrapping_sub(start));
                lane.slat.add_many(slat, u64::from(n));
                if let Some(histogram) = &lane.slat_histogram {
                    histogram.add_many(slat, u64::from(n));
                }
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

        let mut run = Run { op: Op::Read, batch: u32::MAX, ios: 0, bytes: 0 };
        for &Completion { slot, result } in done {
            let Flight { entry, batch, .. } = self.flights[slot.0 as usize];
            let whole = result == Ok(entry.len) && entry.op as u8 <= Op::Trim as u8;
            if !whole && !self.partial(drive, slot, result, now) {
                continue;
            }
            if batch != run.batch || entry.op as u8 != run.op as u8 {
                self.account(drive, &run, now);
                run = Run { op: entry.op, batch, ios: 0, bytes: 0 };
            }
            run.ios += 1;
            run.bytes += u64::from(entry.len);
            self.free.push(slot.0);
        }
        self.account(drive, &run, now);
    }

    #[inline]
    fn account(&mut self, drive: &Drive, run: &Run, now: u64) {
        if run.ios == 0 {
            return;
        }
        let ios = u64::from(run.ios);
        let lane = &drive.pen.ledger().lanes[run.op as usize];
        lane.ios.add(ios);
        lane.bytes.add(run.bytes);
        if STAMPED {
            let Batch { start, issue, .. } = self.batches[run.batch as usize];
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
        self.leave_batch(run.batch, run.ios);
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
    #[cold]
    #[inline(never)]
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
        let rest = Io {
            offset: entry.offset + u64::from(moved),
            buffer: drive.memory.buffer(slot.0).wrapping_add(moved as usize),
            len: entry.len - moved,
            op: entry.op,
            file: entry.file,
            fd: drive.files.fd(entry.file),
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
        self.free_batches = (0..=depth).rev().collect();
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
            let mut filling = self.begin(drive);
            let taps = drive.has_taps();
            self.push(drive, &mut filling, &entry, taps);
            self.hand_down(drive, &filling)?;
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

    /// One round: fill, then collect. `Some` ends the slice.
    #[inline(always)]
    fn round(&mut self, drive: &mut Drive, taps: bool) -> Result<Option<Ended>, Failure> {
        let mut blocked = false;
        // What was done alone may have taken long.
        let mut look = false;
        if self.waiting.is_some() {
            blocked = !self.do_waiting(drive)?;
            look = !blocked;
        } else if self.out.is_none() && !self.full {
            match self.fill(drive, taps)? {
                Filled::Enough => {}
                Filled::Special => {
                    blocked = !self.do_waiting(drive)?;
                    look = !blocked;
                }
                Filled::Out(ended) => self.out = Some(ended),
            }
        }
        let in_flight = self.in_flight();
        if in_flight == 0 {
            if let Some(ended) = self.out.take() {
                return Ok(Some(ended));
            }
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
            return Ok(None);
        };
        if self.in_flight() <= window.low.min(window.depth.saturating_sub(1)) {
            self.full = false;
        }
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        let now = if STAMPED || look { now } else { drive.clock.now() };
        Ok((now >= drive.pulse.until()).then_some(Ended::Time))
    }
}

impl<E: Queued, const STAMPED: bool> Loop for QueueLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        let taps = drive.has_taps();
        loop {
            match self.round(drive, taps) {
                Ok(None) => {}
                Ok(Some(ended)) => return ended,
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
        drive.files.close(file)
    }
}
