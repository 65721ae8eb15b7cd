//! Files and devices that another program has locked: this one, the test.

use super::safety::refused;
use crate::support::{Ran, Who, words};
use iosonde_direct::lock::{ByteRange, LockKind, Patience, lock_range};
use iosonde_testing::{Folder, LoopDevice, is_root, or_skip, run};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

const MIB: u64 = 1 << 20;

fn ran(who: Who, folder: &Folder, line: &str) -> Ran {
    who.run(folder, &words(line))
}

fn write_to(who: Who, folder: &Folder, name: &str, more: &str) -> Ran {
    ran(who, folder, &format!("--name=j --rw=write --bs=4k --size=64k --filename={name} {more}"))
}

fn opened(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

/// As qemu does: locks of an open file, each of one byte, that others may share.
fn as_qemu(path: &Path) -> File {
    let file = opened(path);
    for offset in [100, 101, 201, 203] {
        let span = ByteRange { offset, bytes: 1 };
        lock_range(&file, LockKind::Shared, Patience::Try, span).unwrap();
    }
    file
}

/// A file with what nobody may lose.
fn image(folder: &Folder) {
    folder.write("disk.img", vec![7; 1 << 20]);
}

fn is_untouched(folder: &Folder) -> bool {
    std::fs::read(folder.join("disk.img")).unwrap() == vec![7; 1 << 20]
}

#[test]
fn a_disk_image_that_a_virtual_machine_has_open_is_not_written_to() {
    let folder = Folder::new("locked-image");
    image(&folder);
    symlink("disk.img", folder.join("link")).unwrap();
    std::fs::hard_link(folder.join("disk.img"), folder.join("second")).unwrap();
    let machine = as_qemu(&folder.join("disk.img"));
    let why = "is in use: another program has locked it; end that program first";
    for name in ["disk.img", "./disk.img", "link", "second"] {
        refused(&write_to(Who::Native, &folder, name, ""), why);
        refused(&write_to(Who::Native, &folder, name, "--thread --numjobs=2"), why);
    }
    for line in [
        "--name=j --rw=read --size=2m --filename=disk.img --extend",
        "--name=j --rw=read --ioengine=filedelete --filename=disk.img",
        "--name=j --rw=read --size=64k --filename=disk.img --unlink=1",
        "--name=j --ioengine=null --rw=write --size=4k --mem=mmapshared:disk.img",
        "--name=j --ioengine=null --rw=read --size=4k --output=disk.img",
        "--name=j --ioengine=null --rw=read --size=4k --write_iolog=disk.img",
        "sbk -class file -file disk.img -size 100 -writers 1 -records 5",
        "sweep --name=j --rw=write --size=64k --filename=disk.img --over bs=4k,8k --rounds=1",
    ] {
        let ran = ran(Who::Native, &folder, line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains("is in use: another program has locked it"), "{line}: {ran:?}");
    }
    let matrix = ran(Who::Native, &folder, "matrix disk.img --erase --quick");
    assert_eq!(matrix.code, Some(1), "{matrix:?}");
    assert!(matrix.stderr.contains("another program has locked it"), "{matrix:?}");
    let explained =
        ran(Who::Native, &folder, "explain --name=j --rw=write --filename=disk.img --size=64k");
    assert!(explained.stdout.contains("this run will be refused: write to"), "{explained:?}");
    assert!(folder.join("disk.img").exists() && is_untouched(&folder));
    // To read is no harm, and other files are not in use.
    ran(Who::Native, &folder, "--name=j --rw=read --size=64k --filename=disk.img").well();
    write_to(Who::Native, &folder, "other", "").well();
    drop(machine);
    write_to(Who::Native, &folder, "disk.img", "").well();
    assert!(!is_untouched(&folder));
}

#[test]
fn a_locked_file_is_written_to_by_force_and_as_fio_and_named_before() {
    let folder = Folder::new("locked-force");
    for (who, more) in [(Who::Native, "--force"), (Who::AsFio, "")] {
        image(&folder);
        let _machine = as_qemu(&folder.join("disk.img"));
        let ran = write_to(who, &folder, "disk.img", more).well();
        let note = "disk.img is in use: another program has locked it, and is written to";
        assert!(ran.stderr.contains(note), "{ran:?}");
        assert!(!is_untouched(&folder));
    }
}

#[test]
fn a_lock_of_a_process_is_named_with_it() {
    let folder = Folder::new("locked-process");
    image(&folder);
    let database = opened(&folder.join("disk.img"));
    let lock = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::fcntl_lock(&database, lock).unwrap();
    let why = format!("is in use: process {} has locked it", std::process::id());
    refused(&write_to(Who::Native, &folder, "disk.img", ""), &why);
    let unlock = rustix::fs::FlockOperation::NonBlockingUnlock;
    rustix::fs::fcntl_lock(&database, unlock).unwrap();
    assert!(is_untouched(&folder));
    write_to(Who::Native, &folder, "disk.img", "").well();
}

#[test]
fn jobs_and_runs_do_not_keep_each_other_out_and_neither_does_flock() {
    let folder = Folder::new("locked-ours");
    image(&folder);
    let more = "--numjobs=3 --lockfile=exclusive";
    write_to(Who::Native, &folder, "disk.img", more).well();
    // As `flock disk.img iosonde ...` and `udevadm lock` do.
    let file = opened(&folder.join("disk.img"));
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    write_to(Who::Native, &folder, "disk.img", more).well();
}

#[test]
fn a_locked_device_is_known_by_other_nodes_its_partitions_and_its_image() {
    let folder = Folder::new("locked-device");
    if !is_root("attach devices") {
        return;
    }
    let image = folder.image("image", 16 * MIB);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let number = std::fs::metadata(&device.0).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let node = folder.join("node");
    run("mknod", &[node.to_str().unwrap(), "b", &major.to_string(), &minor.to_string()]).unwrap();
    let names = [device.text().to_owned(), "node".into(), "image".into()];
    for locked in [&device.0, &image] {
        let machine = as_qemu(locked);
        for name in &names {
            let ran = write_to(Who::Native, &folder, name, "");
            refused(&ran, "is in use: another program has locked it");
        }
        drop(machine);
    }
    for name in &names {
        write_to(Who::Native, &folder, name, "").well();
    }
}
