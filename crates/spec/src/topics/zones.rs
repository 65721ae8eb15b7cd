//! Zones of a file, or of a zoned block device.

use iosonde_options::{Amount, Built, Bytes, Category, options};

use crate::values::ZoneMode;

options! {
    /// Zones
    pub struct ZonesOptions in Category::Zone {
        /// The order of zones.
        zonemode: ZoneMode = "none" as "zonemode" {
            unbuilt_words: &["zbd"],
            good: &["none", "strided", "zbd"],
            bad: &["some"],
        }
        /// Bytes of I/O in a zone before the next one.
        zonesize: Bytes = "0" as "zonesize" {
            good: &["0", "1m"],
            bad: &["big"],
        }
        /// Bytes of a zone that can be written; all of them if 0.
        zonecapacity: Bytes = "0" as "zonecapacity" {
            built: Built::No,
            needs: &["zonemode"],
            good: &["0", "1m"],
            bad: &["big"],
        }
        /// Bytes that a zone extends over; `zonesize` if 0.
        zonerange: Bytes = "0" as "zonerange" {
            good: &["0", "4m"],
            bad: &["wide"],
        }
        /// Bytes left out between two zones.
        zoneskip: Amount = "0" as "zoneskip" {
            zones: true,
            good: &["0", "1m", "2z"],
            bad: &["some"],
        }
        /// Read past the write pointer of a zone too.
        read_beyond_wp: bool = "0" as "read_beyond_wp" {
            built: Built::No,
            needs: &["zonemode"],
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Most zones open for writing at once, over all jobs; 0 for the device's limit.
        max_open_zones: u32 = "0" as "max_open_zones" {
            built: Built::No,
            needs: &["zonemode"],
            min: Some(0),
            max: Some(4096),
            good: &["0", "8"],
            bad: &["4097", "few"],
        }
        /// Most zones that one job has open for writing at once; 0 for no such limit.
        job_max_open_zones: u32 = "0" as "job_max_open_zones" {
            built: Built::No,
            needs: &["zonemode"],
            min: Some(0),
            max: Some(4096),
            good: &["0", "8"],
            bad: &["4097", "few"],
        }
        /// Do not ask the device for its limits on open zones.
        ignore_zone_limits: bool = "0" as "ignore_zone_limits" {
            built: Built::No,
            needs: &["zonemode"],
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Reset zones once this share of the range holds data, from 0 to 1.
        zone_reset_threshold: Option<f64> = "" as "zone_reset_threshold" {
            built: Built::No,
            needs: &["zonemode"],
            min: Some(0),
            max: Some(1),
            good: &["0.5", "1"],
            bad: &["1.5", "half"],
        }
        /// Zone resets per write, from 0 to 1.
        zone_reset_frequency: Option<f64> = "" as "zone_reset_frequency" {
            built: Built::No,
            needs: &["zonemode"],
            min: Some(0),
            max: Some(1),
            good: &["0.5", "1"],
            bad: &["1.5", "often"],
        }
        /// After a failed write, read the write pointer and go on.
        recover_zbd_write_error: bool = "0" as "recover_zbd_write_error" {
            built: Built::No,
            needs: &["zonemode"],
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// What is done with the end of a zone that a block does not fit in.
        write_zone_remainder: bool = "0" as "write_zone_remainder" {
            built: Built::No,
            needs: &["zonemode"],
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
    }
}
