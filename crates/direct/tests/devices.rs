//! Opening, asking and commanding real loop devices.

mod support;

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use iosonde_direct::{AlignedBuf, Device, DirectIo, OpenOptions, device};
use support::{Folder, Loop, or_skip};

const IMAGE_BYTES: u64 = 8 << 20;

#[test]
fn a_loop_device_says_its_size_and_sectors() {
    let folder = Folder::new();
    let image = folder.image("image", IMAGE_BYTES);
    for (sector, option) in [(512, "512"), (4096, "4096")] {
        let attached = Loop::attach(&image, &["--sector-size", option]);
        let Some(attached) = or_skip(attached) else { return };
        let found = Device::of(&File::open(&attached.0).unwrap()).unwrap();
        assert_eq!(found.bytes, IMAGE_BYTES);
        assert_eq!(found.logical_sector, sector);
        assert!(found.physical_sector >= sector);
        assert!(found.rotational.is_some());
        assert!(found.discard_bytes_max.is_some());
    }
}

#[test]
fn the_alignment_found_on_a_device_is_enough_and_half_of_it_is_not() {
    let folder = Folder::new();
    let image = folder.image("image", IMAGE_BYTES);
    let attached = Loop::attach(&image, &["--sector-size", "4096"]);
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
    let folder = Folder::new();
    let image = folder.image("image", IMAGE_BYTES);
    let Some(attached) = or_skip(Loop::attach(&image, &[])) else { return };
    let file = OpenOptions::new().read(true).write(true).open(&attached.0).unwrap();
    if Device::of(&file).unwrap().discard_bytes_max == Some(0) {
        eprintln!("skipped: the loop device takes no discards here");
        return;
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
    let folder = Folder::new();
    let image = folder.image("image", IMAGE_BYTES);
    let Some(attached) = or_skip(Loop::attach(&image, &[])) else { return };
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
