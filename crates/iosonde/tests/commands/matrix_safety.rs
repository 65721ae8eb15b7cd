//! What `iosonde matrix` does not write to.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, is_root, or_skip, run, skip_part};
use std::path::Path;

const MIB: u64 = 1 << 20;

fn matrix(folder: &Folder, target: &str, more: &str) -> Ran {
    let line = format!("--time-per-cell=1ms --bs=4k --size=64k --modes=o_sync,read {more}");
    let mut arguments = vec!["matrix".to_owned(), target.to_owned()];
    arguments.extend(words(&line));
    Who::Native.run(folder, &arguments)
}

#[track_caller]
fn refused(ran: &Ran, why: &str) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains(why), "{why}: {ran:?}");
    assert_eq!(ran.stdout, "", "{ran:?}");
}

fn device(folder: &Folder, bytes: u64) -> Option<LoopDevice> {
    if !is_root("attach devices") {
        return None;
    }
    or_skip(LoopDevice::attach(&folder.image("image", bytes), &[]))
}

fn is_zero(path: &Path) -> bool {
    std::fs::read(path).unwrap().iter().all(|&byte| byte == 0)
}

#[test]
fn a_file_that_exists_is_written_to_only_with_leave() {
    let folder = Folder::new("erase-file");
    let path = folder.write("data", vec![7; 100_000]);
    let held = || std::fs::read(&path).unwrap() == vec![7; 100_000];
    refused(&matrix(&folder, "data", ""), "give --erase if its contents may be lost");
    refused(&matrix(&folder, "data", "--erase=100000"), "is a file: use --erase without a word");
    refused(&matrix(&folder, "data", "--output=o.png"), "unknown format of");
    assert!(held());
    // It is not for results either.
    refused(&matrix(&folder, "data", "--erase --output=data"), "unknown format of");
    folder.write("data.json", "mine");
    refused(&matrix(&folder, "data.json", "--erase --output=data.json"), "it is the target");
    assert_eq!(folder.read("data.json"), "mine");
    assert!(held());

    matrix(&folder, "data", "--erase").well();
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after.len(), 100_000, "it stays, as long as it was");
    assert!(after[..65536].iter().any(|&byte| byte != 7));
    assert!(after[65536..].iter().all(|&byte| byte == 7), "no more than was said");
}

#[test]
fn a_device_is_written_to_only_when_its_size_is_repeated() {
    let folder = Folder::new("erase-device");
    let Some(device) = device(&folder, 16 * MIB) else { return };
    let text = device.text();
    refused(&matrix(&folder, text, ""), "repeat its size: --erase=16M");
    refused(&matrix(&folder, text, "--erase"), "--erase alone is not enough");
    for wrong in ["15m", "16777217", "yes", "loop"] {
        let ran = matrix(&folder, text, &format!("--erase={wrong}"));
        refused(&ran, "does not name");
    }
    assert!(is_zero(&device.0), "not a byte was written");
    matrix(&folder, text, "--erase=16m").well();
    assert!(!is_zero(&device.0));
    // Reading takes no leave.
    matrix(&folder, text, "--modes=read").well();
}

#[test]
fn a_mounted_device_is_refused_whatever_is_given() {
    let folder = Folder::new("erase-mounted");
    let Some((mounted, device)) = LoopDevice::mounted(&folder, "ext4", 16 * MIB) else { return };
    let before = std::fs::read(&device.0).unwrap();
    for more in ["", "--erase", "--erase=16m"] {
        let ran = matrix(&folder, device.text(), more);
        refused(&ran, &format!("is mounted on {}", mounted.0.display()));
        assert!(!ran.stderr.contains("allow_mounted_write"), "no such thing here: {ran:?}");
    }
    // The file that the device shows is the same storage.
    refused(&matrix(&folder, "image", "--erase"), "image");
    assert!(std::fs::read(&device.0).unwrap() == before);
}

#[test]
fn a_device_that_another_holds_is_refused_whatever_is_given() {
    let folder = Folder::new("erase-held");
    let Some(device) = device(&folder, 16 * MIB) else { return };
    let sectors = 16 * MIB / 512;
    let name = format!("iosonde-matrix-{}", std::process::id());
    let table = format!("0 {sectors} linear {} 0", device.text());
    let holder = match run("dmsetup", &["create", &name, "--table", &table]) {
        Ok(_) => "dmsetup",
        // A second loop device over the first holds it as well as can be.
        Err(error) => {
            skip_part!("{error}; tested with a loop device over it instead");
            "loop"
        }
    };
    let over = if holder == "loop" { or_skip(LoopDevice::attach(&device.0, &[])) } else { None };
    if holder == "dmsetup" || over.is_some() {
        refused(&matrix(&folder, device.text(), "--erase=16m"), device.text());
        assert!(is_zero(&device.0));
    }
    if holder == "dmsetup" {
        run("dmsetup", &["remove", &name]).unwrap();
    }
}

#[test]
fn what_is_neither_file_nor_block_device_is_refused() {
    let folder = Folder::new("erase-odd");
    refused(&matrix(&folder, "/dev/null", "--erase"), "neither a file nor a block device");
    refused(&matrix(&folder, "/dev/sdzzz", ""), "there is no such device");
    refused(&matrix(&folder, "no/such/folder/f", ""), "is not a directory");
    folder.write("file", "x");
    refused(&matrix(&folder, "file/f", ""), "cannot");
    assert_eq!(folder.names(), ["file"]);
}
