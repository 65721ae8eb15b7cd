//! Data placement hints for devices.

use iosonde_options::{Built, Category, NamedList, options};

use crate::values::{DataPlacement, PlacementSelect};

/// Why an option of placement changes nothing.
const NO_PLACEMENT: &str = "it is of fdp and dataplacement, which no built engine can pass on";

options! {
    /// Placement
    pub struct PlacementOptions in Category::Engine {
        /// Use NVMe Flexible Data Placement.
        fdp: bool = "0" as "fdp" {
            good: &["0"],
        }
        /// Data placement scheme.
        dataplacement: DataPlacement = "none" as "dataplacement" | "data_placement" {
            good: &["none"],
            bad: &["left"],
        }
        /// How a placement identifier is selected.
        plid_select: Option<PlacementSelect> = "" as "plid_select" | "fdp_pli_select" {
            built: Built::Ignored(NO_PLACEMENT),
            good: &["random", "roundrobin", "scheme"],
            bad: &["best"],
        }
        /// Placement identifiers to select from.
        plids: Option<NamedList<u32>> = "" as "plids" | "fdp_pli" {
            built: Built::Ignored(NO_PLACEMENT),
            good: &["0", "1,2,5"],
            bad: &["first"],
        }
        /// A file that maps offsets to placement identifiers.
        dp_scheme: Option<String> = "" as "dp_scheme" {
            built: Built::Ignored(NO_PLACEMENT),
            good: &["/tmp/scheme"],
        }
        /// Maximum number of ranges in one trim.
        num_range: u32 = "1" as "num_range" {
            min: Some(0),
            good: &["0", "1"],
            bad: &["many"],
        }
        /// GPUs that jobs use, separated by colons.
        gpu_dev_id: Option<String> = "" as "gpu_dev_id" {
            built: Built::No,
            good: &["0:1"],
        }
    }
}
