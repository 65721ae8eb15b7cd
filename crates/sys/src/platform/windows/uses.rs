//! Which disks are in use, and how: by volumes that are mounted. Nothing is locked or dismounted.

use std::path::{Component, Path, PathBuf, Prefix};

use super::volumes::{Volume, volumes};
use crate::guard::{InUse, Use};
use crate::stack::DeviceId;

/// Whether it is NUL, by the number that `status` gives it.
pub(crate) fn is_harmless_character_device(id: DeviceId) -> bool {
    id == DeviceId { major: 1, minor: 3 }
}

/// Whether a character device may be given text: all that have a name here.
pub(crate) fn shows_text(_: DeviceId) -> bool {
    true
}

/// The volumes of the machine, read once. A device's number is that of its disk, and of the partition on it.
#[derive(Debug)]
pub(crate) struct Uses {
    volumes: Vec<Volume>,
}

impl Uses {
    pub(crate) fn now() -> Uses {
        Uses { volumes: volumes() }
    }

    pub(crate) fn node_name(&self, id: DeviceId) -> String {
        self.path_of(&self.disk_name(id))
    }

    pub(crate) fn disk_name(&self, id: DeviceId) -> String {
        format!("PhysicalDrive{}", id.minor)
    }

    pub(crate) fn path_of(&self, name: &str) -> String {
        format!(r"\\.\{name}")
    }

    /// Whether `path` is a name in the space of devices.
    pub(crate) fn is_among_devices(&self, path: &Path) -> bool {
        let first = path.components().next();
        matches!(first, Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::DeviceNS(_)))
    }

    /// No file system is the kernel's own here.
    pub(crate) fn kernel_files(&self, _: &Path) -> Option<&'static str> {
        None
    }

    /// Files are no devices here.
    pub(crate) fn of_file(&self, _: &Path, _: (u64, u64)) -> Vec<InUse> {
        Vec::new()
    }

    pub(crate) fn id(&self, _: &str) -> Option<DeviceId> {
        None
    }

    pub(crate) fn loops_over_file(&self, _: &Path, _: (u64, u64)) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn loops_beside(&self, _: DeviceId) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn places_beside(&self, _: DeviceId) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The volumes on the disk; for a partition all those of its disk, of which one is it.
    pub(crate) fn of_device(&self, id: DeviceId) -> Vec<InUse> {
        let node = self.node_name(id);
        let on_it = self.volumes.iter().filter(|volume| volume.disks.contains(&id.minor));
        let in_use = |point: &PathBuf| InUse {
            device: format!("the volume {}", point.display()),
            relation: Some(format!("on {node}")),
            by: Use::Mounted(point.clone()),
        };
        on_it.flat_map(|volume| volume.points.iter().map(in_use)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_a_mounted_volume_is_in_use_and_another_is_not() {
        let volume = Volume { disks: vec![0, 2], points: vec![r"C:\".into(), r"D:\data\".into()] };
        let uses = Uses { volumes: vec![volume, Volume { disks: vec![1], points: Vec::new() }] };
        let of = |minor| uses.of_device(DeviceId { major: 0, minor });
        assert_eq!((of(0).len(), of(1).len(), of(2).len()), (2, 0, 2));
        let first = of(0)[0].to_string();
        assert_eq!(first, r"the volume C:\, on \\.\PhysicalDrive0, is mounted on C:\");
    }

    #[test]
    fn names_of_devices_are_told_from_files() {
        let uses = Uses { volumes: Vec::new() };
        for path in [r"\\.\PhysicalDrive0", r"\\.\C:", r"\\.\nothing"] {
            assert!(uses.is_among_devices(Path::new(path)), "{path}");
        }
        for path in [r"C:\PhysicalDrive0", r"\\server\share\file", r"\\?\C:\file", "file"] {
            assert!(!uses.is_among_devices(Path::new(path)), "{path}");
        }
    }
}
