//! Memory of the machine: how much, in what pages, and keeping some of it.

use std::io;

use iosonde_direct::AlignedBuf;
use iosonde_direct::sysfs::text;

use crate::memory_limit::memory_room;
use crate::platform;

/// Have zeroed memory come from the system, where a page is not there until it is written
/// to: hundreds of jobs have counters of which few pages are used. glibc otherwise keeps
/// ever larger blocks that are freed, and takes memory in advance, and then writes the
/// zeroes itself (mallopt(3): `M_MMAP_THRESHOLD`, `M_TOP_PAD`). For the start of a program.
pub fn leave_zeroed_memory_untouched() {
    platform::leave_zeroed_memory_untouched();
    if address_space_left().is_some() {
        // glibc reserves 64 MiB of addresses for the arena of each thread, of which there
        // are few then.
        platform::allocate_from_one_arena();
    }
}

/// Addresses that this process may still take, in bytes (`ulimit -v` and `ulimit -d`):
/// stacks of threads count in full, used or not. `None` without a limit.
pub fn address_space_left() -> Option<u64> {
    let limits = platform::limits_of_addresses().into_iter();
    limits.map(|(limit, used)| limit.saturating_sub(used_bytes(used))).min()
}

/// A line of /proc/self/status.
fn used_bytes(line: &str) -> u64 {
    let used = text("proc/self/status").ok();
    used.and_then(|status| meminfo_kib(&status, line)?.checked_mul(1024)).unwrap_or(0)
}

/// Memory of the machine, in bytes.
pub fn total_bytes() -> u64 {
    platform::total_memory_bytes()
}

/// Memory that this process may still take, in bytes: what the machine has available,
/// what the limit of its address space (`ulimit -v`) leaves and what the limits of its
/// control groups leave; `None` where the system does not report it.
pub fn available_bytes() -> Option<u64> {
    let machine = platform::available_memory_bytes()?;
    let by_limit = address_space_left().unwrap_or(u64::MAX);
    let by_groups = memory_room().map_or(u64::MAX, |room| room.bytes);
    Some(machine.min(by_limit).min(by_groups))
}

/// The mappings of memory that a process may have (vm.max_map_count); `None`
/// where the system does not tell.
pub fn mappings_max() -> Option<u64> {
    text("proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

/// A page of memory, in bytes.
pub fn page_bytes() -> usize {
    platform::page_bytes()
}

/// Data of the whole machine that waits to be written back, or is on its way, in
/// bytes; `None` where the system does not tell.
pub fn dirty_bytes() -> Option<u64> {
    let meminfo = text("proc/meminfo").ok()?;
    let field = |name: &str| meminfo_kib(&meminfo, name);
    field("Dirty:")?.checked_add(field("Writeback:")?)?.checked_mul(1024)
}

/// A number of /proc/meminfo.
pub(crate) fn meminfo_kib(meminfo: &str, name: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

/// The machine's pool of huge pages (those reserved beforehand, not the
/// transparent ones).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HugePages {
    /// One of them, in bytes.
    pub page_bytes: u64,
    /// How many there are.
    pub total: u64,
    /// How many are free.
    pub free: u64,
}

impl HugePages {
    /// The pool of the default size; `None` if the kernel has none.
    pub fn of_this_machine() -> Option<HugePages> {
        HugePages::parse(&text("proc/meminfo").ok()?)
    }

    /// The pool as /proc/meminfo shows it.
    pub fn parse(meminfo: &str) -> Option<HugePages> {
        let field = |name: &str| meminfo_kib(meminfo, name);
        Some(HugePages {
            page_bytes: field("Hugepagesize:")?.checked_mul(1024)?,
            total: field("HugePages_Total:")?,
            free: field("HugePages_Free:")?,
        })
    }
}

/// Memory that is taken from the machine and kept in place until dropped, so
/// that the rest behaves as a smaller machine would (fio's `lockmem`).
#[derive(Debug)]
pub struct LockedMemory(AlignedBuf);

impl LockedMemory {
    /// Lock `bytes` bytes.
    ///
    /// # Errors
    /// If there is not so much memory, or more than the process may lock
    /// (`ulimit -l`).
    pub fn take(bytes: usize) -> io::Result<LockedMemory> {
        let mut memory = AlignedBuf::new(bytes, page_bytes()).map_err(io::Error::other)?;
        platform::lock_memory(&mut memory)?;
        Ok(LockedMemory(memory))
    }

    /// How much is locked, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // Memory goes back to an allocator that may use it again, so the lock
        // has to go. It cannot fail on a range that could be locked.
        let _ = platform::unlock_memory(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory_in_pages() {
        assert!(page_bytes().is_power_of_two());
        assert!(total_bytes() > 64 << 20);
    }

    #[test]
    fn the_pool_is_read_from_meminfo() {
        let text = "MemTotal:  24684084 kB\nHugePages_Total:      12\n\
                    HugePages_Free:        5\nHugepagesize:       2048 kB\n";
        let pool = HugePages { page_bytes: 2 << 20, total: 12, free: 5 };
        assert_eq!(HugePages::parse(text), Some(pool));
    }

    #[test]
    fn a_kernel_without_huge_pages_has_no_pool() {
        assert_eq!(HugePages::parse("MemTotal:  24684084 kB\n"), None);
        assert_eq!(HugePages::parse("HugePages_Total: x\nHugepagesize: -1 kB\n"), None);
        assert_eq!(HugePages::parse(""), None);
    }

    #[test]
    fn a_little_memory_can_be_locked() {
        // 64 KiB is the smallest limit in use (kernels before 5.16).
        match LockedMemory::take(16 << 10) {
            Ok(locked) => assert_eq!(locked.bytes(), 16 << 10),
            Err(error) => iosonde_testing::skip!("this process may lock no memory: {error}"),
        }
    }

    #[test]
    fn more_memory_than_there_is_cannot_be_locked() {
        assert!(LockedMemory::take(isize::MAX as usize - (4 << 20)).is_err());
        assert!(LockedMemory::take(0).is_err());
    }
}
