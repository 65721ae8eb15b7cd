//! Meaning of size suffixes in a section, whatever the order of its lines.

use iosonde_options::{Category, options};

use crate::values::{KbBase, UnitBase};

options! {
    /// Units
    pub struct UnitsOptions in Category::General {
        /// What `k`, `m`, `g` mean in sizes.
        ///
        /// With 1024, `4k` is 4096 bytes and `4kib` is 4000, the reverse of the IEC standard, for
        /// compatibility with old job files; a warning reports it. With 1000 they follow the
        /// standard. Reports use the same base.
        kb_base: KbBase = "1024" as "kb_base" {
            priority: -1,
            good: &["1024", "1000"],
            bad: &["512", "k"],
        }
        /// Unit of rates in reports: bytes (8) or bits (1).
        unit_base: UnitBase = "0" as "unit_base" {
            priority: -1,
            good: &["0", "8", "1"],
            bad: &["2", "bytes"],
        }
    }
}
