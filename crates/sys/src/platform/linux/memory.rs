//! mlock(2), sysinfo(2), /proc/meminfo.
#![allow(unsafe_code)]

pub(crate) fn total_memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    // An unsigned long: 32 bits on small machines.
    #[allow(clippy::useless_conversion)]
    u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit.max(1)))
}

/// Memory that could be had without swapping.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    crate::memory::meminfo_kib(&meminfo, "MemAvailable:")?.checked_mul(1024)
}

pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
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
