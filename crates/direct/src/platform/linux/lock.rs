//! flock(2), and locks of open file descriptions: fcntl(2).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::{FlockOperation, flock};

use crate::lock::{Conflict, LockError, Patience, Share, Span};

pub(crate) fn lock(file: &File, share: Share, patience: Patience) -> Result<(), LockError> {
    let operation = match (share, patience) {
        (Share::Shared, Patience::Wait) => FlockOperation::LockShared,
        (Share::Exclusive, Patience::Wait) => FlockOperation::LockExclusive,
        (Share::Shared, Patience::Try) => FlockOperation::NonBlockingLockShared,
        (Share::Exclusive, Patience::Try) => FlockOperation::NonBlockingLockExclusive,
    };
    flock(file, operation).map_err(|error| refused(error.into()))
}

pub(crate) fn unlock(file: &File) -> Result<(), LockError> {
    flock(file, FlockOperation::Unlock).map_err(|error| refused(error.into()))
}

pub(crate) fn lock_range(
    file: &File,
    share: Share,
    patience: Patience,
    span: Span,
) -> Result<(), LockError> {
    let command = match patience {
        Patience::Try => libc::F_OFD_SETLK,
        Patience::Wait => libc::F_OFD_SETLKW,
    };
    ask(file, command, &mut record(kind(share), span)?)
}

pub(crate) fn unlock_range(file: &File, span: Span) -> Result<(), LockError> {
    ask(file, libc::F_OFD_SETLK, &mut record(libc::F_UNLCK, span)?)
}

pub(crate) fn conflict(
    file: &File,
    share: Share,
    span: Span,
) -> Result<Option<Conflict>, LockError> {
    let mut record = record(kind(share), span)?;
    ask(file, libc::F_OFD_GETLK, &mut record)?;
    let share = match libc::c_int::from(record.l_type) {
        libc::F_UNLCK => return Ok(None),
        libc::F_RDLCK => Share::Shared,
        _ => Share::Exclusive,
    };
    // The kernel gives no negative ones.
    let span = Span { offset: record.l_start as u64, bytes: record.l_len as u64 };
    Ok(Some(Conflict { share, span, process: u32::try_from(record.l_pid).ok() }))
}

fn kind(share: Share) -> libc::c_int {
    match share {
        Share::Shared => libc::F_RDLCK,
        Share::Exclusive => libc::F_WRLCK,
    }
}

/// As fcntl(2) wants it; its process must be 0 for a lock of an open file.
fn record(kind: libc::c_int, span: Span) -> Result<libc::flock64, LockError> {
    let whole = || LockError::Span(span);
    let end = span.offset.checked_add(span.bytes).ok_or_else(whole)?;
    i64::try_from(end).map_err(|_| whole())?;
    // SAFETY: all fields are integers, for which zero is a value.
    let mut record: libc::flock64 = unsafe { std::mem::zeroed() };
    record.l_type = kind as libc::c_short; // One of three small numbers.
    record.l_whence = libc::SEEK_SET as libc::c_short; // Zero.
    record.l_start = span.offset as i64; // Both below the end, which fits.
    record.l_len = span.bytes as i64;
    Ok(record)
}

fn ask(file: &File, command: libc::c_int, record: &mut libc::flock64) -> Result<(), LockError> {
    // SAFETY: these commands read and write one flock64, lent for the call.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut *record) };
    if answer < 0 { Err(refused(io::Error::last_os_error())) } else { Ok(()) }
}

fn refused(error: io::Error) -> LockError {
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => LockError::Held,
        Some(libc::ENOLCK | libc::EOPNOTSUPP | libc::ENOSYS) => {
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
