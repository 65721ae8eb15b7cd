//! The queue is full, and for each I/O that completes one is submitted in its
//! place: fio's way unless batches are asked for.

use super::exchanged::Exchanged;
use super::{AnyQueueLoop, Batch, QueueLoop, Tag};
use crate::drive::{Failure, UNCOUNTED, io};
use crate::one_shot::count_response;
use crate::tape::Taping;
use crate::{Drive, Files, Memory, Queued, SliceControl, Wanted, Window};
use iosonde_base::{Completion, Errno, Op, Planned, Slot};
use iosonde_stats::{Counters, batch_class, depth_class};
use iosonde_sys::clock::Clock;

/// What an exchange needs of the drive, in a form that stays in registers.
#[derive(Clone, Copy)]
pub(super) struct ExchangeContext<'a> {
    pub(super) clock: Clock,
    pub(super) counters: &'a Counters,
    pub(super) control: &'a SliceControl,
    pub(super) files: &'a Files,
    pub(super) memory: &'a Memory,
    /// When each entry is due; of paced jobs.
    pub(super) dues: &'a [u64],
}

/// Why exchanging stopped.
pub(super) enum ExchangeEnd {
    /// The next entry is not there, or takes more than a slot and a push.
    Entry,
    /// What came back at this moment, if anything did, takes more than counting.
    Incomplete(u64),
    /// The slice is over.
    Time,
    /// The next is not due yet; one completed and none was submitted for it.
    Early,
    /// The queue itself failed.
    Broken(&'static str, Errno),
}

/// Whether this job's I/Os may be exchanged, one for one.
pub(super) fn may_exchange(drive: &Drive) -> bool {
    let Window { depth, batch, reap_min, reap_max, low, serialize_overlap } = drive.window;
    let one_by_one = (batch, reap_min, reap_max) == (1, 1, 1) && low + 1 >= depth;
    let paced_at_most = drive.pacing.as_ref().is_none_or(|pacing| pacing.is_plain());
    !drive.has_taps() && paced_at_most && !serialize_overlap && one_by_one
}

impl<'a> ExchangeContext<'a> {
    #[inline(always)]
    pub(super) fn new(drive: &'a Drive, dues: &'a [u64]) -> ExchangeContext<'a> {
        ExchangeContext {
            clock: drive.clock,
            counters: drive.writer.counters(),
            control: &drive.control,
            files: &drive.files,
            memory: &drive.memory,
            dues,
        }
    }
}

impl<E: Queued + 'static, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// The queue is full: exchange what the ring holds. Whether the slice is
    /// over, if the queue is full no more.
    #[inline(always)]
    pub(super) fn exchange<const PACED: bool>(
        &mut self,
        drive: &mut Drive,
    ) -> Result<Option<bool>, Failure> {
        let mut tape = drive.tape.take();
        let mut pacing = if PACED { drive.pacing.take() } else { None };
        let dues = pacing.as_mut().map_or(&[][..], |pacing| pacing.dues(drive.ring.place()).0);
        let context = ExchangeContext::new(drive, dues);
        let entries = drive.ring.as_slice();
        let (count, stop) = match &mut tape {
            None => self.stretch::<_, PACED>(context, entries, &mut ()),
            Some(tape) => self.any().stretch::<_, PACED>(context, entries, tape),
        };
        drive.tape = tape;
        if PACED {
            drive.pacing = pacing;
        }
        drive.ring.advance(count);
        if let ExchangeEnd::Entry = stop {
            return Ok(None);
        }
        self.any().end_exchange(drive, stop).map(Some)
    }
}

impl<const STAMPED: bool> AnyQueueLoop<STAMPED> {
    /// What is left to do after I/Os that were exchanged or submitted when due;
    /// whether the slice is over.
    pub(super) fn end_exchange(
        &mut self,
        drive: &mut Drive,
        stop: ExchangeEnd,
    ) -> Result<bool, Failure> {
        let over = match stop {
            ExchangeEnd::Incomplete(now) => {
                self.settle(drive, now);
                now >= drive.control.until()
            }
            ExchangeEnd::Time => true,
            ExchangeEnd::Entry | ExchangeEnd::Early => false,
            ExchangeEnd::Broken(doing, errno) => return Err(self.abandon(doing, errno)),
        };
        self.full = self.in_flight() as usize == self.flights.len();
        self.failed.take().map_or(Ok(over), Err)
    }
}

impl<E: Queued + ?Sized, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// Exchange one I/O for each of `entries`, and count them; how many were submitted.
    #[inline(never)]
    fn stretch<T: Taping, const PACED: bool>(
        &mut self,
        context: ExchangeContext<'_>,
        entries: &[Planned],
        tape: &mut T,
    ) -> (usize, ExchangeEnd) {
        let Some(mut exchanged) = self.exchanged.take() else { return (0, ExchangeEnd::Entry) };
        let (submitted, stop) =
            self.do_exchange::<T, PACED>(context, entries, &mut exchanged, tape);
        let completed = exchanged.take_completed();
        let (depth, one) = (&context.counters.depth, batch_class(1));
        depth.level[depth_class(self.flights.len() as u32)].add(submitted as u64);
        depth.submit[one].add(submitted as u64);
        depth.submits.add(submitted as u64);
        depth.complete[one].add(completed);
        depth.completes.add(completed);
        exchanged.count(context.counters);
        self.exchanged = Some(exchanged);
        // What could not be submitted was taken all the same.
        let taken = submitted + usize::from(matches!(stop, ExchangeEnd::Broken("submit", _)));
        (taken, stop)
    }

    /// Exchange them, and note what is to be counted; how many were submitted.
    #[inline(always)]
    fn do_exchange<T: Taping, const PACED: bool>(
        &mut self,
        context: ExchangeContext<'_>,
        entries: &[Planned],
        exchanged: &mut Exchanged,
        tape: &mut T,
    ) -> (usize, ExchangeEnd) {
        let ExchangeContext { clock, counters, control, files, memory, dues } = context;
        let pause = clock.after(clock.now(), UNCOUNTED.0);
        for (count, entry) in entries.iter().enumerate() {
            if entry.op as u8 > Op::Trim as u8 {
                return (count, ExchangeEnd::Entry);
            }
            self.done.clear();
            // What is noted is counted before longer waits.
            let next = Wanted { min: 1, max: 1, patience: UNCOUNTED };
            if let Err(errno) = self.engine.reap(next, &mut self.done) {
                return (count, ExchangeEnd::Broken("collect completions", errno));
            }
            let now = clock.now();
            let &[Completion { slot, result }] = &self.done[..] else {
                return (count, ExchangeEnd::Incomplete(now));
            };
            let flight = &mut self.flights[slot.0 as usize];
            let (tag, len) = (flight.tag, flight.len);
            if tag.kind() > Op::Trim as usize || result != Ok(len) {
                return (count, ExchangeEnd::Incomplete(now));
            }
            let batch = &mut self.batches[tag.batch()];
            let Batch { slat, issue, .. } = *batch;
            let clat = clock.ticks_to_ns(now.wrapping_sub(issue));
            exchanged.done(counters, tag.kind(), len, [clat, slat + clat]);
            if T::TAPES {
                let kind = tag.kind() as u32 | u32::from(self.engine.priority(slot)) << 16;
                tape.add(now, flight.offset, len, kind, [slat, clat]);
            }
            let next_due = if PACED {
                let due = &mut self.dues[slot.0 as usize];
                count_response(&counters.lanes[tag.kind()], &clock, *due, now);
                *due = dues[count];
                *due
            } else {
                0
            };
            let over = now >= control.until();
            if over || PACED && now < next_due {
                batch.live = 0;
                self.slots.give_back(slot.0);
                self.free_batches.give_back(tag.batch() as u32);
                return (count, if over { ExchangeEnd::Time } else { ExchangeEnd::Early });
            }

            // In its slot, and in its batch, goes the next; its submission begins with the moment
            // at which the other came back.
            flight.begin(entry, Tag::new(tag.batch() as u32, entry.op));
            self.engine.push(Slot(slot.0), &io(memory, files, entry, slot.0));
            if let Err(errno) = self.engine.submit() {
                return (count, ExchangeEnd::Broken("submit", errno));
            }
            let issue = clock.now();
            let slat = clock.ticks_to_ns(issue.wrapping_sub(now));
            *batch = Batch { slat, issue, live: 1 };
            exchanged.issued(counters, entry.op as usize, slat);
            // What has been done by then is counted.
            if issue >= pause {
                return (count + 1, ExchangeEnd::Entry);
            }
        }
        (entries.len(), ExchangeEnd::Entry)
    }
}
