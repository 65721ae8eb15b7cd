//! The layers below a path, from mountinfo and sysfs.

use std::io;
use std::path::{Path, PathBuf};

use crate::stack::{DeviceId, Layer, LayerKind, Mount, Stack};
use crate::sysfs::mount_below;
use crate::sysfs::{Tree, block_device_at};

/// Layers below layers end here. Deeper stacks do not work on Linux (kernel
/// stacks are small), so more is a loop in the tree.
const DEPTH_MAX: u32 = 16;

pub(crate) fn stack_under(path: &Path) -> io::Result<Stack> {
    let path = nearest(path)?;
    let tree = Tree::here();
    if let Some(id) = block_device_at(&path) {
        let devices = vec![layer(&tree, &tree.mounts(), id, 0)];
        return Ok(Stack { path, mount: None, devices });
    }
    let mounts = tree.mounts();
    let mount = mount_below(&mounts, &path).cloned();
    let devices = below_file(&tree, &mounts, &path, 0);
    Ok(Stack { path, mount, devices })
}

impl Tree {
    /// The device with these numbers and what it is made of.
    pub fn stack_of(&self, id: DeviceId) -> Layer {
        layer_of(self, id)
    }
}

/// A device and what it is made of.
pub(crate) fn layer_of(tree: &Tree, id: DeviceId) -> Layer {
    layer(tree, &tree.mounts(), id, 0)
}

/// The devices of a mounted filesystem, and what they are made of.
pub(crate) fn below_mount(tree: &Tree, mount: &Mount) -> Vec<Layer> {
    let mounts = tree.mounts();
    tree.devices_of(mount).into_iter().map(|id| layer(tree, &mounts, id, 0)).collect()
}

/// `path` without links, or its nearest ancestor that exists.
fn nearest(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut existing = path.as_path();
    loop {
        // A file without a name, found by its descriptor: the link has where it was made.
        let is_unnamed = |path: &Path| path.exists() && path.canonicalize().is_err();
        if is_unnamed(existing)
            && let Ok(link) = existing.read_link()
            && !link.exists()
        {
            return nearest(&link);
        }
        match existing.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match existing.parent() {
                Some(parent) => existing = parent,
                None => return Err(error),
            },
            result => return result,
        }
    }
}

/// The devices of the filesystem that the file at `path` is on.
fn below_file(tree: &Tree, mounts: &[Mount], path: &Path, depth: u32) -> Vec<Layer> {
    let Some(mount) = mount_below(mounts, path) else { return Vec::new() };
    let devices = tree.devices_of(mount);
    devices.into_iter().map(|id| layer(tree, mounts, id, depth)).collect()
}

fn layer(tree: &Tree, mounts: &[Mount], id: DeviceId, depth: u32) -> Layer {
    // A device that sysfs does not know: its numbers are its name.
    let name = tree.name(id).unwrap_or_else(|| id.to_string());
    let kind = tree.kind(&name);
    let below = match &kind {
        _ if depth >= DEPTH_MAX => Vec::new(),
        LayerKind::Partition => named(tree, mounts, tree.disk(&name), depth),
        LayerKind::Loop(backing) => match tree.device_at(backing) {
            Some(device) => vec![layer(tree, mounts, device, depth + 1)],
            None => below_backing(tree, mounts, backing, depth + 1),
        },
        LayerKind::Disk | LayerKind::Mapped(_) | LayerKind::Raid => {
            named(tree, mounts, tree.slaves(&name), depth)
        }
    };
    Layer { name, id, kind, below }
}

/// The devices below the backing file of a loop device: of overlayfs those of the
/// directory that has the file.
fn below_backing(tree: &Tree, mounts: &[Mount], path: &Path, depth: u32) -> Vec<Layer> {
    let behind = mount_below(mounts, path).and_then(|mount| tree.behind_overlay(mount, path));
    match behind {
        Some(behind) if depth < DEPTH_MAX => below_backing(tree, mounts, &behind, depth + 1),
        _ => below_file(tree, mounts, path, depth),
    }
}

fn named(
    tree: &Tree,
    mounts: &[Mount],
    names: impl IntoIterator<Item = String>,
    depth: u32,
) -> Vec<Layer> {
    let ids = names.into_iter().filter_map(|name| tree.id(&name));
    ids.map(|id| layer(tree, mounts, id, depth + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::DiskLine;
    use iosonde_testing::FakeSystem;

    fn under(made: &FakeSystem, path: &str) -> Stack {
        let mounts = Tree::at(&made.root).mounts();
        let tree = Tree::at(&made.root);
        let devices = below_file(&tree, &mounts, Path::new(path), 0);
        Stack { path: path.into(), mount: None, devices }
    }

    fn line(name: &str, parts: &[&str]) -> DiskLine {
        let parts = parts.iter().map(|&part| part.to_owned()).collect();
        DiskLine { name: name.to_owned(), parts }
    }

    #[test]
    fn a_file_without_a_name_lies_where_it_was_made() {
        use std::os::fd::AsRawFd;
        let folder = iosonde_testing::Folder::new("stack-unnamed");
        let path = folder.join("file");
        let file = std::fs::File::create(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        let found = stack_under(Path::new(&link)).unwrap();
        assert_eq!(found.mount, stack_under(folder.path()).unwrap().mount);
        assert_eq!(found.path, folder.path().canonicalize().unwrap());
    }

    #[test]
    fn a_file_on_a_partition_is_on_its_disk() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1");
        made.mount("8:1", "/", "ext4 /dev/sda1");
        let stack = under(&made, "/home/file");
        assert_eq!(stack.devices[0].kind, LayerKind::Partition);
        assert_eq!(stack.disk_lines(), [line("sda", &[])]);
    }

    #[test]
    fn a_logical_volume_is_made_of_whole_disks() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").partition("sda", "sda1", "8:1").partition("sda", "sda2", "8:2");
        made.disk("sdb", "8:16").disk("dm-0", "252:0").write("dm-0", "dm/name", "vg-home\n");
        made.over("dm-0", "sda1").over("dm-0", "sda2").over("dm-0", "sdb");
        made.mount("252:0", "/home", "xfs /dev/mapper/vg-home");
        let stack = under(&made, "/home/file");
        assert_eq!(stack.devices[0].kind, LayerKind::Mapped(Some("vg-home".into())));
        assert_eq!(
            stack.disk_lines(),
            [line("dm-0", &["sda", "sdb"]), line("sda", &[]), line("sdb", &[])]
        );
    }

    #[test]
    fn a_raid_below_a_volume_is_followed_down() {
        let mut made = FakeSystem::empty();
        made.disk("sda", "8:0").disk("sdb", "8:16").disk("md0", "9:0").disk("dm-0", "252:0");
        made.write("md0", "md/level", "raid1\n").write("dm-0", "dm/name", "crypt\n");
        made.over("md0", "sda").over("md0", "sdb").over("dm-0", "md0");
        made.mount("252:0", "/", "ext4 /dev/dm-0");
        let stack = under(&made, "/");
        let names: Vec<&str> =
            stack.devices[0].walk().into_iter().map(|layer| layer.name.as_str()).collect();
        assert_eq!(names, ["dm-0", "md0", "sda", "sdb"]);
        assert_eq!(stack.disk_lines()[1], line("md0", &["sda", "sdb"]));
    }

    #[test]
    fn below_a_loop_device_is_the_device_of_its_file() {
        let mut made = FakeSystem::empty();
        made.disk("vda", "254:0").disk("loop0", "7:0");
        made.write("loop0", "loop/backing_file", "/images/a\n");
        made.mount("254:0", "/", "ext4 /dev/vda").mount("7:0", "/mnt", "xfs /dev/loop0");
        let stack = under(&made, "/mnt/file");
        assert_eq!(stack.devices[0].kind, LayerKind::Loop("/images/a".into()));
        assert_eq!(stack.devices[0].below[0].name, "vda");
        assert_eq!(stack.disk_lines(), [line("loop0", &[])], "as fio has it");
    }

    #[test]
    fn below_a_backing_file_on_overlayfs_is_what_its_directories_are_on() {
        let mut made = FakeSystem::empty();
        made.disk("vda", "254:0").disk("loop0", "7:0");
        made.write("loop0", "loop/backing_file", "/merged/folder/a\n");
        made.mount("254:0", "/", "ext4 /dev/vda").mount("7:0", "/mnt", "xfs /dev/loop0");
        made.mount(
            "0:40",
            "/merged",
            "overlay overlay rw,lowerdir=/lower,upperdir=/upper,workdir=/work",
        );
        assert!(under(&made, "/mnt/file").devices[0].below.is_empty(), "it is in neither");
        for folder in ["lower", "upper"] {
            let folder = made.root.join(folder).join("folder");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("a"), []).unwrap();
            assert_eq!(under(&made, "/mnt/file").devices[0].below[0].name, "vda");
        }
    }

    #[test]
    fn a_tree_that_bites_its_tail_ends() {
        let mut made = FakeSystem::empty();
        made.disk("loop0", "7:0").write("loop0", "loop/backing_file", "/mnt/a\n");
        made.mount("7:0", "/mnt", "ext4 /dev/loop0");
        made.disk("dm-0", "252:0").write("dm-0", "dm/name", "x").over("dm-0", "dm-0");
        assert_eq!(under(&made, "/mnt/b").devices[0].walk().len() as u32, DEPTH_MAX + 1);
        assert!(
            !layer(&Tree::at(&made.root), &[], DeviceId { major: 252, minor: 0 }, 0)
                .walk()
                .is_empty()
        );
    }

    #[test]
    fn a_filesystem_without_a_device_has_none() {
        let mut made = FakeSystem::empty();
        made.mount("0:23", "/dev/shm", "tmpfs tmpfs");
        assert!(under(&made, "/dev/shm/file").disk_lines().is_empty());
        assert!(under(&made, "/elsewhere").devices.is_empty());
    }

    #[test]
    fn a_device_that_sysfs_does_not_know_is_called_by_its_numbers() {
        let mut made = FakeSystem::empty();
        made.mount("8:1", "/", "ext4 /dev/root");
        assert_eq!(under(&made, "/").disk_lines(), [line("8:1", &[])]);
    }
}
