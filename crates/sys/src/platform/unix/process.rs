//! Signals, close(2), uname(2), mlock(2).
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, IntoRawFd};
use std::process::{Child, Command, Stdio};

use super::files::OwnedHandle;

/// Signals that a thread holds back.
pub(crate) type Held = libc::sigset_t;

/// Hold signals back from the calling thread; which were held before. None if the
/// system refuses.
pub(crate) fn hold_signals(signals: &[i32]) -> Option<Held> {
    mask(libc::SIG_BLOCK, signals)
}

pub(crate) fn let_signals_through(signals: &[i32]) {
    let _ = mask(libc::SIG_UNBLOCK, signals);
}

fn mask(how: libc::c_int, signals: &[i32]) -> Option<Held> {
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
pub(crate) fn set_held_signals(held: &Held) {
    // SAFETY: the call reads the set, which lives until it returns.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, held, std::ptr::null_mut()) };
}

pub(crate) fn close(fd: OwnedHandle) -> io::Result<()> {
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

/// Send a signal to this process itself, as whoever presses Ctrl-C does.
pub(crate) fn send_signal(signal: i32) -> io::Result<()> {
    // SAFETY: two numbers go in, one comes out; no memory is touched.
    match unsafe { libc::kill(libc::getpid(), signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn lock_memory(range: &mut [u8]) -> io::Result<()> {
    // SAFETY: the range is the caller's own memory; locking changes where it
    // may be, not what it holds.
    unsafe { rustix::mm::mlock(range.as_mut_ptr().cast(), range.len()) }?;
    Ok(())
}

pub(crate) fn unlock_memory(range: &mut [u8]) -> io::Result<()> {
    // SAFETY: as in `lock_memory`.
    unsafe { rustix::mm::munlock(range.as_mut_ptr().cast(), range.len()) }?;
    Ok(())
}

/// The name of this machine in its network; none where it is not set.
pub(crate) fn host_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty() && name != "(none)")
}

/// Of Linux alone the release without a name.
pub(crate) fn kernel_release() -> String {
    let about = rustix::system::uname();
    let (name, release) = (about.sysname().to_string_lossy(), about.release().to_string_lossy());
    if name == "Linux" { release.into_owned() } else { format!("{name} {release}") }
}

pub(crate) fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

pub(crate) fn call_it(program: &mut Command, name: &str) {
    std::os::unix::process::CommandExt::arg0(program, name);
}

pub(crate) fn interrupt(program: &Child) -> io::Result<()> {
    let id = i32::try_from(program.id()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: two numbers go in, one comes out; no memory is touched. The child was not waited for, so that the
    // number is still its own.
    match unsafe { libc::kill(id, libc::SIGINT) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn standard_error_for_program() -> io::Result<Stdio> {
    io::stderr().as_fd().try_clone_to_owned().map(Stdio::from)
}

/// Load a library with its names for those that it loads itself.
///
/// # Safety
/// Its constructors run, which must rely on nothing of ours.
pub(crate) unsafe fn open_globally(name: &str) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: as the caller promises.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) }.map(libloading::Library::from)
}

/// The user for whom this process acts.
pub(crate) fn user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}
