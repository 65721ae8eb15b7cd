//! Memory straight from the kernel: mappings and shared segments.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::{HugePage, MemoryKind};

/// How to reserve huge pages.
pub(crate) const HUGE_PAGES_REMEDY: &str =
    "which root reserves in /proc/sys/vm/nr_hugepages or /sys/kernel/mm/hugepages";

/// Bytes in a page of memory.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Memory from the kernel, given back when dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    held: Backing,
}

/// How the kernel gave it.
#[derive(Debug)]
enum Backing {
    /// mmap(2).
    Mapping,
    /// mmap(2) of a file that was created for it and is removed with it.
    OwnFile(PathBuf),
    /// shmat(2).
    Segment,
}

// SAFETY: a mapping belongs to the process, not to the thread that made it. `Pages` hands out
// nothing but its address: the bytes of a mapped file may change at any time, and who makes a slice
// of it answers for that (see `RawBuf`).
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

/// The access of each mapping.
const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Where flags of mmap(2) and shmget(2) have the logarithm of a huge page's
/// size (MAP_HUGE_SHIFT, SHM_HUGE_SHIFT).
const HUGE_SHIFT: u32 = 26;

/// The flag bits of a chosen size; none for the machine's default.
fn huge_size(page: HugePage) -> u32 {
    match page {
        HugePage::Default(_) => 0,
        HugePage::Chosen(bytes) => bytes.trailing_zeros() << HUGE_SHIFT,
    }
}

impl Pages {
    /// At least `bytes` of zeroed memory, which must not be zero.
    pub(crate) fn map(bytes: usize) -> io::Result<Pages> {
        Pages::map_anonymous(bytes, MapFlags::PRIVATE)
    }

    /// At least `bytes` of `kind`, zeroed unless a file is mapped that holds
    /// something. A file that is too short is extended; one that does not exist
    /// is created, and removed in the end. `bytes` must not be zero, and a
    /// multiple of the huge page where there is one.
    pub(crate) fn of(kind: &MemoryKind, bytes: usize) -> io::Result<Pages> {
        let huge = kind.huge_page().map_or(0, huge_size);
        match kind {
            MemoryKind::Heap | MemoryKind::Mapping(None) => Pages::map(bytes),
            MemoryKind::SharedMapping(None) => Pages::map_anonymous(bytes, MapFlags::SHARED),
            MemoryKind::HugeMapping(None, _) => {
                let size = MapFlags::from_bits_retain(huge);
                Pages::map_anonymous(bytes, MapFlags::PRIVATE | MapFlags::HUGETLB | size)
            }
            MemoryKind::Mapping(Some(file)) => Pages::map_file(file, bytes, MapFlags::PRIVATE),
            MemoryKind::SharedMapping(Some(file)) | MemoryKind::HugeMapping(Some(file), _) => {
                Pages::map_file(file, bytes, MapFlags::SHARED)
            }
            MemoryKind::Segment => Pages::segment(bytes, 0),
            MemoryKind::HugeSegment(_) => Pages::segment(bytes, libc::SHM_HUGETLB as u32 | huge),
        }
    }

    fn map_anonymous(bytes: usize, flags: MapFlags) -> io::Result<Pages> {
        // SAFETY: no address is given, so the kernel finds a free range and
        // no existing mapping changes.
        let start = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), bytes, ACCESS, flags) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Pages { start, bytes, held: Backing::Mapping })
    }

    fn map_file(path: &Path, bytes: usize, flags: MapFlags) -> io::Result<Pages> {
        let open = |new| OpenOptions::new().read(true).write(true).create_new(new).open(path);
        let (file, is_new) = match open(true) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (open(false)?, false),
            file => (file?, true),
        };
        let pages = Pages::map_open(&file, bytes, flags);
        match pages {
            Ok(mut pages) if is_new => {
                pages.held = Backing::OwnFile(path.to_owned());
                Ok(pages)
            }
            Err(error) if is_new => {
                // The error to report is why it could not be mapped.
                let _ = std::fs::remove_file(path);
                Err(error)
            }
            pages => pages,
        }
    }

    fn map_open(file: &File, bytes: usize, flags: MapFlags) -> io::Result<Pages> {
        // Blocks of hugetlbfs are its pages, whatever size was requested. They are
        // powers of two.
        let block = usize::try_from(rustix::fs::fstat(file)?.st_blksize).unwrap_or(1).max(1);
        let bytes = bytes.checked_next_multiple_of(block).ok_or(io::ErrorKind::OutOfMemory)?;
        if file.metadata()?.len() < bytes as u64 {
            file.set_len(bytes as u64)?;
        }
        // SAFETY: no address is given, so no existing mapping changes, and no reference to the new
        // one is made here: only its address is handed out.
        let start = unsafe { rustix::mm::mmap(ptr::null_mut(), bytes, ACCESS, flags, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Pages { start, bytes, held: Backing::Mapping })
    }

    fn segment(bytes: usize, flags: u32) -> io::Result<Pages> {
        // Flags are 12 bits and a logarithm below 64 in the highest 6.
        let flags = libc::IPC_CREAT | 0o600 | flags as libc::c_int;
        // SAFETY: makes its own segment and touches no memory.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, bytes, flags) };
        if id < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: no address is given, so no existing mapping changes.
        let start = unsafe { libc::shmat(id, ptr::null(), 0) };
        let attached = io::Error::last_os_error();
        // SAFETY: the segment is ours. Removed now, it is freed with this process, however that
        // ends, and only who may debug this process can still attach it.
        unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
        // shmat(2) returns -1, not null, on failure.
        match NonNull::new(start.cast::<u8>()).filter(|start| start.as_ptr().addr() != usize::MAX) {
            Some(start) => Ok(Pages { start, bytes, held: Backing::Segment }),
            None => Err(attached),
        }
    }

    /// The first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Prefer huge pages, where the range holds some. Only a hint: a kernel
    /// without them loses speed, nothing else.
    pub(crate) fn prefer_huge(&self) {
        // SAFETY: the range is this mapping's own, and the advice changes how
        // it is backed, not what it holds.
        let _ = unsafe {
            rustix::mm::madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxHugepage)
        };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        // SAFETY: the range is the one mapped or attached, whole, and its
        // owner is going away, so nothing can refer to it.
        let gone = unsafe {
            match self.held {
                Backing::Segment => libc::shmdt(start) == 0,
                Backing::Mapping | Backing::OwnFile(_) => {
                    rustix::mm::munmap(start, self.bytes).is_ok()
                }
            }
        };
        debug_assert!(gone, "give back {} bytes: {}", self.bytes, io::Error::last_os_error());
        if let Backing::OwnFile(path) = &self.held {
            // It may have been removed before.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_huge_pages_is_the_flag_of_the_kernel() {
        assert_eq!(huge_size(HugePage::Default(2 << 20)), 0);
        assert_eq!(huge_size(HugePage::Chosen(2 << 20)), libc::MAP_HUGE_2MB as u32);
        assert_eq!(huge_size(HugePage::Chosen(1 << 30)), libc::MAP_HUGE_1GB as u32);
        assert_eq!(HUGE_SHIFT, libc::MAP_HUGE_SHIFT as u32);
    }
}
