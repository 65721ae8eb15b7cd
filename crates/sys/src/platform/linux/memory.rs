//! mlock(2), sysinfo(2), /proc/meminfo.
#![allow(unsafe_code)]

use std::io;

pub(crate) fn total_memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    // An unsigned long: 32 bits on small machines.
    #[allow(clippy::useless_conversion)]
    u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit.max(1)))
}

pub(crate) fn meminfo_text() -> io::Result<String> {
    std::fs::read_to_string("/proc/meminfo")
}

#[cfg(target_env = "gnu")]
pub(crate) fn leave_zeroed_memory_untouched() {
    // SAFETY: it sets numbers of the allocator; nothing that was allocated changes. Where
    // one is refused, it stays as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
        libc::mallopt(libc::M_TOP_PAD, 0);
    }
}

#[cfg(target_env = "gnu")]
pub(crate) fn allocate_from_one_arena() {
    // SAFETY: as above.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Other allocators reserve none.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn allocate_from_one_arena() {}

/// Other allocators do so by themselves.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn leave_zeroed_memory_untouched() {}

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
