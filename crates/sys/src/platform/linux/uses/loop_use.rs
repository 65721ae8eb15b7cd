//! What loop devices show, and which of them show the same.

use std::path::{Path, PathBuf};

use super::super::loops::{self, FileNumbers, LoopBacking};
use super::{Uses, numbers};
use crate::stack::DeviceId;
use iosonde_direct::sysfs::mount_below;

/// A loop device that shows something.
#[derive(Debug)]
pub(super) struct LoopUse {
    pub(super) name: String,
    pub(super) backing: PathBuf,
    /// If that is a block device.
    pub(super) device: Option<DeviceId>,
    /// If that is a file, as the kernel names it or, where it may not be asked,
    /// as its path does.
    pub(super) file: Option<FileNumbers>,
}

impl LoopUse {
    /// What a loop device shows, by its node.
    pub(super) fn of_node(name: String) -> Option<LoopUse> {
        let LoopBacking { file, device } = loops::backing(&name)?;
        let device = device.map(DeviceId::from_raw);
        // The path of what it shows is in /sys: this one is that of no other.
        let backing = PathBuf::from(&name);
        Some(LoopUse { name, backing, device, file: device.is_none().then_some(file) })
    }

    /// Both show the same bytes. Files without a name any more are distinguished
    /// by the name they had: rather too cautious than too bold.
    pub(super) fn shows_what(&self, other: &LoopUse) -> bool {
        self.backing == other.backing
            || self.device.is_some() && self.device == other.device
            || self.file.is_some() && self.file == other.file
    }

    pub(super) fn backing_word(&self) -> &'static str {
        if self.device.is_some() { "device" } else { "file" }
    }
}

impl Uses {
    /// The loop devices that show a file's bytes. `path` is without links.
    pub(crate) fn loops_over_file(&self, path: &Path, file: FileNumbers) -> Vec<String> {
        let shown = self.loops.iter().filter(|shown| self.shows(shown, path, file));
        shown.map(|shown| shown.name.clone()).collect()
    }

    /// Other loop devices that show the same bytes as this one, or as the one that it
    /// is a partition of.
    pub(crate) fn loops_beside(&self, id: DeviceId) -> Vec<String> {
        let disk = self.disk_name(id);
        let Some(this) = self.loops.iter().find(|shown| shown.name == disk) else {
            return Vec::new();
        };
        let siblings = self.loops.iter().filter(|other| other.name != this.name);
        let alike = siblings.filter(|other| other.shows_what(this));
        alike.map(|other| other.name.clone()).collect()
    }

    /// Whether a loop device shows this file. On overlayfs a file has the inode
    /// number of the one below it and another device number, so there the inode
    /// number decides: rather too cautious than too bold.
    pub(super) fn shows(&self, shown: &LoopUse, path: &Path, file: FileNumbers) -> bool {
        let Some(behind) = shown.file else { return false };
        let is_overlay = |path: &Path| {
            mount_below(&self.mounts, path).is_some_and(|mount| mount.filesystem == "overlay")
        };
        let may_be_same = || is_overlay(path) || self.may_be_overlay(shown);
        behind == file || behind.1 == file.1 && may_be_same() && !self.is_longer(shown, path)
    }

    /// Whether a loop device shows more bytes than a file has: then it shows another.
    /// Inode numbers are small and often the same on file systems in memory.
    fn is_longer(&self, shown: &LoopUse, path: &Path) -> bool {
        /// What sysfs counts in.
        const SECTOR: u64 = 512;
        let sectors = self.tree.attribute(&shown.name, "size");
        let shown = sectors.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        std::fs::metadata(path).is_ok_and(|found| found.len() < shown.saturating_mul(SECTOR))
    }

    /// Whether the file of a loop device may lie on overlayfs. In another mount
    /// namespace that cannot be seen, but then it has no device number of a disk.
    fn may_be_overlay(&self, shown: &LoopUse) -> bool {
        let Some(device) = shown.file.map(|file| DeviceId::from_raw(file.0)) else { return false };
        let by_number = self.mounts.iter().find(|mount| mount.device == device);
        let by_path = || mount_below(&self.mounts, &shown.backing);
        let is_here = numbers(&shown.backing) == shown.file;
        let mount = by_number.or_else(|| by_path().filter(|_| is_here));
        device.major == 0 && mount.is_none_or(|mount| mount.filesystem == "overlay")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::InUse;
    use iosonde_direct::sysfs::Tree;
    use iosonde_testing::FakeSystem;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_file_of_a_loop_device_is_known_by_its_numbers_whatever_its_path() {
        const DISK: u64 = 0xfe00;
        const OVERLAY: u64 = 0x27;
        const OTHER_NAMESPACE: u64 = 0x30;
        let mut made = FakeSystem::empty();
        made.disk("loop0", "7:0").write("loop0", "loop/backing_file", "/elsewhere/image\n");
        made.mount("7:0", "/x", "ext4 /dev/loop0").mount("254:0", "/", "ext4 /dev/vda");
        made.mount("0:39", "/merged", "overlay o").mount("0:38", "/tmp", "tmpfs t");
        let uses = |shown: u64| {
            let backing = LoopBacking { file: (shown, 100), device: None };
            Uses::with_loops(Tree::at(&made.root), move |_| Some(backing))
        };
        let is_used = |shown: u64, file: FileNumbers| {
            let path = if file.0 == OVERLAY { "/merged/image" } else { "/tmp/image" };
            !uses(shown).of_file(Path::new(path), file).is_empty()
        };
        assert!(is_used(DISK, (DISK, 100)), "found under another path");
        assert!(!is_used(DISK, (DISK, 101)), "another file there");
        assert!(is_used(OVERLAY, (DISK, 100)), "attached through the overlay, written below");
        assert!(is_used(DISK, (OVERLAY, 100)), "attached below, written through the overlay");
        assert!(is_used(OTHER_NAMESPACE, (DISK, 100)), "an overlay of another namespace, perhaps");
        assert!(!is_used(DISK, (0x26, 100)), "a tmpfs is no overlay");
        let over_disk = LoopBacking { file: (5, 5), device: Some(0x0801) };
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1");
        let uses = Uses::with_loops(Tree::at(&made.root), move |_| Some(over_disk));
        let found: Vec<String> =
            uses.of_device(DeviceId::parse("8:1").unwrap()).iter().map(InUse::to_string).collect();
        assert_eq!(found, ["/dev/sda1 is shown by loop0, which is mounted on /x"]);
    }

    #[test]
    fn a_file_that_is_shorter_than_the_loop_device_is_not_behind_it() {
        let folder = iosonde_testing::Folder::temporary("uses-shorter");
        folder.write("image", vec![0; 8192]);
        let path = folder.join("image");
        let number = path.metadata().unwrap().ino();
        let is_used = |sectors: &str| {
            let mut made = FakeSystem::empty();
            made.disk("loop0", "7:0").write("loop0", "loop/backing_file", "/elsewhere/image\n");
            made.write("loop0", "size", sectors).mount("7:0", "/x", "ext4 /dev/loop0");
            let backing = LoopBacking { file: (0x46, number), device: None };
            let uses = Uses::with_loops(Tree::at(&made.root), move |_| Some(backing));
            !uses.of_file(&path, (0xfe00, number)).is_empty()
        };
        assert!(is_used("16\n"), "it may be, through an overlay of another namespace");
        assert!(!is_used("17\n"));
    }
}
