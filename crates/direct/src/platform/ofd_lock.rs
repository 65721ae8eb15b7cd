//! Locks of ranges that belong to an open file: fcntl(2) of Linux and macOS.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

#[cfg(target_os = "macos")]
use libc::flock as Record;
#[cfg(not(target_os = "macos"))]
use libc::flock64 as Record;

use super::unix_lock::refused;
use crate::lock::{ByteRange, Conflict, LockError, LockKind, Patience};

// Three small numbers, which Linux's headers give the width of an int.
const SHARED: libc::c_short = libc::F_RDLCK as libc::c_short;
const EXCLUSIVE: libc::c_short = libc::F_WRLCK as libc::c_short;
const NONE: libc::c_short = libc::F_UNLCK as libc::c_short;

pub(crate) fn lock_range(
    file: &File,
    share: LockKind,
    patience: Patience,
    span: ByteRange,
) -> Result<(), LockError> {
    let command = match patience {
        Patience::Try => libc::F_OFD_SETLK,
        Patience::Wait => libc::F_OFD_SETLKW,
    };
    ask(file, command, &mut record(kind(share), span)?)
}

pub(crate) fn unlock_range(file: &File, span: ByteRange) -> Result<(), LockError> {
    ask(file, libc::F_OFD_SETLK, &mut record(NONE, span)?)
}

pub(crate) fn conflict(
    file: &File,
    share: LockKind,
    span: ByteRange,
) -> Result<Option<Conflict>, LockError> {
    let mut record = record(kind(share), span)?;
    ask(file, libc::F_OFD_GETLK, &mut record)?;
    let share = match record.l_type {
        NONE => return Ok(None),
        SHARED => LockKind::Shared,
        _ => LockKind::Exclusive,
    };
    // The kernel gives no negative ones.
    let span = ByteRange { offset: record.l_start as u64, bytes: record.l_len as u64 };
    Ok(Some(Conflict { share, span, process: u32::try_from(record.l_pid).ok() }))
}

fn kind(share: LockKind) -> libc::c_short {
    match share {
        LockKind::Shared => SHARED,
        LockKind::Exclusive => EXCLUSIVE,
    }
}

/// As fcntl(2) wants it; its process must be 0 for a lock of an open file.
fn record(kind: libc::c_short, span: ByteRange) -> Result<Record, LockError> {
    let whole = || LockError::Range(span);
    let end = span.offset.checked_add(span.bytes).ok_or_else(whole)?;
    i64::try_from(end).map_err(|_| whole())?;
    // SAFETY: all fields are integers, for which zero is a value.
    let mut record: Record = unsafe { std::mem::zeroed() };
    record.l_type = kind;
    record.l_whence = libc::SEEK_SET as libc::c_short; // Zero.
    record.l_start = span.offset as i64; // Both below the end, which fits.
    record.l_len = span.bytes as i64;
    Ok(record)
}

fn ask(file: &File, command: libc::c_int, record: &mut Record) -> Result<(), LockError> {
    // SAFETY: these commands read and write one record, lent for the call.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut *record) };
    if answer < 0 { Err(refused(io::Error::last_os_error())) } else { Ok(()) }
}
