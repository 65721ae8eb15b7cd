//! The loop of engines with a queue.

mod alone;
mod completing;
mod due;
mod exchange;
mod flight;
mod noted;
mod paced;

use crate::drive::{Failure, io};
use crate::retries::SlotRetries;
use crate::{Drive, Ended, Files, Loop, Memory, Queued, Window};
use completing::count_done;
use flight::{Batch, Filling, Flight, FreeList, OPS, Tag};
use iosonde_base::{Completion, FileId, Nanos, Op, Planned, Slot};
use iosonde_stats::{Counters, Lane, batch_class, depth_class};
use noted::Noted;

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
    /// For completions that are counted at once; of a job with a pace.
    noted: Option<Noted>,
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
            noted: None,
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
            let round = if paced {
                self.round_paced(drive, taps, exchanges)
            } else {
                self.round(drive, taps, exchanges)
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
