//! Ledgers of runs on file systems of their own.

use super::{Who, words};
use iosonde_testing::{Folder, LoopDevice, Mounted, is_root, or_skip, run};
use serde_json::Value;
use std::path::Path;

pub const MIB: u64 = 1 << 20;

/// A file system on a loop device.
pub struct TestFileSystem {
    // In this order they are taken away.
    pub mounted: Mounted,
    pub device: LoopDevice,
    pub folder: Folder,
}

impl TestFileSystem {
    /// Made by `mkfs.KIND`; `None`, and said, where that cannot be had.
    pub fn of(kind: &str) -> Option<TestFileSystem> {
        if !is_root("mount") {
            return None;
        }
        let folder = Folder::new(&format!("ledger-{kind}"));
        let image = folder.join("image");
        TestFileSystem::on(folder, &image, kind)
    }

    /// The same with its image in memory: what its device takes is up to the
    /// test alone.
    pub fn in_memory(kind: &str) -> Option<TestFileSystem> {
        if !is_root("mount") {
            return None;
        }
        let folder = Folder::new(&format!("ledger-memory-{kind}"));
        let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
        let image = Path::new("/dev/shm").join(name);
        or_skip(std::fs::write(&image, []).map_err(|error| format!("/dev/shm: {error}")))?;
        let place = TestFileSystem::on(folder, &image, kind);
        // The device has it open, and it goes with it.
        std::fs::remove_file(&image).unwrap();
        place
    }

    fn on(folder: Folder, image: &Path, kind: &str) -> Option<TestFileSystem> {
        std::fs::File::create(image).unwrap().set_len(512 * MIB).unwrap();
        // ext4 would go on writing its tables after it is mounted.
        let whole: &[&str] = match kind {
            "ext4" => &["-E", "lazy_itable_init=0,lazy_journal_init=0"],
            _ => &[],
        };
        let arguments = [&["-q"], whole, &[image.to_str().unwrap()]].concat();
        or_skip(run(&format!("mkfs.{kind}"), &arguments))?;
        let device = or_skip(LoopDevice::attach(image, &[]))?;
        let mounted = or_skip(Mounted::mount(&device.0, &folder.join("on")))?;
        Some(TestFileSystem { mounted, device, folder })
    }

    pub fn path(&self, name: &str) -> String {
        self.mounted.0.join(name).to_str().unwrap().to_owned()
    }

    /// The ledger of a job on the file `name`.
    pub fn ledger(&self, name: &str, line: &str) -> Value {
        ledger(&self.folder, &format!("--name=j --filename={} {line}", self.path(name)))
    }
}

/// The ledger of the jobs of a command line.
pub fn ledger(folder: &Folder, line: &str) -> Value {
    let ran = Who::Native.run(folder, &words(&format!("--output-format=json {line}")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()["iosonde"]["ledger"].clone()
}

/// The share of the bytes that reads asked for.
pub fn share(ledger: &Value, of: &str) -> f64 {
    let reads = &ledger["reads"];
    let bytes = |key: &str| reads[key].as_u64().unwrap_or_else(|| panic!("{key}: {reads}"));
    bytes(of) as f64 / bytes("completed_bytes") as f64
}

/// The text of a rule of the verdict, if it found anything.
pub fn finds(ledger: &Value, rule: &str) -> Option<String> {
    let all = ledger["verdict"].as_array().unwrap();
    let found = all.iter().find(|finding| finding["id"] == rule)?;
    Some(found["statement"].as_str().unwrap().to_owned())
}
