//! Locks: of whole files, of ranges, of volumes. All are between programs that
//! take them; others are not kept out. On Windows everybody is, and
//! the locks of files and of ranges are of one kind.
//!
//! A block device is kept from mounts and other exclusive users by opening it
//! with [`OpenOptions::exclusive`](crate::OpenOptions::exclusive).

use std::fmt;
use std::fs::File;
use std::io;

use crate::platform;

/// Who else may have a lock at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Others that share: readers.
    Shared,
    /// Nobody: a writer.
    Exclusive,
}

/// What to do while somebody else has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Say so at once.
    Try,
    /// Wait; a signal with a handler that does not restart calls ends it.
    Wait,
}

/// Part of a file, in bytes. A `bytes` of 0 is all from `offset`, however much
/// the file grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

impl ByteRange {
    /// The whole file, however long.
    pub const WHOLE: ByteRange = ByteRange { offset: 0, bytes: 0 };
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Somebody else has it.
    Held,
    /// The system, or the filesystem, has no such lock; what and why.
    Unsupported(&'static str),
    /// The range ends beyond the largest file offset.
    Range(ByteRange),
    /// The error of the system.
    System(io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::Held => write!(f, "it is locked by another program or open file"),
            LockError::Unsupported(why) => write!(f, "such a lock is not supported here: {why}"),
            LockError::Range(ByteRange { offset, bytes }) => {
                write!(f, "lock {bytes} bytes from {offset}: no file is that long")
            }
            LockError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LockError::System(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LockError> for io::Error {
    fn from(error: LockError) -> io::Error {
        let kind = match &error {
            LockError::Held => io::ErrorKind::WouldBlock,
            LockError::Unsupported(_) => io::ErrorKind::Unsupported,
            LockError::Range(_) => io::ErrorKind::InvalidInput,
            LockError::System(_) => io::ErrorKind::Other,
        };
        match error {
            LockError::System(error) => error,
            error => io::Error::new(kind, error),
        }
    }
}

/// Lock a whole file: flock(2). The lock is the open file's: clones of it
/// share the lock, it goes when the last is closed, and who opens the file
/// again, even in this program, has another. Asking again changes how it is
/// shared, not in one step: another may get in between, and if it cannot be
/// had, what was held is gone too. On Windows give it back first.
///
/// ```
/// use iosonde_direct::lock::{self, LockError, Patience, LockKind};
///
/// let path = std::env::temp_dir().join(format!("doc-lock-{}", std::process::id()));
/// let (mine, other) = (std::fs::File::create(&path)?, std::fs::File::open(&path)?);
/// # std::fs::remove_file(&path)?;
/// lock::lock(&mine, LockKind::Exclusive, Patience::Try)?;
/// assert!(matches!(lock::lock(&other, LockKind::Shared, Patience::Try), Err(LockError::Held)));
/// lock::unlock(&mine)?;
/// lock::lock(&other, LockKind::Shared, Patience::Try)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If somebody else has it and [`Patience::Try`] is requested, or the
/// filesystem has no locks.
pub fn lock(file: &File, share: LockKind, patience: Patience) -> Result<(), LockError> {
    platform::lock(file, share, patience)
}

/// Give a whole file's lock back. There need not be one.
///
/// # Errors
/// The error of the system.
pub fn unlock(file: &File) -> Result<(), LockError> {
    platform::unlock(file)
}

/// Lock part of a file: an OFD lock of fcntl(2) on Linux, `LockFileEx` on
/// Windows. The lock is the open file's, as with [`lock`]; but the two kinds
/// do not know of each other. The file must be open for reading to share, for
/// writing not to.
///
/// # Errors
/// As [`lock`]; besides, `Unsupported` where a system has only locks that
/// belong to a process (FreeBSD), which any `close` in it would give back.
pub fn lock_range(
    file: &File,
    share: LockKind,
    patience: Patience,
    span: ByteRange,
) -> Result<(), LockError> {
    platform::lock_range(file, share, patience, span)
}

/// Give back what this open file has locked of a part. On Windows the part
/// must be one that was locked.
///
/// # Errors
/// The error of the system.
pub fn unlock_range(file: &File, span: ByteRange) -> Result<(), LockError> {
    platform::unlock_range(file, span)
}

/// A lock in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// How it is shared.
    pub share: LockKind,
    /// Of which part.
    pub span: ByteRange,
    /// The process that has it; `None` if it belongs to an open file, which
    /// several may have.
    pub process: Option<u32>,
}

/// A lock that keeps [`lock_range`] from succeeding now, if there is one.
///
/// # Errors
/// As [`lock_range`], but never `Held`.
pub fn conflict(
    file: &File,
    share: LockKind,
    span: ByteRange,
) -> Result<Option<Conflict>, LockError> {
    platform::conflict(file, share, span)
}

/// Keep everybody else from a volume of Windows (`\\.\D:`), open as `file`:
/// `FSCTL_LOCK_VOLUME`. It goes when the file is closed.
///
/// # Errors
/// `Held` if files on it are open, `Unsupported` anywhere but on Windows.
pub fn lock_volume(file: &File) -> Result<(), LockError> {
    platform::lock_volume(file)
}

/// Let others have a volume again: `FSCTL_UNLOCK_VOLUME`.
///
/// # Errors
/// As [`lock_volume`].
pub fn unlock_volume(file: &File) -> Result<(), LockError> {
    platform::unlock_volume(file)
}
