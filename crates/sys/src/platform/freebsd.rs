//! FreeBSD.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::bsd::{number, page_bytes, text};
use crate::counters::Usage;
use crate::environment::Machine;

fn affinity(cpus: &mut libc::cpuset_t, call: Affinity) -> io::Result<()> {
    const CALLING_THREAD: libc::id_t = -1_i32 as libc::id_t;
    let (level, which) = (libc::CPU_LEVEL_WHICH, libc::CPU_WHICH_TID);
    let bytes = size_of::<libc::cpuset_t>();
    // SAFETY: the set has the size that is told and lives until the call returns.
    let result = unsafe {
        match call {
            Affinity::Get => libc::cpuset_getaffinity(level, which, CALLING_THREAD, bytes, cpus),
            Affinity::Set => libc::cpuset_setaffinity(level, which, CALLING_THREAD, bytes, cpus),
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[derive(Clone, Copy)]
enum Affinity {
    Get,
    Set,
}

/// An empty set.
fn no_cpus() -> libc::cpuset_t {
    // SAFETY: a set is plain numbers, for which zero is a value.
    unsafe { std::mem::zeroed() }
}

pub(crate) fn allowed_cpus() -> io::Result<Vec<u32>> {
    let mut set = no_cpus();
    affinity(&mut set, Affinity::Get)?;
    // SAFETY: numbers below the size of a set are within it.
    let is_set = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    Ok((0..libc::CPU_SETSIZE as u32).filter(is_set).collect())
}

pub(crate) fn pin_to_cpus(cpus: &[u32]) -> io::Result<()> {
    let mut set = no_cpus();
    for &cpu in cpus {
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: as in `allowed_cpus`.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    affinity(&mut set, Affinity::Set)
}

pub(crate) fn total_memory_bytes() -> u64 {
    number("hw.physmem").unwrap_or(0)
}

/// Free pages, and inactive ones.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    let pages = number("vm.stats.vm.v_free_count")?
        .checked_add(number("vm.stats.vm.v_inactive_count").unwrap_or(0))?;
    pages.checked_mul(page_bytes() as u64)
}

pub(crate) fn machine() -> Machine {
    let guest = text("kern.vm_guest").filter(|kind| kind != "none");
    Machine {
        cpu_model: text("hw.model"),
        available_bytes: available_memory_bytes(),
        virtual_machine: guest,
        container: (number("security.jail.jailed") == Some(1)).then(|| "jail".to_owned()),
        ..Machine::default()
    }
}

pub(crate) fn thread_id() -> u32 {
    // SAFETY: it takes nothing and returns a number.
    unsafe { libc::pthread_getthreadid_np() }.unsigned_abs()
}

pub(crate) fn set_thread_name(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the text is read up to its zero; the thread is the calling one.
    unsafe { libc::pthread_set_name_np(libc::pthread_self(), name.as_ptr()) };
    Ok(())
}

pub(crate) fn usage_of_thread() -> io::Result<Usage> {
    super::unix::usage(libc::RUSAGE_THREAD)
}

/// Disks are character devices here: those that have a size.
pub(crate) fn is_disk_at(path: &Path) -> bool {
    path.starts_with("/dev") && File::open(path).is_ok_and(|file| is_disk(&file))
}

pub(crate) fn is_disk(file: &File) -> bool {
    iosonde_direct::Device::of(file).is_ok()
}

/// posix_fallocate(2), which makes the file as long as what it reserves.
pub(crate) fn reserve(file: &File, offset: u64, bytes: u64, grow: bool) -> io::Result<()> {
    if !grow {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "FreeBSD reserves no space past a file's end",
        ));
    }
    let (offset, bytes) = (offset as libc::off_t, bytes as libc::off_t);
    // SAFETY: numbers go in and one comes out.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset, bytes) } {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

pub(crate) fn is_of_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|status| {
        let name = status.f_fstypename.iter().take_while(|unit| **unit != 0);
        name.map(|unit| *unit as u8).eq(*b"tmpfs")
    })
}

pub(crate) fn advise_unneeded(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let bytes = std::num::NonZeroU64::new(bytes);
    Ok(rustix::fs::fadvise(file, offset, bytes, rustix::fs::Advice::DontNeed)?)
}
