//! Every exit code of the program and its commands, with its meaning. They are fio's.

/// All jobs succeeded.
pub const OK: u8 = 0;
/// Nothing ran: a wrong option, an unknown engine, no job, a device in use.
pub const REFUSED: u8 = 1;
/// Part of what a command does failed, or all of it.
pub const FAILED: u8 = 1;
/// All jobs succeeded, but with `--strict` the verdict has a finding that is more
/// than a note. Three failed jobs give the same code.
pub const MISLEADING: u8 = 3;
/// All jobs succeeded and the verdict has no finding that is more than a note, but
/// with `--strict` something about the run could not be seen. Four failed jobs
/// give the same code.
pub const UNKNOWN: u8 = 4;
/// A signal ended the run.
pub const SIGNALLED: u8 = 128;

/// The number of failed jobs, limited so that it is neither 0 nor a signal's.
pub fn failed(jobs: usize) -> u8 {
    u8::try_from(jobs).unwrap_or(u8::MAX).min(SIGNALLED - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_of_256_failed_jobs_is_no_success() {
        assert_eq!(failed(0), OK);
        assert_eq!(failed(3), 3);
        assert_eq!(failed(256), 127);
    }
}
