//! The zones of one file: who makes them, and how many may be open.

use crate::job::FileKind;
use iosonde_engine::sim::SimulatedDevice;
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_sys::zones::{EmulatedZones, LinuxZones, ZoneDevice, ZonedModel};
use iosonde_workload::zbd::{ZoneLimits, ZoneShare, ZoneTable};
use std::path::Path;
use std::sync::Arc;

/// The least size of an emulated zone: a sector of the kernel's.
const ZONE_LEAST: u64 = 512;

/// The zones of one file.
#[derive(Clone, Debug)]
pub(super) struct ZoneTarget {
    /// What is known of them, shared by all jobs on the file.
    pub share: ZoneShare,
    /// Where commands go.
    pub device: Arc<dyn ZoneDevice>,
    /// They are those of a table only.
    pub is_emulated: bool,
    /// A device that takes writes at the pointers only.
    pub is_managed: bool,
    /// Bytes of the last zone.
    pub last_bytes: u64,
    /// `max_open_zones` of the job that came first.
    pub open_max_given: u32,
}

impl ZoneTarget {
    /// The zones of a file of `bytes`.
    ///
    /// # Errors
    /// If it has none, or those cannot be had that the job wants.
    pub fn of(
        spec: &JobSpec,
        path: &Path,
        kind: FileKind,
        bytes: u64,
    ) -> Result<ZoneTarget, Diagnostic> {
        let device = match kind {
            FileKind::Block => LinuxZones::at(path),
            _ => None,
        };
        match device {
            Some(device) => of_device(spec, path, device),
            None => emulated(spec, path, kind, bytes),
        }
    }

    /// The zones of a simulated device, which allows `of_device` open ones; 0 for no limit.
    ///
    /// # Errors
    /// If the job wants more open zones, or there are none.
    pub fn simulated(
        spec: &JobSpec,
        path: &Path,
        device: Arc<SimulatedDevice>,
        of_device: u32,
    ) -> Result<ZoneTarget, Diagnostic> {
        let unknown = |why: String| about_size(spec, format!("{}: {why}", path.display()));
        let reports =
            device.report(None, 0, usize::MAX).map_err(|errno| unknown(errno.to_string()))?;
        let limits = ZoneLimits { open_max: open_max(spec, of_device)? as usize };
        let table = ZoneTable::new(&reports, limits).map_err(|error| unknown(error.to_string()))?;
        Ok(ZoneTarget {
            last_bytes: reports.last().map_or(0, |zone| zone.len),
            share: ZoneShare::new(table),
            // Nothing of it is in a page cache, so that nothing needs direct=1.
            is_managed: false,
            device,
            is_emulated: false,
            open_max_given: *spec.zones.max_open_zones.get(),
        })
    }
}

/// The zones that a device reports.
fn of_device(spec: &JobSpec, path: &Path, device: LinuxZones) -> Result<ZoneTarget, Diagnostic> {
    let path = path.display();
    let unknown = |why: String| {
        Diagnostic::error(format!("{path}: its zones cannot be used: {why}"))
            .about("zonemode", spec.zones.zonemode.origin())
    };
    let reports = device.report_all().map_err(|errno| unknown(errno.to_string()))?;
    let of_device = match (device.open_max, device.active_max) {
        (0, limit) | (limit, 0) => limit,
        (open, active) => open.min(active),
    };
    let limits = ZoneLimits { open_max: open_max(spec, of_device)? as usize };
    let table = ZoneTable::new(&reports, limits).map_err(|error| unknown(error.to_string()))?;
    let (given, is) = (spec.zones.zonesize.get().0, table.zone_bytes());
    if given > 0 && given != is {
        let words =
            format!("{path} job parameter zonesize {given} does not match disk zone size {is}.");
        return Err(Diagnostic::error(words)
            .as_fio()
            .about("zonesize", spec.zones.zonesize.origin())
            .help(format!("leave zonesize out, or set zonesize={is}")));
    }
    Ok(ZoneTarget {
        last_bytes: reports.last().map_or(0, |zone| zone.len),
        share: ZoneShare::new(table),
        is_managed: device.model == ZonedModel::HostManaged,
        device: Arc::new(device),
        is_emulated: false,
        open_max_given: *spec.zones.max_open_zones.get(),
    })
}

/// The sizes that a job's options give zones where no device has any.
pub(super) struct ZoneLayout {
    /// From one zone to the next.
    pub size: u64,
    /// Bytes of it that can be used.
    pub capacity: u64,
}

impl ZoneLayout {
    /// Zones over `bytes`.
    ///
    /// # Errors
    /// If no such zone fits, or its size is not given.
    pub fn new(
        spec: &JobSpec,
        path: &Path,
        kind: FileKind,
        bytes: u64,
    ) -> Result<ZoneLayout, Diagnostic> {
        let zones = &spec.zones;
        let (path, size) = (path.display(), zones.zonesize.get().0);
        if size == 0 {
            return Err(about_size(
                spec,
                format!(
                    "{path}: Specifying the zone size is mandatory for regular file/block device \
                     with --zonemode=zbd"
                ),
            )
            .help("set zonesize=, for example zonesize=1m"));
        }
        if size < ZONE_LEAST {
            let words = "zone size must be at least 512 bytes for --zonemode=zbd";
            return Err(
                about_size(spec, format!("{path}: {words}")).help("set zonesize=512 or more")
            );
        }
        let capacity = match zones.zonecapacity.get().0 {
            0 => size,
            capacity if capacity > size => {
                let words = format!(
                    "{path}: job parameter zonecapacity {capacity} is larger than zone size {size}"
                );
                return Err(Diagnostic::error(words)
                    .about("zonecapacity", zones.zonecapacity.origin())
                    .help(format!("set zonecapacity={size} or less")));
            }
            capacity => capacity,
        };
        if bytes < size {
            let words =
                format!("{path}: file/device size {bytes} is smaller than zone size {size}");
            let help = match kind {
                FileKind::Regular => {
                    "zones are laid over a file that exists: make it first, for example with \
                     truncate -s"
                }
                _ => "set a smaller zonesize=",
            };
            return Err(about_size(spec, words).help(help));
        }
        Ok(ZoneLayout { size, capacity })
    }
}

fn about_size(spec: &JobSpec, words: String) -> Diagnostic {
    Diagnostic::error(words).about("zonesize", spec.zones.zonesize.origin())
}

/// Zones in a table, as fio emulates them: empty at the start, whatever the file holds.
fn emulated(
    spec: &JobSpec,
    path: &Path,
    kind: FileKind,
    bytes: u64,
) -> Result<ZoneTarget, Diagnostic> {
    let ZoneLayout { size, capacity } = ZoneLayout::new(spec, path, kind, bytes)?;
    let limits = ZoneLimits { open_max: open_max(spec, 0)? as usize };
    let table = ZoneTable::emulated(bytes, size, capacity, limits)
        .map_err(|error| about_size(spec, format!("{}: {error}", path.display())))?;
    Ok(ZoneTarget {
        share: ZoneShare::new(table),
        device: Arc::new(EmulatedZones),
        is_emulated: true,
        is_managed: false,
        last_bytes: if bytes.is_multiple_of(size) { size } else { bytes % size },
        open_max_given: *spec.zones.max_open_zones.get(),
    })
}

/// How many zones may be open, where the device allows `of_device`; 0 for no limit.
fn open_max(spec: &JobSpec, of_device: u32) -> Result<u32, Diagnostic> {
    let given = &spec.zones.max_open_zones;
    match (*given.get(), *spec.zones.ignore_zone_limits.get()) {
        (asked, true) => Ok(asked),
        (0, false) => Ok(of_device),
        (asked, false) if of_device > 0 && asked > of_device => Err(Diagnostic::error(format!(
            "Specified --max_open_zones ({asked}) is larger than max ({of_device})"
        ))
        .about("max_open_zones", given.origin())
        .help(format!("set max_open_zones={of_device} or less, or ignore_zone_limits=1"))),
        (asked, false) => Ok(asked),
    }
}
