//! Each I/O of a queue when it is due, where there is a pace and nothing else:
//! one is submitted at a time, and one collected, fio's way unless batches are
//! asked for. Between them the thread waits for whichever comes first.

use super::exchange::{ExchangeContext, ExchangeEnd};
use super::{Batch, PATIENCE, QueueLoop, Tag, count_done};
use crate::drive::{Failure, io};
use crate::one_shot::count_response;
use crate::pacing::Waiter;
use crate::tape::Taping;
use crate::{Drive, Queued};
use iosonde_base::{Completion, Errno, Nanos, Op, Planned, Slot};
use iosonde_stats::{batch_class, depth_class};

/// Where a stretch of I/Os is.
struct DueStretch<'a> {
    waiter: &'a mut Waiter,
    /// The slot and the batch of the I/O that came back last, for the next.
    spare: Option<(u32, u32)>,
    /// Without the spare slot.
    in_flight: usize,
    now: u64,
    /// What was submitted and what was collected, one by one.
    submits: u64,
    completes: u64,
}

/// What came back of a wait for a completion.
enum Collected {
    /// Nothing.
    Nothing,
    /// One that is counted: its slot and its batch.
    One(u32, u32),
    /// One that takes more than counting.
    Odd,
    /// The queue itself failed.
    Broken(Errno),
}

impl<E: Queued, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// Do what the ring holds, each when it is due. Whether the slice is over;
    /// none if the next entry takes more than a slot and a push.
    #[inline(never)]
    pub(super) fn when_due(&mut self, drive: &mut Drive) -> Result<Option<bool>, Failure> {
        let Some(pacing) = &mut drive.pacing else { return Ok(None) };
        let (dues, waiter) = pacing.plain_dues(drive.ring.place());
        let mut tape = drive.tape.take();
        let context = ExchangeContext {
            clock: drive.clock,
            ledger: drive.pen.counters(),
            control: &drive.control,
            files: &drive.files,
            memory: &drive.memory,
            dues,
        };
        let entries = drive.ring.as_slice();
        let (count, stop) = match &mut tape {
            None => self.stretch_due(context, entries, waiter, &mut ()),
            Some(tape) => self.stretch_due(context, entries, waiter, tape),
        };
        drive.tape = tape;
        drive.ring.advance(count);
        if matches!(stop, ExchangeEnd::Entry) && drive.ring.waiting() > 0 {
            self.full = self.in_flight() as usize == self.flights.len();
            return Ok(None);
        }
        self.end_exchange(drive, stop).map(Some)
    }

    /// Submit each of `entries` when it is due, and collect meanwhile; how many
    /// were submitted.
    #[inline(never)]
    fn stretch_due<T: Taping>(
        &mut self,
        context: ExchangeContext<'_>,
        entries: &[Planned],
        waiter: &mut Waiter,
        tape: &mut T,
    ) -> (usize, ExchangeEnd) {
        let (in_flight, now) = (self.slots.taken, context.clock.now());
        let mut at = DueStretch { waiter, spare: None, in_flight, now, submits: 0, completes: 0 };
        let stopped = self.do_due(context, entries, &mut at, tape);
        let (depth, one) = (&context.ledger.depth, batch_class(1));
        depth.submit[one].add(at.submits);
        depth.submits.add(at.submits);
        depth.complete[one].add(at.completes);
        depth.completes.add(at.completes);
        if let Some((slot, batch)) = at.spare {
            self.slots.give_back(slot);
            self.free_batches.give_back(batch);
        }
        stopped
    }

    /// As [`QueueLoop::stretch_due`].
    #[inline(always)]
    fn do_due<T: Taping>(
        &mut self,
        context: ExchangeContext<'_>,
        entries: &[Planned],
        at: &mut DueStretch<'_>,
        tape: &mut T,
    ) -> (usize, ExchangeEnd) {
        for (count, (entry, &due)) in entries.iter().zip(context.dues).enumerate() {
            if entry.op as u8 > Op::Trim as u8 {
                return (count, ExchangeEnd::Entry);
            }
            while at.now < due || at.in_flight == self.flights.len() {
                if let Some(end) = self.collect_until(context, due, at, tape) {
                    return (count, end);
                }
            }
            let numbers = at.spare.take().unwrap_or_else(|| self.take_slot());
            at.in_flight += 1;
            if let Err(errno) = self.submit_one(context, entry, numbers, due, at) {
                return (count + 1, ExchangeEnd::Broken("submit", errno));
            }
            if at.now >= context.control.until() {
                return (count + 1, ExchangeEnd::Time);
            }
        }
        (entries.len(), ExchangeEnd::Entry)
    }

    /// Wait until `due` at most, or for a completion if that comes before, and
    /// count it. Why the stretch ends, if it does.
    #[inline(always)]
    fn collect_until<T: Taping>(
        &mut self,
        context: ExchangeContext<'_>,
        due: u64,
        at: &mut DueStretch<'_>,
        tape: &mut T,
    ) -> Option<ExchangeEnd> {
        let ExchangeContext { clock, control, .. } = context;
        if at.now >= control.until() {
            return Some(ExchangeEnd::Time);
        }
        if at.in_flight == 0 {
            at.now = at.waiter.wait(&clock, control, at.now, due);
            return None;
        }
        let full = at.in_flight == self.flights.len();
        let nap_ns = match full {
            true => PATIENCE.0,
            false => at.waiter.nap_ns(&clock, control, at.now, due).min(PATIENCE.0),
        };
        let began = at.now;
        match self.collect_one(context, nap_ns, &mut at.now, tape) {
            Collected::One(slot, batch) => {
                at.in_flight -= 1;
                at.completes += 1;
                if let Some((slot, batch)) = at.spare.replace((slot, batch)) {
                    self.slots.give_back(slot);
                    self.free_batches.give_back(batch);
                }
            }
            Collected::Odd => return Some(ExchangeEnd::Odd(at.now)),
            Collected::Broken(errno) => return Some(ExchangeEnd::Broken("collect", errno)),
            Collected::Nothing if nap_ns == 0 => {
                at.now = at.waiter.wait(&clock, control, at.now, due);
            }
            Collected::Nothing if full => {}
            Collected::Nothing => {
                if let Some(late) = clock.ns_between(began, at.now).checked_sub(nap_ns) {
                    at.waiter.timed_out(due, late);
                }
            }
        }
        None
    }

    /// A slot and a batch; there are some.
    #[inline(always)]
    fn take_slot(&mut self) -> (u32, u32) {
        let numbers = (self.slots.next(), self.free_batches.next());
        self.slots.take(1);
        self.free_batches.take(1);
        numbers
    }

    /// Submit an I/O in a slot and a batch.
    #[inline(always)]
    fn submit_one(
        &mut self,
        context: ExchangeContext<'_>,
        entry: &Planned,
        (slot, batch): (u32, u32),
        due: u64,
        at: &mut DueStretch<'_>,
    ) -> Result<(), Errno> {
        let ExchangeContext { clock, ledger, files, memory, .. } = context;
        self.dues[slot as usize] = due;
        self.flights[slot as usize].begin(entry, Tag::new(batch, entry.op));
        self.engine.push(Slot(slot), &io(memory, files, entry, slot));
        self.engine.submit()?;
        let issue = clock.now();
        let slat = clock.ticks_to_ns(issue.wrapping_sub(at.now));
        self.batches[batch as usize] = Batch { slat, issue, live: 1 };
        Self::count_issued(&ledger.lanes[entry.op as usize], 1, slat);
        at.submits += 1;
        ledger.depth.level[depth_class(at.in_flight as u32)].add(1);
        at.now = issue;
        Ok(())
    }

    /// Wait so long for a completion, and count it if that is all it takes. `now`
    /// becomes the time then.
    #[inline(always)]
    fn collect_one<T: Taping>(
        &mut self,
        context: ExchangeContext<'_>,
        nap_ns: u64,
        now: &mut u64,
        tape: &mut T,
    ) -> Collected {
        let ExchangeContext { clock, ledger, .. } = context;
        self.done.clear();
        let reaped =
            self.engine.reap(u32::from(nap_ns > 0), 1, Some(Nanos(nap_ns)), &mut self.done);
        *now = clock.now();
        if let Err(errno) = reaped {
            return Collected::Broken(errno);
        }
        let Some(&Completion { slot, result }) = self.done.first() else {
            return Collected::Nothing;
        };
        let flight = &self.flights[slot.0 as usize];
        let (tag, len) = (flight.tag, flight.len);
        let Some(lane) = ledger.lanes.get(tag.kind()) else { return Collected::Odd };
        if result != Ok(len) {
            return Collected::Odd;
        }
        let Batch { slat, issue, .. } = self.batches[tag.batch()];
        let clat = clock.ticks_to_ns(now.wrapping_sub(issue));
        count_done(lane, 1, len.into(), [clat, slat + clat]);
        count_response(lane, &clock, self.dues[slot.0 as usize], *now);
        if T::TAPES {
            let kind = tag.kind() as u32 | u32::from(self.engine.priority(slot)) << 16;
            tape.add(*now, flight.offset, len, kind, [slat, clat]);
        }
        Collected::One(slot.0, tag.batch() as u32)
    }
}
