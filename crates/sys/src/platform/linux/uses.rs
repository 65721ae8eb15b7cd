//! Which block devices are in use, and how.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::loops::{self, FileNumbers, LoopBacking};
use crate::guard::{InUse, Use};
use crate::stack::{DeviceId, Mount};
use iosonde_direct::sysfs::{Tree, mount_below};

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

/// Devices of devices of devices end here; see `stack`.
const DEPTH_MAX: u32 = 16;

/// Mounts, swap areas and loop devices, read once.
#[derive(Debug)]
pub(crate) struct Uses {
    tree: Tree,
    mounts: Vec<Mount>,
    mounted: Vec<(DeviceId, PathBuf)>,
    swaps: Vec<SwapArea>,
    loops: Vec<LoopUse>,
    /// Files that are mounted without a device between (EROFS, file systems of programs),
    /// and where.
    images: Vec<(FileNumbers, PathBuf)>,
}

#[derive(Debug)]
struct SwapArea {
    device: Option<DeviceId>,
    file: Option<FileNumbers>,
}

/// A loop device that shows something.
#[derive(Debug)]
struct LoopUse {
    name: String,
    backing: PathBuf,
    /// If that is a block device.
    device: Option<DeviceId>,
    /// If that is a file, as the kernel names it or, where it may not be asked,
    /// as its path does.
    file: Option<FileNumbers>,
}

impl LoopUse {
    /// What a loop device shows, by its node.
    fn of_node(name: String) -> Option<LoopUse> {
        let LoopBacking { file, device } = loops::backing(&name)?;
        let device = device.map(DeviceId::from_raw);
        // The path of what it shows is in /sys: this one is that of no other.
        let backing = PathBuf::from(&name);
        Some(LoopUse { name, backing, device, file: device.is_none().then_some(file) })
    }

    /// Both show the same bytes. Files without a name any more are distinguished
    /// by the name they had: rather too cautious than too bold.
    fn shows_what(&self, other: &LoopUse) -> bool {
        self.backing == other.backing
            || self.device.is_some() && self.device == other.device
            || self.file.is_some() && self.file == other.file
    }
}

impl Uses {
    pub(crate) fn now() -> Uses {
        let mut uses = Uses::with_loops(Tree::here(), loops::backing);
        if uses.tree.names().is_empty() {
            // Without /sys the nodes of loop devices are asked.
            uses.loops = loops::nodes().into_iter().filter_map(LoopUse::of_node).collect();
        }
        uses
    }

    #[cfg(test)]
    fn of(tree: Tree) -> Uses {
        Uses::with_loops(tree, |_| None)
    }

    fn with_loops(tree: Tree, shown: impl Fn(&str) -> Option<LoopBacking>) -> Uses {
        let mounts = tree.mounts();
        let mounted = mounts.iter().flat_map(|mount| {
            let point = |id| (id, mount.point.clone());
            tree.devices_of(mount).into_iter().map(point)
        });
        let mounted = mounted.collect();
        let swap = |path: PathBuf| SwapArea { device: tree.device_at(&path), file: numbers(&path) };
        let swaps = tree.swaps().into_iter().map(swap).collect();
        let loops = tree.names().into_iter().filter_map(|name| {
            let backing = tree.backing(&name)?;
            let (device, file) = match shown(&name) {
                Some(LoopBacking { device: Some(number), .. }) => {
                    (Some(DeviceId::from_raw(number)), None)
                }
                Some(LoopBacking { file, device: None }) => (None, Some(file)),
                None => (tree.device_at(&backing), numbers(&backing)),
            };
            Some(LoopUse { name, backing, device, file })
        });
        let loops = loops.collect();
        let image = |mount: &Mount| {
            let source = Path::new(&mount.source);
            source.is_absolute().then(|| numbers(source))?.map(|file| (file, mount.point.clone()))
        };
        let images = mounts.iter().filter_map(image).collect();
        Uses { tree, mounts, mounted, swaps, loops, images }
    }

    /// `/dev/dm-0 (vg-home)`; for a device that sysfs does not know, its
    /// numbers.
    pub(crate) fn node_name(&self, id: DeviceId) -> String {
        match self.tree.name(id) {
            Some(name) => format!("/dev/{}", self.title(&name)),
            None => format!("the device {id}"),
        }
    }

    /// The kernel's name of the device, or of the disk it is a part of.
    pub(crate) fn disk_name(&self, id: DeviceId) -> String {
        let name = self.tree.name(id).unwrap_or_else(|| id.to_string());
        self.tree.disk(&name).unwrap_or(name)
    }

    fn title(&self, name: &str) -> String {
        // sysfs has a bang where a name has a slash.
        let node = name.replace('!', "/");
        match self.tree.mapper_name(name) {
            Some(mapped) => format!("{node} ({mapped})"),
            None => node,
        }
    }

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

    /// All uses of a file's bytes as a device. `path` is without links.
    pub(crate) fn of_file(&self, path: &Path, file: FileNumbers) -> Vec<InUse> {
        let mut found = Vec::new();
        if self.swaps.iter().any(|swap| swap.file == Some(file)) {
            let device = path.display().to_string();
            found.push(InUse { device, relation: None, by: Use::Swap });
        }
        let mounted = self.images.iter().filter(|(image, _)| *image == file);
        found.extend(mounted.map(|(_, point)| {
            let device = path.display().to_string();
            InUse { device, relation: None, by: Use::Mounted(point.clone()) }
        }));
        let relation = format!("over {}", path.display());
        for shown in self.loops.iter().filter(|shown| self.shows(shown, path, file)) {
            found.extend(self.whole(&shown.name, &relation));
        }
        found
    }

    /// The node of a device by the kernel's name.
    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("/dev/{name}")
    }

    /// The number of a device by the kernel's name; without /sys, that of its node.
    pub(crate) fn id(&self, name: &str) -> Option<DeviceId> {
        let node = || self.tree.device_at(&Path::new("/dev").join(name));
        self.tree.id(name).or_else(node)
    }

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
    fn shows(&self, shown: &LoopUse, path: &Path, file: FileNumbers) -> bool {
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

    /// All uses of a device, of its partitions or its disk, and of whatever
    /// else shows the same bytes.
    pub(crate) fn of_device(&self, id: DeviceId) -> Vec<InUse> {
        self.of_device_but(id, None, 0)
    }

    /// `but`: a loop device over this one that is not to count.
    fn of_device_but(&self, id: DeviceId, but: Option<&str>, depth: u32) -> Vec<InUse> {
        let Some(name) = self.tree.name(id) else {
            return self.direct(id, None, None, but);
        };
        let node = self.node_name(id);
        let mut found = self.direct(id, Some(&name), None, but);
        for part in self.tree.partitions(&name) {
            let relation = format!("a partition of {node}");
            found.extend(self.direct_named(&part, &relation, but));
        }
        let disk = self.tree.disk(&name);
        if let Some(disk) = &disk {
            found.extend(self.direct_named(disk, &format!("the disk of {node}"), but));
        }
        let base = disk.unwrap_or(name);
        found.extend(self.through_loop(&base, &node, depth));
        found
    }

    /// Uses of the file of a loop device, other than by that loop device.
    fn through_loop(&self, name: &str, node: &str, depth: u32) -> Vec<InUse> {
        let Some(this) = self.loops.iter().find(|shown| shown.name == name) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let siblings = self.loops.iter().filter(|other| other.name != this.name);
        for other in siblings.filter(|other| other.shows_what(this)) {
            let relation = format!("over the same {} as {node}", this.backing_word());
            found.extend(self.whole(&other.name, &relation));
        }
        if let Some(device) = this.device.filter(|_| depth < DEPTH_MAX) {
            for mut below in self.of_device_but(device, Some(name), depth + 1) {
                below.relation.get_or_insert_with(|| format!("which {node} shows"));
                found.push(below);
            }
        }
        found
    }

    /// Uses of a disk and its partitions, all in one relation.
    fn whole(&self, name: &str, relation: &str) -> Vec<InUse> {
        let mut found = self.direct_named(name, relation, None);
        for part in self.tree.partitions(name) {
            found.extend(self.direct_named(&part, relation, None));
        }
        found
    }

    fn direct_named(&self, name: &str, relation: &str, but: Option<&str>) -> Vec<InUse> {
        let id = self.id(name);
        id.map_or_else(Vec::new, |id| self.direct(id, Some(name), Some(relation), but))
    }

    /// Uses of this very device.
    fn direct(
        &self,
        id: DeviceId,
        name: Option<&str>,
        relation: Option<&str>,
        but: Option<&str>,
    ) -> Vec<InUse> {
        let mut uses = Vec::new();
        if let Some((_, point)) = self.mounted.iter().find(|(device, _)| *device == id) {
            uses.push(Use::Mounted(point.clone()));
        }
        if self.is_swap(id) {
            uses.push(Use::Swap);
        }
        for holder in name.map_or_else(Vec::new, |name| self.tree.holders(name)) {
            uses.push(Use::Held(self.purpose(&holder, 0)));
        }
        let shown = self.loops.iter().filter(|shown| shown.device == Some(id));
        for shown in shown.filter(|shown| Some(shown.name.as_str()) != but) {
            uses.push(Use::Looped(self.purpose(&shown.name, 0)));
        }
        let in_use =
            |by| InUse { device: self.node_name(id), relation: relation.map(str::to_owned), by };
        uses.into_iter().map(in_use).collect()
    }

    fn is_swap(&self, id: DeviceId) -> bool {
        self.swaps.iter().any(|swap| swap.device == Some(id))
    }

    /// `dm-0 (vg-home), which is mounted on /home`.
    fn purpose(&self, name: &str, depth: u32) -> String {
        let title = self.title(name);
        let Some(id) = self.tree.id(name).filter(|_| depth < DEPTH_MAX) else { return title };
        if let Some((_, point)) = self.mounted.iter().find(|(device, _)| *device == id) {
            return format!("{title}, which is mounted on {}", point.display());
        }
        if self.is_swap(id) {
            return format!("{title}, which is swap");
        }
        match self.tree.holders(name).first() {
            Some(upper) => format!("{title}, which is held by {}", self.purpose(upper, depth + 1)),
            None => title,
        }
    }
}

impl LoopUse {
    fn backing_word(&self) -> &'static str {
        if self.device.is_some() { "device" } else { "file" }
    }
}

fn numbers(path: &Path) -> Option<FileNumbers> {
    let status = std::fs::metadata(path).ok()?;
    status.is_file().then(|| (status.dev(), status.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::FakeSystem;

    fn id(text: &str) -> DeviceId {
        DeviceId::parse(text).unwrap()
    }

    fn reported(made: &FakeSystem, device: &str) -> Vec<String> {
        let uses = Uses::of(Tree::at(&made.root)).of_device(id(device));
        uses.iter().map(InUse::to_string).collect()
    }

    #[test]
    fn a_free_disk_has_no_uses() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").disk("sdb", "8:16");
        made.mount("8:16", "/", "ext4 /dev/sdb");
        assert!(reported(&made, "8:0").is_empty());
        assert!(reported(&made, "8:1").is_empty());
    }

    #[test]
    fn a_mount_is_seen_from_the_disk_the_partition_and_the_part() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").partition("sda", "sda2", "8:2");
        made.mount("8:1", "/home", "ext4 /dev/root");
        assert_eq!(reported(&made, "8:1"), ["/dev/sda1 is mounted on /home"]);
        assert_eq!(
            reported(&made, "8:0"),
            ["/dev/sda1, a partition of /dev/sda, is mounted on /home"]
        );
        assert!(reported(&made, "8:2").is_empty(), "its neighbour is free");
    }

    #[test]
    fn a_disk_mounted_whole_takes_its_partitions_along() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1");
        made.mount("8:0", "/x", "ext4 /dev/sda");
        assert_eq!(reported(&made, "8:1"), ["/dev/sda, the disk of /dev/sda1, is mounted on /x"]);
    }

    #[test]
    fn swap_is_a_use_by_any_name() {
        let mut made = FakeSystem::empty();
        made.disk("loop3", "7:3").partition("loop3", "loop3p1", "259:0").swap("/dev/loop3p1");
        made.disk("dm-1", "252:1").write("dm-1", "dm/name", "vg-swap").swap("/dev/mapper/vg-swap");
        assert_eq!(reported(&made, "7:3"), ["/dev/loop3p1, a partition of /dev/loop3, is swap"]);
        assert_eq!(reported(&made, "252:1"), ["/dev/dm-1 (vg-swap) is swap"]);
    }

    #[test]
    fn a_holder_is_named_with_what_it_is_used_for() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda2", "8:2").disk("md0", "9:0");
        made.disk("dm-0", "252:0").write("dm-0", "dm/name", "vg-home");
        made.over("md0", "sda2").over("dm-0", "md0").mount("252:0", "/home", "ext4 x");
        assert_eq!(
            reported(&made, "8:0"),
            ["/dev/sda2, a partition of /dev/sda, is held by md0, which is held by \
              dm-0 (vg-home), which is mounted on /home"]
        );
    }

    #[test]
    fn a_holder_that_nobody_uses_is_a_use_too() {
        let mut made = FakeSystem::empty();
        made.disk("loop1", "7:1").disk("dm-0", "252:0").over("dm-0", "loop1");
        assert_eq!(reported(&made, "7:1"), ["/dev/loop1 is held by dm-0"]);
        assert!(
            reported(&made, "252:0").is_empty(),
            "what it is made of may be written through it"
        );
    }

    #[test]
    fn a_path_of_a_multipath_disk_is_held() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").disk("sdb", "8:16").disk("dm-0", "252:0");
        made.write("dm-0", "dm/name", "mpatha").over("dm-0", "sda").over("dm-0", "sdb");
        assert_eq!(reported(&made, "8:16"), ["/dev/sdb is held by dm-0 (mpatha)"]);
    }

    #[test]
    fn a_loop_device_over_a_disk_uses_it() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").disk("loop0", "7:0");
        made.write("loop0", "loop/backing_file", "/dev/sda\n").mount("7:0", "/x", "ext4 x");
        assert_eq!(reported(&made, "8:0"), ["/dev/sda is shown by loop0, which is mounted on /x"]);
    }

    #[test]
    fn a_loop_device_does_not_hide_the_mount_of_what_it_shows() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").disk("loop0", "7:0");
        made.write("loop0", "loop/backing_file", "/dev/sda1\n").mount("8:1", "/", "ext4 x");
        assert_eq!(reported(&made, "7:0"), ["/dev/sda1, which /dev/loop0 shows, is mounted on /"]);
    }

    #[test]
    fn two_loop_devices_over_one_file_share_its_uses() {
        let mut made = FakeSystem::empty();
        made.disk("loop0", "7:0").disk("loop1", "7:1").partition("loop1", "loop1p1", "259:0");
        made.write("loop0", "loop/backing_file", "/nowhere/image\n");
        made.write("loop1", "loop/backing_file", "/nowhere/image\n");
        assert!(reported(&made, "7:0").is_empty());
        made.mount("7:0", "/x", "xfs /dev/loop0");
        let sentence = "/dev/loop0, over the same file as";
        assert_eq!(reported(&made, "7:1"), [format!("{sentence} /dev/loop1, is mounted on /x")]);
        assert_eq!(
            reported(&made, "259:0"),
            [format!("{sentence} /dev/loop1p1, is mounted on /x")]
        );
    }

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
        let found: Vec<String> = uses.of_device(id("8:1")).iter().map(InUse::to_string).collect();
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

    #[test]
    fn a_file_that_is_mounted_without_a_device_is_in_use() {
        let folder = iosonde_testing::Folder::temporary("uses-image");
        folder.write("image", "x");
        folder.write("other", "x");
        let source = format!("erofs {}", folder.join("image").display());
        let mut made = FakeSystem::empty();
        made.mount("0:50", "/x", &source);
        let uses = Uses::of(Tree::at(&made.root));
        let found = |name: &str| {
            let path = folder.join(name);
            let uses = uses.of_file(&path, numbers(&path).unwrap());
            uses.iter().map(InUse::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            found("image"),
            [format!("{} is mounted on /x", folder.join("image").display())]
        );
        assert!(found("other").is_empty());
    }

    #[test]
    fn every_device_of_a_btrfs_is_mounted_with_it() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").disk("sdb", "8:16").btrfs("u", &["sda", "sdb"]);
        made.mount("0:40", "/data", "btrfs /dev/sda");
        assert_eq!(reported(&made, "8:16"), ["/dev/sdb is mounted on /data"]);
    }

    #[test]
    fn a_device_that_sysfs_does_not_know_is_still_seen_mounted() {
        let mut made = FakeSystem::empty();
        made.mount("8:1", "/x", "ext4 /dev/root");
        assert_eq!(reported(&made, "8:1"), ["the device 8:1 is mounted on /x"]);
    }

    #[test]
    fn trees_that_bite_their_tails_end() {
        let mut made = FakeSystem::empty();
        made.disk("dm-0", "252:0").over("dm-0", "dm-0").disk("loop0", "7:0").disk("loop1", "7:1");
        made.write("loop0", "loop/backing_file", "/dev/loop1\n");
        made.write("loop1", "loop/backing_file", "/dev/loop0\n");
        assert!(!reported(&made, "252:0").is_empty());
        assert!(!reported(&made, "7:0").is_empty());
    }

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
