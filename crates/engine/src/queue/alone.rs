//! I/Os of a queue of which each comes back before the next is due, as with most
//! rates that are reached: nothing of them has to be looked up.

use super::due::DueStretch;
use super::exchange::{ExchangeContext, ExchangeEnd};
use super::noted::{Alike, Took};
use super::{Batch, PATIENCE, QueueLoop, Tag};
use crate::drive::io;
use crate::tape::Taping;
use crate::{Queued, Wanted};
use iosonde_base::{Completion, Errno, Nanos, Op, Planned, Slot};
use iosonde_sys::clock::Ticks;

/// An I/O that was submitted while nothing else was in flight.
struct Alone<'a> {
    entry: &'a Planned,
    due: u64,
    slat: u64,
    issue: u64,
}

impl<E: Queued + ?Sized, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// Do I/Os, each when it is due, as long as nothing else is in flight; not the
    /// last, which may be in flight for longer than is known here. How many were
    /// submitted, and why the stretch ends, if it does. The first is due at the
    /// moment `at_due` of `context.dues`.
    #[inline(always)]
    pub(super) fn do_alone<T: Taping, C: Ticks>(
        &mut self,
        context: ExchangeContext<'_>,
        clock: C,
        entries: &[Planned],
        at_due: usize,
        at: &mut DueStretch<'_>,
        tape: &mut T,
    ) -> (usize, Option<ExchangeEnd>) {
        let ExchangeContext { counters, control, files, memory, dues, .. } = context;
        let numbers = at.spare.take().unwrap_or_else(|| self.take_slot());
        let slot = Slot(numbers.0);
        let stops = |count, end, at: &mut DueStretch<'_>| {
            (at.spare, at.alone) = (Some(numbers), at.alone + count as u64);
            (count, end)
        };
        // More moments may be known than there are entries.
        let moments = dues[at_due..].windows(2);
        for (count, (entry, dues)) in entries[..entries.len() - 1].iter().zip(moments).enumerate() {
            let (due, next_due) = (dues[0], dues[1]);
            if entry.op as u8 > Op::Trim as u8 {
                return stops(count, None, at);
            }
            if at.now < due {
                if due >= at.pause {
                    at.count(context);
                }
                at.now = at.waiter.wait(clock, control, at.now, due);
                if at.now < due || at.now >= control.until() {
                    return stops(count, Some(ExchangeEnd::Time), at);
                }
            }
            self.engine.push(slot, &io(memory, files, entry, slot.0));
            if let Err(errno) = self.engine.submit() {
                return stops(count, Some(ExchangeEnd::Broken("submit", errno)), at);
            }
            let issue = clock.now();
            let slat = clock.ticks_to_ns(issue.wrapping_sub(at.now));
            let nap_ns = at.waiter.nap_ns(clock, control, issue, next_due).min(PATIENCE.0);
            self.done.clear();
            let one = Wanted { min: u32::from(nap_ns > 0), max: 1, patience: Nanos(nap_ns) };
            let reaped = self.engine.reap(one, &mut self.done);
            at.now = clock.now();
            match self.done.first() {
                Some(one) if one.result == Ok(entry.len) && reaped.is_ok() => {}
                _ => {
                    (_, at.alone) = (at.spare.take(), at.alone + count as u64);
                    let alone = Alone { entry, due, slat, issue };
                    let end = self.not_alone(context, numbers, &alone, reaped, at);
                    if end.is_none() && nap_ns > 0 {
                        at.timed_out(clock, next_due, issue, nap_ns);
                    }
                    return (count + 1, end);
                }
            }
            let clat = clock.ticks_to_ns(at.now.wrapping_sub(issue));
            let response = clock.ticks_to_ns(at.now.wrapping_sub(due));
            let took = Took { slat, clat, lat: slat + clat, response };
            let alike = Alike { lane: entry.op as usize, len: entry.len, with_issue: true };
            at.noted.add(counters, alike, took);
            if T::TAPES {
                let kind = entry.op as u32 | u32::from(self.engine.priority(slot)) << 16;
                tape.add(at.now, entry.offset, entry.len, kind, [slat, clat]);
            }
            if at.now >= control.until() {
                return stops(count + 1, Some(ExchangeEnd::Time), at);
            }
        }
        stops(entries.len() - 1, None, at)
    }

    /// An I/O has not come back before the next is due, or has in part: keep what
    /// those need that are in flight together. Why the stretch ends, if it does.
    #[cold]
    #[inline(never)]
    fn not_alone(
        &mut self,
        context: ExchangeContext<'_>,
        (slot, batch): (u32, u32),
        alone: &Alone<'_>,
        reaped: Result<(), Errno>,
        at: &mut DueStretch<'_>,
    ) -> Option<ExchangeEnd> {
        let &Alone { entry, due, slat, issue } = alone;
        self.dues[slot as usize] = due;
        self.flights[slot as usize].begin(entry, Tag::new(batch, entry.op));
        self.batches[batch as usize] = Batch { slat, issue, live: 1 };
        Self::count_issued(&context.counters.lanes[entry.op as usize], 1, slat);
        context.counters.depth.level[0].add(1);
        at.submits += 1;
        at.in_flight = 1;
        match (reaped, self.done.first()) {
            (Err(errno), _) => Some(ExchangeEnd::Broken("collect completions", errno)),
            (Ok(()), Some(Completion { .. })) => Some(ExchangeEnd::Incomplete(at.now)),
            (Ok(()), None) => None,
        }
    }
}
