//! Trees of /sys and /proc laid out in a folder, for tests of what reads them.
#![allow(dead_code)] // Each test uses a part.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A made-up machine; its folder goes when it is dropped.
pub struct Fixture {
    /// What stands for `/`.
    pub root: PathBuf,
    mountinfo: String,
    swaps: String,
}

impl Fixture {
    pub fn new() -> Fixture {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("iosonde-tree-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join("sys/class/block")).unwrap();
        fs::create_dir_all(root.join("sys/dev/block")).unwrap();
        fs::create_dir_all(root.join("proc/self")).unwrap();
        Fixture { root, mountinfo: String::new(), swaps: "Filename Type\n".to_owned() }
    }

    /// A disk `name` numbered `id`.
    pub fn disk(&mut self, name: &str, id: &str) -> &mut Fixture {
        self.device(name, &format!("devices/block/{name}"), id)
    }

    /// A partition of `disk`.
    pub fn partition(&mut self, disk: &str, name: &str, id: &str) -> &mut Fixture {
        self.device(name, &format!("devices/block/{disk}/{name}"), id);
        self.write(name, "partition", "1\n")
    }

    /// `upper` is made of `lower`.
    pub fn over(&mut self, upper: &str, lower: &str) -> &mut Fixture {
        symlink("x", self.folder(upper).join("slaves").join(lower)).unwrap();
        symlink("x", self.folder(lower).join("holders").join(upper)).unwrap();
        self
    }

    pub fn write(&mut self, name: &str, attribute: &str, text: &str) -> &mut Fixture {
        let path = self.folder(name).join(attribute);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn mount(&mut self, id: &str, point: &str, rest: &str) -> &mut Fixture {
        self.mountinfo += &format!("1 1 {id} / {point} rw - {rest} rw\n");
        fs::write(self.root.join("proc/self/mountinfo"), &self.mountinfo).unwrap();
        self
    }

    pub fn swap(&mut self, path: &str) -> &mut Fixture {
        self.swaps += &format!("{path} partition 1 0 -1\n");
        fs::write(self.root.join("proc/swaps"), &self.swaps).unwrap();
        self
    }

    /// Devices that make one btrfs.
    pub fn btrfs(&mut self, uuid: &str, names: &[&str]) -> &mut Fixture {
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

    fn device(&mut self, name: &str, folder: &str, id: &str) -> &mut Fixture {
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

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
