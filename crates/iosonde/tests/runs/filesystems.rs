//! Real file systems: every engine reads back what it wrote, and a full one is
//! an end with a reason.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, Mounted, is_root, or_skip};
use serde_json::Value;
use std::path::Path;

const ENGINES: [&str; 8] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring"];
const MIB: u64 = 1 << 20;

pub struct FileSystem {
    // In this order they are taken away.
    mounted: Mounted,
    _device: Option<LoopDevice>,
    pub folder: Folder,
}

impl FileSystem {
    /// On a loop device, made by `mkfs.KIND`.
    pub fn of(kind: &str, bytes: u64) -> Option<FileSystem> {
        let folder = Folder::new(kind);
        let (mounted, device) = LoopDevice::mounted(&folder, kind, bytes)?;
        Some(FileSystem { mounted, _device: Some(device), folder })
    }

    pub fn tmpfs(bytes: u64) -> Option<FileSystem> {
        let folder = Folder::new("tmpfs");
        let mounted = Mounted::in_memory(&folder, "tmpfs", &format!("size={bytes}"))?;
        Some(FileSystem { mounted, _device: None, folder })
    }

    /// In memory, and without O_DIRECT (tmpfs takes it since Linux 6.6).
    fn ramfs() -> Option<FileSystem> {
        let folder = Folder::new("ramfs");
        let mounted = Mounted::in_memory(&folder, "ramfs", "rw")?;
        Some(FileSystem { mounted, _device: None, folder })
    }

    fn run(&self, line: &str) -> Ran {
        let line = format!("--directory={} {line}", self.mounted.0.display());
        Who::AsFio.run(&self.folder, &words(&line))
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.mounted.0.join(name)
    }
}

fn job(ran: &Ran) -> Value {
    ran.json()["jobs"][0].clone()
}

fn all_bytes_are(path: &Path, byte: u8, len: usize) -> bool {
    let data = std::fs::read(path).unwrap();
    data.len() == len && data.iter().all(|&b| b == byte)
}

/// Every engine, through the page cache and beside it, writes its pattern over
/// the last one's in a random order, and reads it all back.
fn write_and_read_back(system: &FileSystem, direct: &[u8]) {
    for (index, engine) in ENGINES.iter().enumerate() {
        for &direct in direct.iter().filter(|&&direct| direct == 0 || *engine != "mmap") {
            let byte = 0x40 + 2 * index as u8 + direct;
            let job_of = format!(
                "--name=j --filename=f --ioengine={engine} --direct={direct} --iodepth=8 --bs=4k-16k \
                 --size=2m --output-format=json"
            );
            let line = format!("{job_of} --rw=randwrite --buffer_pattern={byte} --end_fsync=1");
            let ran = system.run(&line).well();
            assert_eq!(job(&ran)["write"]["io_bytes"], 2 * MIB, "{ran:?}");
            assert!(all_bytes_are(&system.path("f"), byte, 2 * MIB as usize), "{engine} {direct}");
            let ran = system.run(&format!("{job_of} --rw=randread")).well();
            assert_eq!(job(&ran)["read"]["io_bytes"], 2 * MIB, "{ran:?}");
            assert_eq!(job(&ran)["read"]["short_ios"], 0, "{ran:?}");
        }
    }
}

#[test]
fn every_engine_writes_and_reads_on_ext4() {
    let Some(system) = FileSystem::of("ext4", 64 * MIB) else { return };
    write_and_read_back(&system, &[0, 1]);
}

#[test]
fn every_engine_writes_and_reads_on_xfs() {
    let Some(system) = FileSystem::of("xfs", 320 * MIB) else { return };
    write_and_read_back(&system, &[0, 1]);
}

#[test]
fn every_engine_writes_and_reads_on_btrfs() {
    let Some(system) = FileSystem::of("btrfs", 256 * MIB) else { return };
    write_and_read_back(&system, &[0, 1]);
}

#[test]
fn every_engine_writes_and_reads_on_tmpfs() {
    let Some(system) = FileSystem::tmpfs(64 * MIB) else { return };
    write_and_read_back(&system, &[0]);
}

#[test]
fn a_file_system_without_direct_io_is_named_with_a_remedy() {
    let Some(system) = FileSystem::ramfs() else { return };
    for rw in ["write", "read"] {
        let line = format!("--name=j --filename=f --rw={rw} --size=64k --output-format=json");
        let ran = system.run(&format!("{line} --direct=1"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(job(&ran)["error"], 22, "{ran:?}");
        assert!(ran.stderr.contains("direct=0"), "{ran:?}");
        system.run(&line).well();
    }
}

/// A write beyond what is there ends with ENOSPC, and with counts of what came
/// before it.
fn ends_when_full(system: &FileSystem, engines: &[&str]) {
    for engine in engines {
        // No space is reserved, so that the writes themselves meet the end.
        let line = format!(
            "--name=j --filename=f --ioengine={engine} --rw=write --bs=256k --size=2g \
             --fallocate=none --output-format=json"
        );
        let ran = system.run(&line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let job = job(&ran);
        assert_eq!(job["error"], 28, "{ran:?}");
        assert!(ran.stderr.contains("No space left on device"), "{ran:?}");
        assert!(ran.stderr.contains("write of 262144 bytes at "), "{ran:?}");
        assert!(ran.stderr.contains(system.path("f").to_str().unwrap()), "{ran:?}");
        // As with fio, the one that failed was issued, too.
        let ios = job["write"]["total_ios"].as_u64().unwrap() - 1;
        assert_eq!(job["write"]["clat_ns"]["N"], ios, "{ran:?}");
        assert!(ios > 10, "{ran:?}");
        assert_eq!(job["write"]["io_bytes"], ios * (256 << 10), "{ran:?}");
        let on_disk = system.path("f").metadata().unwrap().len();
        assert!(on_disk >= ios * (256 << 10), "{on_disk} on disk: {ran:?}");
        assert!(on_disk < (ios + 16) * (256 << 10), "{on_disk} on disk: {ran:?}");
        std::fs::remove_file(system.path("f")).unwrap();

        let text = system.run(&line.replace("--output-format=json", ""));
        assert!(text.stdout.contains("j: (groupid=0, jobs=1): err=28"), "{text:?}");
        std::fs::remove_file(system.path("f")).unwrap();
    }
}

#[test]
fn a_full_tmpfs_ends_a_job_with_its_place_and_reason() {
    let Some(system) = FileSystem::tmpfs(16 * MIB) else { return };
    ends_when_full(&system, &["psync", "pvsync2", "vsync", "libaio", "io_uring"]);
}

#[test]
fn a_full_ext4_ends_a_job_with_its_place_and_reason() {
    let Some(system) = FileSystem::of("ext4", 32 * MIB) else { return };
    ends_when_full(&system, &["psync", "libaio", "io_uring"]);
}

#[test]
fn space_that_cannot_be_reserved_ends_the_job_before_it_starts() {
    let Some(system) = FileSystem::of("ext4", 32 * MIB) else { return };
    for rw in ["write", "read"] {
        let ran =
            system.run(&format!("--name=j --filename=f --rw={rw} --size=2g --output-format=json"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(job(&ran)["error"], 28, "{ran:?}");
        assert!(ran.stderr.contains("smaller size"), "what to do is said: {ran:?}");
        let left = system.path("f").metadata().map_or(0, |file| file.len());
        assert!(left < 2 << 30, "no file of holes is left: {left}");
        let _ = std::fs::remove_file(system.path("f"));
    }
}

#[test]
fn a_layout_that_runs_out_of_space_leaves_no_file_that_passes_for_whole() {
    let Some(system) = FileSystem::tmpfs(16 * MIB) else { return };
    for how in ["none", "native", "truncate", "keep"] {
        let ran = system.run(&format!(
            "--name=j --filename=f --rw=read --size=64m --fallocate={how} --output-format=json"
        ));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(job(&ran)["error"], 28, "{ran:?}");
        let left = system.path("f").metadata().map_or(0, |file| file.len());
        assert!(left <= 16 * MIB, "{how}: a file of {left} bytes is left");
        let _ = std::fs::remove_file(system.path("f"));
    }
}

#[test]
fn fill_device_ends_well_when_the_file_system_is_full() {
    let Some(system) = FileSystem::tmpfs(16 * MIB) else { return };
    for engine in ["psync", "libaio", "io_uring"] {
        let line = format!(
            "--name=j --filename=f --ioengine={engine} --rw=write --bs=256k --fill_device=1 \
             --output-format=json"
        );
        let ran = system.run(&line).well();
        let job = job(&ran);
        assert_eq!(job["error"], 0, "{ran:?}");
        let bytes = job["write"]["io_bytes"].as_u64().unwrap();
        assert!((15 * MIB..=16 * MIB).contains(&bytes), "{ran:?}");
        std::fs::remove_file(system.path("f")).unwrap();
    }
}

#[test]
fn blocks_smaller_than_a_sector_are_distinguished_from_other_errors() {
    if !is_root("attach devices") {
        return;
    }
    let folder = Folder::new("sectors");
    let image = folder.image("image", 16 * MIB);
    let Some(device) = or_skip(LoopDevice::attach(&image, &["--sector-size", "4096"])) else {
        return;
    };
    for engine in ["psync", "libaio", "io_uring"] {
        for rw in ["read", "write"] {
            let line = format!(
                "--name=j --filename={} --ioengine={engine} --rw={rw} --bs=512 --size=64k",
                device.text()
            );
            let ran = Who::AsFio.run(&folder, &words(&format!("{line} --direct=1")));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains("4096"), "the sector is named: {ran:?}");
            // Through the page cache, or in whole sectors, it works.
            Who::AsFio.run(&folder, &words(&line)).well();
            let whole = line.replace("--bs=512", "--bs=4k --direct=1");
            Who::AsFio.run(&folder, &words(&whole)).well();
        }
    }
}
