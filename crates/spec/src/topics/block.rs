//! How many bytes one I/O moves.

use iosonde_options::{Bytes, Category, FioSupport, SizeRange, Triple, options};

use crate::values::BsSplit;

options! {
    /// Block sizes
    pub struct BlockOptions in Category::IoBasic {
        /// Bytes of one I/O.
        ///
        /// Up to three values, parted by commas, for read, write and trim; a missing one
        /// copies the one before, an empty one leaves its direction alone.
        bs: Triple<Bytes> = "4096" as "bs" | "blocksize" {
            min: Some(1),
            good: &["4k", "4k,8k", ",8k", "4k,8k,16k", "1m", "4096"],
            bad: &["0", "big", "k"],
        }
        /// Places are multiples of this; the smallest block size if not given.
        ///
        /// Another value than the smallest block size turns the random map off.
        ba: Triple<Option<Bytes>> = "" as "ba" | "blockalign" {
            min: Some(1),
            good: &["4k", "4k,8k", "512"],
            bad: &["0", "even"],
        }
        /// Draw each I/O's size between these two.
        ///
        /// In steps of the smaller one, unless `bs_unaligned`. Takes precedence over `bs` in
        /// the directions it names.
        bsrange: Triple<Option<SizeRange>> = "" as "bsrange" | "blocksize_range" {
            min: Some(1),
            good: &["1k-4k", "1k:4k", "4k-1k", "1k-4k,16k-32k", ",1k-4k"],
            bad: &["4k", "4k-", "-4k"],
        }
        /// A mix of sizes with their shares in percent.
        ///
        /// `4k/60:64k/40`; a size without a share takes part of what the others leave. Lists
        /// for read, write and trim are parted by commas. Takes precedence over `bs` and
        /// `bsrange`.
        bssplit: BsSplit = "" as "bssplit" {
            fio: FioSupport::Differs("shares of more than 100 % together are refused here; fio takes them"),
            good: &["4k/60:64k/40", "4k/50:8k", "4k/:8k/", "1k/100,,8k/100"],
            bad: &["/50", "big"],
        }
        /// Let `bsrange` draw any number of bytes, not only multiples of its lower end.
        ///
        /// Direct I/O will usually refuse such sizes.
        bs_unaligned: bool = "0" as "bs_unaligned" | "blocksize_unaligned" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Take the read size for sequential I/Os and the write size for random ones.
        bs_is_seq_rand: bool = "0" as "bs_is_seq_rand" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
    }
}
