//! A fake /sys and /proc in a folder, for tests of code that reads them.

use crate::Folder;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// The devices and mounts of a machine that does not exist.
pub struct FakeSystem {
    /// What stands for `/`.
    pub root: PathBuf,
    // Removes the tree.
    #[expect(dead_code, reason = "kept for its drop")]
    folder: Folder,
    mountinfo: String,
    swaps: String,
}

impl FakeSystem {
    /// A machine without devices.
    pub fn empty() -> FakeSystem {
        let folder = Folder::temporary("system");
        let root = folder.path().to_owned();
        fs::create_dir_all(root.join("sys/class/block")).unwrap();
        fs::create_dir_all(root.join("sys/dev/block")).unwrap();
        fs::create_dir_all(root.join("proc/self")).unwrap();
        FakeSystem { root, folder, mountinfo: String::new(), swaps: "Filename Type\n".to_owned() }
    }

    /// A disk `name` numbered `id`.
    pub fn disk(&mut self, name: &str, id: &str) -> &mut FakeSystem {
        self.device(name, &format!("devices/block/{name}"), id)
    }

    /// A partition of `disk`.
    pub fn partition(&mut self, disk: &str, name: &str, id: &str) -> &mut FakeSystem {
        self.device(name, &format!("devices/block/{disk}/{name}"), id);
        self.write(name, "partition", "1\n")
    }

    /// `upper` is built on `lower`.
    pub fn over(&mut self, upper: &str, lower: &str) -> &mut FakeSystem {
        symlink("x", self.folder(upper).join("slaves").join(lower)).unwrap();
        symlink("x", self.folder(lower).join("holders").join(upper)).unwrap();
        self
    }

    /// An attribute of a device.
    pub fn write(&mut self, name: &str, attribute: &str, text: &str) -> &mut FakeSystem {
        let path = self.folder(name).join(attribute);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A mount of device `id` on `point`; `rest` is the kind and the source.
    pub fn mount(&mut self, id: &str, point: &str, rest: &str) -> &mut FakeSystem {
        self.mountinfo += &format!("1 1 {id} / {point} rw - {rest} rw\n");
        fs::write(self.root.join("proc/self/mountinfo"), &self.mountinfo).unwrap();
        self
    }

    /// A device in use as swap.
    pub fn swap(&mut self, path: &str) -> &mut FakeSystem {
        self.swaps += &format!("{path} partition 1 0 -1\n");
        fs::write(self.root.join("proc/swaps"), &self.swaps).unwrap();
        self
    }

    /// Devices that form one btrfs.
    pub fn btrfs(&mut self, uuid: &str, names: &[&str]) -> &mut FakeSystem {
        let folder = self.root.join("sys/fs/btrfs").join(uuid).join("devices");
        fs::create_dir_all(&folder).unwrap();
        for name in names {
            symlink("x", folder.join(name)).unwrap();
        }
        self
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join("sys/class/block").join(name)
    }

    fn device(&mut self, name: &str, folder: &str, id: &str) -> &mut FakeSystem {
        let system = self.root.join("sys");
        for inner in ["slaves", "holders"] {
            fs::create_dir_all(system.join(folder).join(inner)).unwrap();
        }
        fs::write(system.join(folder).join("dev"), format!("{id}\n")).unwrap();
        symlink(format!("../../{folder}"), system.join("class/block").join(name)).unwrap();
        symlink(format!("../../{folder}"), system.join("dev/block").join(id)).unwrap();
        self
    }
}
