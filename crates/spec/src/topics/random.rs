//! How random places are drawn.

use iosonde_options::{Built, Bytes, Category, options};

use crate::values::{RandomDistribution, RandomGenerator};

options! {
    /// Random places
    pub struct RandomOptions in Category::IoPattern {
        /// Draw the same places in every run.
        randrepeat: bool = "1" as "randrepeat" | "allrandrepeat" {
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// The seed of all that is drawn.
        ///
        /// Giving one draws anew in each loop.
        randseed: u64 = "0x89" as "randseed" {
            good: &["42", "0x89"],
            bad: &["dice"],
        }
        /// Draw each place without asking whether it was visited before.
        ///
        /// Otherwise a map sees to it that each block is visited once in a pass.
        norandommap: bool = "0" as "norandommap" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Go without a map if there is no memory for it, rather than fail.
        softrandommap: bool = "0" as "softrandommap" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Where random numbers for places come from.
        random_generator: RandomGenerator = "tausworthe" as "random_generator" {
            good: &["tausworthe", "lfsr", "tausworthe64"],
            bad: &["dice"],
        }
        /// How random places are spread over the file.
        ///
        /// `random`; `zipf:theta`, `pareto:h`, `normal:deviation`, each with an optional
        /// `:center` from 0 to 1; `zoned:60/10:40/90`, which sends 60 % of the I/O to the
        /// first 10 % of the file and the rest to the rest; `zoned_abs:60/1g:40/10g`, the
        /// same in bytes; `sequence:2,0,1`, the blocks in the order listed, over and over, each
        /// file by itself. All but `random` do without the map.
        random_distribution: RandomDistribution = "random" as "random_distribution" {
            good: &["random", "zipf", "zipf:1.2", "zipf:1.2:0.5", "pareto:0.3", "normal:10",
                "zoned:60/10:30/20:8/30:2/40", "zoned_abs:60/1g:40/1g", "sequence:2,0,1"],
            bad: &["even", "zipf:1", "zipf:x", "zipf:1.2:2", "pareto:1", "normal:100", "zoned",
                "zoned:60/10", "sequence", "sequence:a"],
        }
        /// Step between the places of `random_distribution=sequence`.
        random_sequence_stride: Option<u32> = "" as "random_sequence_stride" {
            built: Built::No,
            good: &["1"],
            bad: &["far"],
        }
        /// Precondition an SSD for random writes in one pass.
        sprandom: bool = "0" as "sprandom" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Regions that `sprandom` works in.
        spr_num_regions: Option<u32> = "" as "spr_num_regions" {
            built: Built::No,
            parent: Some("sprandom"),
            min: Some(1),
            good: &["100"],
            bad: &["0", "many"],
        }
        /// Share of the device kept as spare space, for `sprandom`.
        spr_op: Option<f64> = "" as "spr_op" {
            built: Built::No,
            parent: Some("sprandom"),
            min: Some(0),
            max: Some(1),
            good: &["0.15"],
            bad: &["2", "some"],
        }
        /// Size of the device's write cache, for `sprandom`.
        spr_cs: Option<Bytes> = "" as "spr_cs" {
            built: Built::No,
            parent: Some("sprandom"),
            good: &["1m"],
            bad: &["big"],
        }
    }
}
