//! page_fault: an I/O touches the pages of its block in fresh memory.
#![allow(unsafe_code)]

use super::{always, one_shot};
use crate::{Caps, EngineDef, Io, OneShot, OpenWith, Opened};
use iosonde_base::{Errno, FileId, Op};

/// Catalogue entry.
pub(crate) static PAGE_FAULT: EngineDef = EngineDef {
    name: "page_fault",
    aliases: &[],
    summary: "touches pages of memory",
    doc: "Touches each page of a block in memory that stands for the file: how fast the kernel \
          gives pages. Once as many bytes were touched as the file has, its pages are given back \
          and fault again.",
    caps: Caps { sync: true, diskless: true, ..Caps::NONE },
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(one_shot(PageFault::new(with), accounting)),
};

struct PageFault {
    files: Vec<Option<Span>>,
    page: u64,
}

impl PageFault {
    fn new(with: &OpenWith) -> PageFault {
        let page = rustix::param::page_size() as u64;
        PageFault { files: (0..with.files).map(|_| None).collect(), page }
    }
}

/// Memory in place of a file; unmapped when dropped.
struct Span {
    start: *mut u8,
    bytes: u64,
    /// Bytes touched since its pages were given back.
    touched: u64,
}

impl Span {
    fn map(bytes: u64) -> Result<Span, Errno> {
        let len = usize::try_from(bytes).map_err(|_| Errno::ENOMEM)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().into());
        }
        let span = Span { start: start.cast(), bytes, touched: 0 };
        // One fault a page of the base size.
        span.advise(libc::MADV_NOHUGEPAGE);
        Ok(span)
    }

    fn advise(&self, advice: i32) {
        // SAFETY: the span is mapped for as long as it exists, and only the
        // engine looks at it. Kernels without huge pages decline, which
        // changes nothing.
        unsafe { libc::madvise(self.start.cast(), self.bytes as usize, advice) };
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; nothing points into it.
        unsafe { libc::munmap(self.start.cast(), self.bytes as usize) };
    }
}

impl OneShot for PageFault {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let page = self.page;
        let span = self.files[io.file.0 as usize].as_mut().ok_or(Errno::EBADF)?;
        let end = io.offset.checked_add(io.len.into()).ok_or(Errno::EINVAL)?;
        if end > span.bytes || io.len == 0 {
            return Err(Errno::EINVAL);
        }
        if span.touched >= span.bytes {
            span.advise(libc::MADV_DONTNEED);
            span.touched = 0;
        }
        let pages = (io.offset / page)..=((end - 1) / page);
        for at in pages.map(|number| (number * page).max(io.offset)) {
            // SAFETY: `at` is below `end`, which is within the span. Volatile,
            // as touching is all that is wanted.
            unsafe {
                let byte = span.start.add(at as usize);
                match io.op {
                    Op::Read => drop(byte.read_volatile()),
                    _ => byte.write_volatile(1),
                }
            }
        }
        span.touched += u64::from(io.len);
        Ok(io.len)
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        self.files[file.file.0 as usize] = Some(Span::map(file.bytes)?);
        Ok(())
    }

    fn closing(&mut self, file: FileId) {
        self.files[file.0 as usize] = None;
    }
}
