//! Memory for direct I/O: aligned, zeroed, freed when dropped.
#![allow(unsafe_code)]

mod error;
mod pool;
mod raw;

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::{HugePage, MemoryKind};

pub use error::BufferError;
pub use pool::{BufferPool, PoolError, PoolOptions, PooledBuf};
pub use raw::RawBuf;

/// Bytes that start at a multiple of a power of two and belong to this process alone.
///
/// New ones are zero. The length need not be a multiple of the alignment. Memory that maps a file
/// is a [`RawBuf`]: other processes may change it, so it cannot be a slice.
///
/// ```compile_fail,E0308
/// use iosonde_direct::{AlignedBuf, MemoryKind, RawBuf};
///
/// let shared = MemoryKind::SharedMapping(Some("/dev/shm/file".into()));
/// let buffer: AlignedBuf = RawBuf::new(&shared, 4096, 4096).unwrap();
/// ```
pub struct AlignedBuf(RawBuf);

impl AlignedBuf {
    /// `bytes` zeroed bytes, the first at a multiple of `alignment`. From 2 MiB
    /// on they are mapped at a multiple of 2 MiB, and huge pages are preferred.
    ///
    /// # Errors
    /// If there are no bytes, too many of them, no memory for them, or the
    /// alignment is not a power of two of at most 1 GiB.
    pub fn new(bytes: usize, alignment: usize) -> Result<AlignedBuf, BufferError> {
        RawBuf::new(&MemoryKind::Heap, bytes, alignment).map(AlignedBuf)
    }

    /// The same out of huge pages that the system keeps reserved.
    ///
    /// # Errors
    /// As [`new`](AlignedBuf::new); besides, if there are too few free huge pages of the size.
    pub fn huge(bytes: usize, alignment: usize, page: HugePage) -> Result<AlignedBuf, BufferError> {
        RawBuf::new(&MemoryKind::HugeMapping(None, page), bytes, alignment).map(AlignedBuf)
    }

    /// The alignment requested, in bytes. The address may be aligned better.
    pub fn alignment(&self) -> usize {
        self.0.alignment()
    }

    /// The first byte, for a request to the kernel. Valid for [`len`](slice::len) bytes until the
    /// buffer is dropped. Whoever hands it to the kernel must keep the buffer, and use no slice of
    /// it, until the request has completed.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.start()
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: no file is mapped (the constructors make private anonymous memory only), so no
        // other process changes the bytes; the borrow keeps writers in this process away, and who
        // has handed out the address of `as_mut_ptr` answers for requests in flight.
        unsafe { self.0.as_slice() }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; the exclusive borrow keeps readers away too.
        unsafe { self.0.as_mut_slice() }
    }
}

impl fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AlignedBuf").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::raw::{ALIGNMENT_MAX, HUGE_BYTES};
    use super::*;

    #[test]
    fn a_buffer_is_aligned_zeroed_and_as_long_as_requested() {
        for bytes in [1, 511, 4096, HUGE_BYTES - 1, HUGE_BYTES, HUGE_BYTES + 1, 5 << 20] {
            for alignment in [1, 8, 512, 4096, 1 << 16, HUGE_BYTES, 8 << 20] {
                let buffer = AlignedBuf::new(bytes, alignment).unwrap();
                assert_eq!(buffer.len(), bytes);
                assert_eq!(buffer.as_ptr().addr() % alignment, 0, "{bytes} at {alignment}");
                assert!(buffer.iter().all(|&byte| byte == 0));
            }
        }
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
            assert!(matches!(error, BufferError::Alignment(found) if found == alignment));
        }
        assert!(matches!(AlignedBuf::new(usize::MAX, 512), Err(BufferError::TooLong(_))));
        let most = isize::MAX as usize - (4 << 20);
        let error = AlignedBuf::new(most, 512).unwrap_err();
        assert!(matches!(error, BufferError::NoMemory(found, _) if found == most), "{error}");
    }
}
