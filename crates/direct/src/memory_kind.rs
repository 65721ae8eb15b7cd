//! Where a buffer's memory comes from.

use std::path::{Path, PathBuf};

/// Where a buffer's memory comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MemoryKind {
    /// The allocator, or from 2 MiB on a mapping that prefers huge pages.
    #[default]
    Heap,
    /// mmap(2), private, of a file or of nothing.
    Mapping(Option<PathBuf>),
    /// mmap(2), shared with whoever maps the same file.
    SharedMapping(Option<PathBuf>),
    /// mmap(2) of a file on hugetlbfs, or of reserved huge pages.
    HugeMapping(Option<PathBuf>, HugePage),
    /// shmget(2).
    Segment,
    /// shmget(2) of reserved huge pages.
    HugeSegment(HugePage),
}

/// The size of a huge page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HugePage {
    /// The machine's own default, which is this many bytes.
    Default(usize),
    /// Pages of this many bytes, a power of two; the kernel must have a pool
    /// of that size.
    Chosen(usize),
}

impl HugePage {
    /// How many bytes.
    pub fn bytes(self) -> usize {
        match self {
            HugePage::Default(bytes) | HugePage::Chosen(bytes) => bytes,
        }
    }
}

impl MemoryKind {
    /// The file that is mapped.
    pub fn file(&self) -> Option<&Path> {
        match self {
            MemoryKind::Mapping(file)
            | MemoryKind::SharedMapping(file)
            | MemoryKind::HugeMapping(file, _) => file.as_deref(),
            _ => None,
        }
    }

    /// The huge pages it takes from the machine's pool.
    pub fn huge_page(&self) -> Option<HugePage> {
        match self {
            MemoryKind::HugeMapping(_, page) | MemoryKind::HugeSegment(page) => Some(*page),
            _ => None,
        }
    }
}
