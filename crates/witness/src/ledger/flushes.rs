//! Flushes: how many must have reached each device, by what was asked of it.

use super::wave;
use crate::evidence::{Evidence, JobEvidence};
use crate::reading::Location;
use iosonde_base::Dir;
use iosonde_report::ledger::DeviceLedger;
use iosonde_sys::stack::LayerKind;
use std::collections::BTreeSet;

/// From so many syncs on half of them must have been flushes; of fewer one.
const MANY: u64 = 20;

/// Set what was due, from the top down: flushes of one device are requests to what is
/// below it.
pub(super) fn set_due(devices: &mut [DeviceLedger], seen: &Evidence) {
    for place in &seen.places {
        let due = of_syncs(place, seen, devices);
        // Each of several devices of a file system gets the flushes, or its journal does.
        if let Some(at) = most_flushed(devices, &names(place), seen) {
            raise(&mut devices[at], due);
        }
    }
    // Devices stand before what they are made of.
    for at in 0..devices.len() {
        let upper = &devices[at];
        let arrived = upper.used.get().map_or(0, |used| used.flushes);
        // A flush at the edge of the run may be counted in one layer only.
        let due = match upper.kind.as_str() {
            "loop" if is_volatile(upper) => arrived / 2,
            // These count none, and pass them on.
            "mapped" | "raid" | "partition" => upper.flushes_due.unwrap_or(0),
            _ => 0,
        };
        let below: BTreeSet<String> = upper.made_of.iter().cloned().collect();
        if let Some(lower) = most_flushed(devices, &below, seen) {
            raise(&mut devices[lower], due);
        }
    }
}

fn raise(device: &mut DeviceLedger, due: u64) {
    if due > 0 {
        device.flushes_due = Some(device.flushes_due.unwrap_or(0).max(due));
    }
}

fn names(place: &Location) -> BTreeSet<String> {
    place.disks().chain(&place.journals).map(|layer| layer.name.clone()).collect()
}

/// The device that got most flushes of those with these names, if all of them need flushes
/// and count them, or pass them on.
fn most_flushed(
    devices: &[DeviceLedger],
    names: &BTreeSet<String>,
    seen: &Evidence,
) -> Option<usize> {
    let of_names = || (0..devices.len()).filter(|&at| names.contains(&devices[at].name));
    let passes_on =
        |device: &DeviceLedger| ["mapped", "raid", "partition"].contains(&device.kind.as_str());
    let is_fit = |at: usize| {
        let device = &devices[at];
        passes_on(device) || is_volatile(device) && counts(device, seen)
    };
    let flushes = |at: &usize| devices[*at].used.get().map_or(0, |used| used.flushes);
    if of_names().all(is_fit) { of_names().max_by_key(flushes) } else { None }
}

fn is_volatile(device: &DeviceLedger) -> bool {
    device.facts.write_cache.as_deref() == Some("write back")
}

/// Whether flushes are counted: by loop devices, and by a disk that has counted one since
/// the machine started. Multipath heads of NVMe, among others, never do.
fn counts(device: &DeviceLedger, seen: &Evidence) -> bool {
    let ever = || {
        let readings = seen.waves.iter().flat_map(|wave| &wave.after.devices);
        let mut own = readings.filter(|(name, _)| *name == device.name);
        own.any(|(_, counted)| counted.get().is_some_and(|counted| counted.flushes > 0))
    };
    device.used.get().is_some() && (device.kind == "loop" || ever())
}

/// Flushes that the syncs of the jobs on a file system or device must have led to.
fn of_syncs(place: &Location, seen: &Evidence, devices: &[DeviceLedger]) -> u64 {
    let has_fua = place.disks().any(|disk| {
        let found = devices.iter().find(|device| device.name == disk.name);
        found.is_some_and(|device| device.facts.fua == Some(true))
    });
    let on_place = |job: &&JobEvidence| {
        let mut files = job.inspected.iter().peekable();
        files.peek().is_some() && files.all(|file| file.device == place.device)
    };
    let syncs = |job: &JobEvidence| {
        if job.bytes[Dir::Write] == 0 {
            return 0;
        }
        // A direct write that bypasses the device's cache needs no flush.
        let writes =
            if job.options.sync && !(job.direct && has_fua) { job.ios[Dir::Write] } else { 0 };
        job.syncs.0.saturating_add(job.end_syncs).saturating_add(writes)
    };
    let jobs = || seen.jobs.iter().filter(on_place).filter(|job| wave(job, seen).is_some());
    let all: u64 = jobs().map(syncs).sum();
    // Syncs that are in flight at the same time share flushes: of several jobs, or of one
    // that queues them.
    let together: u64 =
        jobs().filter(|job| syncs(job) > 0).map(|job| u64::from(job.depth.max(1))).sum();
    match all {
        0 => 0,
        all if all < MANY => 1,
        all => (all / (2 * together.max(1))).max(1),
    }
}

/// The devices that a layer is made of, by name.
pub(super) fn made_of(layer: &iosonde_sys::stack::Layer) -> Vec<String> {
    let whole = |below: &iosonde_sys::stack::Layer| match layer.kind {
        // The disk of a partition counts for it.
        LayerKind::Loop(_) | LayerKind::Mapped(_) | LayerKind::Raid => below.disk().name.clone(),
        _ => below.name.clone(),
    };
    layer.below.iter().map(whole).collect()
}
