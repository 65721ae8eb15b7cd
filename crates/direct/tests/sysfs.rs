//! Device facts from trees of /sys laid out as the drivers lay them.
#![cfg(target_os = "linux")]

use std::os::unix::fs::symlink;
use std::path::Path;

use iosonde_direct::stack::{DeviceId, LayerKind};
use iosonde_direct::sysfs::Tree;
use iosonde_direct::{AtomicWrite, DeviceFacts, Discard, Fact, WriteCache, ZoneModel};
use iosonde_testing::FakeSystem;

fn facts(made: &FakeSystem, id: &str) -> DeviceFacts {
    Tree::at(&made.root).facts(DeviceId::parse(id).unwrap())
}

fn known(text: &str) -> Fact<String> {
    Fact::Known(text.to_owned())
}

/// The link by which a driver's bus is known.
fn attached_by(made: &FakeSystem, name: &str, bus: &str) {
    let folder = made.root.join("sys/class/block").join(name).join("device");
    std::fs::create_dir_all(&folder).unwrap();
    symlink(format!("../../../bus/{bus}"), folder.join("subsystem")).unwrap();
}

/// An NVMe drive as a Linux 6.12 shows it.
fn nvme(made: &mut FakeSystem) {
    made.disk("nvme0n1", "259:0").partition("nvme0n1", "nvme0n1p2", "259:2");
    for (attribute, text) in [
        ("size", "3907029168\n"),
        ("ro", "0\n"),
        ("removable", "0\n"),
        ("alignment_offset", "0\n"),
        ("diskseq", "9\n"),
        ("wwid", "eui.0025385b21404321\n"),
        ("device/model", "Samsung SSD 980 PRO 2TB                 \n"),
        ("device/serial", "S6B0NL0T123456A     \n"),
        ("device/firmware_rev", "5B2QGXA7\n"),
        ("queue/logical_block_size", "512\n"),
        ("queue/physical_block_size", "4096\n"),
        ("queue/minimum_io_size", "4096\n"),
        ("queue/optimal_io_size", "0\n"),
        ("queue/max_sectors_kb", "128\n"),
        ("queue/dma_alignment", "3\n"),
        ("queue/rotational", "0\n"),
        ("queue/discard_granularity", "512\n"),
        ("queue/discard_max_bytes", "2199023255040\n"),
        ("queue/write_zeroes_max_bytes", "131072\n"),
        ("queue/write_cache", "write back\n"),
        ("queue/fua", "1\n"),
        ("queue/zoned", "none\n"),
        ("queue/atomic_write_unit_min_bytes", "512\n"),
        ("queue/atomic_write_unit_max_bytes", "16384\n"),
        ("queue/scheduler", "[none] mq-deadline kyber\n"),
        ("queue/nr_requests", "1023\n"),
        ("queue/io_poll", "1\n"),
        ("queue/stable_writes", "0\n"),
        ("queue/dax", "0\n"),
    ] {
        made.write("nvme0n1", attribute, text);
    }
    made.write("nvme0n1p2", "size", "1024\n").write("nvme0n1p2", "ro", "1\n");
    made.write("nvme0n1p2", "alignment_offset", "512\n");
    attached_by(made, "nvme0n1", "nvme");
}

#[test]
fn all_facts_of_an_nvme_drive_are_read() {
    let mut made = FakeSystem::empty();
    nvme(&mut made);
    let drive = facts(&made, "259:0");
    assert_eq!(drive.name, "nvme0n1");
    assert_eq!(drive.kind, LayerKind::Disk);
    assert_eq!(drive.transport, known("nvme"));
    assert_eq!(drive.model, known("Samsung SSD 980 PRO 2TB"));
    assert_eq!(drive.serial, known("S6B0NL0T123456A"));
    assert_eq!(drive.firmware, known("5B2QGXA7"));
    assert_eq!(drive.world_wide_id, known("eui.0025385b21404321"));
    assert_eq!(drive.bytes, Fact::Known(2_000_398_934_016));
    assert_eq!((drive.logical_sector.get(), drive.physical_sector.get()), (Some(512), Some(4096)));
    assert_eq!(drive.io_bytes_optimal.why(), Some("it states none"));
    assert_eq!(drive.io_bytes_max, Fact::Known(131_072));
    assert_eq!(drive.memory_alignment, Fact::Known(4));
    assert_eq!(drive.alignment_offset, Fact::Known(0));
    assert_eq!(drive.rotational, Fact::Known(false));
    let discard = Discard { granularity: 512, bytes_max: 2_199_023_255_040 };
    assert_eq!(drive.discard, Fact::Known(discard));
    assert!(discard.is_supported());
    assert_eq!(drive.write_cache, Fact::Known(WriteCache::Back));
    assert_eq!(drive.fua, Fact::Known(true));
    assert_eq!(drive.zones, Fact::Known(ZoneModel::None));
    let atomic = AtomicWrite { unit_min: 512, unit_max: 16384, ..AtomicWrite::default() };
    assert_eq!(drive.atomic_write, Fact::Known(atomic));
    assert_eq!(drive.scheduler, known("none"));
    assert_eq!(drive.requests_max, Fact::Known(1023));
    assert_eq!(drive.polled, Fact::Known(true));
    assert_eq!(drive.disk_sequence, Fact::Known(9));
    assert!(!drive.is_used());
}

#[test]
fn a_partition_has_its_own_size_and_the_names_of_its_disk() {
    let mut made = FakeSystem::empty();
    nvme(&mut made);
    made.mount("259:2", "/data", "xfs /dev/nvme0n1p2");
    let part = facts(&made, "259:2");
    assert_eq!(part.kind, LayerKind::Partition);
    assert_eq!(part.bytes, Fact::Known(524_288));
    assert_eq!(part.read_only, Fact::Known(true));
    assert_eq!(part.alignment_offset, Fact::Known(512));
    assert_eq!(part.serial, known("S6B0NL0T123456A"));
    assert_eq!(part.rotational, Fact::Known(false));
    assert_eq!(part.mounts, [Path::new("/data")]);
    assert!(part.is_used());
    assert!(facts(&made, "259:0").mounts.is_empty());
}

#[test]
fn a_scsi_disk_has_its_serial_number_on_page_80() {
    let mut made = FakeSystem::empty();
    made.disk("sda", "8:0");
    made.write("sda", "device/vendor", "ATA     \n").write("sda", "device/model", "WDC WD40EFRX\n");
    made.write("sda", "device/rev", "0A82\n").write("sda", "device/wwid", "naa.50014ee2b5f0\n");
    made.write("sda", "queue/zoned", "host-managed\n").write("sda", "queue/chunk_sectors", "8\n");
    made.write("sda", "queue/scheduler", "none [bfq]\n").write("sda", "alignment_offset", "-1\n");
    made.write("sda", "queue/write_cache", "write through\n");
    attached_by(&made, "sda", "scsi");
    let page = |made: &mut FakeSystem, bytes: &[u8]| {
        std::fs::write(made.root.join("sys/class/block/sda/device/vpd_pg80"), bytes).unwrap();
        facts(made, "8:0").serial
    };
    assert_eq!(page(&mut made, b"\0\x80\0\x14     WD-WCC7K0123456"), known("WD-WCC7K0123456"));
    // The device claims more than it gives: what is there is what is reported.
    assert_eq!(page(&mut made, b"\0\x80\0\xffSHORT\0\0"), known("SHORT"));
    assert_eq!(page(&mut made, b"\0\x80\0\x03LONGER"), known("LON"));
    assert_eq!(page(&mut made, b"\0\x80\0\x04A\x1b[m"), known("A?[m"));
    for none in [&b""[..], b"\0", b"\0\x80\0", b"\0\x83\0\x01X", b"\0\x80\0\0", b"\0\x80\0\x02  "] {
        assert!(page(&mut made, none).why().is_some(), "{none:?}");
    }
    let disk = facts(&made, "8:0");
    assert_eq!(disk.transport, known("scsi"));
    assert_eq!((disk.vendor, disk.model), (known("ATA"), known("WDC WD40EFRX")));
    // The link decides, not the name.
    made.disk("sdb", "8:16");
    attached_by(&made, "sdb", "usb");
    assert_eq!(facts(&made, "8:16").transport, known("usb"));
    assert_eq!((disk.firmware, disk.scheduler), (known("0A82"), known("bfq")));
    assert_eq!(disk.world_wide_id, known("naa.50014ee2b5f0"));
    assert_eq!(disk.zones, Fact::Known(ZoneModel::Managed(4096)));
    assert_eq!(disk.write_cache, Fact::Known(WriteCache::Through));
    assert!(disk.alignment_offset.why().unwrap().starts_with("misaligned"));
}

#[test]
fn cards_and_virtual_disks_have_theirs_elsewhere() {
    let mut made = FakeSystem::empty();
    made.disk("mmcblk0", "179:0").write("mmcblk0", "device/name", "SD64G\n");
    made.write("mmcblk0", "device/serial", "0x1a2b3c4d\n");
    made.write("mmcblk0", "device/fwrev", "0x8\n").write("mmcblk0", "device/manfid", "0x000003\n");
    made.write("mmcblk0", "device/cid", "035344534436344780\n");
    attached_by(&made, "mmcblk0", "mmc");
    let card = facts(&made, "179:0");
    assert_eq!((card.transport, card.model), (known("mmc"), known("SD64G")));
    assert_eq!((card.serial, card.firmware), (known("0x1a2b3c4d"), known("0x8")));
    assert_eq!(card.world_wide_id, known("035344534436344780"));

    made.disk("vda", "254:0").write("vda", "serial", "disk-7\n");
    made.write("vda", "device/vendor", "0x1af4\n");
    attached_by(&made, "vda", "virtio");
    let disk = facts(&made, "254:0");
    assert_eq!((disk.transport, disk.serial), (known("virtio"), known("disk-7")));
    assert_eq!(disk.vendor.why(), Some("virtio reports no vendor"));
    assert_eq!(
        disk.model.why(),
        Some("there is no /sys/class/block/vda/device/model"),
        "unknown, with where it was looked for"
    );
}

#[test]
fn what_the_system_makes_has_no_maker() {
    let mut made = FakeSystem::empty();
    made.disk("sda", "8:0").disk("dm-0", "252:0").write("dm-0", "dm/name", "vg-home\n");
    made.over("dm-0", "sda").swap("/dev/dm-0");
    made.disk("loop0", "7:0").write("loop0", "loop/backing_file", "/a\n");
    made.write("loop0", "loop/dio", "0\n");
    let volume = facts(&made, "252:0");
    assert_eq!(volume.kind, LayerKind::Mapped(Some("vg-home".into())));
    assert_eq!(volume.transport, known("device-mapper"));
    assert_eq!(volume.serial.why(), Some("it is made by the system"));
    assert!(volume.swap && volume.is_used());
    assert_eq!(facts(&made, "8:0").holders, ["dm-0"]);
    assert_eq!(facts(&made, "7:0").loop_direct, Fact::Known(false));
    assert_eq!(volume.loop_direct.why(), Some("it is no loop device"));
}

#[test]
fn a_device_that_sysfs_does_not_know_is_all_unknown_and_why() {
    let made = FakeSystem::empty();
    let nothing = facts(&made, "8:7");
    assert_eq!(nothing.name, "8:7");
    assert_eq!(nothing.bytes.why(), Some("sysfs does not know 8:7"));
    assert_eq!(nothing.serial.why(), Some("sysfs does not know 8:7"));
}

#[test]
fn an_empty_attribute_is_unknown_and_zero_discards_are_none() {
    let mut made = FakeSystem::empty();
    made.disk("sda", "8:0").write("sda", "device/model", "   \n");
    made.write("sda", "queue/discard_granularity", "0\n");
    made.write("sda", "queue/discard_max_bytes", "0\n");
    let disk = facts(&made, "8:0");
    assert_eq!(disk.model.why(), Some("/sys/class/block/sda/device/model is empty"));
    assert!(!Discard { granularity: 512, bytes_max: 0 }.is_supported());
    assert!(disk.discard.get().is_none_or(|discard| !discard.is_supported()));
}

#[test]
fn a_btrfs_has_its_own_devices_and_not_those_of_another() {
    let mut made = FakeSystem::empty();
    made.disk("sda", "8:0").disk("sdb", "8:16").disk("sdc", "8:32").disk("sdd", "8:48");
    made.btrfs("1111", &["sda", "sdb"]).btrfs("2222", &["sdc", "sdd"]);
    made.mount("0:40", "/data", "btrfs /dev/sdc");
    let tree = Tree::at(&made.root);
    let mounts = tree.mounts();
    let mount = mounts.iter().find(|mount| mount.point == Path::new("/data")).unwrap();
    let devices: Vec<String> = tree.devices_of(mount).iter().map(|id| id.to_string()).collect();
    assert_eq!(devices, ["8:32", "8:48"]);
}

#[test]
fn malformed_numbers_are_reported_with_their_text() {
    let mut made = FakeSystem::empty();
    made.disk("sda", "8:0").write("sda", "size", "99999999999999999999\n");
    made.write("sda", "queue/rotational", "yes\n").write("sda", "queue/zoned", "in part\n");
    made.write("sda", "queue/dma_alignment", "4294967295\n");
    let disk = facts(&made, "8:0");
    let why = "/sys/class/block/sda/size says \"99999999999999999999\"";
    assert_eq!(disk.bytes.why(), Some(why));
    assert!(disk.rotational.why().unwrap().contains("\"yes\""));
    assert!(disk.zones.why().unwrap().contains("\"in part\""));
    assert_eq!(disk.memory_alignment, Fact::Known(u32::MAX), "not wrapped round");
}
