//! Zones of a target: what it reports, and the commands that it takes.
//!
//! Which zone is written when is decided elsewhere (`workload::zbd`). Offsets are in bytes.

use crate::files::{BorrowedHandle, borrow, status};
use crate::platform;
use crate::stack::DeviceId;
use iosonde_base::{Errno, ZoneReport};
use iosonde_direct::OpenOptions;
use iosonde_direct::sysfs::root;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A target with zones. Commands go through `file`, where the job has the target open: threads
/// have tables of descriptors of their own, so that none can be kept here.
pub trait ZoneDevice: Debug + Send + Sync {
    /// Its zones from the one that holds the byte at `from` on, `most` at most.
    ///
    /// # Errors
    /// If the target cannot say.
    fn report(
        &self,
        file: OpenTarget<'_>,
        from: u64,
        most: usize,
    ) -> Result<Vec<ZoneReport>, Errno>;

    /// Empty the zone from `start` on, `bytes` long.
    ///
    /// # Errors
    /// If the target refuses.
    fn reset(&self, file: OpenTarget<'_>, start: u64, bytes: u64) -> Result<(), Errno>;

    /// Make the zone full as it is.
    ///
    /// # Errors
    /// If the target refuses.
    fn finish(&self, file: OpenTarget<'_>, start: u64, bytes: u64) -> Result<(), Errno>;

    /// Write what did not arrive of a write that failed; zeroes where `data` is not at hand.
    ///
    /// # Errors
    /// If not all arrives.
    fn write_rest(
        &self,
        file: OpenTarget<'_>,
        offset: u64,
        bytes: u64,
        data: Option<&[u8]>,
    ) -> Result<(), Errno>;
}

/// A target as its job has it open; none while it has not.
pub type OpenTarget<'a> = Option<BorrowedHandle<'a>>;

/// Zones that exist only in a table: those of files and plain devices. Nothing is sent to them.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmulatedZones;

impl ZoneDevice for EmulatedZones {
    fn report(&self, _: OpenTarget<'_>, _: u64, _: usize) -> Result<Vec<ZoneReport>, Errno> {
        Ok(Vec::new())
    }

    fn reset(&self, _: OpenTarget<'_>, _: u64, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn finish(&self, _: OpenTarget<'_>, _: u64, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn write_rest(&self, _: OpenTarget<'_>, _: u64, _: u64, _: Option<&[u8]>) -> Result<(), Errno> {
        Ok(())
    }
}

/// How a disk is zoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZonedModel {
    /// Writes elsewhere than at a pointer are taken.
    HostAware,
    /// They are refused.
    HostManaged,
}

/// A zoned block device and what sysfs reports of it.
#[derive(Debug)]
pub struct LinuxZones {
    path: PathBuf,
    /// How it is zoned.
    pub model: ZonedModel,
    /// Zones that may be open at a time; 0 for no limit.
    pub open_max: u32,
    /// Zones that may be open or closed with data in them at a time; 0 for no limit.
    pub active_max: u32,
}

impl LinuxZones {
    /// The zoned block device at `path`; none if it is no block device, or has no zones.
    pub fn at(path: &Path) -> Option<LinuxZones> {
        LinuxZones::in_tree(path, &root().join("sys"))
    }

    /// The same with the tree of sysfs at `sys`.
    fn in_tree(path: &Path, sys: &Path) -> Option<LinuxZones> {
        let facts = status(path).ok()?;
        if !facts.file_type().is_block_device() {
            return None;
        }
        let DeviceId { major, minor } = DeviceId::from_raw(facts.rdev());
        let (model, open_max, active_max) = limits(sys, major, minor)?;
        Some(LinuxZones { path: path.to_owned(), model, open_max, active_max })
    }

    /// All its zones.
    ///
    /// # Errors
    /// If the device cannot be opened or does not report them.
    pub fn report_all(&self) -> Result<Vec<ZoneReport>, Errno> {
        /// As many as fio asks for at a time.
        const ROOM: usize = 8192;
        let mut zones: Vec<ZoneReport> = Vec::new();
        loop {
            let from = zones.last().map_or(0, |last| last.start.saturating_add(last.len));
            let more = self.report(None, from, ROOM)?;
            let is_more = |zone: &ZoneReport| zone.start >= from && zone.len > 0;
            let all = more.len() < ROOM;
            zones.extend(more.into_iter().filter(is_more));
            if all {
                return Ok(zones);
            }
        }
    }

    /// Its first zone.
    ///
    /// # Errors
    /// As for all zones, and if there is no such zone.
    pub fn first_zone(&self) -> Result<ZoneReport, Errno> {
        self.report(None, 0, 1)?.first().copied().ok_or(Errno::EIO)
    }

    /// Do something with the device: as its job has it open, or opened for this.
    fn with<T>(
        &self,
        file: OpenTarget<'_>,
        act: impl FnOnce(BorrowedHandle<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        if let Some(file) = file {
            return act(file);
        }
        // Beside the page cache: what goes through it could arrive in another order.
        let options = OpenOptions::new().read(true).write(true).direct(true);
        let file = options.open(&self.path).map_err(|error| Errno::of(&error.source))?;
        act(borrow(&file))
    }
}

impl ZoneDevice for LinuxZones {
    fn report(
        &self,
        file: OpenTarget<'_>,
        from: u64,
        most: usize,
    ) -> Result<Vec<ZoneReport>, Errno> {
        if let Some(file) = file {
            return Ok(platform::report_zones(file, from, most)?);
        }
        // Reports are to be had without the right to write.
        let file = File::open(&self.path)?;
        Ok(platform::report_zones(borrow(&file), from, most)?)
    }

    fn reset(&self, file: OpenTarget<'_>, start: u64, bytes: u64) -> Result<(), Errno> {
        self.with(file, |file| Ok(platform::reset_zone(file, start, bytes)?))
    }

    fn finish(&self, file: OpenTarget<'_>, start: u64, bytes: u64) -> Result<(), Errno> {
        self.with(file, |file| match platform::finish_zone(file, start, bytes) {
            // Linux before 5.5 does not know how: the zone stays as it is.
            Err(error) if Errno::known(&error) == Some(Errno::ENOTTY) => Ok(()),
            result => Ok(result?),
        })
    }

    fn write_rest(
        &self,
        file: OpenTarget<'_>,
        offset: u64,
        bytes: u64,
        data: Option<&[u8]>,
    ) -> Result<(), Errno> {
        self.with(file, |file| {
            let written = match data {
                Some(data) => platform::write_all_at(file, data, offset),
                None => platform::zero_range(file, offset, bytes),
            };
            written.map_err(Errno::from)
        })
    }
}

/// Model and limits of the disk that a device number belongs to; none if it is not zoned.
fn limits(sys: &Path, major: u32, minor: u32) -> Option<(ZonedModel, u32, u32)> {
    let device = sys.join(format!("dev/block/{major}:{minor}"));
    // A partition is a folder within its disk's.
    let queues = [device.join("queue"), device.join("../queue")];
    let text =
        |name: &str| queues.iter().find_map(|queue| std::fs::read_to_string(queue.join(name)).ok());
    let model = match text("zoned")?.trim() {
        "host-aware" => ZonedModel::HostAware,
        "host-managed" => ZonedModel::HostManaged,
        _ => return None,
    };
    let number = |name: &str| text(name).and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    Some((model, number("max_open_zones"), number("max_active_zones")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn a_disk_and_its_partitions_have_the_limits_of_the_disk() {
        let sys = Folder::new("zoned-sysfs");
        let queue = sys.join("devices/sda/queue");
        std::fs::create_dir_all(&queue).unwrap();
        std::fs::create_dir_all(sys.join("devices/sda/sda1")).unwrap();
        std::fs::create_dir_all(sys.join("dev/block")).unwrap();
        let link = |name: &str, to: &str| {
            crate::files::make_link(sys.join(to), sys.join("dev/block").join(name)).unwrap();
        };
        link("8:0", "devices/sda");
        link("8:1", "devices/sda/sda1");
        std::fs::write(queue.join("zoned"), "none\n").unwrap();
        assert_eq!(limits(sys.path(), 8, 0), None);
        std::fs::write(queue.join("zoned"), "host-managed\n").unwrap();
        std::fs::write(queue.join("max_open_zones"), "128\n").unwrap();
        for minor in [0, 1] {
            assert_eq!(limits(sys.path(), 8, minor), Some((ZonedModel::HostManaged, 128, 0)));
        }
        std::fs::write(queue.join("zoned"), "host-aware\n").unwrap();
        std::fs::write(queue.join("max_active_zones"), "14\n").unwrap();
        assert_eq!(limits(sys.path(), 8, 1), Some((ZonedModel::HostAware, 128, 14)));
        assert_eq!(limits(sys.path(), 9, 9), None);
    }

    #[test]
    fn a_file_has_no_zones_to_report() {
        let folder = Folder::new("zoned-file");
        let path = folder.join("f");
        std::fs::write(&path, "data").unwrap();
        assert!(LinuxZones::at(&path).is_none());
        assert!(LinuxZones::at(Path::new("/nowhere")).is_none());
    }
}
