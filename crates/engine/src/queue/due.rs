//! Each I/O of a queue when it is due, where there is a pace and nothing else:
//! one is submitted at a time, and one collected, fio's way unless batches are
//! asked for. Between them the thread waits for whichever comes first.

use super::exchange::{ExchangeContext, ExchangeEnd};
use super::noted::{Alike, Noted, Took};
use super::{Batch, PATIENCE, QueueLoop, Tag};
use crate::drive::{Failure, UNCOUNTED, io};
use crate::pacing::Waiter;
use crate::tape::Taping;
use crate::{Drive, Queued, Wanted};
use iosonde_base::{Completion, Errno, Nanos, Op, Planned, Slot};
use iosonde_stats::{batch_class, depth_class};
use iosonde_sys::clock::Ticks;

/// Where a stretch of I/Os is.
pub(super) struct DueStretch<'a> {
    pub(super) waiter: &'a mut Waiter,
    /// The slot and the batch of the I/O that came back last, for the next.
    pub(super) spare: Option<(u32, u32)>,
    /// Without the spare slot.
    pub(super) in_flight: usize,
    pub(super) now: u64,
    /// Completions that are not counted yet; they are before a wait that lasts
    /// longer than until `pause`.
    pub(super) noted: Noted,
    pub(super) pause: u64,
    /// What was submitted and what was collected, one by one.
    pub(super) submits: u64,
    completes: u64,
    /// What was both, with nothing else in flight.
    pub(super) alone: u64,
}

/// What came back of a wait for a completion.
enum Collected {
    /// Nothing.
    Nothing,
    /// One that is counted: its slot and its batch.
    One(u32, u32),
    /// One that takes more than counting.
    Incomplete,
    /// The queue itself failed.
    Broken(Errno),
}

impl<E: Queued + 'static, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// Do what the ring holds, each when it is due. Whether the slice is over;
    /// none if the next entry takes more than a slot and a push.
    pub(super) fn when_due(&mut self, drive: &mut Drive) -> Result<Option<bool>, Failure> {
        let Some(mut pacing) = drive.pacing.take() else { return Ok(None) };
        let (dues, waiter) = pacing.plain_dues(drive.ring.place());
        let mut tape = drive.tape.take();
        let context = ExchangeContext::new(drive, dues);
        let entries = drive.ring.as_slice();
        let (count, stop) = match (&mut tape, drive.clock.counting()) {
            (None, Some(clock)) => self.stretch_due(context, clock, entries, waiter, &mut ()),
            (None, None) => self.any().stretch_due(context, drive.clock, entries, waiter, &mut ()),
            (Some(tape), _) => self.any().stretch_due(context, drive.clock, entries, waiter, tape),
        };
        (drive.tape, drive.pacing) = (tape, Some(pacing));
        drive.ring.advance(count);
        if matches!(stop, ExchangeEnd::Entry) && drive.ring.waiting() > 0 {
            self.full = self.in_flight() as usize == self.flights.len();
            return Ok(None);
        }
        self.any().end_exchange(drive, stop).map(Some)
    }
}

impl<E: Queued + ?Sized, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// Submit each of `entries` when it is due, and collect meanwhile; how many
    /// were submitted.
    #[inline(never)]
    fn stretch_due<T: Taping, C: Ticks>(
        &mut self,
        context: ExchangeContext<'_>,
        clock: C,
        entries: &[Planned],
        waiter: &mut Waiter,
        tape: &mut T,
    ) -> (usize, ExchangeEnd) {
        let (in_flight, now) = (self.slots.taken, clock.now());
        let mut at = DueStretch {
            waiter,
            spare: None,
            in_flight,
            now,
            noted: std::mem::take(&mut self.noted).unwrap_or_default(),
            pause: context.clock.after(now, UNCOUNTED.0),
            submits: 0,
            completes: 0,
            alone: 0,
        };
        let stopped = self.do_due(context, clock, entries, &mut at, tape);
        at.noted.count(context.counters);
        self.noted = Some(at.noted);
        let (depth, one) = (&context.counters.depth, batch_class(1));
        depth.level[depth_class(1)].add(at.alone);
        depth.submit[one].add(at.submits + at.alone);
        depth.submits.add(at.submits + at.alone);
        depth.complete[one].add(at.completes + at.alone);
        depth.completes.add(at.completes + at.alone);
        if let Some((slot, batch)) = at.spare {
            self.slots.give_back(slot);
            self.free_batches.give_back(batch);
        }
        stopped
    }

    /// As [`QueueLoop::stretch_due`].
    #[inline(always)]
    fn do_due<T: Taping, C: Ticks>(
        &mut self,
        context: ExchangeContext<'_>,
        clock: C,
        entries: &[Planned],
        at: &mut DueStretch<'_>,
        tape: &mut T,
    ) -> (usize, ExchangeEnd) {
        let mut count = 0;
        'entries: while let (Some(entry), Some(&due)) =
            (entries.get(count), context.dues.get(count))
        {
            if entry.op as u8 > Op::Trim as u8 {
                return (count, ExchangeEnd::Entry);
            }
            if at.in_flight == 0 && count + 1 < entries.len() {
                let (alone, end) =
                    self.do_alone(context, clock, &entries[count..], count, at, tape);
                count += alone;
                match end {
                    Some(end) => return (count, end),
                    None => continue,
                }
            }
            while at.now < due || at.in_flight == self.flights.len() {
                if let Some(end) = self.collect_until(context, clock, due, at, tape) {
                    return (count, end);
                }
                if at.in_flight == 0 && count + 1 < entries.len() {
                    continue 'entries;
                }
            }
            let numbers = at.spare.take().unwrap_or_else(|| self.take_slot());
            at.in_flight += 1;
            count += 1;
            if let Err(errno) = self.submit_one(context, clock, entry, numbers, due, at) {
                return (count, ExchangeEnd::Broken("submit", errno));
            }
            if at.now >= context.control.until() {
                return (count, ExchangeEnd::Time);
            }
        }
        (entries.len(), ExchangeEnd::Entry)
    }

    /// Wait until `due` at most, or for a completion if that comes before, and
    /// count it. Why the stretch ends, if it does.
    #[inline(always)]
    fn collect_until<T: Taping, C: Ticks>(
        &mut self,
        context: ExchangeContext<'_>,
        clock: C,
        due: u64,
        at: &mut DueStretch<'_>,
        tape: &mut T,
    ) -> Option<ExchangeEnd> {
        let control = context.control;
        if at.now >= control.until() {
            return Some(ExchangeEnd::Time);
        }
        let full = at.in_flight == self.flights.len();
        if due >= at.pause && !full {
            at.count(context);
        }
        if at.in_flight == 0 {
            at.now = at.waiter.wait(clock, control, at.now, due);
            return None;
        }
        let nap_ns = match full {
            true if at.noted.is_empty() => PATIENCE.0,
            true => UNCOUNTED.0,
            false => at.waiter.nap_ns(clock, control, at.now, due).min(PATIENCE.0),
        };
        let began = at.now;
        match self.collect_one(context, clock, nap_ns, at, tape) {
            Collected::One(slot, batch) => {
                at.in_flight -= 1;
                at.completes += 1;
                if let Some((slot, batch)) = at.spare.replace((slot, batch)) {
                    self.slots.give_back(slot);
                    self.free_batches.give_back(batch);
                }
            }
            Collected::Incomplete => return Some(ExchangeEnd::Incomplete(at.now)),
            Collected::Broken(errno) => {
                return Some(ExchangeEnd::Broken("collect completions", errno));
            }
            Collected::Nothing if nap_ns == 0 => {
                at.now = at.waiter.wait(clock, control, at.now, due);
            }
            Collected::Nothing if full => at.count(context),
            Collected::Nothing => at.timed_out(clock, due, began, nap_ns),
        }
        None
    }

    /// A slot and a batch; there are some.
    #[inline(always)]
    pub(super) fn take_slot(&mut self) -> (u32, u32) {
        let numbers = (self.slots.next(), self.free_batches.next());
        self.slots.take(1);
        self.free_batches.take(1);
        numbers
    }

    /// Submit an I/O in a slot and a batch.
    #[inline(always)]
    fn submit_one<C: Ticks>(
        &mut self,
        context: ExchangeContext<'_>,
        clock: C,
        entry: &Planned,
        (slot, batch): (u32, u32),
        due: u64,
        at: &mut DueStretch<'_>,
    ) -> Result<(), Errno> {
        let ExchangeContext { counters, files, memory, .. } = context;
        self.dues[slot as usize] = due;
        self.flights[slot as usize].begin(entry, Tag::new(batch, entry.op));
        self.engine.push(Slot(slot), &io(memory, files, entry, slot));
        self.engine.submit()?;
        let issue = clock.now();
        let slat = clock.ticks_to_ns(issue.wrapping_sub(at.now));
        self.batches[batch as usize] = Batch { slat, issue, live: 1 };
        Self::count_issued(&counters.lanes[entry.op as usize], 1, slat);
        at.submits += 1;
        counters.depth.level[depth_class(at.in_flight as u32)].add(1);
        at.now = issue;
        Ok(())
    }

    /// Wait so long for a completion, and note it if counting is all it takes. The
    /// stretch is then at the time after that.
    #[inline(always)]
    fn collect_one<T: Taping, C: Ticks>(
        &mut self,
        context: ExchangeContext<'_>,
        clock: C,
        nap_ns: u64,
        at: &mut DueStretch<'_>,
        tape: &mut T,
    ) -> Collected {
        self.done.clear();
        let one = Wanted { min: u32::from(nap_ns > 0), max: 1, patience: Nanos(nap_ns) };
        let reaped = self.engine.reap(one, &mut self.done);
        let now = clock.now();
        at.now = now;
        if let Err(errno) = reaped {
            return Collected::Broken(errno);
        }
        let Some(&Completion { slot, result }) = self.done.first() else {
            return Collected::Nothing;
        };
        let flight = &self.flights[slot.0 as usize];
        let (tag, len) = (flight.tag, flight.len);
        if tag.kind() > Op::Trim as usize || result != Ok(len) {
            return Collected::Incomplete;
        }
        let Batch { slat, issue, .. } = self.batches[tag.batch()];
        let clat = clock.ticks_to_ns(now.wrapping_sub(issue));
        let response = clock.ticks_to_ns(now.saturating_sub(self.dues[slot.0 as usize]));
        let took = Took { slat, clat, lat: slat + clat, response };
        let alike = Alike { lane: tag.kind(), len, with_issue: false };
        at.noted.add(context.counters, alike, took);
        if T::TAPES {
            let kind = tag.kind() as u32 | u32::from(self.engine.priority(slot)) << 16;
            tape.add(now, flight.offset, len, kind, [slat, clat]);
        }
        Collected::One(slot.0, tag.batch() as u32)
    }
}

impl DueStretch<'_> {
    /// Nothing came of a wait for `nap_ns` that began then, before an I/O is due.
    pub(super) fn timed_out(&mut self, clock: impl Ticks, due: u64, began: u64, nap_ns: u64) {
        let slept_ns = clock.ticks_to_ns(self.now.saturating_sub(began));
        if let Some(late_ns) = slept_ns.checked_sub(nap_ns) {
            self.waiter.timed_out(due, late_ns);
        }
    }

    /// Count what is noted; what comes after it may wait for a while again.
    #[cold]
    #[inline(never)]
    pub(super) fn count(&mut self, context: ExchangeContext<'_>) {
        self.noted.count(context.counters);
        self.pause = context.clock.after(self.now, UNCOUNTED.0);
    }
}
