//! How many bytes one I/O moves.

use iosonde_options::{Bytes, Category, FioSupport, SizeRange, Triple, options};

use crate::values::BsSplit;

options! {
    /// Block sizes
    pub struct BlockOptions in Category::IoBasic {
        /// Bytes of one I/O.
        ///
        /// Up to three comma-separated values, for read, write and trim; a missing value
        /// repeats the one before, an empty one leaves its direction unchanged.
        bs: Triple<Bytes> = "4096" as "bs" | "blocksize" {
            min: Some(1),
            good: &["4k", "4k,8k", ",8k", "4k,8k,16k", "1m", "4096"],
            bad: &["0", "big", "k"],
        }
        /// Align offsets to this; default: the smallest block size.
        ///
        /// A value other than the smallest block size turns the random map off.
        ba: Triple<Option<Bytes>> = "" as "ba" | "blockalign" {
            min: Some(1),
            good: &["4k", "4k,8k", "512"],
            bad: &["0", "even"],
        }
        /// Draw the size of each I/O from this range.
        ///
        /// In multiples of the lower bound, unless `bs_unaligned`. Overrides `bs` in the
        /// directions that it names.
        bsrange: Triple<Option<SizeRange>> = "" as "bsrange" | "blocksize_range" {
            min: Some(1),
            good: &["1k-4k", "1k:4k", "4k-1k", "1k-4k,16k-32k", ",1k-4k"],
            bad: &["4k", "4k-", "-4k"],
        }
        /// Mix block sizes, each with its share of the I/Os in percent.
        ///
        /// `4k/60:64k/40`; sizes without a share divide the rest evenly. Comma-separated lists
        /// apply to read, write and trim. Overrides `bs` and `bsrange`.
        bssplit: BsSplit = "" as "bssplit" {
            fio: FioSupport::Differs("shares of more than 100 % together are refused here; fio takes them"),
            good: &["4k/60:64k/40", "4k/50:8k", "4k/:8k/", "1k/100,,8k/100"],
            bad: &["/50", "big"],
        }
        /// Let `bsrange` draw any number of bytes, not only multiples of its lower bound.
        ///
        /// Direct I/O will usually refuse such sizes.
        bs_unaligned: bool = "0" as "bs_unaligned" | "blocksize_unaligned" {
            bare: Some("1"),
        }
        /// Use the read size for sequential I/Os and the write size for random I/Os.
        bs_is_seq_rand: bool = "0" as "bs_is_seq_rand" {}
    }
}
