//! Facts of what is reached in unusual ways: without /sys, by a mount that another hides, by a
//! descriptor of a path alone.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use iosonde_direct::stack::Stack;
use iosonde_direct::sysfs::Tree;
use iosonde_direct::{DirectIo, Fact, Facts, Known, OpenOptions, PathKind};
use iosonde_testing::{Folder, LoopDevice, Mounted, filesystem, or_skip, run};

#[test]
fn a_fifo_has_facts_and_is_not_opened_for_them() {
    let folder = Folder::new("fifo");
    let path = folder.join("fifo");
    let Some(_) = or_skip(run("mkfifo", &[path.to_str().unwrap()])) else { return };
    // Opening it would wait for a writer.
    let facts = Facts::of(&path).unwrap();
    assert_eq!((facts.kind, facts.direct.possible), (PathKind::Other, false));
    assert_eq!(facts.stack.path, path.canonicalize().unwrap());
}

#[test]
fn a_file_stays_on_its_mount_when_another_is_mounted_over_it() {
    let folder = Folder::temporary("test");
    let Some((_device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let path = mounted.0.join("file");
    fs::write(&path, [7; 4096]).unwrap();
    let file = File::open(&path).unwrap();
    let on = mounted.0.to_str().unwrap();
    let Some(_) = or_skip(run("mount", &["-t", "tmpfs", "hides-it", on])) else { return };
    let above = Mounted::at(mounted.0.clone());
    let facts = Facts::of_file(&file);
    drop(above);
    assert_eq!(facts.unwrap().mount().unwrap().filesystem, "ext4");
}

/// Run again in a mount namespace without /sys.
#[test]
fn body_without_sysfs() {
    let Some(path) = std::env::var_os("IOSONDE_WITHOUT_SYSFS") else { return };
    assert!(!Path::new("/sys/class").exists());
    // By the path alone, and by a file that is open for reading.
    let by_path = Facts::of(&path).unwrap();
    let by_file = Facts::of_file(&File::open(&path).unwrap()).unwrap();
    for facts in [by_path, by_file] {
        assert_eq!(facts.bytes, Fact::Known(8 << 20));
        let device = facts.device().unwrap();
        assert_eq!(device.logical_sector, Fact::Known(4096));
        assert!(device.io_bytes_optimal.get() != Some(0), "zero is: it states none");
        assert!(device.serial.why().unwrap().starts_with("sysfs does not know"));
    }
}

#[test]
fn without_sysfs_the_device_itself_is_asked() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", 8 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &["--sector-size", "4096"])) else {
        return;
    };
    let program = std::env::current_exe().unwrap();
    let hidden = "mount -t tmpfs none /sys && exec \"$0\" --exact body_without_sysfs";
    let unshared = Command::new("unshare")
        .args(["--mount", "sh", "-c", hidden])
        .arg(&program)
        .env("IOSONDE_WITHOUT_SYSFS", &device.0)
        .output();
    match unshared {
        Ok(output) if output.status.code() == Some(1) => {
            iosonde_testing::skip!("no mount namespace: {output:?}");
        }
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => iosonde_testing::skip!("unshare: {error}"),
    }
}

#[test]
fn a_device_is_found_by_a_link_and_by_a_name_without_a_node() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", 1 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let here = Tree::here();
    let id = here.id(device.name());
    assert!(id.is_some());
    let link = folder.join("link");
    std::os::unix::fs::symlink(&device.0, &link).unwrap();
    assert_eq!(here.device_at(&link), id);
    assert_eq!(here.device_at(&Path::new("/dev/no-such-folder").join(device.name())), id);
    assert_eq!(here.device_at(&image), None);
    // Of a copy of the trees, nodes of this machine are not looked at.
    let copy = Tree::at(folder.path());
    assert_eq!((copy.device_at(&link), copy.device_at(&device.0)), (None, None));
}

#[test]
fn what_is_no_folder_has_nothing_below() {
    let folder = Folder::new("no-folder");
    let file = folder.write("file", "x");
    let error = Stack::under(&Path::new(&file).join("below")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
    let ring = folder.join("ring");
    std::os::unix::fs::symlink(&ring, &ring).unwrap();
    assert!(Stack::under(&ring).is_err(), "a link to itself");
}

#[test]
fn what_is_said_of_direct_io_is_what_an_opening_finds() {
    let folder = Folder::new("direct-or-not");
    let file = folder.write("file", [7; 4096]);
    let mut paths = vec![file, "/proc/self/stat".to_owned()];
    let memory = Path::new("/dev/shm").is_dir().then(|| Folder::within(Path::new("/dev/shm"), "d"));
    paths.extend(memory.as_ref().map(|memory| memory.write("file", [7; 4096])));
    for path in paths {
        let needs = DirectIo::of(&File::open(&path).unwrap()).unwrap();
        let opened = OpenOptions::new().read(true).direct(true).open(&path);
        if needs.known != Known::Stated {
            assert_eq!(needs.possible, opened.is_ok(), "{path}: {needs:?}");
        }
        assert!(!needs.possible || opened.is_ok(), "{path}: {needs:?}");
    }
    let proc = DirectIo::of(&File::open("/proc/self/stat").unwrap()).unwrap();
    assert_eq!(proc, DirectIo { possible: false, known: Known::Tried, ..proc });
}
