//! The guard and the stack on real loop devices, filesystems and swap.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use iosonde_direct::OpenOptions;
use iosonde_sys::guard::{MountedWrite, Reason, Use, may_write};
use iosonde_sys::stack::{LayerKind, Stack};
use iosonde_testing::{Folder, LoopDevice, Mounted, or_skip, run, swap_on};

const IMAGE_BYTES: u64 = 24 << 20;

/// A loop device over its own image.
fn attach(folder: &Folder, name: &str) -> Result<LoopDevice, String> {
    LoopDevice::attach(&folder.image(name, IMAGE_BYTES), &[])
}

/// A loop device with an ext4 on it, mounted in the folder.
fn mounted(folder: &Folder) -> Result<(LoopDevice, Mounted), String> {
    let device = attach(folder, "image")?;
    run("mkfs.ext4", &["-q", device.text()])?;
    let mount = Mounted::mount(&device.0, &folder.join("point"))?;
    Ok((device, mount))
}

/// A loop device with two partitions, reported to the kernel rather than found in
/// a table, which not every kernel can read.
fn partitioned(folder: &Folder) -> Result<(LoopDevice, [PathBuf; 2]), String> {
    let device = LoopDevice::attach(&folder.image("image", IMAGE_BYTES), &["-P"])?;
    run("addpart", &[device.text(), "1", "2048", "20480"])?;
    run("addpart", &[device.text(), "2", "22528", "20480"])?;
    let parts = [1, 2].map(|number| PathBuf::from(format!("{}p{number}", device.text())));
    Ok((device, parts))
}

fn refusal(path: &Path) -> String {
    may_write(path, MountedWrite::Refuse).expect_err("it is in use").to_string()
}

#[test]
fn a_free_device_is_held_until_the_hold_is_dropped() {
    let folder = Folder::temporary("test");
    let Some(device) = or_skip(attach(&folder, "image")) else { return };
    run("mkfs.ext4", &["-q", device.text()]).unwrap();
    let hold = may_write(&device.0, MountedWrite::Refuse).unwrap();
    assert!(hold.is_exclusive());

    OpenOptions::new().read(true).write(true).direct(true).open(&device.0).unwrap();
    assert!(Mounted::mount(&device.0, &folder.join("point")).is_err(), "held, so not mountable");
    let second = may_write(&device.0, MountedWrite::Refuse).unwrap();
    assert!(second.is_exclusive(), "a second job of ours shares it");
    drop(hold);
    assert!(Mounted::mount(&device.0, &folder.join("point")).is_err(), "the second still holds");
    drop(second);
    Mounted::mount(&device.0, &folder.join("point")).unwrap();
}

#[test]
fn a_mounted_device_is_refused_by_whatever_name() {
    let folder = Folder::temporary("test");
    let Some((device, mount)) = or_skip(mounted(&folder)) else { return };
    let sentence = format!("{} is mounted on {}", device.text(), mount.0.display());
    assert!(refusal(&device.0).contains(&sentence), "{}", refusal(&device.0));

    let by_id = folder.join("by-id");
    symlink(&device.0, &by_id).unwrap();
    let by_way = folder.join("by-way");
    symlink("by-id", &by_way).unwrap();
    let alias = folder.join("alias");
    let minor = device.name().trim_start_matches("loop").to_owned();
    run("mknod", &[alias.to_str().unwrap(), "b", "7", &minor]).unwrap();
    let dotted = PathBuf::from(format!("/dev/../dev/./{}", device.name()));
    for path in [by_id, by_way, alias, dotted] {
        assert!(refusal(&path).contains(&sentence), "{}", refusal(&path));
    }
}

#[test]
fn a_mounted_device_may_be_written_when_its_owner_says_so() {
    let folder = Folder::temporary("test");
    let Some((device, _mount)) = or_skip(mounted(&folder)) else { return };
    let hold = may_write(&device.0, MountedWrite::Allow).unwrap();
    assert!(!hold.is_exclusive(), "the mount has it");
}

#[test]
fn swap_is_refused_even_so() {
    let folder = Folder::temporary("test");
    let Some(device) = or_skip(attach(&folder, "image")) else { return };
    let Some(_swap) = or_skip(swap_on(&device.0)) else { return };
    for mounted in [MountedWrite::Refuse, MountedWrite::Allow] {
        let refused = may_write(&device.0, mounted).unwrap_err();
        let reported = refused.to_string();
        assert!(reported.contains(&format!("{} is swap", device.text())), "{reported}");
    }
}

#[test]
fn another_program_that_has_the_device_is_reported() {
    let folder = Folder::temporary("test");
    let Some(device) = or_skip(attach(&folder, "image")) else { return };
    let other = OpenOptions::new().read(true).exclusive(true).open(&device.0).unwrap();
    let refused = may_write(&device.0, MountedWrite::Allow).unwrap_err();
    assert!(matches!(&refused.reason, Reason::Busy(name) if name == device.text()), "{refused}");
    drop(other);
    assert!(may_write(&device.0, MountedWrite::Refuse).unwrap().is_exclusive());
}

#[test]
fn a_mount_that_cannot_be_seen_from_here_still_keeps_the_device() {
    let folder = Folder::temporary("test");
    let Some(device) = or_skip(attach(&folder, "image")) else { return };
    run("mkfs.ext4", &["-q", device.text()]).unwrap();
    let point = folder.join("point");
    fs::create_dir(&point).unwrap();
    // A separate mount namespace, as a container has; it ends with the shell,
    // which ends with its input.
    let script = format!("mount {} {} && echo mounted && read end", device.text(), point.display());
    let shell = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Some(mut shell) = or_skip(shell.map_err(|error| format!("unshare: {error}"))) else {
        return;
    };
    let mut said = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let refused = may_write(&device.0, MountedWrite::Refuse);
    drop(shell.stdin.take());
    shell.wait().unwrap();
    if said != "mounted\n" {
        iosonde_testing::skip!("no mount in its own namespace");
    }
    assert!(matches!(refused.unwrap_err().reason, Reason::Busy(_)));
}

#[test]
fn a_partition_in_use_keeps_its_disk_from_being_written() {
    let folder = Folder::temporary("test");
    let Some((device, [first, second])) = or_skip(partitioned(&folder)) else { return };
    run("mkfs.ext4", &["-q", first.to_str().unwrap()]).unwrap();
    let mount = Mounted::mount(&first, &folder.join("point")).unwrap();

    let expected = format!(
        "{}, a partition of {}, is mounted on {}",
        first.display(),
        device.text(),
        mount.0.display()
    );
    assert!(refusal(&device.0).contains(&expected), "{}", refusal(&device.0));
    assert!(may_write(&second, MountedWrite::Refuse).unwrap().is_exclusive());

    let stack = Stack::under(&mount.0).unwrap();
    assert_eq!(stack.devices[0].kind, LayerKind::Partition);
    assert_eq!(stack.disk_lines()[0].name, device.name());
    drop(mount);

    let disk = may_write(&device.0, MountedWrite::Refuse).unwrap();
    let part = may_write(&first, MountedWrite::Refuse).unwrap();
    assert!(disk.is_exclusive() && part.is_exclusive(), "two jobs of ours, one on each");
}

#[test]
fn a_held_device_names_its_holder() {
    let folder = Folder::temporary("test");
    let Some(device) = or_skip(attach(&folder, "image")) else { return };
    let name = format!("iosonde-test-{}", std::process::id());
    let table = format!("0 2048 linear {} 0", device.text());
    let made = run("dmsetup", &["create", &name, "--table", &table]);
    if or_skip(made).is_none() {
        return;
    }
    let refused = may_write(&device.0, MountedWrite::Allow).map_err(|refused| refused.to_string());
    run("dmsetup", &["remove", &name]).unwrap();
    let refused = refused.unwrap_err();
    assert!(refused.contains("is held by dm-") && refused.contains(&name), "{refused}");
}

#[test]
fn the_image_of_a_mounted_loop_device_is_refused_and_so_is_its_twin() {
    let folder = Folder::temporary("test");
    let Some((device, mount)) = or_skip(mounted(&folder)) else { return };
    let image = folder.join("image");
    let link = folder.join("another-name");
    fs::hard_link(&image, &link).unwrap();
    let used = format!("is mounted on {}", mount.0.display());
    for path in [&image, &link] {
        let reported = refusal(path);
        assert!(reported.contains(device.text()) && reported.contains(&used), "{reported}");
    }
    let twin = LoopDevice::attach(&link, &[]).unwrap();
    let reported = refusal(&twin.0);
    assert!(reported.contains(&format!("over the same file as {}", twin.text())), "{reported}");
    drop(twin);
    drop(mount);
    let _ = may_write(&image, MountedWrite::Refuse).unwrap();
}

#[test]
fn a_loop_device_over_a_device_counts_for_both() {
    let folder = Folder::temporary("test");
    let Some((lower, mount)) = or_skip(mounted(&folder)) else { return };
    let Some(upper) = or_skip(LoopDevice::attach(&lower.0, &[])) else { return };
    let reported = refusal(&upper.0);
    assert!(reported.contains(&format!("which {} shows, is mounted", upper.text())), "{reported}");

    let refused = may_write(&lower.0, MountedWrite::Allow).unwrap_err();
    let Reason::InUse(used) = &refused.reason else { panic!("{refused}") };
    assert_eq!(used.by, Use::Looped(upper.name().to_owned()));

    let stack = Stack::under(&upper.0).unwrap();
    let names: Vec<&str> =
        stack.devices[0].walk().into_iter().map(|layer| layer.name.as_str()).take(2).collect();
    assert_eq!(names, [upper.name(), lower.name()]);
    drop(mount);
}

#[test]
fn the_stack_of_a_file_on_an_image_goes_down_to_the_disk_of_the_image() {
    let folder = Folder::temporary("test");
    let Some((device, mount)) = or_skip(mounted(&folder)) else { return };
    let file = mount.0.join("file");
    File::create(&file).unwrap();
    let stack = Stack::under(&file).unwrap();
    let below = stack.mount.as_ref().unwrap();
    assert_eq!(below.filesystem, "ext4");
    assert_eq!(below.point, mount.0);
    assert_eq!(stack.devices[0].name, device.name());
    assert_eq!(stack.devices[0].kind, LayerKind::Loop(folder.join("image")));
    assert_eq!(stack.devices[0].below, Stack::under(folder.path()).unwrap().devices);
    let lines = stack.disk_lines();
    assert_eq!((lines.len(), lines[0].name.as_str()), (1, device.name()));
    let counters = iosonde_sys::counters::DiskCounters::of(device.name()).unwrap();
    assert!(counters.writes > 0, "mkfs wrote");
}

#[test]
fn a_mistyped_device_leaves_nothing_behind() {
    let path = Path::new("/dev/iosonde-no-such-device");
    assert!(refusal(path).contains("no such device"));
    assert!(!path.exists());
}

#[test]
fn a_file_left_among_the_devices_is_refused() {
    struct Left(PathBuf);
    impl Drop for Left {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }
    let left = Left(PathBuf::from(format!("/dev/iosonde-left-{}", std::process::id())));
    if let Err(error) = fs::write(&left.0, "mistyped") {
        iosonde_testing::skip!("write to /dev: {error}");
    }
    let refused = may_write(&left.0, MountedWrite::Allow).unwrap_err();
    assert!(matches!(refused.reason, Reason::FileAmongDevices), "{refused}");
}
