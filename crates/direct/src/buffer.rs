//! Memory fit for direct I/O: aligned, zeroed, given back when dropped.
#![allow(unsafe_code)]

mod pool;

use std::alloc::{self, Layout};
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::slice;

use crate::platform::{HUGE_PAGES_REMEDY, Pages, page_bytes};
use crate::{HugePage, MemoryKind};

pub use pool::{Pool, PoolError, PoolOptions, PooledBuf};

/// From here on memory is mapped, at the borders of huge pages: fewer misses
/// of the translation cache, and zeroing waits until a page is touched.
const HUGE_BYTES: usize = 2 << 20;

/// The largest alignment given, in bytes. No device asks for more, and a huge
/// page on the architectures we know is at most this.
const ALIGNMENT_MAX: usize = 1 << 30;

/// Why there is no buffer.
#[derive(Debug)]
pub enum BufferError {
    /// Zero bytes were asked for.
    Empty,
    /// The alignment, in bytes, is not a power of two between 1 byte and 1 GiB.
    Alignment(usize),
    /// More bytes than an address space holds.
    TooLong(usize),
    /// The system has no memory for so many bytes.
    NoMemory(usize, io::Error),
    /// The system has no free huge pages, each of the second number of bytes,
    /// for so many bytes.
    NoHugePages(usize, usize, io::Error),
    /// A huge page cannot have so many bytes: no power of two.
    HugePage(usize),
    /// The file that was to be the memory cannot be.
    File(PathBuf, io::Error),
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::Empty => write!(f, "make a buffer of 0 bytes: it needs at least 1"),
            BufferError::Alignment(bytes) => {
                write!(f, "align a buffer to {bytes} bytes: use a power of two up to 1 GiB")
            }
            BufferError::TooLong(bytes) => {
                write!(f, "make a buffer of {bytes} bytes: no address space is that large")
            }
            BufferError::NoMemory(bytes, error) => {
                write!(f, "make a buffer of {bytes} bytes: {error}")
            }
            BufferError::NoHugePages(bytes, page, _) => {
                let needed = bytes.div_ceil(*page);
                write!(
                    f,
                    "make a buffer of {bytes} bytes of huge pages: it takes {needed} free of \
                     {page} bytes each, {HUGE_PAGES_REMEDY}"
                )
            }
            BufferError::HugePage(bytes) => write!(
                f,
                "use huge pages of {bytes} bytes: they have a power of two; \
                 /sys/kernel/mm/hugepages has a folder for each size"
            ),
            BufferError::File(path, error) => {
                write!(f, "map {} for a buffer: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for BufferError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BufferError::NoMemory(_, error)
            | BufferError::NoHugePages(_, _, error)
            | BufferError::File(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Bytes that start at a multiple of a power of two.
///
/// New ones are zero, unless they map a file that holds something. The length
/// need not be a multiple of the alignment.
pub struct AlignedBuf {
    start: NonNull<u8>,
    bytes: usize,
    alignment: usize,
    /// What is given back; `None` when it came from the allocator.
    pages: Option<Pages>,
}

// SAFETY: an `AlignedBuf` owns its bytes as a `Vec<u8>` does; shared, it only
// lends them out for reading.
unsafe impl Send for AlignedBuf {}
// SAFETY: as above.
unsafe impl Sync for AlignedBuf {}

impl AlignedBuf {
    /// `bytes` zeroed bytes, the first at a multiple of `alignment`. From 2 MiB
    /// on they are mapped at a multiple of 2 MiB, and huge pages are asked for.
    ///
    /// # Errors
    /// If there are no bytes, too many of them, no memory for them, or the
    /// alignment is not a power of two of at most 1 GiB.
    pub fn new(bytes: usize, alignment: usize) -> Result<AlignedBuf, BufferError> {
        check(bytes, alignment)?;
        if bytes >= HUGE_BYTES {
            let buffer = AlignedBuf::mapped(&MemoryKind::Heap, bytes, alignment, HUGE_BYTES)?;
            buffer.pages.as_ref().into_iter().for_each(Pages::prefer_huge);
            Ok(buffer)
        } else {
            AlignedBuf::allocated(bytes, alignment)
        }
    }

    /// The same from memory of a kind. A file that is mapped is extended if it
    /// is too short; one that is not there is made, and removed when the
    /// buffer is dropped.
    ///
    /// # Errors
    /// As [`new`](AlignedBuf::new); besides, if there are no free huge pages of
    /// the size, or the file cannot be mapped.
    pub fn of(
        kind: &MemoryKind,
        bytes: usize,
        alignment: usize,
    ) -> Result<AlignedBuf, BufferError> {
        check(bytes, alignment)?;
        match kind {
            MemoryKind::Heap => AlignedBuf::new(bytes, alignment),
            _ => AlignedBuf::mapped(kind, bytes, alignment, 1),
        }
    }

    fn allocated(bytes: usize, alignment: usize) -> Result<AlignedBuf, BufferError> {
        let layout =
            Layout::from_size_align(bytes, alignment).map_err(|_| BufferError::TooLong(bytes))?;
        // SAFETY: the layout's size is not zero: `new` refused that.
        let start = unsafe { alloc::alloc_zeroed(layout) };
        let start = NonNull::new(start)
            .ok_or_else(|| BufferError::NoMemory(bytes, io::ErrorKind::OutOfMemory.into()))?;
        Ok(AlignedBuf { start, bytes, alignment, pages: None })
    }

    /// At a multiple of `alignment`, or of `border` if that is more.
    fn mapped(
        kind: &MemoryKind,
        bytes: usize,
        alignment: usize,
        border: usize,
    ) -> Result<AlignedBuf, BufferError> {
        let border = alignment.max(border);
        let huge = kind.huge_page().map_or(1, HugePage::bytes);
        if !huge.is_power_of_two() {
            return Err(BufferError::HugePage(huge));
        }
        // A mapping starts at some page, so the border is at most this far in.
        // What lies before and after is never touched and so costs nothing.
        let slack = border - page_bytes().max(huge).min(border);
        let mapping_bytes = bytes
            .checked_next_multiple_of(page_bytes())
            .and_then(|bytes| bytes.checked_add(slack))
            .and_then(|bytes| bytes.checked_next_multiple_of(huge))
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or(BufferError::TooLong(bytes))?;
        let pages = Pages::of(kind, mapping_bytes).map_err(|error| match (kind.file(), huge) {
            (Some(file), _) => BufferError::File(file.to_owned(), error),
            (None, 1) => BufferError::NoMemory(bytes, error),
            (None, huge) => BufferError::NoHugePages(bytes, huge, error),
        })?;
        let skip = pages.start().as_ptr().addr().wrapping_neg() & (border - 1);
        // A file on hugetlbfs has pages of its own size, which may be less.
        if skip > mapping_bytes - bytes {
            return Err(BufferError::Alignment(alignment));
        }
        // SAFETY: `skip + bytes <= mapping_bytes`, so this and the `bytes`
        // after it lie inside the mapping.
        let start = unsafe { pages.start().add(skip) };
        Ok(AlignedBuf { start, bytes, alignment, pages: Some(pages) })
    }

    /// The alignment asked for, in bytes. The address may be aligned better.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// The first byte, for a request that the kernel fills while no slice
    /// exists. Valid for [`len`](slice::len) bytes until the buffer is dropped.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `bytes` bytes from `start` were given to us initialised
        // (zeroed) and are ours until `drop`; the borrow forbids writers.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; the exclusive borrow forbids anyone else.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

fn check(bytes: usize, alignment: usize) -> Result<(), BufferError> {
    if bytes == 0 {
        return Err(BufferError::Empty);
    }
    if !alignment.is_power_of_two() || alignment > ALIGNMENT_MAX {
        return Err(BufferError::Alignment(alignment));
    }
    Ok(())
}

impl fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuf")
            .field("bytes", &self.bytes)
            .field("alignment", &self.alignment)
            .field("mapped", &self.pages.is_some())
            .finish()
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        if self.pages.is_none() {
            let layout = Layout::from_size_align(self.bytes, self.alignment)
                .expect("it was a layout when the buffer was made");
            // SAFETY: allocated in `allocated` with this very layout, once.
            unsafe { alloc::dealloc(self.start.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_zeroed_and_as_long_as_asked() {
        for bytes in [1, 511, 4096, HUGE_BYTES - 1, HUGE_BYTES, HUGE_BYTES + 1, 5 << 20] {
            for alignment in [1, 8, 512, 4096, 1 << 16, HUGE_BYTES, 8 << 20] {
                let buffer = AlignedBuf::new(bytes, alignment).unwrap();
                assert_eq!(buffer.len(), bytes);
                assert_eq!(buffer.as_ptr().addr() % alignment, 0, "{bytes} at {alignment}");
                assert!(buffer.iter().all(|&byte| byte == 0));
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_of_every_kind_is_aligned_zeroed_and_writable() {
        let file = |name: &str| {
            let name = format!("iosonde-buffer-{}-{name}", std::process::id());
            Some(std::env::temp_dir().join(name))
        };
        let page = HugePage::Default(HUGE_BYTES);
        let kinds = [
            MemoryKind::Heap,
            MemoryKind::Mapping(None),
            MemoryKind::Mapping(file("private")),
            MemoryKind::SharedMapping(None),
            MemoryKind::SharedMapping(file("shared")),
            MemoryKind::HugeMapping(file("huge"), page),
            MemoryKind::Segment,
        ];
        for kind in kinds {
            for (bytes, alignment) in [(1, 1), (4097, 4096), (HUGE_BYTES + 1, 1 << 20)] {
                let mut buffer = AlignedBuf::of(&kind, bytes, alignment).unwrap();
                assert_eq!(buffer.len(), bytes);
                assert_eq!(buffer.as_ptr().addr() % alignment, 0, "{kind:?}");
                assert!(buffer.iter().all(|&byte| byte == 0), "{kind:?}");
                buffer.fill(0xA5);
                assert!(buffer.iter().all(|&byte| byte == 0xA5), "{kind:?}");
                drop(buffer);
                assert!(kind.file().is_none_or(|file| !file.exists()), "{kind:?}");
            }
        }
    }

    #[test]
    fn huge_pages_are_had_or_refused_with_the_remedy() {
        let pages = [HugePage::Default(HUGE_BYTES), HugePage::Chosen(HUGE_BYTES)];
        for page in pages {
            for kind in [MemoryKind::HugeMapping(None, page), MemoryKind::HugeSegment(page)] {
                match AlignedBuf::of(&kind, 4096, 4096) {
                    Ok(mut buffer) => buffer.fill(1),
                    Err(error) => {
                        assert!(matches!(error, BufferError::NoHugePages(4096, HUGE_BYTES, _)));
                        assert!(error.to_string().contains("takes 1 free of"), "{error}");
                    }
                }
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_was_there_stays_and_takes_what_is_written_to_a_shared_mapping() {
        let path = std::env::temp_dir().join(format!("iosonde-kept-{}", std::process::id()));
        std::fs::write(&path, b"here before").unwrap();
        let mapping = MemoryKind::Mapping(Some(path.clone()));
        let mut buffer = AlignedBuf::of(&mapping, 4096, 512).unwrap();
        assert_eq!(&buffer[..11], b"here before");
        buffer.fill(7);
        drop(buffer);
        assert_eq!(&std::fs::read(&path).unwrap()[..11], b"here before");
        let shared = MemoryKind::SharedMapping(Some(path.clone()));
        AlignedBuf::of(&shared, 4096, 512).unwrap().fill(7);
        assert_eq!(std::fs::read(&path).unwrap(), [7; 4096]);
        std::fs::remove_file(&path).unwrap();
        let nowhere = MemoryKind::Mapping(Some("/no/such/folder/file".into()));
        let error = AlignedBuf::of(&nowhere, 4096, 512).unwrap_err();
        assert!(matches!(error, BufferError::File(..)), "{error}");
    }

    #[test]
    fn a_large_buffer_starts_at_a_huge_page() {
        let buffer = AlignedBuf::new(HUGE_BYTES, 512).unwrap();
        assert_eq!(buffer.as_ptr().addr() % HUGE_BYTES, 0);
        assert_eq!(buffer.alignment(), 512);
    }

    #[test]
    fn every_byte_can_be_written_and_read() {
        for bytes in [4097, HUGE_BYTES + 4097] {
            let mut buffer = AlignedBuf::new(bytes, 4096).unwrap();
            buffer.fill(0xA5);
            assert!(buffer.iter().all(|&byte| byte == 0xA5));
        }
    }

    #[test]
    fn a_buffer_moves_to_another_thread() {
        let mut buffer = AlignedBuf::new(4096, 4096).unwrap();
        buffer[7] = 7;
        let back = std::thread::spawn(move || buffer).join().unwrap();
        assert_eq!(back[7], 7);
    }

    #[test]
    fn misuse_is_an_error_that_says_which() {
        assert!(matches!(AlignedBuf::new(0, 512), Err(BufferError::Empty)));
        for alignment in [0, 3, 513, ALIGNMENT_MAX * 2, usize::MAX] {
            let error = AlignedBuf::new(512, alignment).unwrap_err();
            assert!(matches!(error, BufferError::Alignment(told) if told == alignment));
        }
        for page in [0, 3, 2_000_000] {
            let kind = MemoryKind::HugeMapping(None, HugePage::Chosen(page));
            let error = AlignedBuf::of(&kind, 4096, 512).unwrap_err();
            assert!(matches!(error, BufferError::HugePage(told) if told == page), "{error}");
        }
        assert!(matches!(AlignedBuf::new(usize::MAX, 512), Err(BufferError::TooLong(_))));
        let most = isize::MAX as usize - (4 << 20);
        let error = AlignedBuf::new(most, 512).unwrap_err();
        assert!(matches!(error, BufferError::NoMemory(told, _) if told == most), "{error}");
    }
}
