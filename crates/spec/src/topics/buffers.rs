//! Contents of I/O buffers, and the memory they are in.

use iosonde_options::{Bytes, Category, FioSupport, options};

use crate::values::{BufferMemory, PatternText};

options! {
    /// Buffers
    pub struct BuffersOptions in Category::Buffer {
        /// Memory for I/O buffers; a file to map may follow: `mmaphuge:/mnt/huge/file`.
        mem: BufferMemory = "malloc" as "mem" | "iomem" {
            good: &["malloc", "mmap", "shm", "mmaphuge:/mnt/huge/file"],
        }
        /// Align buffers to this many bytes.
        iomem_align: Bytes = "0" as "iomem_align" | "mem_align" {
            min: Some(0),
            good: &["0", "4k"],
        }
        /// Pin this much memory while the job runs, so that the page cache has less (mlock(2)).
        lockmem: Bytes = "0" as "lockmem" {
            good: &["0", "1g"],
        }
        /// Size of a huge page.
        hugepage_size: Bytes = "2097152" as "hugepage-size" {
            needs: &["mem"],
            min: Some(0),
            with: &["mem=shmhuge"],
            good: &["2m", "1g"],
        }
        /// Fill buffers with zeroes.
        zero_buffers: bool = "0" as "zero_buffers" {
            bare: Some("1"),
        }
        /// Refill buffers for every write.
        refill_buffers: bool = "0" as "refill_buffers" {
            bare: Some("1"),
        }
        /// Change a few bytes of the buffer for every write, so that no two are equal.
        scramble_buffers: bool = "1" as "scramble_buffers" {}
        /// Fill buffers with this pattern, repeated.
        ///
        /// `"text"`, `0xhex`, a number, `'file'`, `%o` for the block's offset in its file
        /// (8 bytes, lowest first), or several of them joined; at most 64 MiB.
        buffer_pattern: Option<PatternText> = "" as "buffer_pattern" {
            fio: FioSupport::Differs("`%o` is taken too, as in verify_pattern"),
            good: &["0xdeadbeef", "\"abcd\"", "42", "\"abcd\"-12", "\"abcd\"-120xdeface"],
            bad: &["abcd", "0x", "12k", "\"abc"],
        }
    }
}
