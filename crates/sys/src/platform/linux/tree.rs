//! Block devices as /sys shows them, and what /proc says of them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::mounts::{parse_mounts, parse_swaps};
use crate::stack::{DeviceId, Mount};

/// The trees of this system, or those that a test has laid out in a folder.
/// What cannot be read is taken for empty: a container may have no /sys.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// This system's.
    pub(crate) fn here() -> Tree {
        Tree { root: PathBuf::from("/") }
    }

    /// One in which `root` stands for `/`, and no device node is looked at.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Tree {
        Tree { root: root.to_owned() }
    }

    fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.root.join(path)).unwrap_or_default()
    }

    pub(crate) fn mounts(&self) -> Vec<Mount> {
        parse_mounts(&self.read("proc/self/mountinfo"))
    }

    pub(crate) fn swaps(&self) -> Vec<PathBuf> {
        parse_swaps(&self.read("proc/swaps"))
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join("sys/class/block").join(name)
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<String> {
        let text = fs::read_to_string(self.folder(name).join(attribute)).ok()?;
        Some(text.trim_end().to_owned())
    }

    /// The kernel's name of a device, as a folder of /sys/class/block.
    pub(crate) fn name(&self, id: DeviceId) -> Option<String> {
        let link = fs::read_link(self.root.join(format!("sys/dev/block/{id}"))).ok()?;
        Some(link.file_name()?.to_str()?.to_owned())
    }

    pub(crate) fn id(&self, name: &str) -> Option<DeviceId> {
        DeviceId::parse(&self.attribute(name, "dev")?)
    }

    /// All devices, partitions too.
    pub(crate) fn names(&self) -> Vec<String> {
        listed(&self.root.join("sys/class/block"))
    }

    /// The disk that a partition is a part of.
    pub(crate) fn disk(&self, name: &str) -> Option<String> {
        let folder = fs::canonicalize(self.folder(name)).ok()?;
        if !folder.join("partition").exists() {
            return None;
        }
        Some(folder.parent()?.file_name()?.to_str()?.to_owned())
    }

    /// The partitions of a disk.
    pub(crate) fn partitions(&self, name: &str) -> Vec<String> {
        let folder = self.folder(name);
        let mut parts = listed(&folder);
        parts.retain(|part| folder.join(part).join("partition").exists());
        parts
    }

    /// The devices made from this one.
    pub(crate) fn holders(&self, name: &str) -> Vec<String> {
        listed(&self.folder(name).join("holders"))
    }

    /// The devices this one is made from.
    pub(crate) fn slaves(&self, name: &str) -> Vec<String> {
        listed(&self.folder(name).join("slaves"))
    }

    /// What device-mapper calls it: `vg-home`.
    pub(crate) fn mapper_name(&self, name: &str) -> Option<String> {
        self.attribute(name, "dm/name").filter(|name| !name.is_empty())
    }

    pub(crate) fn is_mapped(&self, name: &str) -> bool {
        self.folder(name).join("dm").exists()
    }

    pub(crate) fn is_raid(&self, name: &str) -> bool {
        self.folder(name).join("md").exists()
    }

    /// The file or device that a loop device shows; `None` if it shows none.
    pub(crate) fn backing(&self, name: &str) -> Option<PathBuf> {
        let mut text = fs::read(self.folder(name).join("loop/backing_file")).ok()?;
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        (!text.is_empty()).then(|| PathBuf::from(OsString::from_vec(text)))
    }

    /// The block device that `path` names; where there is no such node, the
    /// one that the kernel would call so.
    pub(crate) fn device_at(&self, path: &Path) -> Option<DeviceId> {
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
    pub(crate) fn devices_of(&self, mount: &Mount) -> Vec<DeviceId> {
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

    /// The devices of the btrfs that `name` is one of.
    fn companions(&self, name: &str) -> Vec<String> {
        let all = self.root.join("sys/fs/btrfs");
        let groups = listed(&all).into_iter().map(|uuid| listed(&all.join(uuid).join("devices")));
        groups.into_iter().find(|group| group.iter().any(|one| one == name)).unwrap_or_default()
    }
}

/// The block device that a node, or a link to one, stands for.
pub(crate) fn block_device_at(path: &Path) -> Option<DeviceId> {
    let status = fs::metadata(path).ok()?;
    status.file_type().is_block_device().then(|| DeviceId::from_raw(status.rdev()))
}

/// The names in a folder, sorted.
fn listed(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Trees laid out in a folder, for tests.
#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A made-up machine; its folder goes when it is dropped.
    pub(crate) struct Fixture {
        pub(crate) tree: Tree,
        mountinfo: String,
        swaps: String,
    }

    impl Fixture {
        pub(crate) fn new() -> Fixture {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("iosonde-tree-{}-{number}", std::process::id());
            let root = std::env::temp_dir().join(name);
            fs::create_dir_all(root.join("sys/class/block")).unwrap();
            fs::create_dir_all(root.join("sys/dev/block")).unwrap();
            fs::create_dir_all(root.join("proc/self")).unwrap();
            Fixture {
                tree: Tree::at(&root),
                mountinfo: String::new(),
                swaps: "Filename Type\n".to_owned(),
            }
        }

        /// A disk `name` numbered `id`.
        pub(crate) fn disk(&mut self, name: &str, id: &str) -> &mut Fixture {
            self.device(name, &format!("devices/block/{name}"), id)
        }

        /// A partition of `disk`.
        pub(crate) fn partition(&mut self, disk: &str, name: &str, id: &str) -> &mut Fixture {
            self.device(name, &format!("devices/block/{disk}/{name}"), id);
            self.write(name, "partition", "1\n")
        }

        /// `upper` is made of `lower`.
        pub(crate) fn over(&mut self, upper: &str, lower: &str) -> &mut Fixture {
            symlink("x", self.tree.folder(upper).join("slaves").join(lower)).unwrap();
            symlink("x", self.tree.folder(lower).join("holders").join(upper)).unwrap();
            self
        }

        pub(crate) fn write(&mut self, name: &str, attribute: &str, text: &str) -> &mut Fixture {
            let path = self.tree.folder(name).join(attribute);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            self
        }

        pub(crate) fn mount(&mut self, id: &str, point: &str, rest: &str) -> &mut Fixture {
            self.mountinfo += &format!("1 1 {id} / {point} rw - {rest} rw\n");
            fs::write(self.tree.root.join("proc/self/mountinfo"), &self.mountinfo).unwrap();
            self
        }

        pub(crate) fn swap(&mut self, path: &str) -> &mut Fixture {
            self.swaps += &format!("{path} partition 1 0 -1\n");
            fs::write(self.tree.root.join("proc/swaps"), &self.swaps).unwrap();
            self
        }

        /// Devices that make one btrfs.
        pub(crate) fn btrfs(&mut self, uuid: &str, names: &[&str]) -> &mut Fixture {
            let folder = self.tree.root.join("sys/fs/btrfs").join(uuid).join("devices");
            fs::create_dir_all(&folder).unwrap();
            for name in names {
                symlink("x", folder.join(name)).unwrap();
            }
            self
        }

        fn device(&mut self, name: &str, folder: &str, id: &str) -> &mut Fixture {
            let system = self.tree.root.join("sys");
            for inner in ["slaves", "holders"] {
                fs::create_dir_all(system.join(folder).join(inner)).unwrap();
            }
            fs::write(system.join(folder).join("dev"), format!("{id}\n")).unwrap();
            symlink(format!("../../{folder}"), system.join("class/block").join(name)).unwrap();
            symlink(format!("../../{folder}"), system.join("dev/block").join(id)).unwrap();
            self
        }
    }

    impl Drop for Fixture {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.tree.root);
        }
    }

    pub(crate) fn id(text: &str) -> DeviceId {
        DeviceId::parse(text).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{Fixture, id};
    use super::*;

    #[test]
    fn a_disk_knows_its_partitions_and_they_know_it() {
        let mut made = Fixture::new();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").partition("sda", "sda2", "8:2");
        let tree = &made.tree;
        assert_eq!(tree.partitions("sda"), ["sda1", "sda2"]);
        assert_eq!(tree.disk("sda2").as_deref(), Some("sda"));
        assert_eq!(tree.disk("sda"), None);
        assert_eq!(tree.name(id("8:2")).as_deref(), Some("sda2"));
        assert_eq!(tree.name(id("8:3")), None);
    }

    #[test]
    fn a_device_is_found_by_path_even_without_its_node() {
        let mut made = Fixture::new();
        made.disk("dm-0", "252:0").write("dm-0", "dm/name", "vg-home\n");
        let found = |path: &str| made.tree.device_at(Path::new(path));
        assert_eq!(found("/dev/dm-0"), Some(id("252:0")));
        assert_eq!(found("/dev/mapper/vg-home"), Some(id("252:0")));
        assert_eq!(found("/dev/sdz"), None);
        assert_eq!(found("/home/dm-0"), None);
    }

    #[test]
    fn all_devices_of_a_btrfs_belong_to_its_mount() {
        let mut made = Fixture::new();
        made.disk("sda", "8:0").disk("sdb", "8:16").btrfs("u-u", &["sda", "sdb"]);
        made.mount("0:44", "/data", "btrfs /dev/sdb").mount("0:45", "/run", "tmpfs tmpfs");
        let mounts = made.tree.mounts();
        assert_eq!(made.tree.devices_of(&mounts[0]), [id("8:0"), id("8:16")]);
        assert!(made.tree.devices_of(&mounts[1]).is_empty());
    }

    #[test]
    fn an_unset_loop_device_shows_nothing() {
        let mut made = Fixture::new();
        made.disk("loop0", "7:0").disk("loop1", "7:1").write(
            "loop1",
            "loop/backing_file",
            "/a b\n",
        );
        assert_eq!(made.tree.backing("loop0"), None);
        assert_eq!(made.tree.backing("loop1"), Some(PathBuf::from("/a b")));
    }
}
