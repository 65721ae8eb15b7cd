//! One at a time, with something to be done for each besides: filled, logged, checked.

use super::account::{count_all, tape_whole};
use super::{AnyLoop, StretchEnd};
use crate::Drive;
use crate::tape::{Tape, Taping};
use iosonde_base::{Op, Planned};

impl<const STAMPED: bool> AnyLoop<STAMPED> {
    /// Do I/Os from the ring, where there is more to an I/O than to do and count it.
    pub(super) fn stretch_watched(
        &mut self,
        drive: &mut Drive,
        tape: &mut Option<Tape>,
    ) -> (usize, StretchEnd) {
        match tape {
            None => self.stretch_taped(drive, &mut ()),
            Some(tape) => self.stretch_taped(drive, tape),
        }
    }

    fn stretch_taped<T: Taping>(&mut self, drive: &mut Drive, tape: &mut T) -> (usize, StretchEnd) {
        let paced = drive.pacing.is_some();
        match (drive.has_taps(), drive.ring.peek().copied()) {
            (true, Some(_)) if STAMPED && !paced => self.stretch_tapped(drive, tape),
            // Nothing is filled or logged before it may start: were the
            // slice over first, it would be done twice.
            (true, Some(first)) if paced && !self.wait_for(drive, &first) => (0, StretchEnd::Time),
            (true, Some(first)) => self.one_tapped(drive, &first, paced, tape),
            _ if paced => self.paced(drive, usize::MAX, tape),
            _ => self.stretch_plain(drive, usize::MAX, tape),
        }
    }

    /// Do I/Os from the ring, each with its taps, and count them all at once.
    #[inline(never)]
    fn stretch_tapped<T: Taping>(
        &mut self,
        drive: &mut Drive,
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let clock = drive.clock;
        let (mut alike, mut count) = (true, 0);
        let stop = self.do_tapped(drive, &mut alike, &mut count, tape);
        let (entries, took) = (&drive.ring.as_slice()[..count], &self.took[..count]);
        count_all(drive.writer.counters(), &clock, entries, alike, took, &mut self.brief);
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
        let watches = drive.watches_completions();
        while let Some(&entry) = drive.ring.as_slice().get(*count) {
            if entry.op.dir().is_some() {
                drive.tap(entry, 0);
            }
            if entry.op as u8 > Op::Trim as u8 {
                return StretchEnd::Special;
            }
            let io = drive.io(&entry, 0);
            let issue = clock.now();
            let result = self.engine.perform(&io);
            if result != Ok(entry.len) {
                return StretchEnd::Incomplete(result, issue);
            }
            let end = clock.now();
            self.took[*count] = end.wrapping_sub(issue);
            *alike &= (entry.op, entry.len) == kind;
            *count += 1;
            tape_whole(tape, &clock, &entry, [issue, end]);
            if watches && let Err(failure) = drive.check(&entry, 0, true) {
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
    fn one_tapped<T: Taping>(
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
