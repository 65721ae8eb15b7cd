//! Places that are not for data: among device nodes, in file systems of the kernel's own, and
//! character devices but a few.

use std::path::Path;

use super::Uses;
use crate::stack::{DeviceId, Mount};
use iosonde_direct::sysfs::mount_below;

/// null, zero and full: the memory devices that take what they are given.
const HARMLESS_CHARACTER_DEVICES: [DeviceId; 3] = [
    DeviceId { major: 1, minor: 3 },
    DeviceId { major: 1, minor: 5 },
    DeviceId { major: 1, minor: 7 },
];

/// Whether a character device takes what it is given, and nothing else happens.
pub(crate) fn is_harmless_character_device(id: DeviceId) -> bool {
    HARMLESS_CHARACTER_DEVICES.contains(&id)
}

/// Whether a character device shows text and does nothing else with it: a terminal of the
/// kernel's list of devices (consoles, serial lines, pseudo-terminals), or one that forgets.
pub(crate) fn shows_text(id: DeviceId) -> bool {
    HARMLESS_CHARACTER_DEVICES.contains(&id)
        || matches!(id.major, 4 | 5 | 136..=143 | 166 | 188 | 204 | 229)
}

/// File systems whose files are not data: writing to one sets something.
const OF_THE_KERNEL: [&str; 17] = [
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
    "configfs",
    "bpf",
    "efivarfs",
    "pstore",
    "binfmt_misc",
    "selinuxfs",
    "smackfs",
    "resctrl",
    "fusectl",
    "nfsd",
];

impl Uses {
    /// Whether `path` (without links) is a place for device nodes only.
    pub(crate) fn is_among_devices(&self, path: &Path) -> bool {
        if path.starts_with("/dev/shm") {
            return false; // A folder for files by convention, mounted or not.
        }
        let mount = mount_below(&self.mounts, path);
        if mount.is_some_and(|mount| mount.filesystem == "devtmpfs") {
            return true;
        }
        // In a container /dev is a tmpfs; what is mounted in it is another thing.
        let mounted_inside =
            |mount: &Mount| mount.point.starts_with("/dev") && mount.point != Path::new("/dev");
        path.starts_with("/dev") && !mount.is_some_and(mounted_inside)
    }

    /// The file system of `path` (without links), if its files are the kernel's own.
    pub(crate) fn kernel_files(&self, path: &Path) -> Option<&'static str> {
        let mount = mount_below(&self.mounts, path)?;
        OF_THE_KERNEL.into_iter().find(|kind| *kind == mount.filesystem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_direct::sysfs::Tree;
    use iosonde_testing::FakeSystem;

    #[test]
    fn devices_lie_in_dev_and_in_every_devtmpfs_but_not_in_shm() {
        let mut made = FakeSystem::empty();
        made.mount("8:1", "/", "ext4 x").mount("0:6", "/dev", "devtmpfs d");
        made.mount("0:23", "/dev/shm", "tmpfs t").mount("0:7", "/chroot/dev", "devtmpfs d");
        made.mount("0:24", "/dev/hugepages", "hugetlbfs h");
        let uses = Uses::of(Tree::at(&made.root));
        for path in ["/dev/x", "/dev/mapper/x", "/chroot/dev/x", "/dev/shmx"] {
            assert!(uses.is_among_devices(Path::new(path)), "{path}");
        }
        for path in ["/dev/shm/x", "/dev/hugepages/x", "/devx", "/home/x", "/chroot/x"] {
            assert!(!uses.is_among_devices(Path::new(path)), "{path}");
        }
        let mut container = FakeSystem::empty();
        container.mount("0:9", "/", "overlay o").mount("0:6", "/dev", "tmpfs t");
        assert!(Uses::of(Tree::at(&container.root)).is_among_devices(Path::new("/dev/x")));
        let bare = FakeSystem::empty();
        assert!(Uses::of(Tree::at(&bare.root)).is_among_devices(Path::new("/dev/x")));
    }
}
