//! flock(2), and what Linux, macOS and FreeBSD say of locks alike.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};

use crate::lock::{LockError, LockKind, Patience};

pub(crate) fn lock(file: &File, share: LockKind, patience: Patience) -> Result<(), LockError> {
    let operation = match (share, patience) {
        (LockKind::Shared, Patience::Wait) => FlockOperation::LockShared,
        (LockKind::Exclusive, Patience::Wait) => FlockOperation::LockExclusive,
        (LockKind::Shared, Patience::Try) => FlockOperation::NonBlockingLockShared,
        (LockKind::Exclusive, Patience::Try) => FlockOperation::NonBlockingLockExclusive,
    };
    flock(file, operation).map_err(|error| refused(error.into()))
}

pub(crate) fn unlock(file: &File) -> Result<(), LockError> {
    flock(file, FlockOperation::Unlock).map_err(|error| refused(error.into()))
}

/// The last two are one number on Linux, and two on macOS.
const NO_LOCKS: [i32; 4] = [libc::ENOLCK, libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOTSUP];

/// The meaning of an error of flock(2), or of a lock by fcntl(2).
pub(super) fn refused(error: io::Error) -> LockError {
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => LockError::Held,
        Some(code) if NO_LOCKS.contains(&code) => {
            LockError::Unsupported("its filesystem has none, or has no more of them")
        }
        _ => LockError::System(error),
    }
}

const WINDOWS_ONLY: &str = "only Windows locks volumes; open the device exclusively";

pub(crate) fn lock_volume(_file: &File) -> Result<(), LockError> {
    Err(LockError::Unsupported(WINDOWS_ONLY))
}

pub(crate) fn unlock_volume(_file: &File) -> Result<(), LockError> {
    Err(LockError::Unsupported(WINDOWS_ONLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_told_apart() {
        let of = |number| refused(io::Error::from_raw_os_error(number));
        for number in [libc::EAGAIN, libc::EACCES] {
            assert!(matches!(of(number), LockError::Held));
        }
        for number in NO_LOCKS {
            assert!(matches!(of(number), LockError::Unsupported(_)));
        }
        let error = of(libc::EBADF);
        assert!(matches!(&error, LockError::System(_)), "{error}");
    }
}
