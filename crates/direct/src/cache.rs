//! The page cache of a file: what is in it, and getting it out or in.

use std::fs::File;
use std::io;

use crate::durability::expect_offset;
use crate::{AlignedBuf, Fact, platform};

/// The pages of a range of a file that are in the page cache. Counts are pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Bytes in a page.
    pub page_bytes: u64,
    /// Pages that the range has within the file.
    pub pages: u64,
    /// Those that are in memory.
    pub cached: u64,
    /// Of those, written by programs and not by the system yet.
    pub dirty: Fact<u64>,
    /// Of those, being written by the system now.
    pub writeback: Fact<u64>,
    /// Recently evicted: they were in memory and left it under pressure.
    pub evicted: Fact<u64>,
}

impl Residency {
    /// How many bytes are in memory; whole pages count.
    pub fn cached_bytes(&self) -> u64 {
        self.cached.saturating_mul(self.page_bytes)
    }

    /// How many bytes the device does not have yet: dirty, and under way.
    pub fn unwritten_bytes(&self) -> Fact<u64> {
        match (&self.dirty, &self.writeback) {
            (Fact::Known(dirty), Fact::Known(writeback)) => {
                Fact::Known(dirty.saturating_add(*writeback).saturating_mul(self.page_bytes))
            }
            (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => Fact::Unknown(why.clone()),
        }
    }
}

/// The pages in the page cache of `bytes` bytes of `file` from `offset`, to the
/// end of the file if `bytes` is 0.
///
/// On Linux from cachestat(2) (since 6.5), and checked by mincore(2) where
/// it says that there is nothing: on overlayfs, and what else is made of other
/// filesystems, it does not see the pages. There `cached` is what mincore(2)
/// says, and the rest is unknown. Two that contradict each other are unknown
/// too, as is all of a file that the caller neither owns nor may write: the
/// kernel reports nothing to such callers.
///
/// ```
/// use iosonde_direct::cache;
///
/// let file = std::fs::File::open("Cargo.toml")?;
/// cache::warm(&file, 0, 0)?;
/// if let Some(found) = cache::residency(&file, 0, 0).known() {
///     assert!(found.cached <= found.pages);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn residency(file: &File, offset: u64, bytes: u64) -> Fact<Residency> {
    platform::residency(file, offset, bytes)
}

/// The result of dropping pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The pages in memory before.
    pub before: Fact<Residency>,
    /// The pages in memory after. Pages that a program has mapped or locked stay, as do
    /// those of filesystems in memory.
    pub after: Fact<Residency>,
}

/// Write what is dirty of `file`, then put `bytes` bytes from `offset` out of
/// the page cache; to the end if `bytes` is 0. Pages that are only in part in
/// the range stay.
///
/// # Errors
/// If writing back fails, or the system has no such advice.
pub fn drop_cached(file: &File, offset: u64, bytes: u64) -> io::Result<Dropped> {
    let before = residency(file, offset, bytes);
    platform::drop_cached(file, offset, bytes)?;
    Ok(Dropped { before, after: residency(file, offset, bytes) })
}

/// Read `bytes` bytes from `offset` through the page cache, so that they are
/// in it; to the end if `bytes` is 0. Gives how many bytes there were. A file
/// that is open for direct I/O, or not for reading, is opened again.
///
/// # Errors
/// The error of reading, or of opening.
pub fn warm(file: &File, offset: u64, bytes: u64) -> io::Result<u64> {
    expect_offset(offset)?;
    platform::warm(file, offset, bytes)
}

/// Read all of a range by `read`, into memory that is of no interest; how many
/// bytes there were.
pub(crate) fn read_through(
    offset: u64,
    bytes: u64,
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<u64> {
    const PIECE: u64 = 1 << 20;
    let mut sink = AlignedBuf::new(PIECE as usize, 4096).map_err(io::Error::other)?;
    let end = if bytes == 0 { u64::MAX } else { offset.saturating_add(bytes) };
    let mut at = offset;
    while at < end {
        let most = PIECE.min(end - at) as usize;
        match read(&mut sink[..most], at) {
            Ok(0) => break,
            Ok(got) => at += got as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at - offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// The pieces that are asked for of a file of `length` bytes; the first attempt fails so.
    fn pieces(
        length: u64,
        offset: u64,
        bytes: u64,
        first: Option<io::ErrorKind>,
    ) -> io::Result<(u64, Vec<(u64, usize)>)> {
        let (asked, failing) = (RefCell::new(Vec::new()), RefCell::new(first));
        let read = read_through(offset, bytes, |piece, at| {
            assert!(!piece.is_empty(), "nothing is asked for at {at}");
            if let Some(kind) = failing.take() {
                return Err(kind.into());
            }
            asked.borrow_mut().push((at, piece.len()));
            Ok((length.saturating_sub(at) as usize).min(piece.len()))
        })?;
        Ok((read, asked.into_inner()))
    }

    #[test]
    fn a_range_is_read_in_pieces_up_to_its_end_or_the_end_of_the_file() {
        const PIECE: usize = 1 << 20;
        let (read, asked) = pieces(3 << 20, 4096, (1 << 20) + 10, None).unwrap();
        assert_eq!(read, (1 << 20) + 10);
        assert_eq!(asked, [(4096, PIECE), (4096 + (1 << 20), 10)]);
        let (read, asked) = pieces(1500, 1000, 0, None).unwrap();
        assert_eq!((read, asked.len()), (500, 2), "the second finds the end");
        assert_eq!(pieces(1500, 2000, 10, None).unwrap().0, 0);
    }

    #[test]
    fn a_read_that_a_signal_interrupts_is_done_again_and_other_errors_are_not() {
        let again = pieces(1500, 0, 1500, Some(io::ErrorKind::Interrupted)).unwrap();
        assert_eq!(again, (1500, vec![(0, 1500)]));
        let error = pieces(1500, 0, 1500, Some(io::ErrorKind::PermissionDenied)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
