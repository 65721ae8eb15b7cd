//! The loop of engines with a queue.

mod alone;
mod completing;
mod due;
mod exchange;
mod exchanged;
mod flight;
mod noted;
mod paced;
mod special;

use crate::drive::{Failure, io};
use crate::retries::SlotRetries;
use crate::{Drive, Ended, Files, Loop, Memory, Queued, Wanted, Window};
use exchange::may_exchange;
use exchanged::Exchanged;
use flight::{Batch, Filling, Flight, FreeList, OPS, Tag};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Planned, Slot};
use iosonde_stats::{Lane, batch_class, depth_class};
use iosonde_sys::clock::Clock;
use noted::Noted;

/// No wait is longer than this, so that a stop is seen even while a device
/// stops.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// A queued engine and its loop. `STAMPED` is whether latencies are kept.
///
/// The engine is the last field, so that the loop of each is that of any of them
/// too, a `QueueLoop<dyn Queued, STAMPED>`. Plain I/Os are done by code that is
/// compiled for the engine; all else is compiled once, for any engine.
pub struct QueueLoop<E: ?Sized, const STAMPED: bool> {
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
    /// For I/Os that are exchanged; there from the first slice on that may.
    exchanged: Option<Box<Exchanged>>,
    /// What was measured ends the slice.
    settled: bool,
    /// There is more to a completion than to count it.
    watched: bool,
    /// I/Os that were interrupted.
    retries: SlotRetries,
    engine: E,
}

/// The loop of any engine.
type AnyQueueLoop<const STAMPED: bool> = QueueLoop<dyn Queued, STAMPED>;

impl<E: Queued + 'static, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// The loop around `engine`, for at most `depth` in flight.
    ///
    /// # Panics
    /// If `depth` is zero.
    pub fn new(engine: E, depth: u32) -> Self {
        assert!(depth > 0, "a queue holds at least one I/O");
        let slots = depth as usize;
        QueueLoop {
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
            exchanged: None,
            settled: false,
            watched: false,
            retries: SlotRetries::default(),
            engine,
        }
    }

    /// The same loop, by what does not depend on its engine.
    #[inline(always)]
    fn any(&mut self) -> &mut AnyQueueLoop<STAMPED> {
        self
    }
}

impl<E: Queued + ?Sized, const STAMPED: bool> QueueLoop<E, STAMPED> {
    #[inline(always)]
    fn in_flight(&self) -> u32 {
        self.slots.taken as u32
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

    /// Submit what was pushed, stamp and count it.
    #[inline(always)]
    fn submit_filling(&mut self, drive: &Drive, filling: &Filling) -> Result<(), Errno> {
        let &Filling { start, batch, pushed, ref counts, op } = filling;
        if pushed == 0 {
            return Ok(());
        }
        self.engine.submit()?;
        let issue = if STAMPED { drive.clock.now() } else { 0 };
        let slat = if STAMPED { drive.clock.ticks_to_ns(issue.wrapping_sub(start)) } else { 0 };
        self.batches[batch as usize] = Batch { slat, issue, live: pushed };
        self.free_batches.take(1);
        let counters = drive.writer.counters();
        if counts[op as usize] == pushed {
            if let Some(lane) = counters.lanes.get(op as usize) {
                Self::count_issued(lane, pushed, slat);
            }
        } else {
            AnyQueueLoop::<STAMPED>::count_mixed(counters, counts, slat);
        }
        let depth = &counters.depth;
        depth.level[depth_class(self.in_flight())].add(u64::from(pushed));
        depth.submit[batch_class(pushed)].add(1);
        depth.submits.add(1);
        Ok(())
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

    /// Collect; and the moment after that, in ticks.
    #[inline(always)]
    fn reap(&mut self, clock: &Clock, wanted: Wanted) -> (u64, Result<(), Errno>) {
        self.done.clear();
        let reaped = self.engine.reap(wanted, &mut self.done);
        (if STAMPED { clock.now() } else { 0 }, reaped)
    }
}

impl<E: Queued + 'static, const STAMPED: bool> QueueLoop<E, STAMPED> {
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
            if self.any().is_special(drive, first) {
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
        let submitted = self.submit_filling(drive, &filling);
        submitted.map_err(|errno| self.any().abandon("submit", errno))
    }

    /// Push entries of one kind.
    #[inline(always)]
    fn push_run(&mut self, memory: &Memory, files: &Files, entries: &[Planned], tag: Tag) {
        let (flights, count) = (&mut self.flights[..], entries.len());
        let ios = entries.iter().zip(&self.slots.free()[..count]);
        // Noted as they are pushed: one walk instead of two. Each free slot has a flight; a panic in here
        // would cost an instruction for each I/O, to know how far the walk came.
        self.engine.push_all(ios.map(|(entry, &slot)| {
            if let Some(flight) = flights.get_mut(slot as usize) {
                flight.begin(entry, tag);
            }
            (Slot(slot), io(memory, files, entry, slot))
        }));
        self.slots.take(count);
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
            blocked = !self.any().do_waiting(drive)?;
            look = !blocked;
        }
        let in_flight = self.in_flight();
        if in_flight == 0 && self.out.is_some() {
            return Ok(true);
        }
        if in_flight as usize == self.flights.len() {
            self.full = true;
            if STAMPED
                && exchanges
                && self.waiting.is_none()
                && self.out.is_none()
                && let Some(over) = self.exchange::<false>(drive)?
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

impl<E: Queued + 'static, const STAMPED: bool> Loop for QueueLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        let (taps, paced) = (drive.has_taps(), drive.pacing.is_some());
        self.watched = paced || drive.tape.is_some() || drive.watches_completions();
        let exchanges = STAMPED && may_exchange(drive);
        if exchanges {
            self.exchanged.get_or_insert_default();
        }
        loop {
            let round = if paced {
                self.round_held(drive, taps, exchanges)
            } else {
                self.round(drive, taps, exchanges)
            };
            match round {
                Ok(false) => {}
                Ok(true) => return self.any().end_slice(),
                Err(failure) => return self.any().fail(drive, failure),
            }
        }
    }

    fn drain(&mut self, drive: &mut Drive) -> Result<(), Failure> {
        self.any().drain(drive)
    }

    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.any().open(drive, file)
    }

    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.any().close(drive, file)
    }
}
