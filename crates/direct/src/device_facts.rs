//! The facts of a block device: its geometry, its cache, its names, who holds it.

use std::path::PathBuf;

use crate::stack::{DeviceId, LayerKind};
use crate::{Fact, platform};

/// Facts that the system reports about one block device. Units are bytes unless a name
/// says otherwise. Of a partition, what belongs to the disk is the disk's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// The kernel's name: `nvme0n1`, `dm-0`.
    pub name: String,
    /// Its numbers.
    pub id: DeviceId,
    /// What it is made of.
    pub kind: LayerKind,
    /// The transport: `nvme`, `virtio`, `scsi`, `mmc`, `loop`.
    pub transport: Fact<String>,
    /// The vendor.
    pub vendor: Fact<String>,
    /// The model name.
    pub model: Fact<String>,
    /// The serial number.
    pub serial: Fact<String>,
    /// The version of its firmware.
    pub firmware: Fact<String>,
    /// A name no other device in the world has: `eui.0025...`, `naa.5000...`.
    pub world_wide_id: Fact<String>,
    /// How large it is.
    pub bytes: Fact<u64>,
    /// The smallest unit it reads and writes.
    pub logical_sector: Fact<u32>,
    /// The smallest unit it writes without reading first.
    pub physical_sector: Fact<u32>,
    /// The smallest I/O it likes.
    pub io_bytes_min: Fact<u32>,
    /// The I/O it likes best.
    pub io_bytes_optimal: Fact<u32>,
    /// The largest I/O that the system hands down in one piece.
    pub io_bytes_max: Fact<u64>,
    /// What the address of a buffer must be a multiple of.
    pub memory_alignment: Fact<u32>,
    /// How far its beginning is from a border of its physical sectors.
    pub alignment_offset: Fact<u32>,
    /// Whether it has to move a head, as its driver says.
    pub rotational: Fact<bool>,
    /// Whether it takes discards.
    pub discard: Fact<Discard>,
    /// The most that one command may write zeros to; 0 if it knows none.
    pub write_zeroes_bytes_max: Fact<u64>,
    /// Whether what it says is written may be lost with the power.
    pub write_cache: Fact<WriteCache>,
    /// Whether single writes can be made durable without a flush of all.
    pub fua: Fact<bool>,
    /// Whether it must be written in order, zone by zone.
    pub zones: Fact<ZoneModel>,
    /// The writes that are done whole or not at all.
    pub atomic_write: Fact<AtomicWrite>,
    /// The I/O scheduler in use: `none`, `mq-deadline`.
    pub scheduler: Fact<String>,
    /// Requests that the system keeps for it at most.
    pub requests_max: Fact<u32>,
    /// Whether it may be polled for completions.
    pub polled: Fact<bool>,
    /// Whether pages under write must not change (it checks sums of them).
    pub stable_writes: Fact<bool>,
    /// Whether files on it can be mapped without a page cache.
    pub dax: Fact<bool>,
    /// Whether it is read only.
    pub read_only: Fact<bool>,
    /// Whether it can be taken out.
    pub removable: Fact<bool>,
    /// Of a loop device: whether it passes its file's page cache.
    pub loop_direct: Fact<bool>,
    /// A number that changes when the medium, or the file of a loop device,
    /// does.
    pub disk_sequence: Fact<u64>,
    /// The devices made of it.
    pub holders: Vec<String>,
    /// Where it is mounted, in the order of mounting.
    pub mounts: Vec<PathBuf>,
    /// Whether it is swap.
    pub swap: bool,
}

/// How a device takes discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discard {
    /// The unit of a discard, in bytes.
    pub granularity: u32,
    /// The most one discard may cover, in bytes; 0 if it takes none.
    pub bytes_max: u64,
}

impl Discard {
    /// Whether it takes any.
    pub fn is_supported(self) -> bool {
        self.bytes_max > 0
    }
}

/// How a device treats written data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCache {
    /// It may keep data in memory until it is flushed.
    Back,
    /// Data that it reports as written is durable.
    Through,
}

/// How a device is divided into zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneModel {
    /// It is not.
    None,
    /// In each zone of so many bytes, writing in order is faster.
    Aware(u64),
    /// In each zone of so many bytes, nothing else than writing in order
    /// works.
    Managed(u64),
}

/// Writes that are done whole or not at all, in bytes (all zero if there are
/// none).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicWrite {
    /// The shortest; a power of two.
    pub unit_min: u32,
    /// The longest; a power of two.
    pub unit_max: u32,
    /// The longest that are fast, where longer ones are done by copying;
    /// `None` if that is not reported separately.
    pub unit_max_fast: Option<u32>,
    /// The most buffers that one such write may gather; `None` if that is not
    /// reported.
    pub segments_max: Option<u32>,
}

impl AtomicWrite {
    /// Whether there are any.
    pub fn is_supported(self) -> bool {
        self.unit_max > 0
    }

    /// Whether a write of `bytes` at `offset` can be one.
    ///
    /// ```
    /// use iosonde_direct::AtomicWrite;
    ///
    /// let device = AtomicWrite { unit_min: 4096, unit_max: 65536, ..AtomicWrite::default() };
    /// assert!(device.fits(16384, 32768));
    /// assert!(!device.fits(16384, 4096), "not at a multiple of its length");
    /// assert!(!device.fits(12288, 0), "not a power of two");
    /// assert!(!device.fits(131_072, 0), "too long");
    /// ```
    pub fn fits(self, bytes: u64, offset: u64) -> bool {
        bytes.is_power_of_two()
            && bytes >= u64::from(self.unit_min)
            && bytes <= u64::from(self.unit_max)
            && offset.is_multiple_of(bytes)
    }
}

impl DeviceFacts {
    /// The facts of the device with these numbers.
    pub fn of(id: DeviceId) -> DeviceFacts {
        platform::device_facts(id)
    }

    /// Nothing is known but its name and numbers, all for one reason.
    #[allow(dead_code)] // Linux reports them.
    pub(crate) fn unknown(name: String, id: DeviceId, why: &'static str) -> DeviceFacts {
        DeviceFacts {
            name,
            id,
            kind: LayerKind::Disk,
            transport: Fact::unknown(why),
            vendor: Fact::unknown(why),
            model: Fact::unknown(why),
            serial: Fact::unknown(why),
            firmware: Fact::unknown(why),
            world_wide_id: Fact::unknown(why),
            bytes: Fact::unknown(why),
            logical_sector: Fact::unknown(why),
            physical_sector: Fact::unknown(why),
            io_bytes_min: Fact::unknown(why),
            io_bytes_optimal: Fact::unknown(why),
            io_bytes_max: Fact::unknown(why),
            memory_alignment: Fact::unknown(why),
            alignment_offset: Fact::unknown(why),
            rotational: Fact::unknown(why),
            discard: Fact::unknown(why),
            write_zeroes_bytes_max: Fact::unknown(why),
            write_cache: Fact::unknown(why),
            fua: Fact::unknown(why),
            zones: Fact::unknown(why),
            atomic_write: Fact::unknown(why),
            scheduler: Fact::unknown(why),
            requests_max: Fact::unknown(why),
            polled: Fact::unknown(why),
            stable_writes: Fact::unknown(why),
            dax: Fact::unknown(why),
            read_only: Fact::unknown(why),
            removable: Fact::unknown(why),
            loop_direct: Fact::unknown(why),
            disk_sequence: Fact::unknown(why),
            holders: Vec::new(),
            mounts: Vec::new(),
            swap: false,
        }
    }

    /// Whether the system is using it: mounted, swapped on, or part of
    /// another device. What other namespaces use does not show.
    pub fn is_used(&self) -> bool {
        self.swap || !self.mounts.is_empty() || !self.holders.is_empty()
    }
}
