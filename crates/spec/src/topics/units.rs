//! What suffixes mean in this section, whatever order its lines stand in.

use iosonde_options::{Category, options};

use crate::values::{KbBase, UnitBase};

options! {
    /// Units
    pub struct UnitsOptions in Category::General {
        /// What `k`, `m`, `g` mean in sizes.
        ///
        /// With 1024, `4k` is 4096 bytes and `4kib` is 4000: the other way round than the
        /// standard has it, kept for the sake of old job files, and warned of. With 1000 they
        /// are as the standard has them. Reports follow.
        kb_base: KbBase = "1024" as "kb_base" {
            priority: -1,
            good: &["1024", "1000"],
            bad: &["512", "k"],
        }
        /// Whether reports count bytes (8) or bits (1).
        unit_base: UnitBase = "0" as "unit_base" {
            priority: -1,
            good: &["0", "8", "1"],
            bad: &["2", "bytes"],
        }
    }
}
