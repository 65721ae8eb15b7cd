//! One at a time, each when it may start.

use super::{Desk, OneShotLoop, Stop, count_whole, tape_whole};
use crate::pacing::{Pacing, Start};
use crate::tape::Taping;
use crate::{Drive, OneShot, Pulse};
use iosonde_base::{Dir, Planned};
use iosonde_stats::Lane;
use iosonde_sys::clock::{Clock, ClockSource};

impl<E: OneShot, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// Do plain I/Os from the ring, at most `most`, each when it may start;
    /// the slice may end while one waits, and that one stays in the ring.
    pub(super) fn paced(
        &mut self,
        drive: &mut Drive,
        most: usize,
        tape: &mut impl Taping,
    ) -> (usize, Stop) {
        match drive.clock.source() {
            ClockSource::Cpu => self.paced_stretch::<true>(drive, most, tape),
            _ => self.paced_stretch::<false>(drive, most, tape),
        }
    }

    /// `COUNTER` as for [`OneShotLoop::stretch`].
    #[inline(never)]
    fn paced_stretch<const COUNTER: bool>(
        &mut self,
        drive: &mut Drive,
        most: usize,
        tape: &mut impl Taping,
    ) -> (usize, Stop) {
        let desk = Desk {
            clock: drive.clock,
            ledger: drive.pen.ledger(),
            pulse: &drive.pulse,
            files: &drive.files,
            buffer: drive.memory.buffer(0),
        };
        assert_eq!(COUNTER, desk.clock.source() == ClockSource::Cpu, "the caller looked");
        let pacing = drive.pacing.as_mut().expect("the caller looked");
        let entries = drive.ring.as_slice();
        let entries = &entries[..entries.len().min(most)];
        for (count, entry) in entries.iter().enumerate() {
            let Some(dir) = entry.op.dir() else {
                let its_turn = special_may_start(pacing, &desk.clock, desk.pulse);
                return (count, if its_turn { Stop::Special } else { Stop::Time });
            };
            let Some((due, start)) = wait(pacing, &desk.clock, desk.pulse, dir) else {
                return (count, Stop::Time);
            };
            pacing.went(dir, entry.len, start);
            let io = desk.io(entry);
            let issue = if E::THREE_STAMPS { desk.clock.now() } else { start };
            let result = self.engine.perform(&io);
            if result != Ok(entry.len) {
                self.due = due;
                return (count, Stop::Odd(result, issue));
            }
            let end = desk.clock.now();
            let lane = &desk.ledger.lanes[entry.op as usize];
            if STAMPED {
                let stamps = [start, issue, end];
                count_whole::<E>(lane, &desk.clock, entry.len, stamps);
                tape_whole::<E, _>(tape, &desk.clock, entry, stamps);
            } else {
                lane.ios.add(1);
                lane.bytes.add(u64::from(entry.len));
            }
            count_response(lane, &desk.clock, due, end);
            let settled = pacing.came(&desk.clock, entry, end.wrapping_sub(start), 1);
            if settled || end >= desk.pulse.until() {
                return (count + 1, Stop::Time);
            }
        }
        (entries.len(), Stop::All)
    }

    /// Wait until an entry may start: whether it may, or the slice is over.
    pub(super) fn wait_for(&mut self, drive: &mut Drive, entry: &Planned) -> bool {
        let (Some(dir), Some(pacing)) = (entry.op.dir(), &mut drive.pacing) else { return true };
        wait(pacing, &drive.clock, &drive.pulse, dir).is_some()
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
            let lane = &drive.pen.ledger().lanes[entry.op as usize];
            count_response(lane, &drive.clock, self.due, end);
        }
        // If it ends the slice, the caller looks for the reason.
        let _ = pacing.came(&drive.clock, entry, end.wrapping_sub(issue), 1);
    }
}

/// Wait until the next I/O may start: when it was due, and when that is; none
/// if the slice ended first.
#[inline(always)]
pub(crate) fn wait(
    pacing: &mut Pacing,
    clock: &Clock,
    pulse: &Pulse,
    dir: Dir,
) -> Option<(u64, u64)> {
    let mut now = clock.now();
    loop {
        match pacing.may_start(clock, dir, now) {
            Start::Now(due) => return Some((due, now)),
            Start::Idle => pacing.pause(clock, now),
            Start::At(moment) => {
                now = pacing.wait(clock, pulse, moment);
                if now < moment || now >= pulse.until() {
                    return None;
                }
            }
        }
    }
}

/// What moves no data waits only for a moment that was recorded: whether it
/// may start, or the slice ended first.
#[cold]
fn special_may_start(pacing: &mut Pacing, clock: &Clock, pulse: &Pulse) -> bool {
    if !pacing.times_all() {
        return true;
    }
    // Its moment is the same for all directions.
    let Some((_, start)) = wait(pacing, clock, pulse, Dir::Read) else { return false };
    pacing.passed(start);
    true
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
