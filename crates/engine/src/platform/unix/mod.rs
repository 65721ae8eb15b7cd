//! What Unix systems have in common: descriptors, and the engines of plain system calls.
#![allow(unsafe_code)]

pub(crate) mod external;
mod mapping;
mod names;
pub(crate) mod page_loss;
pub(crate) mod position;
pub(crate) mod posixaio;
pub(crate) mod psync;
pub(crate) mod vsync;

pub(crate) use mapping::{Mapping, map_alignment, missing_page};
pub(crate) use names::{create_file, make_dir, remove_dir, remove_file, stat};

use crate::engines::{CAPS, always, offload, one_shot, pool, shared_one_shot, shared_queued};
use iosonde_base::{Errno, Op};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::process::Child;

/// An open file as an engine knows it; -1 is none.
pub type RawFile = RawFd;

/// The number of an open file.
pub(crate) fn raw(file: &File) -> RawFile {
    file.as_raw_fd()
}

/// An open file, for as long as it is borrowed.
pub(crate) fn lend(file: &File) -> BorrowedFd<'_> {
    file.as_fd()
}

/// The file behind a number.
///
/// # Safety
/// It stays open for as long as the result is used.
#[inline(always)]
pub(crate) unsafe fn borrow<'a>(file: RawFile) -> BorrowedFd<'a> {
    // SAFETY: the caller's promise.
    unsafe { BorrowedFd::borrow_raw(file) }
}

/// close(2), with its error: some file systems report only then what a write met.
pub(crate) fn close(file: File) -> Result<(), Errno> {
    iosonde_sys::process::close(file.into()).map_err(Errno::from)
}

/// The error of a system call by rustix.
#[inline(always)]
pub(crate) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_native(error.raw_os_error())
}

/// The result of a system call as bytes moved or the error number.
#[inline(always)]
pub(crate) fn bytes(result: isize) -> Result<u32, Errno> {
    // Never more than was asked, which is a u32.
    if result >= 0 { Ok(result as u32) } else { Err(Errno::last()) }
}

/// pread(2).
pub(crate) fn read_at(file: RawFile, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    // SAFETY: the table of files keeps the descriptor open while the job's loop runs.
    rustix::io::pread(unsafe { borrow(file) }, bytes, offset).map_err(errno)
}

/// pwrite(2).
pub(crate) fn write_at(file: RawFile, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    // SAFETY: as for `read_at`.
    rustix::io::pwrite(unsafe { borrow(file) }, bytes, offset).map_err(errno)
}

/// fsync(2).
pub(crate) fn fsync(file: RawFile) -> Result<(), Errno> {
    // SAFETY: as for `read_at`.
    rustix::fs::fsync(unsafe { borrow(file) }).map_err(errno)
}

/// ftruncate(2).
pub(crate) fn set_size(file: RawFile, bytes: u64) -> Result<(), Errno> {
    // SAFETY: as for `read_at`.
    rustix::fs::ftruncate(unsafe { borrow(file) }, bytes).map_err(errno)
}

/// Ask a child that was not waited for to end (SIGTERM).
pub(crate) fn ask_to_end(child: &mut Child) -> std::io::Result<()> {
    // It is ours and not waited for: the number is still its own.
    Ok(kill_process(Pid::from_child(child), Signal::TERM)?)
}

/// Why a trim is refused, where the number alone says too little.
#[cold]
pub(crate) fn explain_trim(op: Op, errno: Errno) -> Option<&'static str> {
    match errno {
        Errno::ENOTTY if op == Op::Trim => Some("only block devices are trimmed"),
        Errno::EOPNOTSUPP if op == Op::Trim => Some("the device cannot discard"),
        _ => None,
    }
}
