//! Why a buffer cannot be made.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::platform::HUGE_PAGES_REMEDY;

/// Why a buffer cannot be made.
#[derive(Debug)]
pub enum BufferError {
    /// A buffer of zero bytes.
    Empty,
    /// The alignment, in bytes, is not a power of two between 1 byte and 1 GiB.
    Alignment(usize),
    /// More bytes than an address space holds.
    TooLong(usize),
    /// The system has no memory for this many bytes.
    NoMemory(usize, io::Error),
    /// The system has too few free huge pages for the first number of bytes; each page has the
    /// second.
    NoHugePages(usize, usize, io::Error),
    /// The size of a huge page, in bytes, is no power of two.
    HugePage(usize),
    /// The file cannot be mapped.
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
                "use huge pages of {bytes} bytes: their size is a power of two; \
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
