//! `iosonde probe` on real file systems and devices.

use crate::ask::{Asked, ask};
use iosonde_testing::{Folder, LoopDevice, Mounted, filesystem, is_root, or_skip, run, skip};
use iosonde_tools::probe;
use serde_json::Value;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn probe(folder: &Folder, line: &str) -> Asked {
    ask(folder, probe::answer, line)
}

fn probed(folder: &Folder, line: &str) -> Value {
    probe(folder, &format!("--json {line}")).well().json()
}

/// Whether `id` is among the hazards for a test.
fn is_hazard(found: &Value, id: &str) -> bool {
    found["hazards"].as_array().unwrap().iter().any(|one| one["id"] == id)
}

/// The release of the kernel: `(6, 18)`.
fn release() -> (u32, u32) {
    let name = rustix::system::uname();
    let mut numbers =
        name.release().to_str().unwrap().split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[test]
fn a_directory_is_described_in_eighty_columns_and_nothing_stays_behind() {
    let folder = Folder::new("probe-text");
    let ran = probe(&folder, ".").well();
    for part in ["file system", "tried on a temporary file", "direct reads", "this machine"] {
        assert!(ran.stdout.contains(part), "{part}: {ran:?}");
    }
    let long = ran.stdout.lines().find(|line| line.chars().count() > 80 && line.contains("  "));
    // A word that does not fit stands alone.
    assert!(long.is_none_or(|line| line.split_whitespace().count() < 3), "{long:?}");
    assert!(!ran.stdout.contains('\u{1b}'));
    assert_eq!(folder.names(), [""; 0], "the temporary file is gone");
}

#[test]
fn direct_io_is_what_the_file_system_makes_of_it() {
    if !is_root("mount") {
        return;
    }
    let here = Folder::new("probe-fs");
    for kind in ["ext4", "xfs", "btrfs"] {
        let folder = Folder::temporary("device");
        let Some((device, mounted)) = or_skip(filesystem(&folder, kind)) else { continue };
        let found = probed(&here, mounted.0.to_str().unwrap());
        let trials = &found["trials"];
        assert_eq!(found["file_system"]["type"], kind);
        assert_eq!(found["devices"][0]["name"], device.name());
        assert_eq!(trials["direct_read"]["verdict"], "yes", "{kind}: {trials}");
        let summed = kind == "btrfs" && release() >= (6, 14);
        let writes = if summed { "no" } else { "yes" };
        if kind != "btrfs" || summed {
            assert_eq!(trials["direct_write"]["verdict"], writes, "{kind}: {trials}");
            assert_eq!(is_hazard(&found, "not-direct"), summed, "{kind}");
        }
        if kind != "btrfs" {
            assert_eq!(trials["unaligned_direct_read"]["verdict"], "no", "{kind}: {trials}");
        }
        assert!(is_hazard(&found, "loop-cached"), "its image is cached: {found}");
        let names: Vec<_> = std::fs::read_dir(&mounted.0).unwrap().flatten().collect();
        assert!(names.iter().all(|name| name.file_name() == "lost+found"), "{names:?}");
    }
}

#[test]
fn files_in_memory_are_called_so() {
    if !Path::new("/dev/shm").is_dir() {
        skip!("there is no /dev/shm");
    }
    let folder = Folder::new("probe-memory");
    let found = probed(&folder, "/dev/shm");
    assert_eq!(found["file_system"]["memory_is_storage"], true);
    assert_eq!(found["trials"]["direct_read"]["verdict"], "no");
    assert!(found["trials"]["direct_read"]["detail"].as_str().unwrap().contains("in memory"));
    assert_eq!(found["hazards"][0]["id"], "memory-files");
    assert_eq!(found["stack"].as_array().unwrap().len(), 0);
}

#[test]
fn a_file_is_looked_at_and_never_changed() {
    let folder = Folder::new("probe-file");
    let path = folder.join("data");
    std::fs::write(&path, vec![7; 65536]).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(MIB).unwrap();
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    let found = probed(&folder, "data");
    assert_eq!(found["kind"], "file");
    assert_eq!(found["bytes"], MIB);
    if found["file"]["extents"]["hole_bytes"].is_u64() {
        assert!(is_hazard(&found, "holes"), "{found}");
    }
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!(folder.sizes(), [("data".to_owned(), MIB)]);
}

#[test]
fn a_device_is_only_read_and_its_use_is_reported() {
    if !is_root("attach devices") {
        return;
    }
    let folder = Folder::temporary("device");
    let image = folder.image("image", 32 * MIB);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let Some(_) = or_skip(run("mkfs.ext4", &["-q", device.text()])) else { return };
    let here = Folder::new("probe-device");
    let Some(_) = or_skip(run("sync", &[image.to_str().unwrap()])) else { return };
    let before = std::fs::read(&image).unwrap();
    let found = probed(&here, device.text());
    assert_eq!(found["kind"], "block device");
    assert_eq!(found["bytes"], 32 * MIB);
    assert_eq!(found["trials"]["direct_read"]["verdict"], "yes", "{}", found["trials"]);
    assert_eq!(found["trials"]["direct_write"]["detail"], "devices are not written to");
    assert!(std::fs::read(&image).unwrap() == before, "not a byte was written");
    let Some(mounted) = or_skip(Mounted::mount(&device.0, &folder.join("mnt"))) else { return };
    let text = probe(&here, device.text()).well().stdout;
    drop(mounted);
    assert!(text.contains("in use: mounted on"), "{text}");
}

#[test]
fn a_full_or_read_only_file_system_leaves_the_trials_unknown() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::temporary("device");
    let Some((_device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let here = Folder::new("probe-full");
    let point = mounted.0.to_str().unwrap().to_owned();
    // As much as fits.
    let _ = std::fs::write(mounted.0.join("full"), vec![7; 64 * MIB as usize]);
    let found = probed(&here, &point);
    let trial = &found["trials"]["direct_read"];
    assert_eq!(trial["verdict"], "unknown", "{trial}");
    assert!(trial["detail"].as_str().unwrap().contains("No space left"), "{trial}");
    assert!(is_hazard(&found, "nearly-full"));
    let Some(_) = or_skip(run("mount", &["-o", "remount,ro", &point])) else { return };
    let found = probed(&here, &point);
    let trial = &found["trials"]["direct_read"];
    assert!(trial["detail"].as_str().unwrap().contains("Read-only file system"), "{trial}");
    assert!(is_hazard(&found, "read-only"));
}

#[test]
fn wrong_inputs_are_refused_with_the_reason() {
    let folder = Folder::new("probe-wrong");
    for (line, why) in [
        ("", "the required argument <PATH|DEVICE> is missing"),
        ("missing", "missing: No such file or directory; name the directory"),
        ("/dev/null", "is a character device"),
        ("--wrong .", "unknown option --wrong"),
        (". /other", "unexpected argument \"/other\""),
    ] {
        let ran = probe(&folder, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains(why), "{why}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    }
}
