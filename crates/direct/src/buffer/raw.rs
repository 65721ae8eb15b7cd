//! Aligned memory of any kind, reached through raw pointers.

use std::alloc::{self, Layout};
use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::slice;

use super::BufferError;
use crate::platform::{Pages, page_bytes};
use crate::{HugePage, MemoryKind};

/// From this size on, memory is mapped at a multiple of it: fewer misses of the translation cache,
/// and a page is zeroed only when it is touched.
pub(super) const HUGE_BYTES: usize = 2 << 20;

/// The largest alignment, in bytes. No device needs more, and a huge page on the architectures we
/// know is at most this.
pub(super) const ALIGNMENT_MAX: usize = 1 << 30;

/// Bytes that start at a multiple of a power of two and that others may change: another process
/// that maps the same file, or the kernel while a request is in flight.
///
/// It therefore hands out an address, never a slice, except through `unsafe` functions. Memory that
/// belongs to this process alone is an [`AlignedBuf`](super::AlignedBuf), which is a slice.
///
/// ```
/// use iosonde_direct::{MemoryKind, RawBuf};
///
/// let mut buffer = RawBuf::new(&MemoryKind::Mapping(None), 8192, 4096)?;
/// assert_eq!((buffer.bytes(), buffer.start().addr() % 4096), (8192, 0));
/// // SAFETY: no request is in flight, and nobody else maps this memory.
/// unsafe { buffer.as_mut_slice() }.fill(7);
/// # Ok::<(), iosonde_direct::BufferError>(())
/// ```
///
/// It is no slice, because a file that is mapped changes under it:
///
/// ```compile_fail,E0308
/// # use iosonde_direct::{MemoryKind, RawBuf};
/// let shared = MemoryKind::SharedMapping(Some("/dev/shm/file".into()));
/// let buffer = RawBuf::new(&shared, 4096, 4096).unwrap();
/// let bytes: &[u8] = &buffer;
/// ```
///
/// ```compile_fail,E0133
/// # use iosonde_direct::{MemoryKind, RawBuf};
/// # let shared = MemoryKind::SharedMapping(Some("/dev/shm/file".into()));
/// # let buffer = RawBuf::new(&shared, 4096, 4096).unwrap();
/// let bytes = buffer.as_slice();
/// ```
pub struct RawBuf {
    start: NonNull<u8>,
    bytes: usize,
    alignment: usize,
    /// The mapping that holds the bytes; `None` if they came from the allocator.
    pages: Option<Pages>,
    is_file: bool,
}

// SAFETY: the memory belongs to the process, not to a thread, and safe code gets nothing but its
// address.
unsafe impl Send for RawBuf {}
// SAFETY: as above.
unsafe impl Sync for RawBuf {}

impl RawBuf {
    /// At least 1 byte of memory of this kind, the first at a multiple of `alignment`. It is zero
    /// unless a file is mapped that holds something. A file that is too short is extended; one that
    /// does not exist is created, and removed when the buffer is dropped.
    ///
    /// [`MemoryKind::Heap`] is mapped at a multiple of 2 MiB from 2 MiB on, and huge pages are
    /// preferred.
    ///
    /// # Errors
    /// If there are no bytes, too many of them, or no memory for them; if the alignment is not a
    /// power of two of at most 1 GiB; if there are too few free huge pages of the size; if the file
    /// cannot be mapped.
    pub fn new(kind: &MemoryKind, bytes: usize, alignment: usize) -> Result<RawBuf, BufferError> {
        check(bytes, alignment)?;
        match kind {
            MemoryKind::Heap if bytes >= HUGE_BYTES => {
                let buffer = RawBuf::mapped(kind, bytes, alignment, HUGE_BYTES)?;
                buffer.pages.as_ref().into_iter().for_each(Pages::prefer_huge);
                Ok(buffer)
            }
            MemoryKind::Heap => RawBuf::allocated(bytes, alignment),
            _ => RawBuf::mapped(kind, bytes, alignment, 1),
        }
    }

    fn allocated(bytes: usize, alignment: usize) -> Result<RawBuf, BufferError> {
        let layout =
            Layout::from_size_align(bytes, alignment).map_err(|_| BufferError::TooLong(bytes))?;
        // SAFETY: the layout's size is not zero: `check` refused that.
        let start = unsafe { alloc::alloc_zeroed(layout) };
        let start = NonNull::new(start)
            .ok_or_else(|| BufferError::NoMemory(bytes, io::ErrorKind::OutOfMemory.into()))?;
        Ok(RawBuf { start, bytes, alignment, pages: None, is_file: false })
    }

    /// At a multiple of `alignment`, or of `border` if that is more.
    fn mapped(
        kind: &MemoryKind,
        bytes: usize,
        alignment: usize,
        border: usize,
    ) -> Result<RawBuf, BufferError> {
        let border = alignment.max(border);
        let huge = kind.huge_page().map_or(1, HugePage::bytes);
        if !huge.is_power_of_two() {
            return Err(BufferError::HugePage(huge));
        }
        // A mapping starts at some page, so the border is at most this far in.
        // The bytes before and after are never touched, so they use no memory.
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
        // A file on hugetlbfs has its own page size, which may be less.
        if skip > mapping_bytes - bytes {
            return Err(BufferError::Alignment(alignment));
        }
        // SAFETY: `skip + bytes <= mapping_bytes`, so this and the `bytes`
        // after it lie inside the mapping.
        let start = unsafe { pages.start().add(skip) };
        Ok(RawBuf { start, bytes, alignment, pages: Some(pages), is_file: kind.file().is_some() })
    }

    /// The first byte. Valid for [`bytes`](RawBuf::bytes) bytes until the buffer is dropped.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The alignment requested, in bytes. The address may be aligned better.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// Whether a file is mapped: other processes may change its bytes at any time.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// The bytes, to read.
    ///
    /// # Safety
    /// While the slice lives, nothing changes the bytes: no other process writes to a file that is
    /// mapped or shortens it, no request that fills the memory is in flight, and no slice of
    /// [`as_mut_slice`](RawBuf::as_mut_slice) or pointer of [`start`](RawBuf::start) is written to.
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: `bytes` initialised bytes from `start` are there until `drop`; the caller keeps
        // writers away.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// The bytes, to read and write.
    ///
    /// # Safety
    /// While the slice lives, nothing else reads or changes the bytes: no other process uses a file
    /// that is mapped or shortens it, no request on the memory is in flight, and no pointer of
    /// [`start`](RawBuf::start) is used.
    pub unsafe fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`; the caller keeps readers and writers away.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl From<super::AlignedBuf> for RawBuf {
    fn from(buffer: super::AlignedBuf) -> RawBuf {
        buffer.0
    }
}

/// Refuse a size or an alignment that no memory has.
pub(super) fn check(bytes: usize, alignment: usize) -> Result<(), BufferError> {
    if bytes == 0 {
        return Err(BufferError::Empty);
    }
    if !alignment.is_power_of_two() || alignment > ALIGNMENT_MAX {
        return Err(BufferError::Alignment(alignment));
    }
    Ok(())
}

impl fmt::Debug for RawBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawBuf")
            .field("bytes", &self.bytes)
            .field("alignment", &self.alignment)
            .field("mapped", &self.pages.is_some())
            .field("is_file", &self.is_file)
            .finish()
    }
}

impl Drop for RawBuf {
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
                let mut buffer = RawBuf::new(&kind, bytes, alignment).unwrap();
                assert_eq!(buffer.bytes(), bytes);
                assert_eq!(buffer.start().addr() % alignment, 0, "{kind:?}");
                assert_eq!(buffer.is_file(), kind.file().is_some());
                // SAFETY: the files are this test's own; no request is in flight.
                let bytes = unsafe { buffer.as_mut_slice() };
                assert!(bytes.iter().all(|&byte| byte == 0), "{kind:?}");
                bytes.fill(0xA5);
                // SAFETY: as above.
                assert!(unsafe { buffer.as_slice() }.iter().all(|&byte| byte == 0xA5), "{kind:?}");
                drop(buffer);
                assert!(kind.file().is_none_or(|file| !file.exists()), "{kind:?}");
            }
        }
    }

    #[test]
    fn huge_pages_are_there_or_the_refusal_has_the_remedy() {
        let pages = [HugePage::Default(HUGE_BYTES), HugePage::Chosen(HUGE_BYTES)];
        for page in pages {
            for kind in [MemoryKind::HugeMapping(None, page), MemoryKind::HugeSegment(page)] {
                match RawBuf::new(&kind, 4096, 4096) {
                    // SAFETY: anonymous memory, and no request is in flight.
                    Ok(mut buffer) => unsafe { buffer.as_mut_slice() }.fill(1),
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
    fn an_existing_file_stays_and_holds_what_is_written_to_a_shared_mapping() {
        let path = std::env::temp_dir().join(format!("iosonde-kept-{}", std::process::id()));
        std::fs::write(&path, b"here before").unwrap();
        let mapping = MemoryKind::Mapping(Some(path.clone()));
        let mut buffer = RawBuf::new(&mapping, 4096, 512).unwrap();
        // SAFETY: the file is this test's own; no request is in flight.
        let bytes = unsafe { buffer.as_mut_slice() };
        assert_eq!(&bytes[..11], b"here before");
        bytes.fill(7);
        drop(buffer);
        assert_eq!(&std::fs::read(&path).unwrap()[..11], b"here before");
        let shared = MemoryKind::SharedMapping(Some(path.clone()));
        let mut buffer = RawBuf::new(&shared, 4096, 512).unwrap();
        // SAFETY: as above.
        unsafe { buffer.as_mut_slice() }.fill(7);
        drop(buffer);
        assert_eq!(std::fs::read(&path).unwrap(), [7; 4096]);
        std::fs::remove_file(&path).unwrap();
        let nowhere = MemoryKind::Mapping(Some("/no/such/folder/file".into()));
        let error = RawBuf::new(&nowhere, 4096, 512).unwrap_err();
        assert!(matches!(error, BufferError::File(..)), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_another_writes_to_a_mapped_file_arrives_in_the_memory() {
        use std::os::unix::fs::FileExt;
        let path = std::env::temp_dir().join(format!("iosonde-shared-{}", std::process::id()));
        let kind = MemoryKind::SharedMapping(Some(path.clone()));
        let buffer = RawBuf::new(&kind, 4096, 512).unwrap();
        let other = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        other.write_all_at(b"changed", 0).unwrap();
        // SAFETY: within the buffer; nobody writes at this moment.
        assert_eq!(unsafe { buffer.start().read_volatile() }, b'c');
    }

    #[test]
    fn a_huge_page_has_a_power_of_two_of_bytes() {
        for page in [0, 3, 2_000_000] {
            let kind = MemoryKind::HugeMapping(None, HugePage::Chosen(page));
            let error = RawBuf::new(&kind, 4096, 512).unwrap_err();
            assert!(matches!(error, BufferError::HugePage(bytes) if bytes == page), "{error}");
        }
    }
}
