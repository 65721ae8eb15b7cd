//! The state of a device's write cache, as the kernel and the device report it,
//! and changing the kernel's setting.

use iosonde_base::Errno;
use iosonde_command::format::printable;
use iosonde_direct::lock::{LockKind, Patience, lock};
use iosonde_direct::stack::{Layer, LayerKind, Mount, Stack};
use iosonde_direct::sysfs::{self, Tree};
use iosonde_direct::{DeviceFacts, Fact, WriteCache};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The write cache of one disk.
#[derive(Clone, Debug)]
pub struct CacheFacts {
    /// The kernel's name: `sda`, `loop0`.
    pub disk: String,
    /// Its kind.
    pub kind: LayerKind,
    /// The disks right below.
    pub below: Vec<String>,
    /// The kernel's setting, which decides whether it sends flushes.
    pub kernel: Fact<WriteCache>,
    /// The option of the file system above it that makes it send no flushes.
    pub no_barriers: Option<&'static str>,
    /// Whether single writes can be made durable without a flush of all.
    pub fua: Fact<bool>,
    /// What the device reports.
    pub reported: Fact<DeviceReport>,
}

/// The cache that a device reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// The text.
    pub words: String,
    /// Where it was read.
    pub place: String,
}

impl DeviceReport {
    /// Whether it reports a volatile cache that is on.
    pub fn is_volatile(&self) -> bool {
        self.words.starts_with("write back")
    }
}

/// All disks below a path, each once, from the top down.
///
/// # Errors
/// The path does not exist.
pub fn below(path: &Path) -> Result<(Stack, Vec<CacheFacts>), String> {
    let stack = stack(path)?;
    let mut disks: Vec<CacheFacts> = Vec::new();
    let option = stack.mount.as_ref().and_then(no_barriers);
    for layer in &stack.devices {
        add(layer, option, &mut disks);
    }
    Ok((stack, disks))
}

fn add(layer: &Layer, option: Option<&'static str>, disks: &mut Vec<CacheFacts>) {
    if layer.kind != LayerKind::Partition && !disks.iter().any(|facts| facts.disk == layer.name) {
        disks.push(CacheFacts { no_barriers: option, ..facts_of(layer) });
    }
    let option = match &layer.kind {
        // What is not sent to a loop device does not reach those below it either.
        LayerKind::Loop(file) => option.or_else(|| {
            Stack::under(file).ok().and_then(|stack| stack.mount.as_ref().and_then(no_barriers))
        }),
        _ => option,
    };
    layer.below.iter().for_each(|below| add(below, option, disks));
}

/// The option of a mount that makes its file system send no flushes.
fn no_barriers(mount: &Mount) -> Option<&'static str> {
    let has = |name: &str, value: &str| mount.option(name) == Some(value);
    match mount.filesystem.as_str() {
        "overlay" if mount.has_option("volatile") || has("fsync", "volatile") => Some("volatile"),
        _ if mount.has_option("nobarrier") => Some("nobarrier"),
        _ if has("barrier", "0") => Some("barrier=0"),
        _ if has("fsync_mode", "nobarrier") => Some("fsync_mode=nobarrier"),
        _ => None,
    }
}

fn stack(path: &Path) -> Result<Stack, String> {
    let name = printable(path);
    if let Err(error) = fs::metadata(path) {
        let node = Path::new("/dev").join(path);
        let meant = if node.exists() && path.is_relative() {
            format!("; did you mean {}?", printable(node))
        } else {
            String::new()
        };
        return Err(format!("{name}: {}{meant}", iosonde_base::bare(&error.to_string())));
    }
    let stack = Stack::under(path).map_err(|error| format!("{name}: {error}"))?;
    Ok(behind_overlay(&stack).unwrap_or(stack))
}

/// The devices of the directory that an overlayfs shows, below the mount of the overlay.
fn behind_overlay(stack: &Stack) -> Option<Stack> {
    let mount = stack.mount.as_ref().filter(|_| stack.devices.is_empty())?;
    let behind = Tree::here().behind_overlay(mount, &stack.path)?;
    let devices = Stack::under(&behind).ok()?.devices;
    Some(Stack { devices, ..stack.clone() })
}

fn facts_of(layer: &Layer) -> CacheFacts {
    let facts = DeviceFacts::of(layer.id);
    CacheFacts {
        disk: layer.name.clone(),
        kind: layer.kind.clone(),
        below: layer.below.iter().map(|layer| layer.disk().name.clone()).collect(),
        kernel: facts.write_cache,
        no_barriers: None,
        fua: facts.fua,
        reported: reported(Path::new("/"), &layer.name, &layer.kind),
    }
}

/// What the device itself says, in the tree below `root`.
fn reported(root: &Path, disk: &str, kind: &LayerKind) -> Fact<DeviceReport> {
    match kind {
        LayerKind::Loop(file) => {
            return Fact::unknown(format!(
                "it is backed by the file {}: see the devices below",
                printable(file)
            ));
        }
        LayerKind::Mapped(_) | LayerKind::Raid => {
            return Fact::unknown("it consists of other devices: see those below");
        }
        LayerKind::Disk | LayerKind::Partition => {}
    }
    let folder = Path::new("sys/class/block").join(disk);
    // Of SCSI disks, the driver sd's; of virtio's, the driver's reported.
    let scsi = fs::read_dir(root.join(&folder).join("device/scsi_disk")).into_iter().flatten();
    let scsi = scsi.flatten().map(|entry| {
        let place = Path::new("sys/class/scsi_disk").join(entry.file_name()).join("cache_type");
        (entry.path().join("cache_type"), place)
    });
    let virtio = folder.join("cache_type");
    let places = scsi.chain([(root.join(&virtio), virtio)]);
    for (path, place) in places {
        if let Ok(words) = fs::read_to_string(path) {
            let place = format!("/{}", printable(place));
            return Fact::Known(DeviceReport { words: printable(words.trim()), place });
        }
    }
    if disk.starts_with("nvme") {
        let why = "sysfs does not show NVMe's VWC; as root, nvme id-ctrl does (nvme-cli)";
        return Fact::unknown(why);
    }
    Fact::unknown("its driver does not report it in sysfs")
}

/// A disk with a setting that can be changed.
#[derive(Debug)]
pub struct WriteCacheSetting {
    /// The disk, by the kernel's name.
    pub disk: String,
    attribute: PathBuf,
    file: File,
}

impl WriteCacheSetting {
    /// The disk of the device that was named, and what is said of it.
    ///
    /// # Errors
    /// If it is no device, does not tell its view, or we may not change it.
    pub fn open(path: &Path) -> Result<(WriteCacheSetting, CacheFacts), String> {
        let (facts, attribute) = disk_at(path)?;
        let file = OpenOptions::new().write(true).open(&attribute).map_err(|error| {
            let help = match error.kind() {
                io::ErrorKind::PermissionDenied => "only root may change it",
                io::ErrorKind::ReadOnlyFilesystem => {
                    "/sys is mounted read-only, as in most containers; run it outside the container"
                }
                _ => "see dmesg",
            };
            format!("cannot change {}: {error}: {help}", attribute.display())
        })?;
        Ok((WriteCacheSetting { disk: facts.disk.clone(), attribute, file }, facts))
    }

    /// Lock the setting against other comparisons.
    ///
    /// # Errors
    /// If another comparison is running.
    pub fn lock(&self) -> Result<(), String> {
        lock(&self.file, LockKind::Exclusive, Patience::Try).map_err(|_| {
            format!(
                "another iosonde write-cache --around is at workload on {}: wait for it",
                self.disk
            )
        })
    }

    /// The setting's file in sysfs.
    pub fn attribute(&self) -> &Path {
        &self.attribute
    }

    /// The kernel's setting now.
    pub fn now(&self) -> Option<WriteCache> {
        view_in(&fs::read_to_string(&self.attribute).ok()?)
    }

    /// Change the setting.
    ///
    /// # Errors
    /// If the kernel refuses it or does not keep it; most kernels report no error then.
    pub fn set(&self, view: WriteCache) -> Result<(), String> {
        let attribute = self.attribute.display();
        let words = words_of(view);
        if let Err(error) = (&self.file).write_all(words.as_bytes()) {
            let why = match (view, Errno::known(&error)) {
                (WriteCache::Back, Some(Errno::EINVAL)) => {
                    ": its driver reports no volatile cache, so there is nothing to flush"
                }
                _ => "",
            };
            return Err(format!("write \"{words}\" to {attribute}: {error}{why}"));
        }
        match self.now() {
            Some(now) if now == view => Ok(()),
            Some(_) if view == WriteCache::Back => Err(format!(
                "{} stays write through: its driver reports no volatile cache, so there is \
                 nothing to flush (the kernel accepted \"{words}\" for {attribute} and kept its own \
                 setting)",
                self.disk
            )),
            _ => Err(format!("{attribute} did not keep \"{words}\"")),
        }
    }

    /// Flush the disk's cache, for data written while no flushes were sent.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&self) -> io::Result<()> {
        File::open(Path::new("/dev").join(self.disk.replace('!', "/")))?.sync_all()
    }
}

/// The disk that was named, by its node or a partition's, and its attribute.
///
/// # Errors
/// If that is no disk, or it does not tell its view.
pub fn disk_at(path: &Path) -> Result<(CacheFacts, PathBuf), String> {
    let stack = stack(path)?;
    let disks: Vec<&str> = stack.devices.iter().map(|device| device.disk().name.as_str()).collect();
    let named = printable(path);
    let device = match (&stack.mount, stack.devices.as_slice()) {
        (None, [device]) => device.disk(),
        (_, []) => {
            return Err(format!("{named} is no block device, and none was found below it"));
        }
        _ => {
            let on = disks.join(", /dev/");
            return Err(format!("{named} is no block device; it is on /dev/{on}: use that"));
        }
    };
    let facts = facts_of(device);
    if let Some(why) = facts.kernel.why() {
        return Err(format!("{} has no setting to change: {why}", device.name));
    }
    let attribute =
        sysfs::root().join("sys/class/block").join(&device.name).join("queue/write_cache");
    Ok((facts, attribute))
}

/// A view in the kernel's words.
pub fn words_of(view: WriteCache) -> &'static str {
    match view {
        WriteCache::Back => "write back",
        WriteCache::Through => "write through",
    }
}

fn view_in(text: &str) -> Option<WriteCache> {
    [WriteCache::Back, WriteCache::Through].into_iter().find(|&view| words_of(view) == text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> PathBuf {
        let name = format!("iosonde-write-cache-{}-{:p}", std::process::id(), files);
        let root = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = root.join("sys/class/block").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn report_of(files: &[(&str, &str)], disk: &str) -> Fact<DeviceReport> {
        let root = tree(files);
        let reported = reported(&root, disk, &LayerKind::Disk);
        fs::remove_dir_all(root).unwrap();
        reported
    }

    #[test]
    fn a_scsi_disk_speaks_through_its_driver() {
        let daft = "write back, no read (daft)\n";
        let reported = report_of(&[("sda/device/scsi_disk/0:0:1:0/cache_type", daft)], "sda");
        let reported = reported.known().unwrap();
        assert!(reported.is_volatile());
        assert_eq!(reported.place, "/sys/class/scsi_disk/0:0:1:0/cache_type");
    }

    #[test]
    fn a_virtio_disk_speaks_and_nvme_does_not() {
        let reported = report_of(&[("vda/cache_type", "write through\n")], "vda");
        assert!(!reported.known().unwrap().is_volatile());
        assert!(report_of(&[("nvme0n1/size", "8")], "nvme0n1").why().unwrap().contains("VWC"));
        assert!(report_of(&[("mmcblk0/size", "8")], "mmcblk0").why().unwrap().contains("driver"));
    }

    #[test]
    fn only_the_kernels_own_words_are_a_view() {
        assert_eq!(view_in("write back\n"), Some(WriteCache::Back));
        assert_eq!(view_in("write through"), Some(WriteCache::Through));
        assert_eq!(view_in("back"), None);
    }
}
