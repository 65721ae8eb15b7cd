//! Every exit code, with its meaning. They are fio's.

/// All jobs ended well.
pub const OK: u8 = 0;
/// Nothing ran: a wrong option, an unknown engine, no job, a device in use.
pub const REFUSED: u8 = 1;
/// All jobs ended well, and `--strict` was given: the ledger found that figures
/// mislead. As many failed jobs end with the same code.
pub const MISLEADING: u8 = 3;
/// A signal ended the run.
pub const SIGNALLED: u8 = 128;

/// As many as jobs failed; more than a byte holds is still not 0.
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
