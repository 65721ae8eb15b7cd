//! Opening, asking and commanding real loop devices.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use iosonde_direct::stack::LayerKind;
use iosonde_direct::{
    AlignedBuf, Device, DeviceFacts, DirectIo, Fact, Facts, OpenOptions, PathKind, device,
};
use iosonde_testing::{Folder, LoopDevice, filesystem, or_skip};

const IMAGE_BYTES: u64 = 8 << 20;

#[test]
fn a_loop_device_says_its_size_and_sectors() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", IMAGE_BYTES);
    for (sector, option) in [(512, "512"), (4096, "4096")] {
        let attached = LoopDevice::attach(&image, &["--sector-size", option]);
        let Some(attached) = or_skip(attached) else { return };
        let found = Device::of(&File::open(&attached.0).unwrap()).unwrap();
        assert_eq!(found.bytes, IMAGE_BYTES);
        assert_eq!(found.logical_sector, sector);
        assert!(found.physical_sector >= sector);
        assert!(found.rotational.is_some());
        let queue = format!("/sys/class/block/{}/queue/discard_max_bytes", attached.name());
        let most = std::fs::read_to_string(queue).unwrap().trim().parse().unwrap();
        assert_eq!(found.discard_bytes_max, Some(most));
        let discard = Facts::of(&attached.0).unwrap().device().unwrap().discard.clone();
        assert_eq!(discard.get().map(|it| it.is_supported()), Some(most > 0));
    }
}

#[test]
fn the_alignment_found_on_a_device_is_enough_and_half_of_it_is_not() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", IMAGE_BYTES);
    let attached = LoopDevice::attach(&image, &["--sector-size", "4096"]);
    let Some(attached) = or_skip(attached) else { return };
    let needs = DirectIo::of(&File::open(&attached.0).unwrap()).unwrap();
    assert!(needs.possible);
    assert_eq!(needs.offset_alignment, 4096);

    let file = OpenOptions::new().read(true).direct(true).open(&attached.0).unwrap();
    let memory = needs.memory_alignment as usize;
    let mut buffer = AlignedBuf::new(4096 + memory, memory * 2).unwrap();
    assert_eq!(file.read_at(&mut buffer[memory..], 4096).unwrap(), 4096);
    let error = file.read_at(&mut buffer[..2048], 2048).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_discarded_range_reads_as_zeros() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", IMAGE_BYTES);
    let Some(attached) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let file = OpenOptions::new().read(true).write(true).open(&attached.0).unwrap();
    if Device::of(&file).unwrap().discard_bytes_max == Some(0) {
        iosonde_testing::skip!("the loop device takes no discards here");
    }
    file.write_all_at(&[7; 8192], 0).unwrap();
    file.sync_all().unwrap();
    device::discard(&file, 4096, 4096).unwrap();
    device::flush_buffers(&file).unwrap();
    let mut back = [1; 8192];
    file.read_exact_at(&mut back, 0).unwrap();
    assert!(back[..4096].iter().all(|&byte| byte == 7));
    assert!(back[4096..].iter().all(|&byte| byte == 0));

    let beyond = device::discard(&file, IMAGE_BYTES, 4096).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::InvalidInput);
}

#[test]
fn an_exclusive_opening_keeps_the_next_one_out() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", IMAGE_BYTES);
    let Some(attached) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let options = OpenOptions::new().read(true).exclusive(true);
    let first = options.open(&attached.0).unwrap();
    let error = options.open(&attached.0).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::ResourceBusy);
    assert!(error.to_string().contains("held by"), "{error}");
    drop(first);
    options.open(&attached.0).unwrap();
}

#[test]
fn the_access_time_option_never_stops_an_opening() {
    // /proc files refuse no one, files of others refuse O_NOATIME: both open.
    for path in ["/proc/self/stat", "/etc/passwd"] {
        OpenOptions::new().read(true).keep_access_time(true).open(path).unwrap();
    }
}

#[test]
fn the_facts_of_a_loop_device_reach_down_to_the_disk_of_its_file() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", IMAGE_BYTES);
    for sector in ["512", "4096"] {
        let attached = LoopDevice::attach(&image, &["--sector-size", sector]);
        let Some(attached) = or_skip(attached) else { return };
        let facts = Facts::of(&attached.0).unwrap();
        assert_eq!(facts.kind, PathKind::BlockDevice);
        assert_eq!(facts.bytes, Fact::Known(IMAGE_BYTES));
        assert_eq!(facts.mount(), None);
        let device = facts.device().unwrap();
        assert_eq!(device.name, attached.name());
        assert_eq!(device.kind, LayerKind::Loop(image.clone()));
        assert_eq!(device.logical_sector.get().unwrap().to_string(), sector);
        assert_eq!(device.serial.why(), Some("it is made by the system"));
        assert_eq!(device.loop_direct, Fact::Known(false));
        assert!(!device.is_used());
        // The same by an open file, and by its numbers.
        let file = File::open(&attached.0).unwrap();
        assert_eq!(Facts::of_file(&file).unwrap(), facts);
        assert_eq!(&DeviceFacts::of(device.id), device);
        // Its own figures and the ioctls' are the same.
        let asked = Device::of(&file).unwrap();
        assert_eq!(device.physical_sector, Fact::Known(asked.physical_sector));
        assert_eq!(device.rotational.get(), asked.rotational);
        // The image lies on something, if that has a device.
        let below = Facts::of(&image).unwrap();
        let names = |facts: &[DeviceFacts]| {
            facts.iter().map(|device| device.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&facts.devices[1..]), names(&below.devices));
        assert_eq!(facts.disks().len(), below.disks().len().max(1));
    }
}

#[test]
fn a_mounted_filesystem_is_seen_from_the_file_and_from_the_device() {
    let folder = Folder::temporary("test");
    let Some((device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let path = mounted.0.join("file");
    std::fs::write(&path, [7; 5000]).unwrap();
    let facts = Facts::of(&path).unwrap();
    assert_eq!((facts.kind, facts.bytes.clone()), (PathKind::File, Fact::Known(5000)));
    let mount = facts.mount().unwrap();
    assert_eq!((mount.point.as_path(), mount.filesystem.as_str()), (mounted.0.as_path(), "ext4"));
    assert!(mount.has_option("rw"), "{mount:?}");
    assert_eq!(facts.device().unwrap().name, device.name());
    assert_eq!(facts.device().unwrap().mounts, std::slice::from_ref(&mounted.0));
    assert_eq!(
        Facts::of(&device.0).unwrap().device().unwrap().mounts,
        std::slice::from_ref(&mounted.0)
    );
    // A file without a name is still on its filesystem.
    let file = File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Facts::of_file(&file).unwrap().mount(), facts.mount());
}

#[test]
fn what_is_no_file_has_facts_too() {
    let null = Facts::of("/dev/null").unwrap();
    assert_eq!(null.kind, PathKind::CharacterDevice);
    assert!(null.bytes.why().is_some() && !null.direct.possible);
    assert_eq!(Facts::of("/").unwrap().kind, PathKind::Folder);
    assert_eq!(Facts::of("/proc/self/stat").unwrap().device(), None);
    assert_eq!(Facts::of("/no/such/file").unwrap_err().kind(), ErrorKind::NotFound);
}
