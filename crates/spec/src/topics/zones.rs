//! Zones of a file, or of a zoned block device.

use iosonde_options::{Amount, Bytes, Category, options};

use crate::values::ZoneMode;

options! {
    /// Zones
    pub struct ZonesOptions in Category::Zone {
        /// How zones are used.
        zonemode: ZoneMode = "none" as "zonemode" {
            with: &["zonesize=1m"],
            good: &["strided", "zbd"],
        }
        /// Size of a zone; with `zonemode=strided` the bytes of I/O in each zone.
        zonesize: Bytes = "0" as "zonesize" {
            with: &["zonemode=strided"],
            good: &["1m", "64k"],
            bad: &["3z", "big"],
        }
        /// Usable bytes of a zone; 0 for all.
        zonecapacity: Bytes = "0" as "zonecapacity" {
            needs: &["zonemode"],
            with: &["zonemode=zbd", "zonesize=1m"],
            good: &["0", "1m"],
        }
        /// Bytes that a strided zone spans; 0 for `zonesize`.
        zonerange: Bytes = "0" as "zonerange" {
            with: &["zonemode=strided", "zonesize=1m"],
            good: &["0", "4m"],
            bad: &["3z", "wide"],
        }
        /// Bytes to skip between two zones.
        zoneskip: Amount = "0" as "zoneskip" {
            zones: true,
            with: &["zonemode=strided", "zonesize=1m"],
            good: &["0", "1m", "2z"],
        }
        /// Read beyond the write pointer of a zone.
        read_beyond_wp: bool = "0" as "read_beyond_wp" {
            needs: &["zonemode"],
            with: &["zonemode=zbd", "zonesize=1m"],
        }
        /// Maximum number of zones open for writing, over all jobs; 0 for the device's limit.
        max_open_zones: u32 = "0" as "max_open_zones" {
            needs: &["zonemode"],
            min: Some(0),
            max: Some(4096),
            with: &["zonemode=zbd", "zonesize=1m"],
            good: &["0", "8"],
            bad: &["4097", "few"],
        }
        /// Maximum number of zones a job has open for writing; 0 for no limit.
        job_max_open_zones: u32 = "0" as "job_max_open_zones" {
            needs: &["zonemode"],
            min: Some(0),
            max: Some(4096),
            with: &["zonemode=zbd", "zonesize=1m", "max_open_zones=16"],
            good: &["0", "8"],
            bad: &["4097", "few"],
        }
        /// Ignore the device's limits on open zones.
        ignore_zone_limits: bool = "0" as "ignore_zone_limits" {
            needs: &["zonemode"],
            with: &["zonemode=zbd", "zonesize=1m"],
        }
        /// Reset zones once this fraction of the range holds data, from 0 to 1.
        zone_reset_threshold: Option<f64> = "" as "zone_reset_threshold" {
            needs: &["zonemode"],
            min: Some(0),
            max: Some(1),
            with: &["zonemode=zbd", "zonesize=1m"],
            good: &["0.5", "1"],
            bad: &["1.5", "half"],
        }
        /// Zone resets per write, from 0 to 1.
        zone_reset_frequency: Option<f64> = "" as "zone_reset_frequency" {
            needs: &["zonemode"],
            min: Some(0),
            max: Some(1),
            with: &["zonemode=zbd", "zonesize=1m"],
            good: &["0.5", "1"],
            bad: &["1.5", "often"],
        }
        /// After a failed write, read the write pointer and continue.
        recover_zbd_write_error: bool = "0" as "recover_zbd_write_error" {
            needs: &["zonemode"],
            with: &["zonemode=zbd", "zonesize=1m"],
        }
        /// Fill the rest of a zone with a smaller write rather than finish the zone.
        write_zone_remainder: bool = "0" as "write_zone_remainder" {
            needs: &["zonemode"],
            with: &["zonemode=zbd", "zonesize=1m"],
        }
    }
}
