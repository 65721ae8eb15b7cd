//! Options of sim.

use super::SimulatedDevice;
use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_base::{Nanos, PerDir};
use iosonde_options::{Category, Diagnostic, FioSupport, TimeUnit, Triple, options};
use std::sync::Arc;

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<SimOptions>(SimOptions::OPTIONS);

options! {
    /// sim
    pub(super) struct SimOptions in Category::Engine {
        /// Latency of each I/O, or of reads, writes and trims; in microseconds.
        sim_latency: Triple<Nanos> = "100" as "sim_latency" {
            fio: FioSupport::OursAlone,
            unit: TimeUnit::Micros,
            good: &["0", "100", "10ms", "80,20"],
        }
        /// I/Os that the device works on together; further ones wait. 0 for no limit.
        ///
        /// The throughput of each job saturates at sim_channels / sim_latency.
        sim_channels: u32 = "0" as "sim_channels" {
            fio: FioSupport::OursAlone,
            max: Some(65_536),
            good: &["0", "24"],
            bad: &["many", "65537"],
        }
        /// With `zonemode=zbd`: number of conventional zones, at the start of the device.
        sim_conventional_zones: u32 = "0" as "sim_conventional_zones" {
            fio: FioSupport::OursAlone,
            good: &["0", "2"],
        }
        /// With `zonemode=zbd`: maximum number of open zones of the device; 0 for no limit.
        sim_max_open_zones: u32 = "0" as "sim_max_open_zones" {
            fio: FioSupport::OursAlone,
            good: &["0", "14"],
        }
        /// With `zonemode=zbd`: maximum number of active zones of the device; 0 for no limit.
        sim_max_active_zones: u32 = "0" as "sim_max_active_zones" {
            fio: FioSupport::OursAlone,
            good: &["0", "14"],
        }
        /// With `zonemode=zbd`: number of the write that fails half done; 0 for none.
        ///
        /// Writes to sequential zones count, from 1. Half of it is written, and the error is EIO.
        sim_failing_write: u64 = "0" as "sim_failing_write" {
            fio: FioSupport::OursAlone,
            good: &["0", "3"],
        }
    }
}

/// How a simulated device behaves, and the device of each of a job's files.
#[derive(Clone, Debug)]
pub struct SimSettings {
    /// Of each I/O, by direction.
    pub latency: PerDir<Nanos>,
    /// I/Os that it works on together; 0 for no limit.
    pub channels: u32,
    /// What the device's zones are like, if it has any.
    pub zones: SimZoneSettings,
    /// The devices of the job's files, in their order; of files without one no data
    /// is kept.
    pub devices: Vec<Arc<SimulatedDevice>>,
}

/// What the zones of a simulated device are like, besides their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimZoneSettings {
    /// Zones at the start that are written anywhere.
    pub conventional: u32,
    /// Open zones at most; 0 for no limit.
    pub open_max: u32,
    /// Active zones at most, open or closed; 0 for no limit.
    pub active_max: u32,
    /// The write, from 1, that fails half done; 0 for none.
    pub failing_write: u64,
}

impl Default for SimSettings {
    fn default() -> SimSettings {
        SimSettings {
            latency: PerDir::all(Nanos::from_micros(100)),
            channels: 0,
            zones: SimZoneSettings::default(),
            devices: Vec::new(),
        }
    }
}

impl OwnSettings for SimSettings {}

impl OwnOptions for SimOptions {
    type Settings = SimSettings;

    fn settings(&self, _: &JobContext) -> Result<SimSettings, Diagnostic> {
        Ok(SimSettings {
            latency: PerDir(self.sim_latency.get().0),
            channels: *self.sim_channels.get(),
            zones: SimZoneSettings {
                conventional: *self.sim_conventional_zones.get(),
                open_max: *self.sim_max_open_zones.get(),
                active_max: *self.sim_max_active_zones.get(),
                failing_write: *self.sim_failing_write.get(),
            },
            devices: Vec::new(),
        })
    }
}
