//! Block devices as /sys shows them, and what /proc says of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::mounts::{parse_mounts, parse_swaps};
use crate::platform;
use crate::stack::{DeviceId, LayerKind, Mount};

/// The trees of this system, or those that a test has laid out in a folder.
/// An unreadable file counts as empty: a container may have no /sys.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// This system's; empty where the system has no such trees.
    pub fn here() -> Tree {
        Tree { root: PathBuf::from(platform::TREES_ROOT) }
    }

    /// One in which `root` stands for `/`, and no device node is looked at.
    pub fn at(root: &Path) -> Tree {
        Tree { root: root.to_owned() }
    }

    fn is_here(&self) -> bool {
        self.root == Path::new(platform::TREES_ROOT)
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.root.join(path)).unwrap_or_default()
    }

    /// Mounts, in the order of mounting.
    pub fn mounts(&self) -> Vec<Mount> {
        parse_mounts(&self.read("proc/self/mountinfo"))
    }

    /// The files and devices that are swap.
    pub fn swaps(&self) -> Vec<PathBuf> {
        parse_swaps(&self.read("proc/swaps"))
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join("sys/class/block").join(name)
    }

    /// The text of one of a device's attributes (`queue/rotational`); bytes
    /// that are no text are replaced.
    pub fn attribute(&self, name: &str, attribute: &str) -> Option<String> {
        let text = self.bytes(name, attribute)?;
        Some(String::from_utf8_lossy(&text).trim_end().to_owned())
    }

    /// The bytes of one of a device's attributes.
    pub fn bytes(&self, name: &str, attribute: &str) -> Option<Vec<u8>> {
        fs::read(self.folder(name).join(attribute)).ok()
    }

    /// The last name of the target of a link among a device's attributes.
    pub fn link_name(&self, name: &str, link: &str) -> Option<String> {
        let target = fs::read_link(self.folder(name).join(link)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    }

    /// The kernel's name of a device, as a folder of /sys/class/block.
    pub fn name(&self, id: DeviceId) -> Option<String> {
        let link = fs::read_link(self.root.join(format!("sys/dev/block/{id}"))).ok()?;
        Some(link.file_name()?.to_str()?.to_owned())
    }

    /// The numbers of a device.
    pub fn id(&self, name: &str) -> Option<DeviceId> {
        DeviceId::parse(&self.attribute(name, "dev")?)
    }

    /// All devices, partitions too.
    pub fn names(&self) -> Vec<String> {
        listed(&self.root.join("sys/class/block"))
    }

    /// The disk that a partition is a part of.
    pub fn disk(&self, name: &str) -> Option<String> {
        let folder = fs::canonicalize(self.folder(name)).ok()?;
        if !folder.join("partition").exists() {
            return None;
        }
        Some(folder.parent()?.file_name()?.to_str()?.to_owned())
    }

    /// The partitions of a disk.
    pub fn partitions(&self, name: &str) -> Vec<String> {
        let folder = self.folder(name);
        let mut parts = listed(&folder);
        parts.retain(|part| folder.join(part).join("partition").exists());
        parts
    }

    /// The devices made from this one.
    pub fn holders(&self, name: &str) -> Vec<String> {
        listed(&self.folder(name).join("holders"))
    }

    /// The devices this one is made from.
    pub fn slaves(&self, name: &str) -> Vec<String> {
        listed(&self.folder(name).join("slaves"))
    }

    /// Its name in device-mapper: `vg-home`.
    pub fn mapper_name(&self, name: &str) -> Option<String> {
        self.attribute(name, "dm/name").filter(|name| !name.is_empty())
    }

    /// Whether it is of device-mapper.
    pub fn is_mapped(&self, name: &str) -> bool {
        self.folder(name).join("dm").exists()
    }

    /// Whether it is of md.
    pub fn is_raid(&self, name: &str) -> bool {
        self.folder(name).join("md").exists()
    }

    /// The kind of device.
    pub fn kind(&self, name: &str) -> LayerKind {
        if self.disk(name).is_some() {
            LayerKind::Partition
        } else if let Some(backing) = self.backing(name) {
            LayerKind::Loop(backing)
        } else if self.is_mapped(name) {
            LayerKind::Mapped(self.mapper_name(name))
        } else if self.is_raid(name) {
            LayerKind::Raid
        } else {
            LayerKind::Disk
        }
    }

    /// The file or device that a loop device shows; `None` if it shows none.
    pub fn backing(&self, name: &str) -> Option<PathBuf> {
        let mut text = fs::read(self.folder(name).join("loop/backing_file")).ok()?;
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        (!text.is_empty()).then(|| PathBuf::from(platform::os_string(text)))
    }

    /// The block device that `path` names; where there is no such node, the
    /// one that the kernel would call so.
    pub fn device_at(&self, path: &Path) -> Option<DeviceId> {
        if self.is_here()
            && let Some(id) = block_device_at(path)
        {
            return Some(id);
        }
        if !path.starts_with("/dev") || self.is_here() && path.exists() {
            return None;
        }
        let name = path.file_name()?.to_str()?;
        self.id(name).or_else(|| {
            let mapped = |known: &String| self.mapper_name(known).as_deref() == Some(name);
            self.id(&self.names().into_iter().find(mapped)?)
        })
    }

    /// The devices of the filesystem mounted there. Those of btrfs have
    /// numbers that are no device's, so the source and its companions are.
    pub fn devices_of(&self, mount: &Mount) -> Vec<DeviceId> {
        if mount.device.major != 0 {
            return vec![mount.device];
        }
        let Some(source) = self.device_at(Path::new(&mount.source)) else { return Vec::new() };
        let mut devices = vec![source];
        if mount.filesystem == "btrfs"
            && let Some(name) = self.name(source)
        {
            devices.extend(self.companions(&name).iter().filter_map(|other| self.id(other)));
            devices.sort_unstable();
            devices.dedup();
        }
        devices
    }

    /// Where the directories below an overlayfs have the file or folder that it shows at
    /// `path`: the upper one first. `None` of another filesystem, and where they are not
    /// visible here.
    pub fn behind_overlay(&self, mount: &Mount, path: &Path) -> Option<PathBuf> {
        if mount.filesystem != "overlay" {
            return None;
        }
        let within = path.strip_prefix(&mount.point).ok()?;
        let within = mount.root.strip_prefix("/").ok()?.join(within);
        let lower = mount.option("lowerdir").unwrap_or_default().split(':');
        let folders = mount.option("upperdir").into_iter().chain(lower);
        let folders = folders.filter(|folder| folder.starts_with('/'));
        let mut found = folders.map(|folder| Path::new(folder).join(&within));
        found.find(|found| match found.strip_prefix("/") {
            Ok(within) => self.root.join(within).exists(),
            Err(_) => false,
        })
    }

    /// The devices of the btrfs that `name` is one of.
    fn companions(&self, name: &str) -> Vec<String> {
        let all = self.root.join("sys/fs/btrfs");
        let groups = listed(&all).into_iter().map(|uuid| listed(&all.join(uuid).join("devices")));
        groups.into_iter().find(|group| group.iter().any(|one| one == name)).unwrap_or_default()
    }
}

/// The block device that a node, or a link to one, stands for.
pub fn block_device_at(path: &Path) -> Option<DeviceId> {
    platform::block_device_at(path)
}

/// The names in a folder, sorted.
fn listed(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[cfg(test)]
#[cfg(unix)] // A fake system is made of symbolic links.
mod tests {
    use super::*;
    use iosonde_testing::FakeSystem;

    fn id(text: &str) -> DeviceId {
        DeviceId::parse(text).unwrap()
    }

    #[test]
    fn a_disk_knows_its_partitions_and_they_know_it() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").partition("sda", "sda2", "8:2");
        let tree = &Tree::at(&made.root);
        assert_eq!(tree.partitions("sda"), ["sda1", "sda2"]);
        assert_eq!(tree.disk("sda2").as_deref(), Some("sda"));
        assert_eq!(tree.disk("sda"), None);
        assert_eq!(tree.name(id("8:2")).as_deref(), Some("sda2"));
        assert_eq!(tree.name(id("8:3")), None);
    }

    #[test]
    fn a_device_is_found_by_path_even_without_its_node() {
        let mut made = FakeSystem::empty();
        made.disk("dm-0", "252:0").write("dm-0", "dm/name", "vg-home\n");
        let found = |path: &str| Tree::at(&made.root).device_at(Path::new(path));
        assert_eq!(found("/dev/dm-0"), Some(id("252:0")));
        assert_eq!(found("/dev/mapper/vg-home"), Some(id("252:0")));
        assert_eq!(found("/dev/sdz"), None);
        assert_eq!(found("/home/dm-0"), None);
    }

    #[test]
    fn all_devices_of_a_btrfs_belong_to_its_mount() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").disk("sdb", "8:16").btrfs("u-u", &["sda", "sdb"]);
        made.mount("0:44", "/data", "btrfs /dev/sdb").mount("0:45", "/run", "tmpfs tmpfs");
        let mounts = Tree::at(&made.root).mounts();
        assert_eq!(Tree::at(&made.root).devices_of(&mounts[0]), [id("8:0"), id("8:16")]);
        assert!(Tree::at(&made.root).devices_of(&mounts[1]).is_empty());
    }

    #[test]
    fn an_unset_loop_device_shows_nothing() {
        let mut made = FakeSystem::empty();
        made.disk("loop0", "7:0").disk("loop1", "7:1").write(
            "loop1",
            "loop/backing_file",
            "/a b\n",
        );
        assert_eq!(Tree::at(&made.root).backing("loop0"), None);
        assert_eq!(Tree::at(&made.root).backing("loop1"), Some(PathBuf::from("/a b")));
    }
}
