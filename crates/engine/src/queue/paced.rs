//! A queue of I/Os that each start when they may. What is in flight stays so
//! meanwhile: the wait for the next one is the patience with which completions
//! are collected.

use super::{AnyQueueLoop, Filling, PATIENCE, QueueLoop, Tag, alike};
use crate::drive::Failure;
use crate::pacing::Start;
use crate::{Drive, Queued, Wanted};
use iosonde_base::{Nanos, Op};
use std::ops::Range;

/// What keeps the next I/O from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// Nothing; there may be no room, or no next.
    Not,
    /// It may start at this moment.
    Until(u64),
    /// A pause begins once the queue is empty.
    UntilIdle,
}

/// How long the job may sleep until an I/O may start; [`PATIENCE`] where none has a moment.
#[inline(always)]
fn nap_ns(held: Held, drive: &Drive) -> u64 {
    match (held, &drive.pacing) {
        (Held::Until(moment), Some(pacing)) => pacing.nap_ns(&drive.clock, &drive.control, moment),
        _ => PATIENCE.0,
    }
}

impl<E: Queued + 'static, const STAMPED: bool> QueueLoop<E, STAMPED> {
    /// One round, as [`QueueLoop::round`], for jobs that something holds back.
    pub(super) fn round_held(
        &mut self,
        drive: &mut Drive,
        taps: bool,
        exchanges: bool,
    ) -> Result<bool, Failure> {
        if self.dues.is_empty() {
            self.dues = vec![0; self.flights.len()].into();
        }
        if STAMPED
            && exchanges
            && self.waiting.is_none()
            && self.out.is_none()
            && let Some(over) = self.one_by_one(drive)?
        {
            return Ok(over);
        }
        self.any().round_paced(drive, taps)
    }

    /// Submit and collect one by one what the ring holds: exchanged while the queue is
    /// full, when due while it is not. Whether the slice is over; none if the source
    /// has no more, or the next entry takes more than a slot and a push.
    #[inline(always)]
    fn one_by_one(&mut self, drive: &mut Drive) -> Result<Option<bool>, Failure> {
        if drive.ring.waiting() == 0 {
            self.out = drive.refill();
            if self.out.is_some() {
                return Ok(None);
            }
        }
        let full = self.in_flight() as usize == self.flights.len();
        let over = if full { self.exchange::<true>(drive)? } else { self.when_due(drive)? };
        // Once the ring is empty, what comes next may be exchanged, too.
        Ok(over.or((drive.ring.waiting() == 0).then_some(false)))
    }
}

impl<const STAMPED: bool> AnyQueueLoop<STAMPED> {
    /// The round of all that is not done one by one.
    #[inline(never)]
    pub(super) fn round_paced(&mut self, drive: &mut Drive, taps: bool) -> Result<bool, Failure> {
        let (mut held, mut blocked) = (Held::Not, false);
        if self.waiting.is_none() && self.out.is_none() && !self.full {
            held = self.fill_paced(drive, taps)?;
        }
        if self.waiting.is_some() {
            blocked = !self.do_waiting(drive)?;
        }
        let in_flight = self.in_flight();
        if in_flight == 0 && self.out.is_some() {
            return Ok(true);
        }
        let window = drive.window;
        self.full |= in_flight >= window.depth.min(self.flights.len() as u32);
        let nap_ns = nap_ns(held, drive);
        let patience = Nanos(nap_ns.min(PATIENCE.0));
        let must_wait = self.full || blocked || self.out.is_some();
        let min = match held {
            _ if in_flight == 0 || patience == Nanos(0) => 0,
            _ if must_wait => window.reap_min.clamp(1, in_flight),
            Held::Not => 0,
            Held::Until(_) | Held::UntilIdle => 1,
        };
        if in_flight > 0 && (min > 0 || window.reap_min == 0 || held != Held::Not) {
            let began = drive.clock.now();
            let max = window.reap_max.max(min).max(1);
            self.collect_within(drive, Wanted { min, max, patience })?;
            if let Drive { clock, pacing: Some(pacing), .. } = drive
                && let Held::Until(moment) = held
                && min > 0
                && self.done.is_empty()
                && let Some(late_ns) = clock.ns_between(began, clock.now()).checked_sub(nap_ns)
            {
                pacing.timed_out(moment, late_ns);
            }
        }
        let near = self.in_flight() == 0 || patience == Nanos(0);
        let goes_on = self.failed.is_none() && !self.settled;
        if let (true, Held::Until(moment), Some(pacing)) =
            (near && goes_on, held, &mut drive.pacing)
        {
            pacing.wait(&drive.clock, &drive.control, moment);
        }
        if self.in_flight() <= window.low.min(window.depth.saturating_sub(1)) {
            self.full = false;
        }
        if let Some(failure) = self.failed.take().or_else(|| drive.verdict()) {
            return Err(failure);
        }
        let settled = std::mem::take(&mut self.settled);
        Ok(settled || drive.clock.now() >= drive.control.until())
    }

    /// As [`QueueLoop::fill`], with those that may start.
    fn fill_paced(&mut self, drive: &mut Drive, taps: bool) -> Result<Held, Failure> {
        let mut held = Held::Not;
        let mut filling = self.begin(drive);
        let now = if STAMPED { filling.start } else { drive.clock.now() };
        // A depth that is being tried may be less than what is in flight now.
        let depth_left = drive.window.depth.saturating_sub(self.in_flight());
        let room = drive.window.batch.max(1).min(depth_left) as usize;
        let room = room.min(self.slots.free().len());
        let plain = drive.pacing.as_ref().is_some_and(|pacing| pacing.is_plain());
        let runs = plain && !taps && !drive.window.serialize_overlap;
        while (filling.pushed as usize) < room {
            let Some(&entry) = drive.ring.peek() else {
                match drive.refill() {
                    None => continue,
                    ended => {
                        self.out = ended;
                        break;
                    }
                }
            };
            let pacing = drive.pacing.as_mut().expect("the caller looked");
            if runs && entry.op as u8 <= Op::Trim as u8 {
                let left = room - filling.pushed as usize;
                match self.push_due(drive, left, now, &mut filling) {
                    None => continue,
                    Some(moment) => {
                        held = Held::Until(moment);
                        break;
                    }
                }
            }
            let (dir, place) = (entry.op.dir(), drive.ring.place());
            if dir.is_some() || pacing.times_all() {
                match pacing.may_start(&drive.clock, place, now) {
                    Start::Now(due) => self.due = due,
                    Start::At(moment) => {
                        held = Held::Until(moment);
                        break;
                    }
                    Start::Idle if self.in_flight() == 0 => {
                        pacing.pause(&drive.clock, now);
                        continue;
                    }
                    Start::Idle => {
                        held = Held::UntilIdle;
                        break;
                    }
                }
                match dir {
                    Some(_) => pacing.started(place, now),
                    None => pacing.passed(place, now),
                }
            }
            if self.is_special(drive, &entry) {
                self.waiting = drive.ring.pop();
                break;
            }
            if taps {
                drive.tap(entry, self.slots.next());
            }
            self.dues[self.slots.next() as usize] = self.due;
            let tag = Tag::new(filling.batch, entry.op);
            self.push_each(&drive.memory, &drive.files, &[entry], tag);
            drive.ring.advance(1);
            filling.note(entry.op, 1);
        }
        self.submit_watched(drive, &filling)?;
        Ok(held)
    }

    /// Push what is due of the entries of one kind that come next, at most `room`.
    /// When the first of them is due, if that is not yet.
    #[inline(always)]
    fn push_due(
        &mut self,
        drive: &mut Drive,
        room: usize,
        now: u64,
        filling: &mut Filling,
    ) -> Option<u64> {
        let pacing = drive.pacing.as_mut()?;
        let (dues, _) = pacing.dues(drive.ring.place());
        let entries = drive.ring.as_slice();
        let op = entries.first()?.op;
        let count = alike(&entries[..entries.len().min(room)], op);
        let mut ready = 0;
        for (&slot, &due) in self.slots.free().iter().zip(&dues[..count]) {
            if now < due {
                break;
            }
            self.dues[slot as usize] = due;
            ready += 1;
        }
        if ready == 0 {
            return Some(dues[0]);
        }
        let tag = Tag::new(filling.batch, op);
        self.push_each(&drive.memory, &drive.files, &entries[..ready], tag);
        drive.ring.advance(ready);
        filling.note(op, ready as u32);
        None
    }

    /// Tell what has come back to what holds the job back, and count from when
    /// it was due. Before the slots are given back.
    #[inline(never)]
    pub(super) fn respond(&mut self, drive: &mut Drive, which: Range<usize>, now: u64) {
        let Some(pacing) = &mut drive.pacing else { return };
        let now = if STAMPED { now } else { drive.clock.now() };
        let counters = drive.writer.counters();
        for done in &self.done[which] {
            let flight = &self.flights[done.slot.0 as usize];
            let entry = flight.entry();
            let Some(lane) = counters.lanes.get(entry.op as usize) else { continue };
            let whole = match done.result {
                Ok(0) => entry.op == Op::Trim,
                Ok(n) => flight.moved + n >= entry.len,
                Err(_) => false,
            };
            if let (true, Some(histogram)) = (whole, &lane.response_histogram) {
                let due = self.dues.get(done.slot.0 as usize).copied().unwrap_or(now);
                let response = drive.clock.ticks_to_ns(now.saturating_sub(due));
                lane.response.add(response);
                histogram.add_many(response, 1);
            }
            if whole || done.result.is_err() {
                // Without stamps there is no latency to judge.
                let took = if STAMPED {
                    self.latencies(&drive.clock, flight.tag, now).iter().sum()
                } else {
                    0
                };
                self.settled |= pacing.completed(&entry, took, 1);
            }
        }
    }

    /// The same for whole I/Os with this tag, where there is nothing but a pace.
    #[inline(never)]
    pub(super) fn respond_alike(&self, drive: &Drive, which: Range<usize>, tag: Tag, now: u64) {
        let lane = &drive.writer.counters().lanes[tag.kind()];
        let Some(histogram) = &lane.response_histogram else { return };
        let (clock, dues) = (drive.clock, &self.dues[..]);
        let now = if STAMPED { now } else { clock.now() };
        let count = histogram.counter();
        lane.response.add_all(self.done[which].iter().map(|done| {
            let response = clock.ticks_to_ns(now.saturating_sub(dues[done.slot.0 as usize]));
            count(response);
            response
        }));
    }
}
