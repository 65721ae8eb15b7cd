//! Which errors a job tolerates: `continue_on_error` and `ignore_error`.

use crate::drive::{Failure, WRONG_DATA};
use iosonde_base::{Errno, Op};
use std::sync::Arc;

/// The kinds of error that `continue_on_error` distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A read failed.
    Read,
    /// A write, trim or sync failed.
    Write,
    /// What came back is not what was written.
    Verify,
}

/// What `continue_on_error` goes on after (fio(1)): a device that is full, or
/// gone, stays so.
const NON_FATAL: [Errno; 2] = [Errno::EIO, Errno::EILSEQ];

/// The errors that a job tolerates. Used only when there is an error.
#[derive(Clone, Debug, Default)]
pub struct Tolerance {
    /// `continue_on_error`: the job goes on after EIO and EILSEQ of these
    /// kinds.
    pub go_on: Vec<ErrorKind>,
    /// `ignore_error`: after which errors it goes on instead, by kind, where
    /// there are any.
    pub ignored: [Vec<Errno>; 3],
    /// `fill_device`: a full device is the normal end of the job.
    pub full_is_end: bool,
    /// How many there were of the kinds that may be tolerated.
    pub tolerated: u64,
    /// The first of them.
    pub first: Option<Errno>,
    /// Receives each that is tolerated (`error_dump`).
    pub tell: Option<ErrorReporter>,
}

/// Called with an error that a job tolerates, on the job's own thread.
#[derive(Clone)]
pub struct ErrorReporter(Arc<dyn Fn(&Failure) + Send + Sync>);

impl ErrorReporter {
    /// From what is to be called. It must not wait for anything.
    pub fn new(tell: impl Fn(&Failure) + Send + Sync + 'static) -> ErrorReporter {
        ErrorReporter(Arc::new(tell))
    }

    pub(crate) fn tell(&self, failure: &Failure) {
        (self.0)(failure);
    }
}

impl std::fmt::Debug for ErrorReporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ErrorReporter")
    }
}

impl Tolerance {
    /// Whether the job goes on after this.
    #[cold]
    pub fn tolerates(&mut self, op: Op, errno: Errno) -> bool {
        let kind = match op {
            _ if errno == WRONG_DATA => ErrorKind::Verify,
            Op::Read => ErrorKind::Read,
            _ => ErrorKind::Write,
        };
        let listed = &self.ignored[kind as usize];
        if listed.is_empty() && !self.go_on.contains(&kind) {
            return false;
        }
        self.tolerated += 1;
        self.first.get_or_insert(errno);
        if listed.is_empty() { NON_FATAL.contains(&errno) } else { listed.contains(&errno) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_bears_only_the_kinds_it_was_told_to() {
        let mut strict = Tolerance::default();
        assert!(!strict.tolerates(Op::Read, Errno::EIO));
        let mut reads = Tolerance { go_on: vec![ErrorKind::Read], ..Tolerance::default() };
        assert!(reads.tolerates(Op::Read, Errno::EIO));
        assert!(!reads.tolerates(Op::Write, Errno::EIO));
        assert_eq!((reads.tolerated, reads.first), (1, Some(Errno::EIO)));
    }

    #[test]
    fn going_on_is_for_errors_that_may_pass() {
        let mut writes = Tolerance { go_on: vec![ErrorKind::Write], ..Tolerance::default() };
        assert!(!writes.tolerates(Op::Write, Errno::ENOSPC));
        assert_eq!((writes.tolerated, writes.first), (1, Some(Errno::ENOSPC)));
        // A list is all there is, then.
        writes.ignored[1] = vec![Errno::ENOSPC];
        assert!(writes.tolerates(Op::Write, Errno::ENOSPC));
        assert!(!writes.tolerates(Op::Write, Errno::EIO));
    }

    #[test]
    fn an_ignored_error_is_borne_for_its_kind_alone() {
        let ignored = [vec![], vec![Errno::ENOSPC], vec![]];
        let mut tolerance = Tolerance { ignored, ..Tolerance::default() };
        assert!(tolerance.tolerates(Op::Write, Errno::ENOSPC));
        assert!(!tolerance.tolerates(Op::Read, Errno::ENOSPC));
        assert_eq!((tolerance.tolerated, tolerance.first), (1, Some(Errno::ENOSPC)));
    }
}
