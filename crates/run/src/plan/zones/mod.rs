//! `zonemode=zbd`: the zones of a job's files, emulated or those of a device.

mod rules;

use super::Planner;
use super::clone_of::CloneOf;
use super::files::{FileRange, Named, Parts};
use super::job_io::JobIo;
use super::zone_target::{ZoneLayout, ZoneTarget};
use crate::job::VerifyPlan;
use iosonde_engine::ZoneDevices;
use iosonde_options::{Amount, Diagnostic};
use iosonde_spec::JobSpec;
use iosonde_spec::values::ZoneMode;
use iosonde_sys::zones::LinuxZones;
use iosonde_verify::Checks;
use iosonde_workload::zbd::{ResetRule, ZbdSpec, round_range};
use std::path::Path;

pub(super) use rules::check_all;

impl Planner<'_> {
    /// The zones of one file. Jobs on one file share them.
    pub(super) fn zone_target(
        &mut self,
        of: &CloneOf<'_>,
        named: &Named,
        bytes: u64,
    ) -> Result<ZoneTarget, Diagnostic> {
        let spec = &of.job.spec;
        if let Some(known) = self.zones.get(&named.path) {
            rules::same_limit(spec, known, named)?;
            return Ok(known.clone());
        }
        let target = if of.engine.caps.simulates {
            let layout = ZoneLayout::new(spec, &named.path, named.kind, bytes)?;
            let sizes = [bytes, layout.size, layout.capacity];
            let (device, open_max) = self.zoned_device(of, &named.path, sizes)?;
            ZoneTarget::simulated(spec, &named.path, device, open_max)?
        } else {
            ZoneTarget::of(spec, &named.path, named.kind, bytes)?
        };
        self.zones.insert(named.path.clone(), target.clone());
        Ok(target)
    }

    /// Hold the range of a file to whole zones.
    pub(super) fn round_to_zones(
        &mut self,
        of: &CloneOf<'_>,
        io: &JobIo,
        named: &Named,
        target: &ZoneTarget,
        range: &mut FileRange,
    ) -> Result<(), Diagnostic> {
        let spec = &of.job.spec;
        rules::fit(spec, io, named, target)?;
        let (path, table) = (named.path.display(), target.share.lock());
        let zones_end = table.start(table.len() - 1) + target.last_bytes;
        let within = range.bytes.min(zones_end.saturating_sub(range.offset));
        let rounded = round_range(&table, range.offset, within, io.dirs).map_err(|_| {
            Diagnostic::error(format!("{path}: io_size must be at least one zone"))
                .about("size", spec.size.size.origin())
                .help(format!("a zone has {} bytes: give a larger size=", table.zone_bytes()))
        })?;
        drop(table);
        if rounded.offset != range.offset {
            let (from, to) = (range.offset, rounded.offset);
            self.note(Diagnostic::warning(format!(
                "{path}: rounded up offset from {from} to {to}"
            )));
        }
        if let Some(before) = rounded.bytes_before {
            let word = if io.dirs.0[1] || io.dirs.0[2] { "rounded down" } else { "rounded" };
            let after = rounded.bytes;
            self.note(Diagnostic::warning(format!(
                "{path}: {word} io_size from {before} to {after}"
            )));
        }
        (range.offset, range.bytes) = (rounded.offset, rounded.bytes);
        (range.later_offset, range.end) = (rounded.offset, range.end.min(zones_end));
        rules::open_at_start(spec, io, named, target, range)
    }
}

/// A target that exists only in a job's options ends where `filesize` says, whole blocks or not.
pub(super) fn widen_to_filesize(spec: &JobSpec, range: &mut FileRange) {
    let Some(size) = spec.size.filesize.get() else { return };
    let (least, most) = (size.0.min.0, size.0.max.0);
    if least == most && most > range.offset {
        (range.bytes, range.end) = (most - range.offset, most);
    }
}

/// What the source of a clone needs to know of zones; none without `zonemode=zbd`.
///
/// # Errors
/// If its options contradict each other.
pub(super) fn zbd(
    of: &CloneOf<'_>,
    io: &JobIo,
    parts: &Parts,
    verify: Option<&VerifyPlan>,
    depth: u32,
) -> Result<Option<ZbdSpec>, Diagnostic> {
    let spec = &of.job.spec;
    if *spec.zones.zonemode.get() != ZoneMode::Zbd {
        return Ok(None);
    }
    rules::agree(of, io, parts, verify, depth)?;
    let zones = &spec.zones;
    let of_rule = |share: Option<f64>| share.unwrap_or(0.0);
    let rule = ResetRule {
        threshold: of_rule(*zones.zone_reset_threshold.get()),
        frequency: of_rule(*zones.zone_reset_frequency.get()),
    };
    let zbd = ZbdSpec {
        files: parts.zones.iter().map(|target| target.share.clone()).collect(),
        read_beyond_wp: *zones.read_beyond_wp.get(),
        job_open_max: *zones.job_max_open_zones.get() as usize,
        write_remainder: *zones.write_zone_remainder.get(),
        skip: match zones.zoneskip.get() {
            Amount::Bytes(bytes) => *bytes,
            _ => 0,
        },
        reset: (rule.threshold > 0.0 && rule.frequency > 0.0).then_some(rule),
        recover: *zones.recover_zbd_write_error.get()
            && parts.zones.iter().any(|target| !target.is_emulated),
        imagined: verify.is_some_and(|plan| plan.spec.checks == Checks::WithoutWriting),
    };
    Ok(Some(if zbd.imagined { zbd.private_copy() } else { zbd }))
}

/// Where commands to the zones of each file go; none without `zonemode=zbd`.
pub(super) fn devices(parts: &Parts) -> Option<ZoneDevices> {
    let devices: ZoneDevices = parts.zones.iter().map(|target| target.device.clone()).collect();
    (!devices.is_empty()).then_some(devices)
}

/// Turn sizes in zones into bytes where the size of a zone is the device's: `zonesize` need
/// not be given then.
pub(super) fn sizes_in_device_zones(spec: &mut JobSpec) -> Option<Diagnostic> {
    let zones = &spec.zones;
    let given = *zones.zonemode.get() != ZoneMode::Zbd || zones.zonesize.get().0 > 0;
    if given || spec.first_in_zones().is_none() {
        return None;
    }
    let names = spec.files.filename.get().as_ref()?;
    let device = names.0.iter().find_map(|name| LinuxZones::at(Path::new(name)))?;
    let zone = device.first_zone().ok()?;
    spec.zones_to_bytes(zone.len)
}
