//! How far a server's clock is from the client's: of the shortest round trip, right within half
//! of it.

use iosonde_base::time::unix_ns;
use iosonde_report::hosts::ClockOffset;

/// Round trips that are made.
const PINGS: u32 = 12;

/// Round trips so far.
#[derive(Debug, Default)]
pub(super) struct ClockTrips {
    sent_ns: u64,
    made: u32,
    best: Option<(u64, ClockOffset)>,
}

impl ClockTrips {
    /// A trip begins.
    pub fn begin(&mut self) {
        self.sent_ns = unix_ns();
    }

    /// A trip ends with what the server's clock said; the offset, once enough were made.
    pub fn end(&mut self, theirs: u64) -> Option<ClockOffset> {
        let took = unix_ns().saturating_sub(self.sent_ns);
        if self.best.is_none_or(|(shortest, _)| took < shortest) {
            let middle = self.sent_ns.wrapping_add(took / 2);
            let offset_ns = theirs.wrapping_sub(middle).cast_signed();
            self.best = Some((took, ClockOffset { offset_ns, error_ns: took / 2 + 1 }));
        }
        self.made += 1;
        (self.made >= PINGS).then(|| self.best.map(|(_, offset)| offset).unwrap_or_default())
    }
}

/// The offset with what the clocks drifted apart meanwhile as its error.
pub(super) fn with_drift(before: ClockOffset, after: ClockOffset) -> ClockOffset {
    let drift = after.offset_ns.abs_diff(before.offset_ns);
    let error_ns = before.error_ns.max(after.error_ns).saturating_add(drift);
    ClockOffset { error_ns, ..before }
}
