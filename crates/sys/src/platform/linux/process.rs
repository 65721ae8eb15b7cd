//! unshare(2), prctl(2).
#![allow(unsafe_code)]

use crate::counters::Usage;
use crate::platform::unix::usage;
use std::ffi::CString;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::AtomicU32;

use rustix::thread::{Gid, Uid, UnshareFlags, futex};
use rustix::time::Timespec;

pub(crate) fn unshare_files() -> io::Result<()> {
    // SAFETY: the kernel copies the table, so every descriptor that exists
    // keeps its number and its file on both sides. What is opened afterwards
    // exists on one side only; the caller keeps it there in
    // the public function's documentation.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }?;
    Ok(())
}

pub(crate) fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

pub(crate) fn set_thread_name(name: &str) -> io::Result<()> {
    let name: Vec<u8> = name.bytes().take_while(|&byte| byte != 0).take(15).collect();
    let name = CString::new(name).expect("cut at the first zero byte");
    Ok(rustix::thread::set_name(&name)?)
}

pub(crate) fn become_group(gid: u32) -> io::Result<()> {
    let gid = id(gid).map(Gid::from_raw)?;
    Ok(rustix::thread::set_thread_res_gid(gid, gid, gid)?)
}

pub(crate) fn become_user(uid: u32) -> io::Result<()> {
    let uid = id(uid).map(Uid::from_raw)?;
    Ok(rustix::thread::set_thread_res_uid(uid, uid, uid)?)
}

/// All ones means "unchanged", and is no valid number.
fn id(number: u32) -> io::Result<u32> {
    if number == u32::MAX { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(number) }
}

/// Sleep while `word` is `value`, `limit_ns` at most; not at all if it is another,
/// and less if a signal comes (futex(2)).
pub(crate) fn wait_while(word: &AtomicU32, value: u32, limit_ns: u64) {
    const SECOND: u64 = 1_000_000_000;
    let (tv_sec, tv_nsec) = ((limit_ns / SECOND) as i64, (limit_ns % SECOND) as i64);
    let limit = Timespec { tv_sec, tv_nsec };
    // However it ends, the caller looks at the word.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, Some(&limit));
}

/// The same for less than a second. Whether all of that passed: not if the word
/// is another, or changed, and not if a signal came.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn outlast(word: &AtomicU32, value: u32, limit_ns: u32) -> bool {
    let limit = Timespec { tv_sec: 0, tv_nsec: limit_ns.into() };
    let woken = futex::wait(word, futex::Flags::PRIVATE, value, Some(&limit));
    woken == Err(rustix::io::Errno::TIMEDOUT)
}

/// The same in a third of the instructions, for threads that wait before each I/O: the
/// call takes four arguments and not six, and is compared with one result.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn outlast(word: &AtomicU32, value: u32, limit_ns: u32) -> bool {
    let limit = libc::timespec { tv_sec: 0, tv_nsec: limit_ns.into() };
    let result: i64;
    // SAFETY: futex(2) reads the word and the limit, both of which live longer than the
    // call, and writes to neither; the kernel changes no registers but these three.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_futex => result,
            in("rdi") word.as_ptr(),
            in("rsi") libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            in("rdx") value,
            in("r10") &limit,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == i64::from(-libc::ETIMEDOUT)
}

/// Wake every thread that sleeps by `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

pub(crate) fn set_timer_slack(ns: NonZeroU64) -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(Some(ns))?)
}

pub(crate) fn usage_of_thread() -> io::Result<Usage> {
    usage(libc::RUSAGE_THREAD)
}

pub(crate) fn usage_of_process() -> io::Result<Usage> {
    usage(libc::RUSAGE_SELF)
}

/// MONOTONIC_RAW, the coarse ones, BOOTTIME, the alarms' and TAI.
pub(crate) fn other_clock(number: u32) -> Option<libc::clockid_t> {
    matches!(number, 4..=9 | 11).then_some(number as libc::clockid_t)
}

pub(crate) fn has_thread(process: u32, name: &str) -> Option<bool> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let is_it = |thread: std::fs::DirEntry| {
        let found = std::fs::read_to_string(thread.path().join("comm"));
        found.is_ok_and(|found| found.trim_end() == name)
    };
    Some(threads.flatten().any(is_it))
}

/// Also if it has been replaced meanwhile.
pub(crate) fn own_program() -> io::Result<std::fs::File> {
    std::fs::File::open("/proc/self/exe")
}

pub(crate) fn own_path() -> io::Result<std::path::PathBuf> {
    Ok("/proc/self/exe".into())
}

pub(crate) fn end_with_parent() {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}
