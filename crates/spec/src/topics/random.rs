//! How random offsets are drawn.

use iosonde_options::{Bytes, Category, options};

use crate::values::{RandomDistribution, RandomGenerator};

options! {
    /// Random offsets
    pub struct RandomOptions in Category::IoPattern {
        /// Draw the same random sequence in every run.
        randrepeat: bool = "1" as "randrepeat" | "allrandrepeat" {
            with: &["rw=randread"],
        }
        /// Seed of all random generators.
        ///
        /// With a seed each loop draws a new sequence.
        randseed: u64 = "0x89" as "randseed" {
            with: &["rw=randread"],
            good: &["42", "0x89"],
        }
        /// Draw random offsets without tracking which blocks were covered.
        ///
        /// By default a map makes sure that each block is accessed once per pass.
        norandommap: bool = "0" as "norandommap" {
            bare: Some("1"),
            with: &["rw=randread"],
        }
        /// Run without a random map if memory for it cannot be allocated.
        softrandommap: bool = "0" as "softrandommap" {
            with: &["rw=randread"],
        }
        /// Random generator for offsets.
        random_generator: RandomGenerator = "tausworthe" as "random_generator" {
            with: &["rw=randread"],
            good: &["tausworthe", "lfsr", "tausworthe64"],
        }
        /// Distribution of random offsets over the file.
        ///
        /// `random`; `zipf:theta`, `pareto:h`, `normal:deviation`, each with an optional
        /// `:center` from 0 to 1; `zoned:60/10:40/90`, which sends 60 % of the I/O to the
        /// first 10 % of the file and 40 % to the rest; `zoned_abs:60/1g:40/10g`, the same in
        /// bytes; `sequence:2,0,1`, blocks in the order listed, repeated, for each file. All
        /// but `random` use no map.
        random_distribution: RandomDistribution = "random" as "random_distribution" {
            with: &["rw=randread"],
            good: &["random", "zipf", "zipf:1.2", "zipf:1.2:0.5", "pareto:0.3", "normal:10",
                "zoned:60/10:30/20:8/30:2/40", "zoned_abs:60/1g:40/1g", "sequence:2,0,1"],
            bad: &["even", "zipf:1", "zipf:x", "zipf:1.2:2", "pareto:1", "normal:100", "zoned",
                "zoned:60/10", "sequence", "sequence:a"],
        }
        /// Shift each pass through the list of `random_distribution=sequence` by its length.
        ///
        /// `sequence:2,0,1` then covers blocks 2 0 1 5 3 4 8 6 7 and so on, up to the end of the file.
        random_sequence_stride: bool = "0" as "random_sequence_stride" {
            with: &["rw=randread", "random_distribution=sequence:2,0,1"],
            good: &["0", "1"],
        }
        /// Precondition an SSD for random writes in one pass (SPRandom).
        ///
        /// Writes each block once, in random order, and some again soon after, so that the drive's
        /// flash is left as endless random writes leave it. Use it on a whole drive that was erased
        /// (`blkdiscard`), with the drive's real `spr_op`.
        sprandom: bool = "0" as "sprandom" {
            with: &["rw=randwrite"],
        }
        /// Number of regions of `sprandom`.
        ///
        /// A region's blocks are kept in memory, 8 bytes each.
        spr_num_regions: u32 = "100" as "spr_num_regions" {
            parent: Some("sprandom"),
            min: Some(1),
            with: &["rw=randwrite", "sprandom=1", "size=1g"],
            good: &["100"],
            bad: &["0", "many"],
        }
        /// Overprovisioning ratio of the device, for `sprandom`.
        ///
        /// The flash that it has beyond its capacity, as a part of the capacity: as much is written
        /// twice.
        spr_op: f64 = "0.15" as "spr_op" {
            parent: Some("sprandom"),
            min: Some(0),
            max: Some(1),
            with: &["rw=randwrite", "sprandom=1"],
            good: &["0.15", "0.2"],
            bad: &["2", "some"],
        }
        /// Cache size of the device, for `sprandom`.
        ///
        /// No block is written again before so many bytes of others have been.
        spr_cs: Option<Bytes> = "" as "spr_cs" {
            parent: Some("sprandom"),
            with: &["rw=randwrite", "sprandom=1"],
            good: &["1m"],
        }
    }
}
