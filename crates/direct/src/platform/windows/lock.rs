//! Locks of Windows: LockFileEx, and FSCTL_LOCK_VOLUME.
#![allow(unsafe_code)]

use std::fs::File;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED,
};
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::Ioctl as ioctl;

use super::{control, done, expect_device, handle, has_code};
use crate::lock::{ByteRange, Conflict, LockError, LockKind, Patience};

/// All that a file can have.
const WHOLE: ByteRange = ByteRange { offset: 0, bytes: u64::MAX };

pub(crate) fn lock(file: &File, share: LockKind, patience: Patience) -> Result<(), LockError> {
    lock_range(file, share, patience, WHOLE)
}

pub(crate) fn unlock(file: &File) -> Result<(), LockError> {
    match unlock_range(file, WHOLE) {
        // Wine says of what is not locked that it is locked.
        Err(LockError::System(error))
            if has_code(&error, ERROR_NOT_LOCKED) || has_code(&error, ERROR_LOCK_VIOLATION) =>
        {
            Ok(())
        }
        result => result,
    }
}

/// Where a span begins, and its length in two halves.
fn place(span: ByteRange) -> Result<(OVERLAPPED, u32, u32), LockError> {
    let bytes = match span.bytes {
        0 => u64::MAX - span.offset,
        bytes => bytes,
    };
    span.offset.checked_add(bytes).ok_or(LockError::Range(span))?;
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = span.offset as u32; // The lower half.
    place.Anonymous.Anonymous.OffsetHigh = (span.offset >> 32) as u32;
    Ok((place, bytes as u32, (bytes >> 32) as u32))
}

pub(crate) fn lock_range(
    file: &File,
    share: LockKind,
    patience: Patience,
    span: ByteRange,
) -> Result<(), LockError> {
    let (mut place, low, high) = place(span)?;
    let mut flags = 0;
    if share == LockKind::Exclusive {
        flags |= fs::LOCKFILE_EXCLUSIVE_LOCK;
    }
    if patience == Patience::Try {
        flags |= fs::LOCKFILE_FAIL_IMMEDIATELY;
    }
    // SAFETY: our files are not overlapped, so the structure is used during
    // the call only.
    let locked = done(unsafe { fs::LockFileEx(handle(file), flags, 0, low, high, &raw mut place) });
    locked.map_err(|error| {
        if has_code(&error, ERROR_LOCK_VIOLATION) || has_code(&error, ERROR_IO_PENDING) {
            LockError::Held
        } else {
            LockError::System(error)
        }
    })
}

pub(crate) fn unlock_range(file: &File, span: ByteRange) -> Result<(), LockError> {
    let (mut place, low, high) = place(span)?;
    // SAFETY: as above.
    let unlocked = done(unsafe { fs::UnlockFileEx(handle(file), 0, low, high, &raw mut place) });
    unlocked.map_err(LockError::System)
}

pub(crate) fn conflict(_: &File, _: LockKind, _: ByteRange) -> Result<Option<Conflict>, LockError> {
    Err(LockError::Unsupported("Windows does not report which lock is in the way"))
}

pub(crate) fn lock_volume(file: &File) -> Result<(), LockError> {
    volume(file, ioctl::FSCTL_LOCK_VOLUME)
}

pub(crate) fn unlock_volume(file: &File) -> Result<(), LockError> {
    volume(file, ioctl::FSCTL_UNLOCK_VOLUME)
}

fn volume(file: &File, code: u32) -> Result<(), LockError> {
    expect_device(file).map_err(|_| LockError::Unsupported(r"it is no volume (\\.\D:)"))?;
    control(file, code, &[], &mut []).map(drop).map_err(|error| {
        if has_code(&error, ERROR_ACCESS_DENIED) {
            LockError::Held
        } else {
            LockError::System(error)
        }
    })
}
