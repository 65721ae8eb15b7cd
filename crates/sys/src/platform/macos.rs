//! macOS.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::bsd::{number, page_bytes, text};
use crate::counters::Usage;
use crate::environment::Machine;

/// Processors cannot be chosen here: all.
pub(crate) fn allowed_cpus() -> io::Result<Vec<u32>> {
    let count = std::thread::available_parallelism()?.get() as u32;
    Ok((0..count).collect())
}

pub(crate) fn pin_to_cpus(_: &[u32]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "macOS keeps no thread on a processor"))
}

pub(crate) fn total_memory_bytes() -> u64 {
    number("hw.memsize").unwrap_or(0)
}

/// Free pages, without those that the system would take back.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    number("vm.page_free_count")?.checked_mul(page_bytes() as u64)
}

pub(crate) fn machine() -> Machine {
    let is_guest = number("kern.hv_vmm_present") == Some(1);
    Machine {
        cpu_model: text("machdep.cpu.brand_string"),
        available_bytes: available_memory_bytes(),
        virtual_machine: is_guest.then(|| "of an unknown kind".to_owned()),
        ..Machine::default()
    }
}

pub(crate) fn thread_id() -> u32 {
    let mut number = 0;
    // SAFETY: the call writes one number; zero stands for the calling thread.
    unsafe { libc::pthread_threadid_np(0, &raw mut number) };
    number as u32
}

pub(crate) fn set_thread_name(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the text is read up to its zero.
    match unsafe { libc::pthread_setname_np(name.as_ptr()) } {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

/// Times of the thread; faults and switches are not counted for one.
#[allow(deprecated)] // Another crate has these names too.
pub(crate) fn usage_of_thread() -> io::Result<Usage> {
    let mut found = libc::thread_basic_info {
        user_time: libc::time_value_t { seconds: 0, microseconds: 0 },
        system_time: libc::time_value_t { seconds: 0, microseconds: 0 },
        cpu_usage: 0,
        policy: 0,
        run_state: 0,
        flags: 0,
        suspend_count: 0,
        sleep_time: 0,
    };
    let mut words =
        (size_of_val(&found) / size_of::<libc::integer_t>()) as libc::mach_msg_type_number_t;
    let flavor = libc::THREAD_BASIC_INFO as libc::thread_flavor_t;
    // SAFETY: the call fills the structure, whose size it is told; the port stands for the calling thread, and the one
    // reference to it that is taken here is as long as the thread.
    let result = unsafe {
        libc::thread_info(libc::mach_thread_self(), flavor, (&raw mut found).cast(), &raw mut words)
    };
    if result != libc::KERN_SUCCESS {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let ns = |time: libc::time_value_t| {
        u64::from(time.seconds.unsigned_abs()) * 1_000_000_000
            + u64::from(time.microseconds.unsigned_abs()) * 1_000
    };
    Ok(Usage { user_ns: ns(found.user_time), system_ns: ns(found.system_time), ..Usage::default() })
}

/// The character devices of disks, which have no buffer.
pub(crate) fn is_disk_at(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("/dev/rdisk"))
}

pub(crate) fn is_disk(file: &File) -> bool {
    iosonde_direct::Device::of(file).is_ok()
}

/// F_PREALLOCATE.
pub(crate) fn reserve(file: &File, offset: u64, bytes: u64, grow: bool) -> io::Result<()> {
    let length = file.metadata()?.len();
    let end = offset.saturating_add(bytes);
    // Space is reserved past the end only, and no request may be for none.
    if end <= length {
        return Ok(());
    }
    let mut store = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: (end - length) as libc::off_t,
        fst_bytesalloc: 0,
    };
    // SAFETY: the call reads and writes the structure, which lives until it returns.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut store) } == -1 {
        return Err(io::Error::last_os_error());
    }
    if grow { file.set_len(end) } else { Ok(()) }
}

/// What is mounted from memory is a disk like any other.
pub(crate) fn is_of_memory(_: &File) -> bool {
    false
}

/// There is no such advice.
pub(crate) fn advise_unneeded(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}
