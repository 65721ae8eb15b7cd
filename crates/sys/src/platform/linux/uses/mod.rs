//! Which block devices are in use, and how.

mod loop_use;
mod places;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::loops::{self, FileNumbers, LoopBacking};
use crate::guard::{InUse, Use};
use crate::stack::{DeviceId, Mount};
use iosonde_direct::sysfs::Tree;

use loop_use::LoopUse;
pub(crate) use places::{is_harmless_character_device, shows_text};

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
        // sysfs has a bang where a name has a slash.
        format!("/dev/{}", name.replace('!', "/"))
    }

    /// The number of a device by the kernel's name; without /sys, that of its node.
    pub(crate) fn id(&self, name: &str) -> Option<DeviceId> {
        let node = || self.tree.device_at(&Path::new("/dev").join(name));
        self.tree.id(name).or_else(node)
    }

    /// Where another program finds the bytes of a device: by its node, its partitions, its
    /// disk, and for a loop device what it shows and others that show the same.
    pub(crate) fn places_beside(&self, id: DeviceId) -> Vec<PathBuf> {
        let Some(name) = self.tree.name(id) else { return Vec::new() };
        let disk = self.tree.disk(&name);
        let base = disk.clone().unwrap_or_else(|| name.clone());
        let mut names = self.tree.partitions(&name);
        names.extend(disk);
        names.extend(self.loops_beside(id));
        names.push(name);
        let shown = self.loops.iter().find(|shown| shown.name == base);
        let shown =
            shown.filter(|shown| shown.device.is_some() || shown.file == numbers(&shown.backing));
        let nodes = names.iter().map(|name| PathBuf::from(self.path_of(name)));
        nodes.chain(shown.map(|shown| shown.backing.clone())).collect()
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
    fn the_bytes_of_a_device_are_found_by_its_disk_its_partitions_and_what_a_loop_device_shows() {
        let folder = iosonde_testing::Folder::temporary("uses-beside");
        let image = folder.write("image", "x");
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").partition("sda", "sda2", "8:2");
        made.disk("cciss!c0d0", "104:0").disk("loop0", "7:0").disk("loop1", "7:1");
        made.write("loop0", "loop/backing_file", &format!("{image}\n"));
        made.write("loop1", "loop/backing_file", &format!("{image}\n"));
        let uses = Uses::of(Tree::at(&made.root));
        let beside = |device: &str| {
            let mut places: Vec<String> =
                uses.places_beside(id(device)).iter().map(|at| at.display().to_string()).collect();
            places.sort();
            places
        };
        assert_eq!(beside("8:0"), ["/dev/sda", "/dev/sda1", "/dev/sda2"]);
        assert_eq!(beside("8:1"), ["/dev/sda", "/dev/sda1"]);
        assert_eq!(beside("104:0"), ["/dev/cciss/c0d0"]);
        assert_eq!(beside("7:0"), ["/dev/loop0", "/dev/loop1", &image]);
        assert!(beside("9:9").is_empty());
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
}
