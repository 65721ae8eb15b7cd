//! The simulated devices of `ioengine=sim`: one for each name, shared by its jobs.

use super::clone_of::CloneOf;
use super::files::Parts;
use super::refuse::about;
use super::{Planner, engine};
use crate::job::VerifyPlan;
use iosonde_base::ZoneReport;
use iosonde_base::text::bytes;
use iosonde_engine::EngineSettings;
use iosonde_engine::sim::{SimSettings, SimulatedDevice};
use iosonde_options::Diagnostic;
use iosonde_sys::memory::available_bytes;
use std::path::Path;
use std::sync::Arc;

impl Planner<'_> {
    /// A new device at `path` with sequential zones of `size` bytes, of which `capacity` can be
    /// used, over `bytes`. With it the limit on open zones that it sets, 0 for none.
    pub(super) fn zoned_device(
        &mut self,
        of: &CloneOf<'_>,
        path: &Path,
        [bytes, size, capacity]: [u64; 3],
    ) -> Result<(Arc<SimulatedDevice>, u32), Diagnostic> {
        let settings = engine::settings(of.job, (of.number, of.clone), of.engine, &[])?;
        let SimSettings { zones, .. } = settings.of();
        let reports: Vec<ZoneReport> = (0..bytes.div_ceil(size))
            .map(|number| {
                let (start, len) = (number * size, size.min(bytes - number * size));
                if number < u64::from(zones.conventional) {
                    ZoneReport::conventional(start, len)
                } else {
                    ZoneReport::empty(start, len, capacity.min(len))
                }
            })
            .collect();
        let device = Arc::new(SimulatedDevice::new(&reports, zones));
        self.simulated.insert(path.to_owned(), device.clone());
        let open_max = match (zones.open_max, zones.active_max) {
            (0, limit) | (limit, 0) => limit,
            (open, active) => open.min(active),
        };
        Ok((device, open_max))
    }

    /// Give a job the devices of its files, where it needs any: zones, or data that it checks.
    ///
    /// # Errors
    /// If the data does not fit into memory.
    pub(super) fn simulate(
        &mut self,
        of: &CloneOf<'_>,
        parts: &Parts,
        verify: Option<&VerifyPlan>,
        settings: &mut EngineSettings,
    ) -> Result<(), Diagnostic> {
        let zoned = !parts.zones.is_empty();
        if !of.engine.caps.simulates || !(zoned || verify.is_some()) {
            return Ok(());
        }
        if verify.is_some() {
            fits(of, parts)?;
        }
        let mut devices = Vec::with_capacity(parts.files.len());
        for file in &parts.files {
            let device = self.simulated.entry(file.path.clone()).or_default();
            if verify.is_some() {
                device.keep_data();
            }
            devices.push(device.clone());
        }
        settings.change(|settings: &mut SimSettings| settings.devices = devices);
        Ok(())
    }
}

/// Whether there is memory for the data of a job that verifies.
fn fits(of: &CloneOf<'_>, parts: &Parts) -> Result<(), Diagnostic> {
    let needed = parts.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes));
    let needed = needed.min(parts.total_bytes);
    match available_bytes() {
        Some(available) if needed > available => {
            let words = format!(
                "ioengine=sim keeps the data of jobs that verify in memory: up to {}, and {} is \
                 available",
                bytes(needed),
                bytes(available)
            );
            Err(about(&of.job.spec.verify.verify, "verify", words).help("use a smaller size"))
        }
        _ => Ok(()),
    }
}
