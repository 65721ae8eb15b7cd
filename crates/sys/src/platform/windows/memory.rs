//! Memory of the machine.
#![allow(unsafe_code)]

use std::io;

use windows_sys::Win32::System::Memory as memory;
use windows_sys::Win32::System::SystemInformation as information;

use super::done;

fn state() -> Option<information::MEMORYSTATUSEX> {
    let mut state = information::MEMORYSTATUSEX {
        dwLength: size_of::<information::MEMORYSTATUSEX>() as u32,
        ..Default::default()
    };
    // SAFETY: the call fills the structure, whose size is in it.
    done(unsafe { information::GlobalMemoryStatusEx(&raw mut state) }).ok()?;
    Some(state)
}

pub(crate) fn total_memory_bytes() -> u64 {
    state().map_or(0, |state| state.ullTotalPhys)
}

pub(crate) fn available_memory_bytes() -> Option<u64> {
    state().map(|state| state.ullAvailPhys)
}

pub(crate) fn page_bytes() -> usize {
    let mut about = information::SYSTEM_INFO::default();
    // SAFETY: the call fills the structure that it is lent.
    unsafe { information::GetSystemInfo(&raw mut about) };
    about.dwPageSize as usize
}

/// The size of the main thread's stack is in the program's file, as large as wanted.
pub(crate) fn stack_limit() -> Option<u64> {
    None
}

/// There is no limit of addresses.
pub(crate) fn limits_of_addresses() -> Vec<(u64, &'static str)> {
    Vec::new()
}

pub(crate) fn lock_memory(range: &mut [u8]) -> io::Result<()> {
    // SAFETY: the range is the caller's own memory; locking changes where it may be, not what it holds.
    done(unsafe { memory::VirtualLock(range.as_mut_ptr().cast(), range.len()) })
}

pub(crate) fn unlock_memory(range: &mut [u8]) -> io::Result<()> {
    // SAFETY: as in `lock_memory`.
    done(unsafe { memory::VirtualUnlock(range.as_mut_ptr().cast(), range.len()) })
}
