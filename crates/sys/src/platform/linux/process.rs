//! unshare(2), prctl(2).
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{IntoRawFd, OwnedFd};
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

/// Hold signals back from the calling thread; which were held before. None if the
/// system refuses.
pub(crate) fn hold_signals(signals: &[i32]) -> Option<libc::sigset_t> {
    mask(libc::SIG_BLOCK, signals)
}

pub(crate) fn let_signals_through(signals: &[i32]) {
    let _ = mask(libc::SIG_UNBLOCK, signals);
}

fn mask(how: libc::c_int, signals: &[i32]) -> Option<libc::sigset_t> {
    // SAFETY: a signal set is plain numbers, for which zero is a valid value; the calls
    // read and write only the sets that they are given, which live until they return.
    unsafe {
        let (mut held, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut held);
        for &signal in signals {
            libc::sigaddset(&mut held, signal);
        }
        (libc::pthread_sigmask(how, &held, &mut before) == 0).then_some(before)
    }
}

/// Hold back these signals and no others.
pub(crate) fn set_held_signals(held: &libc::sigset_t) {
    // SAFETY: the call reads the set, which lives until it returns.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, held, std::ptr::null_mut()) };
}

pub(crate) fn close(fd: OwnedFd) -> io::Result<()> {
    let fd = fd.into_raw_fd();
    // SAFETY: `fd` was owned here, nobody else closes it, and it is not used again.
    match unsafe { libc::close(fd) } {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::EINTR) => Ok(()),
            error => Err(error),
        },
    }
}
