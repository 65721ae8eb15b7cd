//! What is said of a device's write cache, by the kernel and by the device,
//! and changing what the kernel holds.

use crate::commands::words::shown;
use iosonde_direct::stack::{Kind, Layer, Stack};
use iosonde_direct::{DeviceFacts, Fact, WriteCache};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is said of one disk.
#[derive(Clone, Debug)]
pub struct Told {
    /// The kernel's name: `sda`, `loop0`.
    pub disk: String,
    /// What it is made of.
    pub kind: Kind,
    /// The disks right below.
    pub below: Vec<String>,
    /// The kernel's view, by which it sends flushes or none.
    pub kernel: Fact<WriteCache>,
    /// Whether single writes can be made durable without a flush of all.
    pub fua: Fact<bool>,
    /// What the device says of itself.
    pub own: Fact<Own>,
}

/// What a device says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Its words.
    pub words: String,
    /// Where they stand.
    pub place: String,
}

impl Own {
    /// Whether it says that it has a volatile cache which is on.
    pub fn is_volatile(&self) -> bool {
        self.words.starts_with("write back")
    }
}

/// All disks below a path, each once, from the top down.
///
/// # Errors
/// What is wrong with the path, for a person.
pub fn below(path: &Path) -> Result<(Stack, Vec<Told>), String> {
    let stack = stack(path)?;
    let mut disks: Vec<Told> = Vec::new();
    for layer in stack.devices.iter().flat_map(Layer::walk) {
        if layer.kind != Kind::Partition && !disks.iter().any(|told| told.disk == layer.name) {
            disks.push(told(layer));
        }
    }
    Ok((stack, disks))
}

fn stack(path: &Path) -> Result<Stack, String> {
    let name = shown(path);
    if let Err(error) = fs::metadata(path) {
        let node = Path::new("/dev").join(path);
        let meant = match node.exists() && path.is_relative() {
            true => format!("; did you mean {}?", shown(node)),
            false => String::new(),
        };
        return Err(format!("{name}: {}{meant}", iosonde_base::bare(&error.to_string())));
    }
    Stack::under(path).map_err(|error| format!("{name}: {error}"))
}

fn told(layer: &Layer) -> Told {
    let facts = DeviceFacts::of(layer.id);
    Told {
        disk: layer.name.clone(),
        kind: layer.kind.clone(),
        below: layer.below.iter().map(|layer| layer.disk().name.clone()).collect(),
        kernel: facts.write_cache,
        fua: facts.fua,
        own: own(Path::new("/"), &layer.name, &layer.kind),
    }
}

/// What the device itself says, in the tree below `root`.
fn own(root: &Path, disk: &str, kind: &Kind) -> Fact<Own> {
    match kind {
        Kind::Loop(file) => {
            return Fact::unknown(format!("it is the file {}: what is below counts", shown(file)));
        }
        Kind::Mapped(_) | Kind::Raid => {
            return Fact::unknown("it is made of other devices: what is below counts");
        }
        Kind::Disk | Kind::Partition => {}
    }
    let folder = Path::new("sys/class/block").join(disk);
    // Of SCSI disks, the driver sd's; of virtio's, the driver's own.
    let scsi = fs::read_dir(root.join(&folder).join("device/scsi_disk")).into_iter().flatten();
    let scsi = scsi.flatten().map(|entry| {
        let place = Path::new("sys/class/scsi_disk").join(entry.file_name()).join("cache_type");
        (entry.path().join("cache_type"), place)
    });
    let virtio = folder.join("cache_type");
    let places = scsi.chain([(root.join(&virtio), virtio)]);
    for (path, place) in places {
        if let Ok(words) = fs::read_to_string(path) {
            let place = format!("/{}", shown(place));
            return Fact::Known(Own { words: shown(words.trim()), place });
        }
    }
    if disk.starts_with("nvme") {
        let why = "sysfs does not show NVMe's VWC; as root, nvme id-ctrl does (nvme-cli)";
        return Fact::unknown(why);
    }
    Fact::unknown("its driver does not show it in sysfs")
}

/// A disk whose view can be changed.
#[derive(Debug)]
pub struct Switch {
    /// The disk, by the kernel's name.
    pub disk: String,
    attribute: PathBuf,
    file: File,
}

impl Switch {
    /// The disk of the device that was named, and what is said of it.
    ///
    /// # Errors
    /// If it is no device, does not tell its view, or we may not change it.
    pub fn open(path: &Path) -> Result<(Switch, Told), String> {
        let (told, attribute) = disk_at(path)?;
        let file = OpenOptions::new().write(true).open(&attribute).map_err(|error| {
            let help = match error.kind() {
                io::ErrorKind::PermissionDenied => "only root may; run it as root",
                io::ErrorKind::ReadOnlyFilesystem => {
                    "/sys is mounted read-only, as in most containers; run it outside"
                }
                _ => "see dmesg",
            };
            format!("change {}: {error}: {help}", attribute.display())
        })?;
        Ok((Switch { disk: told.disk.clone(), attribute, file }, told))
    }

    /// Be the only one who switches back and forth here.
    ///
    /// # Errors
    /// If another is.
    pub fn lock(&self) -> Result<(), String> {
        let lock = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        rustix::fs::flock(&self.file, lock).map_err(|_| {
            format!("another iosonde write-cache --around is at work on {}: wait for it", self.disk)
        })
    }

    /// Where the view stands in sysfs.
    pub fn attribute(&self) -> &Path {
        &self.attribute
    }

    /// What the kernel holds now.
    pub fn now(&self) -> Option<WriteCache> {
        view_in(&fs::read_to_string(&self.attribute).ok()?)
    }

    /// Have the kernel take the disk for this.
    ///
    /// # Errors
    /// If it refuses, or does not keep it: most kernels say nothing then.
    pub fn set(&self, view: WriteCache) -> Result<(), String> {
        let attribute = self.attribute.display();
        let words = words_of(view);
        if let Err(error) = (&self.file).write_all(words.as_bytes()) {
            let why = match (view, error.raw_os_error()) {
                (WriteCache::Back, Some(libc::EINVAL)) => {
                    ": its driver says that it has no volatile cache, so there is nothing to flush"
                }
                _ => "",
            };
            return Err(format!("write \"{words}\" to {attribute}: {error}{why}"));
        }
        match self.now() {
            Some(now) if now == view => Ok(()),
            Some(_) if view == WriteCache::Back => Err(format!(
                "{} stays write through: its driver says that it has no volatile cache, so there \
                 is nothing to flush (the kernel took \"{words}\" for {attribute} and kept its own \
                 view)",
                self.disk
            )),
            _ => Err(format!("{attribute} did not keep \"{words}\"")),
        }
    }

    /// Have the disk put what is in its cache on the medium: what was written
    /// while no flush was sent.
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
pub fn disk_at(path: &Path) -> Result<(Told, PathBuf), String> {
    let stack = stack(path)?;
    let disks: Vec<&str> = stack.devices.iter().map(|device| device.disk().name.as_str()).collect();
    let named = shown(path);
    let device = match (&stack.mount, stack.devices.as_slice()) {
        (None, [device]) => device.disk(),
        (_, []) => {
            return Err(format!("{named} is no block device, and none is known to be below it"));
        }
        _ => {
            let on = disks.join(", /dev/");
            return Err(format!("{named} is no block device; it is on /dev/{on}: name that"));
        }
    };
    let told = told(device);
    if let Some(why) = told.kernel.why() {
        return Err(format!("{} has no view to change: {why}", device.name));
    }
    let attribute = Path::new("/sys/class/block").join(&device.name).join("queue/write_cache");
    Ok((told, attribute))
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

    fn said(files: &[(&str, &str)], disk: &str) -> Fact<Own> {
        let root = tree(files);
        let own = own(&root, disk, &Kind::Disk);
        fs::remove_dir_all(root).unwrap();
        own
    }

    #[test]
    fn a_scsi_disk_speaks_through_its_driver() {
        let daft = "write back, no read (daft)\n";
        let own = said(&[("sda/device/scsi_disk/0:0:1:0/cache_type", daft)], "sda");
        let own = own.known().unwrap();
        assert!(own.is_volatile());
        assert_eq!(own.place, "/sys/class/scsi_disk/0:0:1:0/cache_type");
    }

    #[test]
    fn a_virtio_disk_speaks_and_nvme_does_not() {
        let own = said(&[("vda/cache_type", "write through\n")], "vda");
        assert!(!own.known().unwrap().is_volatile());
        assert!(said(&[("nvme0n1/size", "8")], "nvme0n1").why().unwrap().contains("VWC"));
        assert!(said(&[("mmcblk0/size", "8")], "mmcblk0").why().unwrap().contains("driver"));
    }

    #[test]
    fn only_the_kernels_own_words_are_a_view() {
        assert_eq!(view_in("write back\n"), Some(WriteCache::Back));
        assert_eq!(view_in("write through"), Some(WriteCache::Through));
        assert_eq!(view_in("back"), None);
    }
}
