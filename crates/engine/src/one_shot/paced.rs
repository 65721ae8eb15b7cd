//! One at a time, each when it may start.

use super::account::{FEW, count_all, count_ticks, count_whole, tape_whole};
use super::{AnyLoop, OneShotLoop, StretchContext, StretchEnd};
use crate::pacing::{Pacing, Start, Throttle, Waiter};
use crate::tape::Taping;
use crate::{Drive, OneShot, SliceControl};
use iosonde_base::{Op, Planned};
use iosonde_stats::{BriefLatencies, Counters, Lane};
use iosonde_sys::clock::{Clock, CounterClock, Ticks};

impl<E: OneShot + ?Sized, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// Do plain I/Os from the ring, at most `most`, each when it is due; none where
    /// there is more than a pace, or the clock is not the processor's counter.
    pub(super) fn paced_plainly<T: Taping>(
        &mut self,
        drive: &mut Drive,
        most: usize,
        tape: &mut T,
    ) -> Option<(usize, StretchEnd)> {
        let mut pacing = drive.pacing.take_if(|pacing| pacing.is_plain())?;
        let stretch = drive.clock.counting().map(|clock| {
            let (dues, waiter) = pacing.plain_dues(drive.ring.place());
            let entries = drive.ring.as_slice();
            let entries = &entries[..entries.len().min(most)];
            self.stretch_paced(StretchContext::new(drive), clock, dues, waiter, entries, tape)
        });
        drive.pacing = Some(pacing);
        stretch
    }

    /// Do plain I/Os, each when it is due, where there is a pace and nothing else
    /// and the clock is the processor's counter, and count them. For those that
    /// were done, when they were due becomes the ticks from then to their end.
    #[inline(never)]
    fn stretch_paced<T: Taping>(
        &mut self,
        context: StretchContext<'_>,
        counter: CounterClock,
        dues: &mut [u64],
        waiter: &mut Waiter,
        entries: &[Planned],
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let StretchContext { clock, counters, alike, .. } = context;
        let (count, stop) = self.do_paced(context, counter, dues, waiter, entries, tape);
        let entries = &entries[..count];
        if STAMPED {
            let took = &self.took[..count];
            count_all(counters, &clock, entries, alike, took, &mut self.brief);
        }
        count_responses(counters, &clock, entries, alike, &dues[..count], &mut self.brief);
        (count, stop)
    }

    /// As `do_all`, each when it is due.
    #[inline(always)]
    fn do_paced<T: Taping>(
        &mut self,
        context: StretchContext<'_>,
        clock: CounterClock,
        dues: &mut [u64],
        waiter: &mut Waiter,
        entries: &[Planned],
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let StretchContext { counters, control, .. } = context;
        let (mut now, chained) = (clock.now(), self.engine.is_chained() && !T::TAPES);
        // What has been done by then is counted; the first may be due later.
        let first = dues.first().map_or(0, |due| due.saturating_add(1));
        let pause = control.until().min(now.saturating_add(self.uncounted).max(first));
        for (count, ((entry, due), took)) in
            entries.iter().zip(&mut *dues).zip(&mut self.took).enumerate()
        {
            if entry.op as u8 > Op::Trim as u8 {
                return (count, StretchEnd::Special);
            }
            if now < *due {
                if *due >= pause {
                    return (count, wait_out(waiter, clock.clock(), control, now, count));
                }
                now = waiter.wait_within(clock, control, now, *due);
                if now < *due || now >= pause {
                    return (count, slice_end(control, now < *due, now));
                }
            }
            let issue = now;
            let result = self.engine.perform(&context.io(entry));
            if result != Ok(entry.len) {
                self.due = *due;
                return (count, StretchEnd::Incomplete(result, issue));
            }
            let end = clock.now();
            // It began when it was due, or later.
            (*took, *due) = (end.wrapping_sub(issue), end.wrapping_sub(*due));
            if !STAMPED {
                let lane = &counters.lanes[entry.op as usize];
                lane.ios.add(1);
                lane.bytes.add(u64::from(entry.len));
            } else if T::TAPES {
                tape_whole(tape, &clock.clock(), entry, [issue, end]);
            }
            if end >= pause {
                return (count + 1, slice_end(control, false, end));
            }
            // As in the loop without a pace.
            now = if chained { end } else { clock.now() };
        }
        (entries.len(), slice_end(control, false, now))
    }
}

impl<const STAMPED: bool> AnyLoop<STAMPED> {
    /// Do plain I/Os from the ring, at most `most`, each when it may start;
    /// the slice may end while one waits, and that one stays in the ring.
    #[inline(never)]
    pub(super) fn paced<T: Taping>(
        &mut self,
        drive: &mut Drive,
        most: usize,
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        if let Some(done) = self.paced_plainly(drive, most, tape) {
            return done;
        }
        let Drive { clock, writer, control, files, memory, ring, pacing, .. } = drive;
        let pacing = pacing.as_mut().expect("the caller looked");
        let context = StretchContext {
            clock: *clock,
            counters: writer.counters(),
            control,
            files,
            buffer: memory.buffer(0),
            alike: ring.is_alike(),
        };
        let entries = ring.as_slice();
        let entries = &entries[..entries.len().min(most)];
        let (mut done, mut now) = (0, clock.now());
        loop {
            let (rest, place) = (&entries[done..], ring.place() + done);
            let (dues, throttle) = pacing.dues(place);
            let (count, stop) = self.stretch_held(context, dues, throttle, rest, now, tape);
            let ticks = &pacing.dues(place).0[..count];
            let done_now = &rest[..count];
            let brief = &mut self.brief;
            count_responses(context.counters, clock, done_now, context.alike, ticks, brief);
            done += count;
            let place = place + count;
            let waits = match stop {
                StretchEnd::Held => true,
                StretchEnd::Special => pacing.times_all(),
                _ => false,
            };
            if !waits {
                return (done, stop);
            }
            let Some((_, start)) = wait(pacing, clock, control, place) else {
                return (done, StretchEnd::Time);
            };
            if let StretchEnd::Special = stop {
                pacing.passed(place, start);
                return (done, stop);
            }
            now = start;
        }
    }

    /// Do plain I/Os, the first at `now`, as long as each may start without a
    /// wait. For those that were done, when they were due becomes the ticks from
    /// then to their end.
    #[inline(never)]
    fn stretch_held<T: Taping>(
        &mut self,
        context: StretchContext<'_>,
        dues: &mut [u64],
        mut throttle: Option<&mut Throttle>,
        entries: &[Planned],
        mut now: u64,
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let (clock, chained) = (context.clock, self.engine.is_chained() && !T::TAPES);
        for (count, (entry, due)) in entries.iter().zip(dues).enumerate() {
            if entry.op as u8 > Op::Trim as u8 {
                return (count, StretchEnd::Special);
            }
            if now < *due {
                return (count, StretchEnd::Held);
            }
            if let Some(throttle) = &mut throttle {
                if throttle.hold(&clock, now).is_some() {
                    return (count, StretchEnd::Held);
                }
                throttle.started(*due, now);
            }
            let issue = now;
            let result = self.engine.perform(&context.io(entry));
            if result != Ok(entry.len) {
                self.due = *due;
                return (count, StretchEnd::Incomplete(result, issue));
            }
            let end = clock.now();
            *due = end.saturating_sub(*due);
            let lane = &context.counters.lanes[entry.op as usize];
            if STAMPED {
                count_whole(lane, &clock, entry.len, end.wrapping_sub(issue));
                tape_whole(tape, &clock, entry, [issue, end]);
            } else {
                lane.ios.add(1);
                lane.bytes.add(u64::from(entry.len));
            }
            let took = clock.ticks_to_ns(end.wrapping_sub(issue));
            let settled =
                throttle.as_mut().is_some_and(|throttle| throttle.completed(entry, took, 1));
            if settled || end >= context.control.until() {
                return (count + 1, StretchEnd::Time);
            }
            // As in the loop without a pace.
            now = if chained { end } else { clock.now() };
        }
        (entries.len(), StretchEnd::All)
    }

    /// Wait until the next entry may start: whether it may, or the slice is over.
    pub(super) fn wait_for(&mut self, drive: &mut Drive, entry: &Planned) -> bool {
        let (Some(_), Some(pacing)) = (entry.op.dir(), &mut drive.pacing) else { return true };
        wait(pacing, &drive.clock, &drive.control, drive.ring.place()).is_some()
    }

    /// What pacing needs to know of an I/O that took several calls.
    #[cold]
    pub(super) fn respond(
        &mut self,
        drive: &mut Drive,
        entry: &Planned,
        whole: bool,
        [issue, end]: [u64; 2],
    ) {
        let Some(pacing) = &mut drive.pacing else { return };
        if whole {
            let lane = &drive.writer.counters().lanes[entry.op as usize];
            count_response(lane, &drive.clock, self.due, end);
        }
        // If it ends the slice, the caller looks for the reason.
        let _ = pacing.completed(entry, drive.clock.ticks_to_ns(end.wrapping_sub(issue)), 1);
    }
}

/// The next I/O is due past the pause after `count` others: if there are any they are
/// counted first, else it is not due in this slice.
#[cold]
#[inline(never)]
fn wait_out(
    waiter: &mut Waiter,
    clock: Clock,
    control: &SliceControl,
    now: u64,
    count: usize,
) -> StretchEnd {
    if count > 0 {
        return StretchEnd::All;
    }
    waiter.wait(clock, control, now, u64::MAX);
    StretchEnd::Time
}

/// Whether the slice is over: it is at `now`, or was cut short.
#[inline(always)]
fn slice_end(control: &SliceControl, cut_short: bool, now: u64) -> StretchEnd {
    if cut_short || now >= control.until() { StretchEnd::Time } else { StretchEnd::All }
}

/// Wait until the entry at `place` in the ring may start: when it was due, and
/// when that is; none if the slice ended first.
#[inline(always)]
pub(crate) fn wait(
    pacing: &mut Pacing,
    clock: &Clock,
    control: &SliceControl,
    place: usize,
) -> Option<(u64, u64)> {
    let mut now = clock.now();
    loop {
        match pacing.may_start(clock, place, now) {
            Start::Now(due) => return Some((due, now)),
            Start::Idle => pacing.pause(clock, now),
            Start::At(moment) => {
                now = pacing.wait(clock, control, moment);
                if now < moment || now >= control.until() {
                    return None;
                }
            }
        }
    }
}

/// Count from the moment each of `entries` was due, where that is kept: `ticks`
/// is how long it took. All of one kind, if `alike`.
#[inline(never)]
fn count_responses(
    counters: &Counters,
    clock: &Clock,
    entries: &[Planned],
    alike: bool,
    ticks: &[u64],
    brief: &mut BriefLatencies,
) {
    let Some(first) = entries.first() else { return };
    if !alike || entries.len() < FEW {
        for (entry, &ticks) in entries.iter().zip(ticks) {
            count_response(&counters.lanes[entry.op as usize], clock, 0, ticks);
        }
        return;
    }
    let lane = &counters.lanes[first.op as usize];
    if lane.response_histogram.is_some() {
        count_ticks(&lane.response, &lane.response_histogram, clock, ticks, brief);
    }
}

/// Count from the moment an I/O was due, where that is kept.
#[inline(always)]
pub(crate) fn count_response(lane: &Lane, clock: &Clock, due: u64, end: u64) {
    if let Some(histogram) = &lane.response_histogram {
        let response = clock.ticks_to_ns(end.saturating_sub(due));
        lane.response.add(response);
        histogram.add_many(response, 1);
    }
}
