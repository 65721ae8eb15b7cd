//! `iosonde cache` on real file systems.

use crate::ask::{Asked, ask};
use iosonde_testing::{Folder, LoopDevice, Mounted, Overlay, is_root, or_skip, run, skip};
use iosonde_tools::cache;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;

fn cache(folder: &Folder, line: &str) -> Asked {
    ask(folder, cache::answer, line)
}

/// Whether the folder's file system reports its page cache; records a skip if not.
fn reports_its_cache(folder: &Folder) -> bool {
    folder.write("asked", vec![1; 4096]);
    let found = cache(folder, "--json asked").json()["files"][0].clone();
    std::fs::remove_file(folder.join("asked")).unwrap();
    let reported = found["dirty_bytes"].is_u64() && found["memory_is_storage"] == false;
    if !reported {
        skip::test(format_args!("the file system does not report its cache: {found}"));
    }
    reported
}

/// Bytes of a file, or of all, that are in memory or were evicted from it: a
/// kernel that reclaims idle memory takes pages at any time.
fn came_into_memory(found: &Value) -> u64 {
    ["cached_bytes", "evicted_bytes"].iter().map(|key| found[key].as_u64().unwrap()).sum()
}

#[test]
fn what_was_written_is_cached_and_dirty_and_goes_when_dropped() {
    let folder = Folder::new("cache-drop");
    if !reports_its_cache(&folder) {
        return;
    }
    folder.write("one", vec![7; 4 * MIB as usize]);
    folder.write("other", vec![7; MIB as usize]);
    let found = cache(&folder, "--json one other").well().json();
    assert_eq!(came_into_memory(&found["files"][0]), 4 * MIB, "{found}");
    assert_eq!(came_into_memory(&found["total"]), 5 * MIB, "{found}");
    assert_eq!(found["files"][0]["parts"].as_array().unwrap().len(), 16);

    let ran = cache(&folder, "--drop one").well();
    assert!(ran.words().contains("/one: "), "{ran:?}");
    assert!(ran.words().ends_with(" dropped, nothing still cached"), "{ran:?}");
    let found = cache(&folder, "--json one other").well().json();
    assert_eq!(found["files"][0]["cached_bytes"], 0);
    assert_eq!(found["files"][0]["dirty_bytes"], 0);
    assert_eq!(came_into_memory(&found["files"][1]), MIB, "only what was named was dropped");
    assert_eq!(std::fs::read(folder.join("one")).unwrap(), vec![7; 4 * MIB as usize]);

    cache(&folder, "--drop one").well();
    let ran = cache(&folder, "--warm one").well();
    // A kernel that reclaims idle memory may take a page back at once, and the
    // report says so; but not all of them.
    let text = ran.words();
    assert!(text.contains("/one: ") && text.contains("4 MiB cached, 0 B before"), "{ran:?}");
}

#[test]
fn the_bar_shows_where_a_file_is_cached() {
    let folder = Folder::new("cache-bar");
    if !reports_its_cache(&folder) {
        return;
    }
    folder.write("data", vec![7; 16 * MIB as usize]);
    cache(&folder, "--drop data").well();
    // Written, not read: nothing is read ahead.
    let mut file = std::fs::OpenOptions::new().write(true).open(folder.join("data")).unwrap();
    file.write_all(&[1; 2 * MIB as usize]).unwrap();
    let ran = cache(&folder, "data").well();
    let (_, bar) = ran.stdout.split_once('[').unwrap();
    assert!(bar[2..].starts_with("..............]"), "{ran:?}");
    let found = cache(&folder, "--json data").well().json();
    assert_eq!(came_into_memory(&found["total"]), 2 * MIB, "{found}");
    if found["total"]["evicted_bytes"] == 0 {
        assert!(bar.starts_with("##") && ran.stdout.contains("12.5 %"), "{ran:?}");
    }
    assert!(ran.stdout.lines().all(|line| line.len() <= 80), "{ran:?}");
}

#[test]
fn mapped_and_locked_pages_stay_and_are_reported() {
    let folder = Folder::new("cache-mapped");
    let python = Command::new("python3").arg("--version").output();
    if !reports_its_cache(&folder) || python.is_err() {
        skip!("python3 is not installed; it maps the file");
    }
    folder.write("data", vec![7; MIB as usize]);
    let script = "import mmap,sys\nf=open('data','r+b')\nm=mmap.mmap(f.fileno(),0)\n\
                  sum(m[::4096])\nprint('mapped',flush=True)\nsys.stdin.read()";
    let mut holder = Command::new("python3")
        .args(["-c", script])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    holder.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    let ran = cache(&folder, "--drop data");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let text = ran.well().words();
    assert!(text.contains("still cached: it is mapped by python3"), "{text}");
}

#[test]
fn memory_is_the_storage_of_tmpfs() {
    let shm = Path::new("/dev/shm").join(format!("iosonde-cache-{}", std::process::id()));
    if std::fs::write(&shm, [7; 8192]).is_err() {
        skip!("there is no /dev/shm");
    }
    let folder = Folder::new("cache-tmpfs");
    let shown = cache(&folder, shm.to_str().unwrap());
    let dropped = cache(&folder, &format!("--drop --json {}", shm.display()));
    std::fs::remove_file(&shm).unwrap();
    assert!(shown.well().stdout.contains("this is the storage, not a cache"));
    let file = dropped.well().json()["files"][0].clone();
    assert_eq!(file["memory_is_storage"], true);
    assert!(
        file["still_cached_reason"].as_str().unwrap().contains("keeps files in memory"),
        "{file}"
    );
}

#[test]
fn on_overlayfs_the_rest_is_unknown_and_not_nothing() {
    let folder = Folder::new("cache-overlay");
    if !is_root("mount overlayfs") {
        return;
    }
    let overlay = Overlay::in_folder(folder.path());
    std::fs::write(overlay.lower.join("data"), vec![7; MIB as usize]).unwrap();
    let Some(mounted) = or_skip(overlay.mount("")) else { return };
    let found = cache(&folder, "--json merged/data").well().json()["files"][0].clone();
    let text = cache(&folder, "merged/data").well().words();
    drop(mounted);
    assert!(found["cached_bytes"].as_u64().is_some_and(|bytes| bytes <= MIB), "{found}");
    assert!(found["dirty_bytes"]["unknown"].as_str().unwrap().contains("overlayfs"), "{found}");
    assert!(text.contains("unknown: overlayfs"), "{text}");
}

#[test]
fn directories_are_walked_when_asked_on_their_own_file_system() {
    let folder = Folder::new("cache-walk");
    std::fs::create_dir_all(folder.join("d/e")).unwrap();
    std::fs::write(folder.join("d/e/data"), [7; 100]).unwrap();
    std::fs::hard_link(folder.join("d/e/data"), folder.join("d/again")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("d/link")).unwrap();
    let ran = cache(&folder, "d");
    assert_eq!(ran.code, 1);
    let why = "d: is a directory; add --recursive for the files in it\n";
    assert!(ran.stderr.starts_with("iosonde: ") && ran.stderr.ends_with(why), "{ran:?}");
    let found = cache(&folder, "--json --recursive d").well().json();
    assert_eq!(found["files"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["total"]["bytes"], 100);
}

#[test]
fn wrong_inputs_are_named_and_the_rest_is_done() {
    let folder = Folder::new("cache-wrong");
    folder.write("here", "x");
    let ran = cache(&folder, "--json missing here /dev/null");
    assert_eq!(ran.code, 1);
    let found = ran.json();
    assert_eq!(found["files"].as_array().unwrap().len(), 1);
    let failed: Vec<&Value> = found["failed"].as_array().unwrap().iter().collect();
    assert_eq!(failed[0]["reason"], "No such file or directory");
    assert!(failed[1]["reason"].as_str().unwrap().contains("neither a file nor a block device"));
    assert!(ran.stderr.contains("/missing: No such file or directory\n"), "{ran:?}");
    for line in ["", "--drop --warm here", "--what here"] {
        let ran = cache(&folder, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.starts_with("iosonde: cache: "), "{ran:?}");
    }
}

#[test]
fn the_cache_of_a_mounted_device_is_left_alone() {
    if !is_root("attach devices") {
        return;
    }
    let folder = Folder::temporary("device");
    let image = folder.image("image", 16 * MIB);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let here = Folder::new("cache-device");
    let warmed = cache(&here, &format!("--warm {}", device.text())).well().stdout;
    assert!(warmed.contains("drops a device's cache"), "{warmed}");
    let _open = std::fs::File::open(&device.0).unwrap();
    let found = cache(&here, &format!("--warm --json {}", device.text())).well().json();
    assert_eq!(found["files"][0]["bytes"], 16 * MIB);
    assert_eq!(came_into_memory(&found["files"][0]), 16 * MIB, "{found}");
    cache(&here, &format!("--drop {}", device.text())).well();
    let Some(_) = or_skip(run("mkfs.ext4", &["-q", device.text()])) else { return };
    let Some(mounted) = or_skip(Mounted::mount(&device.0, &folder.join("mnt"))) else { return };
    let ran = cache(&here, &format!("--drop {}", device.text()));
    drop(mounted);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("was not dropped: it is mounted on"), "{ran:?}");
}
