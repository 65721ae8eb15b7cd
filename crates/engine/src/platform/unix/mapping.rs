//! A part of a file in memory: mmap(2), msync(2).
#![allow(unsafe_code)]

use crate::platform::{HUGE_PAGES, RawFile};
use crate::{Hint, Io};
use iosonde_base::{Errno, Op};

/// A mapped part of a file; unmapped when dropped.
pub(crate) struct Mapping {
    /// Where it is.
    pub(crate) memory: *mut u8,
    /// How long it is.
    pub(crate) bytes: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and unmapped once. The copies out of it are
        // over: they end within the engine's `perform`.
        unsafe { libc::munmap(self.memory.cast(), self.bytes) };
    }
}

/// What the offset of a mapping is a multiple of.
pub(crate) fn map_alignment() -> u64 {
    rustix::param::page_size() as u64
}

impl Mapping {
    /// Map `bytes` of a file from `start` on, for reads and, if the job `writes`, for writes.
    pub(crate) fn new(
        file: RawFile,
        (start, bytes): (u64, usize),
        writes: bool,
        hint: Option<Hint>,
        huge_pages: bool,
    ) -> Result<Mapping, Errno> {
        let mut protection = libc::PROT_READ;
        if writes {
            protection |= libc::PROT_WRITE;
        }
        let null = std::ptr::null_mut();
        // SAFETY: a new mapping where the kernel likes; nothing else is touched.
        let memory = unsafe {
            libc::mmap(null, bytes, protection, libc::MAP_SHARED, file, start as libc::off_t)
        };
        if memory == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let advice = [
            HUGE_PAGES.filter(|_| huge_pages),
            hint.and_then(|hint| match hint {
                Hint::Sequential => Some(libc::MADV_SEQUENTIAL),
                Hint::Random => Some(libc::MADV_RANDOM),
                // madvise(2) has no word for it.
                Hint::NoReuse => None,
            }),
        ];
        for advice in advice.into_iter().flatten() {
            // SAFETY: the range that was just mapped. Advice may be declined.
            unsafe { libc::madvise(memory, bytes, advice) };
        }
        Ok(Mapping { memory: memory.cast(), bytes })
    }

    /// Make what was written to it durable: msync(2).
    pub(crate) fn sync(&self, _: RawFile) -> Result<(), Errno> {
        // SAFETY: the range is mapped for as long as this exists.
        let result = unsafe { libc::msync(self.memory.cast(), self.bytes, libc::MS_SYNC) };
        if result == 0 { Ok(()) } else { Err(Errno::last()) }
    }
}

/// Result of an I/O by a mapping of `file` that met an unavailable page.
#[cold]
pub(crate) fn missing_page(file: RawFile, io: &Io) -> Result<u32, Errno> {
    // SAFETY: fstat and fstatvfs write one structure each, for which zero
    // is a valid value; the job's table of files keeps the descriptor open.
    let (file, system) = unsafe {
        let (mut found, mut system): (libc::stat, libc::statvfs) =
            (std::mem::zeroed(), std::mem::zeroed());
        if libc::fstat(file, &mut found) < 0 || libc::fstatvfs(file, &mut system) < 0 {
            return Err(Errno::EIO);
        }
        (found, system)
    };
    let regular = file.st_mode & libc::S_IFMT == libc::S_IFREG;
    let size = file.st_size as u64;
    if regular && io.offset + u64::from(io.len) > size {
        // Past the end, as read(2) would say it. The part before the end
        // cannot be distinguished: a page may have been lost in it as well.
        return Ok(0);
    }
    let full = io.op == Op::Write && regular && system.f_bavail == 0;
    Err(if full { Errno::ENOSPC } else { Errno::EIO })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_mapped_is_refused() {
        let null = std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
        let mapped = Mapping::new(crate::platform::raw(&null), (0, 4096), true, None, false);
        assert_eq!(mapped.err(), Some(Errno::ENODEV));
    }
}
