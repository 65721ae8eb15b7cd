//! Where files lie: the file system, and the devices below it.

use super::below::{LoopBacking, loop_backings};
use super::journal::journals;
use iosonde_direct::WriteCache;
use iosonde_direct::sysfs::{self, Tree};
use iosonde_report::ledger::{DeviceDescription, Fact, FilesystemFacts};
use iosonde_sys::files::{FileSystem, status};
use iosonde_sys::stack::{DeviceId, Layer, Mount, Stack};
use std::path::Path;

/// A file system, or a device that is used as it is.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The number of its device, as files on it have it.
    pub device: u64,
    /// The file system; `None` for a device.
    pub filesystem: Option<FilesystemFacts>,
    /// Devices right below.
    pub layers: Vec<Layer>,
    /// Devices of its journal or log, where those are elsewhere.
    pub journals: Vec<Layer>,
    /// The loop devices among all of these and below, and what they lie on.
    pub loops: Vec<LoopBacking>,
}

impl Location {
    /// The type of the file system; `device` for a device.
    pub fn kind(&self) -> &str {
        self.filesystem.as_ref().map_or("device", |filesystem| &filesystem.kind)
    }

    /// The whole disks right below: those with traffic of interest.
    pub fn disks(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().map(Layer::disk)
    }
}

/// The places of a run's files, each once.
#[derive(Clone, Debug, Default)]
pub struct Locations(pub Vec<Location>);

impl Locations {
    /// Look at where `path` lies, or will lie when it is made, unless that
    /// place is known already.
    pub fn add(&mut self, path: &Path) {
        let mut nearest = path;
        let status = loop {
            if let Ok(status) = status(nearest) {
                break status;
            }
            nearest = match nearest.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                Some(_) => Path::new("."),
                None => return,
            };
            if nearest == Path::new(".") && status(nearest).is_err() {
                return;
            }
        };
        let is_device = status.file_type().is_block_device();
        let device = if is_device { status.rdev() } else { status.dev() };
        if status.file_type().is_char_device() || self.0.iter().any(|at| at.device == device) {
            return;
        }
        let Ok(stack) = Stack::under(nearest) else { return };
        let filesystem = stack.mount.as_ref().map(|mount| {
            let (bytes, fill_share) = fill(nearest);
            FilesystemFacts {
                kind: mount.filesystem.clone(),
                mount_point: mount.point.display().to_string(),
                source: mount.source.to_string_lossy().into_owned(),
                options: options(&mount.options, &mount.super_options),
                bytes,
                fill_share,
            }
        });
        let (mount, layers) = below_overlay(stack);
        let journals = mount.as_ref().map_or(Vec::new(), |mount| journals(mount, &layers));
        let mut loops = loop_backings(&layers);
        loops.extend(loop_backings(&journals));
        self.0.push(Location { device, filesystem, layers, journals, loops });
    }

    /// Every device below, by name, with its level, the smallest where it is
    /// met more than once.
    pub fn devices(&self) -> Vec<(&Layer, u32)> {
        let mut found: Vec<(&Layer, u32)> = Vec::new();
        for layer in self.0.iter().flat_map(|place| place.layers.iter().chain(&place.journals)) {
            add(layer, 0, &mut found);
        }
        found
    }
}

fn add<'a>(layer: &'a Layer, level: u32, found: &mut Vec<(&'a Layer, u32)>) {
    match found.iter_mut().find(|(known, _)| known.name == layer.name) {
        Some((_, known)) => *known = level.min(*known),
        None => found.push((layer, level)),
    }
    layer.below.iter().for_each(|below| add(below, level + 1, found));
}

/// The file system that keeps the data, and its devices: of overlayfs those of the
/// directory that has the file.
fn below_overlay(stack: Stack) -> (Option<Mount>, Vec<Layer>) {
    let behind = |stack: &Stack| {
        let mount = stack.mount.as_ref().filter(|_| stack.devices.is_empty())?;
        // What is not there yet will be made in the upper directory.
        let path = if stack.path.is_file() { &stack.path } else { &mount.point };
        Stack::under(&Tree::here().behind_overlay(mount, path)?).ok()
    };
    match behind(&stack) {
        Some(behind) => (behind.mount, behind.devices),
        None => (stack.mount, stack.devices),
    }
}

/// Bytes of the file system at `path`, and the share that is taken.
fn fill(path: &Path) -> (u64, Fact<f64>) {
    match FileSystem::of(path) {
        Ok(found) if found.bytes > 0 => {
            let taken = found.bytes.saturating_sub(found.free_bytes);
            (found.bytes, Fact::Known(taken as f64 / found.bytes as f64))
        }
        Ok(_) => (0, Fact::unknown("the file system does not report its size")),
        Err(error) => (0, Fact::unknown(format!("statvfs(2): {error}"))),
    }
}

/// Options of a mount and of its file system, each once.
fn options(mount: &str, own: &str) -> String {
    let mut all: Vec<&str> = mount.split(',').collect();
    all.extend(own.split(',').filter(|option| !mount.split(',').any(|one| one == *option)));
    all.retain(|option| !option.is_empty());
    all.join(",")
}

/// Whether a device is a RAM disk.
pub(crate) fn is_of_memory(layer: &Layer) -> bool {
    ["zram", "ram"].iter().any(|driver| {
        let number = layer.name.strip_prefix(driver);
        number.is_some_and(|rest| rest.parse::<u32>().is_ok())
    })
}

/// The attributes that a device reports.
pub fn device_facts(name: &str, id: DeviceId) -> DeviceDescription {
    let facts = iosonde_direct::DeviceFacts::of(id);
    DeviceDescription {
        model: facts.model.known().cloned(),
        firmware: facts.firmware.known().cloned(),
        scheduler: facts.scheduler.known().cloned(),
        rotational: facts.rotational.get(),
        link: link(&facts.name),
        read_ahead_bytes: queue_figure(name, "read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
        write_cache: facts.write_cache.get().map(|cache| match cache {
            WriteCache::Back => "write back".to_owned(),
            WriteCache::Through => "write through".to_owned(),
        }),
        fua: facts.fua.get(),
        writeback_throttle_us: queue_figure(name, "wbt_lat_usec"),
        request_bytes_max: facts.io_bytes_max.get(),
        backing_direct: backing_direct(name),
    }
}

/// The PCIe link that an NVMe SSD has now; `None` for other devices. The disk's `device` is
/// its controller, and that one's is the PCI device.
fn link(name: &str) -> Option<String> {
    if !name.starts_with("nvme") {
        return None;
    }
    let tree = Tree::here();
    // A disk that is used whole is itself.
    let disk = tree.disk(name).unwrap_or_else(|| name.to_owned());
    let attribute = |of| tree.attribute(&disk, &format!("device/device/current_link_{of}"));
    Some(format!("{} x{}", attribute("speed")?.trim(), attribute("width")?.trim()))
}

/// Whether a loop device bypasses the page cache of its backing file; `None` for other
/// devices (sysfs, `loop/dio`).
fn backing_direct(name: &str) -> Option<bool> {
    let text = sysfs::text(&format!("sys/class/block/{name}/loop/dio")).ok()?;
    Some(text.trim() == "1")
}

/// A number from the device's queue in sysfs; a partition's is its disk's.
fn queue_figure(name: &str, figure: &str) -> Option<u64> {
    let folder = format!("sys/class/block/{}", name.replace('/', "!"));
    let text = std::fs::read_to_string(format!("{folder}/queue/{figure}"))
        .or_else(|_| std::fs::read_to_string(format!("{folder}/../queue/{figure}")));
    text.ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_looked_at_once() {
        let mut places = Locations::default();
        places.add(Path::new("/"));
        places.add(Path::new("/no/such/thing/yet"));
        places.add(Path::new("/dev/null"));
        assert_eq!(places.0.len(), 1);
        let facts = places.0[0].filesystem.as_ref().unwrap();
        assert_eq!(facts.mount_point, "/");
        assert!(!facts.options.is_empty());
    }

    #[test]
    fn options_of_both_kinds_are_told_once() {
        assert_eq!(options("rw,relatime", "rw,discard"), "rw,relatime,discard");
        assert_eq!(options("rw", ""), "rw");
    }
}
