//! Memory straight from the kernel: whole pages, zeroed when first touched.
#![allow(unsafe_code)]

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Bytes in a page of memory.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// An anonymous private mapping, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to the thread that made it,
// and `Pages` is the only name of this one.
unsafe impl Send for Pages {}
// SAFETY: a shared `Pages` hands out nothing but its address.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `bytes` of zeroed memory, which must not be zero.
    pub(crate) fn map(bytes: usize) -> io::Result<Pages> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: no address is asked for, so the kernel finds a free range and
        // no existing mapping changes.
        let start = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), bytes, access, flags) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Pages { start, bytes })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Ask for huge pages, where the range holds some. Only a hint: a kernel
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
        // SAFETY: the range is the one mapped, whole, and its owner is going
        // away, so nothing can refer to it.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "unmap {} bytes: {unmapped:?}", self.bytes);
    }
}
