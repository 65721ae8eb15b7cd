//! Reference values: what a class of device is known to reach, with sources.
//!
//! They help a reader to judge whether a figure is in the usual range. No rule of the
//! verdict uses them: a device may differ from them for good reasons.

mod class;
mod page;
mod table;

pub use class::{Class, class_of};
pub use page::page;

use crate::ledger::{JobLedger, Ledger};
use iosonde_base::Dir;
use iosonde_base::text::{count, rate};

/// A shape of work that data sheets state a figure for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Reads in order, of 64 KiB and more.
    SequentialRead,
    /// Writes in order, of 64 KiB and more, that bypass the page cache.
    SequentialWrite,
    /// Random reads of 4 KiB, one at a time.
    RandomRead,
    /// Random reads of 4 KiB, 32 and more in flight.
    QueuedRandomRead,
    /// Random writes of 4 KiB, one at a time, that bypass the page cache.
    RandomWrite,
    /// Random writes of 4 KiB, 32 and more in flight, that bypass the page cache.
    QueuedRandomWrite,
    /// Writes of 16 KiB and less, one at a time, with a sync after each.
    SyncedWrite,
}

/// What a class of device typically reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The class.
    pub class: Class,
    /// The work.
    pub shape: Shape,
    /// The lower end: bytes per second of work in order, else I/Os per second.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Where both are from, in Markdown.
    pub from: &'static str,
}

/// The page that lists the bands and their sources.
pub const PAGE: &str = "docs/normal.md";

impl Shape {
    /// All of them, in the order of the page.
    pub const ALL: [Shape; 7] = [
        Shape::SequentialRead,
        Shape::SequentialWrite,
        Shape::RandomRead,
        Shape::QueuedRandomRead,
        Shape::RandomWrite,
        Shape::QueuedRandomWrite,
        Shape::SyncedWrite,
    ];

    /// In words, as in `random read of 4 KiB at depth 1`.
    pub fn words(self) -> &'static str {
        match self {
            Shape::SequentialRead => "sequential read",
            Shape::SequentialWrite => "sequential write",
            Shape::RandomRead => "random read of 4 KiB at depth 1",
            Shape::QueuedRandomRead => "random read of 4 KiB at depth 32",
            Shape::RandomWrite => "random write of 4 KiB at depth 1",
            Shape::QueuedRandomWrite => "random write of 4 KiB at depth 32",
            Shape::SyncedWrite => "small writes, each with a sync",
        }
    }

    /// Whether its figures are bytes per second and not I/Os per second.
    pub fn is_rate(self) -> bool {
        matches!(self, Shape::SequentialRead | Shape::SequentialWrite)
    }
}

impl Band {
    /// The range, in the units of the report: `286 MiB/s to 534 MiB/s`, `17k to 22k IOPS`.
    pub fn range(&self) -> String {
        if self.shape.is_rate() {
            return format!("{} to {}", rate(self.low), rate(self.high));
        }
        format!("{} to {} IOPS", count(self.low), count(self.high))
    }

    /// The sentence beside a figure: `typical of a SATA SSD: 286 MiB/s to 534 MiB/s`.
    pub fn words(&self) -> String {
        format!("typical of {}: {}", self.class.words(), self.range())
    }
}

/// What `class` typically reaches with work of this shape; `None` where no source is known.
pub fn typical(class: Class, shape: Shape) -> Option<Band> {
    if class != Class::Nvme {
        return table::BANDS
            .iter()
            .find(|band| (band.class, band.shape) == (class, shape))
            .copied();
    }
    // An NVMe SSD whose link is not known may be of any generation.
    let generations = [Class::NvmeGen3, Class::NvmeGen4, Class::NvmeGen5];
    let mut bands = generations.into_iter().filter_map(|each| typical(each, shape));
    let first = bands.next()?;
    Some(bands.fold(Band { class, ..first }, |all, band| Band {
        low: all.low.min(band.low),
        high: all.high.max(band.high),
        from: "PCIe 3 to 5 together, since the link is not known",
        ..all
    }))
}

/// The band beside a job's figure of `dir`: where the work has a shape that is listed, and its
/// bytes came from, or went to, devices of one class, or reads came from memory.
pub fn of_job(job: &JobLedger, dir: Dir, ledger: &Ledger) -> Option<Band> {
    let shape = shape_of(job, dir)?;
    let class = match dir {
        Dir::Read => class_read(job, ledger)?,
        _ if job.writes.is_none() => return None,
        _ => class_of(job, ledger)?,
    };
    typical(class, shape)
}

/// The share of a direction's bytes from which on one place counts for all of them.
const NEARLY_ALL: f64 = 0.95;

/// The class that reads came from.
fn class_read(job: &JobLedger, ledger: &Ledger) -> Option<Class> {
    let reads = job.reads.as_ref()?;
    let share = |bytes: u64| bytes as f64 / reads.completed_bytes.max(1) as f64;
    if reads.cache_share().is_some_and(|cached| cached >= NEARLY_ALL) {
        return Some(Class::Memory);
    }
    let from_device = reads.device_bytes.get().map(share)? >= NEARLY_ALL;
    from_device.then(|| class_of(job, ledger)).flatten()
}

fn shape_of(job: &JobLedger, dir: Dir) -> Option<Shape> {
    let options = &job.options;
    let is_mixed = job.reads.is_some() && job.writes.is_some();
    if options.paced || is_mixed {
        return None;
    }
    let largest = options.block_bytes_max;
    let is_4k = largest == 4096 && options.block_bytes_min == largest;
    let is_alone = job.depth.requested_by_all <= 1;
    let is_queued = job.depth.observed_at_device.get().is_some_and(|depth| depth >= 24.0);
    match dir {
        Dir::Read if !options.random && largest >= 65536 => Some(Shape::SequentialRead),
        Dir::Read if options.random && is_4k && is_alone => Some(Shape::RandomRead),
        Dir::Read if options.random && is_4k && is_queued => Some(Shape::QueuedRandomRead),
        Dir::Write if is_synced(job) => {
            (largest <= 16384 && is_alone).then_some(Shape::SyncedWrite)
        }
        // Writes through the page cache have the speed of memory until it is full.
        Dir::Write if job.direct.honoured.get() != Some(true) => None,
        Dir::Write if !options.random && largest >= 65536 => Some(Shape::SequentialWrite),
        Dir::Write if options.random && is_4k && is_alone => Some(Shape::RandomWrite),
        Dir::Write if options.random && is_4k && is_queued => Some(Shape::QueuedRandomWrite),
        _ => None,
    }
}

/// Whether each write is made durable before the next one.
fn is_synced(job: &JobLedger) -> bool {
    let written = job.writes.as_ref().map_or(0, |writes| writes.completed_bytes);
    let most = written / job.options.block_bytes_max.max(1);
    job.options.sync || (most > 0 && job.syncs.requested.saturating_add(1) >= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::*;

    fn disk(name: &str, model: &str, rotational: bool, link: Option<&str>) -> DeviceLedger {
        DeviceLedger {
            name: name.into(),
            kind: "disk".into(),
            facts: DeviceDescription {
                model: Some(model.into()),
                rotational: Some(rotational),
                link: link.map(str::to_owned),
                ..DeviceDescription::default()
            },
            ..DeviceLedger::default()
        }
    }

    fn reader(device: &str, block: u64, random: bool, depth: u64) -> JobLedger {
        JobLedger {
            reads: Some(Reads {
                completed_bytes: 1 << 30,
                device_bytes: Fact::Known(1 << 30),
                cache_bytes: Fact::Known(0),
                ..Reads::default()
            }),
            depth: DepthLedger { requested_by_all: depth, ..DepthLedger::default() },
            options: LedgerOptions {
                block_bytes_min: block,
                block_bytes_max: block,
                random,
                ..LedgerOptions::default()
            },
            files: FilesLedger { devices: vec![device.into()], ..FilesLedger::default() },
            ..JobLedger::default()
        }
    }

    fn on(device: DeviceLedger) -> Ledger {
        Ledger { devices: vec![device], ..Ledger::default() }
    }

    #[test]
    fn a_read_of_a_sata_ssd_has_its_band() {
        let ledger = on(disk("sda", "Samsung SSD 870 EVO 1TB", false, None));
        let job = reader("sda", 1 << 20, false, 1);
        let band = of_job(&job, Dir::Read, &ledger).expect("a band");
        assert_eq!(band.words(), "typical of a SATA SSD: 286 MiB/s to 534 MiB/s");
        let mut job = reader("sda", 4096, true, 1);
        job.direct.honoured = Fact::Known(true);
        assert_eq!(of_job(&job, Dir::Write, &ledger), None, "nothing was written");
        let band = of_job(&job, Dir::Read, &ledger).expect("a band");
        assert_eq!(band.range(), "7.50k to 13.0k IOPS");
    }

    #[test]
    fn the_link_has_the_generation_of_an_nvme_drive() {
        let class = |link| {
            let ledger = on(disk("nvme0n1", "Samsung SSD 990 PRO 2TB", false, link));
            class_of(&reader("nvme0n1", 4096, true, 1), &ledger)
        };
        assert_eq!(class(Some("8.0 GT/s PCIe x4")), Some(Class::NvmeGen3));
        assert_eq!(class(Some("16.0 GT/s PCIe x4")), Some(Class::NvmeGen4));
        assert_eq!(class(Some("32.0 GT/s PCIe x4")), Some(Class::NvmeGen5));
        assert_eq!(class(None), Some(Class::Nvme));
        // Fewer lanes have the figures of no class.
        assert_eq!(class(Some("16.0 GT/s PCIe x2")), None);
        let all = typical(Class::Nvme, Shape::SequentialRead).unwrap();
        assert_eq!((all.low, all.high), (2.7e9, 14.8e9));
    }

    #[test]
    fn what_is_not_known_for_sure_has_no_band() {
        let ssd = || disk("sda", "SSD", false, None);
        // The model of a virtual disk says nothing of what is behind it.
        let of = |name: &str, model: &str| {
            class_of(&reader(name, 4096, true, 1), &on(disk(name, model, true, None)))
        };
        assert_eq!((of("vda", ""), of("sda", "QEMU HARDDISK")), (None, None));
        assert_eq!(of("nvme1n1", "Amazon Elastic Block Store"), Some(Class::NetworkDisk));
        // Half of it from memory.
        let mut job = reader("sda", 1 << 20, false, 1);
        job.reads.as_mut().unwrap().device_bytes = Fact::Known(1 << 29);
        assert_eq!(of_job(&job, Dir::Read, &on(ssd())), None);
        // Blocks of another size.
        assert_eq!(of_job(&reader("sda", 8192, true, 1), Dir::Read, &on(ssd())), None);
        // Writes through the page cache.
        let mut job = reader("sda", 1 << 20, false, 1);
        job.reads = None;
        job.writes = Some(Writes::default());
        assert_eq!(of_job(&job, Dir::Write, &on(ssd())), None);
        // Two disks.
        let mut two = on(ssd());
        two.devices.push(disk("sdb", "SSD", false, None));
        let mut job = reader("sda", 1 << 20, false, 1);
        job.files.devices.push("sdb".into());
        assert_eq!(of_job(&job, Dir::Read, &two), None);
    }

    #[test]
    fn reads_from_the_page_cache_are_compared_with_memory() {
        let mut job = reader("sda", 4096, true, 1);
        let reads = job.reads.as_mut().unwrap();
        (reads.device_bytes, reads.cache_bytes) = (Fact::Known(0), Fact::Known(1 << 30));
        let band = of_job(&job, Dir::Read, &on(disk("sda", "SSD", false, None)));
        assert_eq!(band.map(|band| band.class), Some(Class::Memory));
    }
}
