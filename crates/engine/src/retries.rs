//! How long an I/O that is interrupted, or put off, is tried again.

use iosonde_base::{Errno, FileId};
use std::time::{Duration, Instant};

/// An I/O that moves nothing for so long fails with the error that it has.
const LONGEST: Duration = Duration::from_secs(2);

/// The same once a stop is asked: its signal may have caused the interruption.
const AFTER_STOP: Duration = Duration::from_millis(200);

/// What an I/O that is given up says beside its error.
pub(crate) const GIVEN_UP: &str =
    "interrupted or put off again and again, nothing moved for 2 s or until a stop was asked";

/// Retries of one I/O since it last moved bytes.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    since: Option<Instant>,
}

impl Retries {
    /// It moved bytes.
    pub(crate) fn moved(&mut self) {
        self.since = None;
    }

    /// It failed for a passing reason: whether to try it again.
    pub(crate) fn again(&mut self, stop_asked: bool) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let longest = if stop_asked { AFTER_STOP } else { LONGEST };
        since.elapsed() < longest
    }
}

/// Make a call again while it is interrupted, as long as an I/O may be.
pub(crate) fn uninterrupted(mut call: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    let mut retries = Retries::default();
    loop {
        match call() {
            Err(Errno::EINTR) if retries.again(false) => {}
            ended => return ended,
        }
    }
}

/// Retries of the I/Os of a queue. Nothing is kept before the first.
#[derive(Debug, Default)]
pub(crate) struct SlotRetries {
    slots: Vec<(Option<Attempt>, Retries)>,
}

/// An I/O, and how far it is: another in the same slot begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub file: FileId,
    pub offset: u64,
    pub moved: u32,
    /// When its batch was submitted, in ticks; 0 without stamps.
    pub issue: u64,
}

impl SlotRetries {
    /// As [`Retries::again`], of the I/O in a slot.
    pub(crate) fn again(&mut self, slot: usize, attempt: Attempt, stop_asked: bool) -> bool {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Default::default);
        }
        let (of, retries) = &mut self.slots[slot];
        if *of != Some(attempt) {
            (*of, *retries) = (Some(attempt), Retries::default());
        }
        retries.again(stop_asked)
    }

    /// The I/O in a slot has ended: the next there begins anew, though it looks the same.
    pub(crate) fn forget(&mut self, slot: usize) {
        if let Some((of, _)) = self.slots.get_mut(slot) {
            *of = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ago(time: Duration) -> Option<Instant> {
        Instant::now().checked_sub(time)
    }

    #[test]
    fn what_moves_nothing_for_too_long_is_given_up_and_begins_anew_once_it_moves() {
        let Some(long_ago) = ago(LONGEST) else { return };
        let mut retries = Retries { since: Some(long_ago) };
        assert!(!retries.again(false));
        retries.moved();
        assert!(retries.again(false) && retries.again(true));
    }

    #[test]
    fn a_stop_shortens_the_time() {
        let Some(before) = ago(AFTER_STOP) else { return };
        let mut retries = Retries { since: Some(before) };
        assert!(!retries.again(true));
        assert!(retries.again(false));
    }

    #[test]
    fn a_call_is_made_again_while_it_is_interrupted_and_no_other_error_is_hidden() {
        let mut errors = vec![Errno::EIO, Errno::EINTR, Errno::EINTR];
        assert_eq!(uninterrupted(|| errors.pop().map_or(Ok(()), Err)), Err(Errno::EIO));
        let mut once = Some(Errno::EINTR);
        assert_eq!(uninterrupted(|| once.take().map_or(Ok(()), Err)), Ok(()));
    }

    #[test]
    fn a_slot_begins_anew_with_another_io_and_when_its_own_has_ended() {
        let Some(long_ago) = ago(LONGEST) else { return };
        let attempt = Attempt { file: FileId(0), offset: 4096, moved: 0, issue: 7 };
        let old =
            || SlotRetries { slots: vec![(Some(attempt), Retries { since: Some(long_ago) })] };
        assert!(!old().again(0, attempt, false), "the same one");
        for other in [
            Attempt { moved: 512, ..attempt },
            Attempt { offset: 0, ..attempt },
            Attempt { issue: 8, ..attempt },
        ] {
            assert!(old().again(0, other, false), "{other:?}");
        }
        let mut ended = old();
        ended.forget(0);
        ended.forget(5);
        assert!(ended.again(0, attempt, false) && ended.again(3, attempt, false));
    }
}
