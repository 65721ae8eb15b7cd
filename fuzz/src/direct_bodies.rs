//! What the fuzz targets of the direct-I/O crate do with their bytes. Shared with an ordinary test.
#![allow(dead_code, reason = "each target uses its own part")]

use std::path::Path;

use iosonde_direct::stack::DeviceId;
use iosonde_direct::sysfs::{Tree, mount_below, parse_mounts, parse_swaps};
use iosonde_testing::FakeSystem;

/// Any bytes are a text of mounts and of swaps.
pub fn mountinfo(data: &[u8]) {
    let lines = data.split(|&byte| byte == b'\n').count();
    let mounts = parse_mounts(data);
    assert!(mounts.len() <= lines);
    for mount in &mounts {
        assert!(mount.point.is_absolute() && !mount.filesystem.is_empty());
        let options = mount.options.split(',').chain(mount.super_options.split(','));
        let names = options.map(|option| option.split('=').next().unwrap_or_default());
        assert!(names.filter(|name| !name.is_empty()).all(|name| mount.has_option(name)));
        let found = mount_below(&mounts, &mount.point).expect("itself, or one over it");
        assert_eq!(found.point, mount.point, "the deepest");
    }
    assert!(mount_below(&mounts, Path::new("relative")).is_none());
    assert!(parse_swaps(data).len() < lines.max(1));
}

/// The attributes of a device, each up to a zero byte, the rest of them all the last.
pub const ATTRIBUTES: [&str; 22] = [
    "device/vpd_pg80",
    "size",
    "ro",
    "alignment_offset",
    "serial",
    "wwid",
    "device/model",
    "device/vendor",
    "device/rev",
    "queue/logical_block_size",
    "queue/optimal_io_size",
    "queue/max_sectors_kb",
    "queue/dma_alignment",
    "queue/rotational",
    "queue/discard_max_bytes",
    "queue/write_cache",
    "queue/zoned",
    "queue/chunk_sectors",
    "queue/atomic_write_unit_min_bytes",
    "queue/scheduler",
    "loop/backing_file",
    "dm/name",
];

/// Any bytes as the description of a device.
pub fn sysfs(data: &[u8]) {
    let mut made = FakeSystem::empty();
    made.disk("sda", "8:0").partition("sda", "sda1", "8:1").mount("8:1", "/x", "ext4 /dev/sda1");
    // The page of SCSI contains zeros too.
    let (page, rest) = data.split_at(data.len().min(16));
    let pieces = std::iter::once(page).chain(rest.split(|&byte| byte == 0));
    for (attribute, piece) in ATTRIBUTES.into_iter().zip(pieces) {
        let path = made.root.join("sys/class/block/sda").join(attribute);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("make a folder");
        std::fs::write(path, piece).expect("write an attribute");
    }
    let tree = Tree::at(&made.root);
    for id in ["8:0", "8:1", "8:2"] {
        let id = DeviceId::parse(id).expect("numbers");
        let facts = tree.facts(id);
        for name in [&facts.serial, &facts.model, &facts.vendor, &facts.firmware] {
            match name.known() {
                Some(text) => assert!(!text.is_empty() && !text.chars().any(char::is_control)),
                None => assert!(name.why().is_some_and(|why| !why.is_empty())),
            }
        }
        assert!(!tree.stack_of(id).walk().is_empty());
        assert!(facts.bytes.get().is_none_or(|bytes| bytes % 512 == 0 || bytes == u64::MAX));
    }
}
