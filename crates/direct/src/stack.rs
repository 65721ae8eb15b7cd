//! The stack below a path: the mount, its filesystem, and the devices below,
//! down to those that are made of nothing else.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform;

/// The numbers of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl DeviceId {
    /// Read `254:0`.
    pub fn parse(text: &str) -> Option<DeviceId> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceId { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// From the `st_dev` or `st_rdev` of a file.
    pub fn from_raw(device: u64) -> DeviceId {
        crate::platform::device_id(device)
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A mounted filesystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The number that statx(2) knows it by.
    pub id: u64,
    /// Its device, as files on it have it; major 0 is no device.
    pub device: DeviceId,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Its type: `ext4`.
    pub filesystem: String,
    /// The mounted source: often a path in /dev.
    pub source: OsString,
    /// The folder of the filesystem that is seen at the mount point; `/`
    /// unless a part of it is mounted.
    pub root: PathBuf,
    /// How it is mounted there: `rw,relatime`.
    pub options: String,
    /// How the filesystem is set up for all its mounts: `rw,data=ordered`.
    pub super_options: String,
}

impl Mount {
    /// Whether an option is set, for this mount or for the filesystem: `ro`,
    /// `nodatacow`, or one with a value by its name, `compress`.
    pub fn has_option(&self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// The value of an option (`journal` for `data=journal`), empty for one
    /// without.
    pub fn option(&self, name: &str) -> Option<&str> {
        let all = self.options.split(',').chain(self.super_options.split(','));
        all.map(|option| option.split_once('=').unwrap_or((option, "")))
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

/// The kind of a layer's device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// Made of nothing else that the system knows.
    Disk,
    /// A part of the disk below.
    Partition,
    /// Of device-mapper (LVM, multipath, crypt), with its name there.
    Mapped(Option<String>),
    /// Of md: a software RAID.
    Raid,
    /// A file, or another device, shown as a device.
    Loop(PathBuf),
}

/// A block device and what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The kernel's name: `vda1`, `dm-0`.
    pub name: String,
    /// Its numbers.
    pub id: DeviceId,
    /// What it is.
    pub kind: LayerKind,
    /// The disk of a partition, the parts of a mapped device or a RAID, what
    /// is below the file of a loop device.
    pub below: Vec<Layer>,
}

impl Layer {
    /// This layer, or the disk it is a part of.
    pub fn disk(&self) -> &Layer {
        match (&self.kind, self.below.first()) {
            (LayerKind::Partition, Some(disk)) => disk,
            _ => self,
        }
    }

    /// This layer and all below, each before what it is made of.
    pub fn walk(&self) -> Vec<&Layer> {
        let mut layers = vec![self];
        for layer in &self.below {
            layers.extend(layer.walk());
        }
        layers
    }
}

/// One line of fio's `Disk stats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskLine {
    /// The kernel's name of a whole disk, never of a partition.
    pub name: String,
    /// Its member disks; their counters are aggregated beside its own.
    pub parts: Vec<String>,
}

/// The stack below a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The path, without links; the nearest folder that exists if the path
    /// does not.
    pub path: PathBuf,
    /// The filesystem a file is on; `None` for a block device.
    pub mount: Option<Mount>,
    /// The devices right below: none for tmpfs and network filesystems,
    /// several for btrfs.
    pub devices: Vec<Layer>,
}

impl Stack {
    /// The stack below `path`, which may not exist yet.
    ///
    /// # Errors
    /// If the path cannot be looked up.
    pub fn under(path: &Path) -> io::Result<Stack> {
        platform::stack_under(path)
    }

    /// The disks that fio reports for this path: each whole disk right below,
    /// each followed by the disks it is made of. fio does not look through
    /// loop devices, so neither does this; [`Layer::walk`] does.
    pub fn disk_lines(&self) -> Vec<DiskLine> {
        let mut lines = Vec::new();
        for layer in &self.devices {
            add_lines(layer.disk(), &mut lines);
        }
        lines
    }
}

fn add_lines(disk: &Layer, lines: &mut Vec<DiskLine>) {
    if lines.iter().any(|line| line.name == disk.name) {
        return;
    }
    let made_of: &[Layer] = match disk.kind {
        LayerKind::Mapped(_) | LayerKind::Raid => &disk.below,
        LayerKind::Disk | LayerKind::Partition | LayerKind::Loop(_) => &[],
    };
    let mut parts: Vec<String> = Vec::new();
    for part in made_of.iter().map(Layer::disk) {
        if !parts.contains(&part.name) {
            parts.push(part.name.clone());
        }
    }
    lines.push(DiskLine { name: disk.name.clone(), parts });
    for part in made_of {
        add_lines(part.disk(), lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_back_as_shown() {
        let id = DeviceId { major: 254, minor: 1_048_575 };
        assert_eq!(DeviceId::parse(&id.to_string()), Some(id));
        assert_eq!(DeviceId::parse("8:1\n"), Some(DeviceId { major: 8, minor: 1 }));
        for text in ["", ":", "8", "8:", ":8", "8:-1", "8:1:2", "99999999999:0"] {
            assert_eq!(DeviceId::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,20}") {
            let _ = DeviceId::parse(&text);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn something_lies_under_every_path_that_exists() {
        let root = Stack::under(Path::new("/")).unwrap();
        assert_eq!(root.path, Path::new("/"));
        assert_eq!(root.mount.unwrap().point, Path::new("/"));
        let here = Stack::under(Path::new(".")).unwrap();
        assert!(here.path.is_absolute());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_that_is_not_there_yet_lies_on_its_nearest_folder() {
        let stack = Stack::under(Path::new("/no/such/thing/yet")).unwrap();
        assert_eq!(stack, Stack::under(Path::new("/")).unwrap());
    }
}
