//! One at a time, with something to be done for each besides: filled, logged, checked.

use super::account::{count_all, count_whole, tape_whole};
use super::{OneShotLoop, StretchEnd};
use crate::tape::Taping;
use crate::{Drive, OneShot};
use iosonde_base::{Op, Planned};

impl<E: OneShot, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// Do I/Os from the ring, each with its taps, and count them all at once.
    #[inline(never)]
    pub(super) fn stretch_tapped<T: Taping>(
        &mut self,
        drive: &mut Drive,
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let clock = drive.clock;
        let (mut alike, mut count) = (true, 0);
        let stop = self.do_tapped(drive, &mut alike, &mut count, tape);
        if !E::THREE_STAMPS {
            let (entries, took) = (&drive.ring.as_slice()[..count], &self.took[..count]);
            let counters = drive.pen.counters();
            count_all::<E>(counters, &clock, entries, alike, took, &mut self.brief);
        }
        (count, stop)
    }

    /// Do them and note how long each took; `count` is how many were done, and `alike`
    /// whether those are of one kind and size.
    #[inline(always)]
    fn do_tapped<T: Taping>(
        &mut self,
        drive: &mut Drive,
        alike: &mut bool,
        count: &mut usize,
        tape: &mut T,
    ) -> StretchEnd {
        let clock = drive.clock;
        // What has been done by then is counted.
        let pause = drive.control.until().min(clock.now().saturating_add(self.uncounted));
        let kind = drive.ring.peek().map_or((Op::Read, 0), |first| (first.op, first.len));
        while let Some(&entry) = drive.ring.as_slice().get(*count) {
            if entry.op.dir().is_some() {
                drive.tap(entry, 0);
            }
            if entry.op as u8 > Op::Trim as u8 {
                return StretchEnd::Special;
            }
            // As in the loop without taps.
            let start = if E::THREE_STAMPS { clock.now() } else { 0 };
            let io = drive.io(&entry, 0);
            let issue = clock.now();
            let result = self.engine.perform(&io);
            if result != Ok(entry.len) {
                return StretchEnd::Odd(result, issue);
            }
            let end = clock.now();
            self.took[*count] = end.wrapping_sub(issue);
            *alike &= (entry.op, entry.len) == kind;
            *count += 1;
            let stamps = [start, issue, end];
            if E::THREE_STAMPS {
                let lane = &drive.pen.counters().lanes[entry.op as usize];
                count_whole::<E>(lane, &clock, entry.len, stamps);
            }
            tape_whole::<E, T>(tape, &clock, &entry, stamps);
            if drive.watches_completions()
                && let Err(failure) = drive.check(&entry, 0, true)
            {
                return StretchEnd::Wrong(Box::new(failure));
            }
            if end >= pause {
                // A stop may have come since.
                let over = end >= drive.control.until();
                return if over { StretchEnd::Time } else { StretchEnd::All };
            }
        }
        StretchEnd::All
    }

    /// Do one I/O with its taps; it may start now.
    #[inline(never)]
    pub(super) fn one_tapped<T: Taping>(
        &mut self,
        drive: &mut Drive,
        entry: &Planned,
        paced: bool,
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        if entry.op.dir().is_some() {
            drive.tap(*entry, 0);
        }
        let (count, stop) =
            if paced { self.paced(drive, 1, tape) } else { self.stretch_plain(drive, 1, tape) };
        if count > 0
            && let Err(failure) = drive.check(entry, 0, true)
        {
            return (count, StretchEnd::Wrong(Box::new(failure)));
        }
        (count, stop)
    }
}
