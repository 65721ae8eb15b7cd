//! Facts of a block device from sysfs: its queue, its names, its users.

use std::path::PathBuf;
use std::str::FromStr;

use crate::stack::{DeviceId, LayerKind, Mount};
use crate::sysfs::Tree;
use crate::{AtomicWrite, DeviceFacts, Discard, Fact, WriteCache, ZoneModel};

pub(crate) fn device_facts(id: DeviceId) -> DeviceFacts {
    Survey::new(Tree::here()).device(id)
}

impl Tree {
    /// All that is known of the device with these numbers.
    pub fn facts(&self, id: DeviceId) -> DeviceFacts {
        Survey::new(self.clone()).device(id)
    }
}

/// The unit of `size` and `chunk_sectors`, whatever the device's sectors are.
const SYSFS_SECTOR: u64 = 512;

/// A tree with what is read once for all its devices.
pub(crate) struct Survey {
    tree: Tree,
    mounts: Vec<(DeviceId, PathBuf)>,
    swaps: Vec<DeviceId>,
}

impl Survey {
    pub(crate) fn new(tree: Tree) -> Survey {
        let point = |mount: &Mount| {
            let devices = tree.devices_of(mount);
            devices.into_iter().map(|id| (id, mount.point.clone())).collect::<Vec<_>>()
        };
        let mounts = tree.mounts().iter().flat_map(point).collect();
        let swaps = tree.swaps().iter().filter_map(|path| tree.device_at(path)).collect();
        Survey { tree, mounts, swaps }
    }

    pub(crate) fn device(&self, id: DeviceId) -> DeviceFacts {
        let name = self.tree.name(id);
        let known = name.is_some();
        // A device that sysfs does not know is called by its numbers.
        let name = name.unwrap_or_else(|| id.to_string());
        let disk = self.tree.disk(&name).unwrap_or_else(|| name.clone());
        let sysfs = Sysfs { tree: &self.tree, name: &name, disk: &disk, known };
        let kind = self.tree.kind(&name);
        let names = sysfs.names(&kind);
        let points = self.mounts.iter().filter(|(device, _)| *device == id);
        DeviceFacts {
            id,
            transport: names.transport,
            vendor: names.vendor,
            model: names.model,
            serial: names.serial,
            firmware: names.firmware,
            world_wide_id: names.world_wide_id,
            bytes: sysfs.own::<u64>("size").map(|sectors| sectors.saturating_mul(SYSFS_SECTOR)),
            logical_sector: sysfs.queue("logical_block_size"),
            physical_sector: sysfs.queue("physical_block_size"),
            io_bytes_min: sysfs.queue("minimum_io_size"),
            io_bytes_optimal: stated(sysfs.queue("optimal_io_size")),
            io_bytes_max: sysfs.queue::<u64>("max_sectors_kb").map(|kib| kib.saturating_mul(1024)),
            memory_alignment: sysfs
                .queue::<u32>("dma_alignment")
                .map(|mask| mask.saturating_add(1)),
            alignment_offset: sysfs.alignment_offset(),
            rotational: sysfs.flag("queue/rotational"),
            discard: sysfs.discard(),
            write_zeroes_bytes_max: sysfs.queue("write_zeroes_max_bytes"),
            write_cache: sysfs.write_cache(),
            fua: sysfs.flag("queue/fua"),
            zones: sysfs.zones(),
            atomic_write: sysfs.atomic_write(),
            scheduler: sysfs.scheduler(),
            requests_max: sysfs.queue("nr_requests"),
            polled: sysfs.flag("queue/io_poll"),
            stable_writes: sysfs.flag("queue/stable_writes"),
            dax: sysfs.flag("queue/dax"),
            read_only: sysfs.own::<u8>("ro").map(|number| number != 0),
            removable: sysfs.flag("removable"),
            loop_direct: match kind {
                LayerKind::Loop(_) => sysfs.flag("loop/dio"),
                _ => Fact::unknown("it is no loop device"),
            },
            disk_sequence: sysfs.disk_number("diskseq"),
            holders: self.tree.holders(&name),
            mounts: points.map(|(_, point)| point.clone()).collect(),
            swap: self.swaps.contains(&id),
            kind,
            name,
        }
    }
}

/// Where one device's attributes are.
struct Sysfs<'a> {
    tree: &'a Tree,
    name: &'a str,
    /// Itself, or the disk of a partition.
    disk: &'a str,
    known: bool,
}

/// Identification of a device.
struct Names {
    transport: Fact<String>,
    vendor: Fact<String>,
    model: Fact<String>,
    serial: Fact<String>,
    firmware: Fact<String>,
    world_wide_id: Fact<String>,
}

impl Sysfs<'_> {
    /// The text of an attribute, or where it is missing.
    fn text(&self, device: &str, attribute: &str) -> Fact<String> {
        if !self.known {
            return Fact::unknown(format!("sysfs does not know {}", self.name));
        }
        match self.tree.attribute(device, attribute).map(|text| text.trim().to_owned()) {
            Some(text) if !text.is_empty() => Fact::Known(text),
            Some(_) => Fact::unknown(format!("/sys/class/block/{device}/{attribute} is empty")),
            None => Fact::unknown(format!("there is no /sys/class/block/{device}/{attribute}")),
        }
    }

    fn number<T: FromStr>(&self, device: &str, attribute: &str) -> Fact<T> {
        match self.text(device, attribute) {
            Fact::Known(text) => Fact::or_why(
                text.parse().ok(),
                format!("/sys/class/block/{device}/{attribute} says {text:?}"),
            ),
            Fact::Unknown(why) => Fact::Unknown(why),
        }
    }

    /// A number that a partition has for itself.
    fn own<T: FromStr>(&self, attribute: &str) -> Fact<T> {
        self.number(self.name, attribute)
    }

    /// A number of the whole disk.
    fn disk_number<T: FromStr>(&self, attribute: &str) -> Fact<T> {
        self.number(self.disk, attribute)
    }

    fn queue<T: FromStr>(&self, attribute: &str) -> Fact<T> {
        self.disk_number(&format!("queue/{attribute}"))
    }

    fn flag(&self, attribute: &str) -> Fact<bool> {
        self.disk_number::<u8>(attribute).map(|number| number != 0)
    }

    /// -1 is the kernel's word for an offset that it cannot give.
    fn alignment_offset(&self) -> Fact<u32> {
        match self.own::<i64>("alignment_offset") {
            Fact::Known(bytes) => {
                Fact::or_why(u32::try_from(bytes).ok(), "misaligned, by the kernel's reckoning")
            }
            Fact::Unknown(why) => Fact::Unknown(why),
        }
    }

    fn discard(&self) -> Fact<Discard> {
        let granularity = self.queue("discard_granularity").get().unwrap_or(0);
        self.queue("discard_max_bytes").map(|bytes_max| Discard { granularity, bytes_max })
    }

    fn write_cache(&self) -> Fact<WriteCache> {
        match self.text(self.disk, "queue/write_cache") {
            Fact::Known(text) => match text.as_str() {
                "write back" => Fact::Known(WriteCache::Back),
                "write through" => Fact::Known(WriteCache::Through),
                other => Fact::unknown(format!("the kernel calls it {other:?}")),
            },
            Fact::Unknown(why) => Fact::Unknown(why),
        }
    }

    fn zones(&self) -> Fact<ZoneModel> {
        let zone_bytes =
            || self.queue::<u64>("chunk_sectors").map(|count| count.saturating_mul(SYSFS_SECTOR));
        match self.text(self.disk, "queue/zoned") {
            Fact::Known(text) => match text.as_str() {
                "none" => Fact::Known(ZoneModel::None),
                "host-aware" => zone_bytes().map(ZoneModel::Aware),
                "host-managed" => zone_bytes().map(ZoneModel::Managed),
                other => Fact::unknown(format!("the kernel calls it {other:?}")),
            },
            Fact::Unknown(why) => Fact::Unknown(why),
        }
    }

    fn atomic_write(&self) -> Fact<AtomicWrite> {
        let Some(unit_min) = self.queue("atomic_write_unit_min_bytes").get() else {
            return Fact::unknown("Linux before 6.11 does not report atomic writes");
        };
        self.queue("atomic_write_unit_max_bytes").map(|unit_max| AtomicWrite {
            unit_min,
            unit_max,
            ..AtomicWrite::default()
        })
    }

    /// `[none] mq-deadline`: the one in brackets, or the only one.
    fn scheduler(&self) -> Fact<String> {
        self.text(self.disk, "queue/scheduler").map(|text| {
            let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            chosen.map_or(text.clone(), |(name, _)| name.to_owned())
        })
    }

    fn names(&self, kind: &LayerKind) -> Names {
        let made = |what: &'static str| Names {
            transport: Fact::Known(what.to_owned()),
            vendor: Fact::unknown("it is made by the system"),
            model: Fact::unknown("it is made by the system"),
            serial: Fact::unknown("it is made by the system"),
            firmware: Fact::unknown("it is made by the system"),
            world_wide_id: Fact::unknown("it is made by the system"),
        };
        match kind {
            LayerKind::Loop(_) => made("loop"),
            LayerKind::Mapped(_) => made("device-mapper"),
            LayerKind::Raid => made("md"),
            LayerKind::Disk | LayerKind::Partition => self.maker_names(),
        }
    }

    /// Each kind of driver puts them elsewhere.
    fn maker_names(&self) -> Names {
        let text = |attribute: &str| self.text(self.disk, attribute);
        Names {
            transport: Fact::or_why(self.transport(), "sysfs shows no bus for it"),
            vendor: first_of([printable(text("device/vendor")), text("device/manfid")])
                // virtio has the number of a PCI vendor there: not the disk's.
                .and_unless(|vendor| vendor.starts_with("0x1af4"), "virtio reports no vendor"),
            model: first_of([printable(text("device/model")), text("device/name")]),
            serial: first_of([
                printable(text("serial")),
                printable(text("device/serial")),
                self.page_80(),
            ]),
            firmware: first_of([
                printable(text("device/firmware_rev")),
                printable(text("device/fwrev")),
                printable(text("device/rev")),
            ]),
            world_wide_id: first_of([
                printable(text("wwid")),
                printable(text("device/wwid")),
                printable(text("device/cid")),
            ]),
        }
    }

    /// The bus, by the link to its subsystem.
    fn transport(&self) -> Option<String> {
        let bus = self.tree.link_name(self.disk, "device/subsystem");
        let bus = bus.or_else(|| {
            // A tree without links: by the name that the driver gives.
            let names = [("nvme", "nvme"), ("mmcblk", "mmc"), ("sd", "scsi"), ("vd", "virtio")];
            names.iter().find(|(start, _)| self.disk.starts_with(start)).map(|(_, b)| b.to_string())
        })?;
        // Of several paths to one device, the kernel shows what they share.
        Some(if bus == "nvme-subsystem" { "nvme".to_owned() } else { bus })
    }

    /// SCSI's vital product data, page 0x80: kind of device, page, length of
    /// two bytes, the serial number (SPC-4, 7.8.12).
    fn page_80(&self) -> Fact<String> {
        let missing = format!("there is no serial number in /sys/class/block/{}", self.disk);
        let Some(page) = self.tree.bytes(self.disk, "device/vpd_pg80") else {
            return Fact::unknown(missing);
        };
        let [_, 0x80, high, low, rest @ ..] = page.as_slice() else {
            return Fact::unknown("device/vpd_pg80 is no page 0x80");
        };
        let reported = usize::from(u16::from_be_bytes([*high, *low]));
        let number = &rest[..reported.min(rest.len())];
        let text = String::from_utf8_lossy(number).trim_matches(['\0', ' ']).to_owned();
        if text.is_empty() {
            return Fact::unknown("device/vpd_pg80 holds no number");
        }
        printable(Fact::Known(text))
    }
}

/// Zero means that the device states nothing.
fn stated(figure: Fact<u32>) -> Fact<u32> {
    match figure {
        Fact::Known(0) => Fact::unknown("it states none"),
        figure => figure,
    }
}

/// Control characters, which a terminal would obey, are shown as `?`.
fn printable(text: Fact<String>) -> Fact<String> {
    text.map(|text| text.chars().map(|c| if c.is_control() { '?' } else { c }).collect())
}

/// The first that is known, or the first reason.
fn first_of<const N: usize>(facts: [Fact<String>; N]) -> Fact<String> {
    let mut facts = facts.into_iter();
    let first = facts.next().unwrap_or_else(|| Fact::unknown("nothing to ask"));
    facts.fold(first, |found, next| found.or(|| next.known().cloned()))
}

impl Fact<String> {
    /// Unknown after all if `is_not_it`.
    fn and_unless(self, is_not_it: impl Fn(&str) -> bool, why: &'static str) -> Fact<String> {
        match self {
            Fact::Known(text) if is_not_it(&text) => Fact::unknown(why),
            fact => fact,
        }
    }
}
