//! What is known of the zones of one target: write pointers, which are open, which are in use.

use iosonde_base::{ZoneKind, ZoneReport};
use std::ops::Range;

/// How many zones may be open for writing at a time; 0 for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneLimits {
    /// Open zones, over all jobs.
    pub open_max: usize,
}

/// Why reports make no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneTableError {
    /// There is no zone.
    NoZones,
    /// The zones do not follow one another at one length; here is the first that does not.
    Uneven {
        /// Its first byte.
        start: u64,
    },
}

impl std::fmt::Display for ZoneTableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ZoneTableError::NoZones => f.write_str("it reports no zones"),
            ZoneTableError::Uneven { start } => {
                write!(f, "the zone at {start} has another size than the first")
            }
        }
    }
}

/// The zones of one target. All have one length, but the last may be shorter.
#[derive(Clone, Debug)]
pub struct ZoneTable {
    zones: Vec<TableZone>,
    zone_bytes: u64,
    limits: ZoneLimits,
    /// Open zones in the order of opening, with the job that opened each.
    open: Vec<(usize, u32)>,
    /// Zones of which the bytes written are counted, and how many those are.
    counted: Option<(Range<usize>, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct TableZone {
    start: u64,
    capacity: u64,
    /// Bytes below the write pointer.
    written: u64,
    kind: ZoneKind,
    usable: bool,
    /// It was open when it was reported.
    was_open: bool,
    /// The job that has a write to it in flight, or decided.
    writer: Option<u32>,
}

impl ZoneTable {
    /// From what the target reports.
    ///
    /// # Errors
    /// If there is no zone, or their lengths differ.
    pub fn new(reports: &[ZoneReport], limits: ZoneLimits) -> Result<ZoneTable, ZoneTableError> {
        let zone_bytes = reports.first().ok_or(ZoneTableError::NoZones)?.len;
        let mut zones = Vec::with_capacity(reports.len());
        for (index, report) in reports.iter().enumerate() {
            let is_last = index + 1 == reports.len();
            let fits = report.len == zone_bytes || is_last && report.len < zone_bytes;
            let follows = zone_bytes.checked_mul(index as u64) == Some(report.start);
            if !fits || !follows || report.len == 0 {
                return Err(ZoneTableError::Uneven { start: report.start });
            }
            zones.push(TableZone {
                start: report.start,
                capacity: report.capacity.min(report.len),
                written: report.written(),
                kind: report.kind,
                usable: report.is_usable(),
                was_open: report.is_open(),
                writer: None,
            });
        }
        Ok(ZoneTable { zones, zone_bytes, limits, open: Vec::new(), counted: None })
    }

    /// Empty sequential zones over `bytes`, as fio emulates them on files and plain devices.
    ///
    /// # Errors
    /// If no zone fits.
    pub fn emulated(
        bytes: u64,
        zone_bytes: u64,
        capacity: u64,
        limits: ZoneLimits,
    ) -> Result<ZoneTable, ZoneTableError> {
        let starts = (0..bytes.div_ceil(zone_bytes.max(1))).map(|zone| zone * zone_bytes);
        let reports: Vec<ZoneReport> = starts
            .map(|start| {
                let len = zone_bytes.min(bytes - start);
                ZoneReport::empty(start, len, capacity.min(len))
            })
            .collect();
        ZoneTable::new(&reports, limits)
    }

    /// Bytes from one zone to the next.
    pub fn zone_bytes(&self) -> u64 {
        self.zone_bytes
    }

    /// How many zones there are.
    pub fn len(&self) -> usize {
        self.zones.len()
    }

    /// Whether there is no zone; there always is one.
    pub fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }

    /// How many zones may be open.
    pub fn limits(&self) -> ZoneLimits {
        self.limits
    }

    /// Which zone holds the byte at `offset`; past the end, the last.
    pub fn zone_at(&self, offset: u64) -> usize {
        let zone = offset / self.zone_bytes;
        usize::try_from(zone).unwrap_or(usize::MAX).min(self.zones.len().saturating_sub(1))
    }

    /// First byte of a zone.
    pub fn start(&self, zone: usize) -> u64 {
        self.zones[zone].start
    }

    /// Where the next zone begins, or would.
    pub fn end(&self, zone: usize) -> u64 {
        self.zones[zone].start + self.zone_bytes
    }

    /// Whether it is written at its pointer only.
    pub fn is_sequential(&self, zone: usize) -> bool {
        self.zones.get(zone).is_some_and(|zone| zone.kind == ZoneKind::Sequential)
    }

    /// Whether it can be written and read.
    pub fn is_usable(&self, zone: usize) -> bool {
        self.zones[zone].usable
    }

    /// Bytes below the write pointer; a conventional zone counts as full.
    pub fn written(&self, zone: usize) -> u64 {
        self.zones[zone].written
    }

    /// Where the next write goes.
    pub fn pointer(&self, zone: usize) -> u64 {
        self.zones[zone].start + self.zones[zone].written
    }

    /// Bytes that can still be written.
    pub fn left(&self, zone: usize) -> u64 {
        self.zones[zone].capacity - self.zones[zone].written
    }

    /// Whether a write to it is in flight.
    pub fn is_busy(&self, zone: usize) -> bool {
        self.zones[zone].writer.is_some()
    }

    /// Whether a write of another job to any zone is in flight.
    pub(crate) fn others_write(&self, job: u32) -> bool {
        self.zones.iter().any(|zone| zone.writer.is_some_and(|writer| writer != job))
    }

    /// `job` writes to a zone from now on.
    pub(crate) fn begin_write(&mut self, zone: usize, job: u32) {
        self.zones[zone].writer = Some(job);
    }

    /// The write to a zone has ended, and `bytes` of it arrived: all or none.
    pub(crate) fn end_write(&mut self, zone: usize, bytes: u64) {
        self.zones[zone].writer = None;
        self.set_written(zone, self.zones[zone].written.saturating_add(bytes));
        if self.left(zone) == 0 {
            self.close(zone);
        }
    }

    /// The pointer is at `written` bytes, as the target reports.
    pub(crate) fn move_pointer(&mut self, zone: usize, written: u64) {
        self.zones[zone].writer = None;
        self.set_written(zone, written);
    }

    /// `job` is gone: none of its writes is in flight any more.
    pub(crate) fn forget_writer(&mut self, job: u32) {
        for zone in &mut self.zones {
            if zone.writer == Some(job) {
                zone.writer = None;
            }
        }
    }

    /// A zone was reset: it is empty.
    pub fn reset(&mut self, zone: usize) {
        self.set_written(zone, 0);
    }

    /// A zone was finished: it is full and not open.
    pub fn finish(&mut self, zone: usize) {
        self.set_written(zone, self.zones[zone].capacity);
        self.close(zone);
    }

    fn set_written(&mut self, zone: usize, written: u64) {
        let state = &mut self.zones[zone];
        let (before, after) = (state.written, written.min(state.capacity));
        state.written = after;
        if let Some((range, bytes)) = &mut self.counted
            && range.contains(&zone)
        {
            *bytes = *bytes - before + after;
        }
    }

    /// Bytes below the write pointers of the sequential zones of `range`. Counted once; then
    /// kept while one range is asked for.
    pub(crate) fn valid_bytes(&mut self, range: &Range<usize>) -> u64 {
        if let Some((counted, bytes)) = &self.counted
            && counted == range
        {
            return *bytes;
        }
        let sequential = range.clone().filter(|&zone| self.is_sequential(zone));
        let bytes = sequential.map(|zone| self.written(zone)).sum();
        self.counted = Some((range.clone(), bytes));
        bytes
    }

    /// Open zones in the order of opening.
    pub(crate) fn open_zones(&self) -> impl Iterator<Item = usize> + '_ {
        self.open.iter().map(|(zone, _)| *zone)
    }

    /// Whether a zone is open.
    pub fn is_open(&self, zone: usize) -> bool {
        self.open_zones().any(|open| open == zone)
    }

    /// How many zones are open.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// How many of them `job` opened.
    pub(crate) fn open_count_of(&self, job: u32) -> usize {
        self.open.iter().filter(|(_, opener)| *opener == job).count()
    }

    /// `job` opens a zone.
    pub fn open(&mut self, zone: usize, job: u32) {
        if !self.is_open(zone) {
            self.open.push((zone, job));
        }
    }

    /// A zone is open no more.
    pub fn close(&mut self, zone: usize) {
        self.open.retain(|(open, _)| *open != zone);
    }

    /// How many zones of `range` were reported as open.
    pub fn reported_open(&self, range: Range<usize>) -> usize {
        self.zones[range].iter().filter(|zone| zone.was_open).count()
    }

    /// Take the zones of `range` that were reported as open for open: how many are now. Those
    /// that were taken once are not taken again.
    pub(crate) fn take_reported_open(&mut self, range: Range<usize>, job: u32) -> usize {
        for zone in range {
            if std::mem::take(&mut self.zones[zone].was_open) && self.is_sequential(zone) {
                self.open(zone, job);
            }
        }
        self.open.len()
    }

    /// All sequential zones empty and closed.
    pub fn clear(&mut self) {
        for zone in 0..self.zones.len() {
            if self.is_sequential(zone) {
                self.set_written(zone, 0);
                (self.zones[zone].writer, self.zones[zone].was_open) = (None, false);
            }
        }
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: u64 = 65536;

    fn empty(zones: u64) -> ZoneTable {
        ZoneTable::emulated(zones * ZONE, ZONE, ZONE, ZoneLimits::default()).unwrap()
    }

    #[test]
    fn reports_that_make_no_table_are_refused_with_the_place() {
        let refused = |reports: &[ZoneReport]| {
            ZoneTable::new(reports, ZoneLimits::default()).unwrap_err().to_string()
        };
        assert_eq!(refused(&[]), "it reports no zones");
        let (first, odd) = (ZoneReport::empty(0, ZONE, ZONE), ZoneReport::empty(ZONE, 512, 512));
        let uneven = "the zone at 65536 has another size than the first";
        assert_eq!(refused(&[first, odd, ZoneReport::empty(2 * ZONE, ZONE, ZONE)]), uneven);
        assert_eq!(refused(&[first, ZoneReport::empty(ZONE, 2 * ZONE, ZONE)]), uneven);
        let table = ZoneTable::new(&[first, odd], ZoneLimits::default()).unwrap();
        assert_eq!((table.len(), table.is_empty(), table.left(1)), (2, false, 512));
        let table = ZoneTable::emulated(2 * ZONE + 512, ZONE, ZONE, ZoneLimits::default()).unwrap();
        assert_eq!((table.len(), table.left(1), table.left(2)), (3, ZONE, 512));
    }

    #[test]
    fn a_write_is_its_jobs_until_it_ends_or_the_job_is_gone() {
        let mut table = empty(3);
        assert!(!table.others_write(7));
        table.begin_write(0, 7);
        table.begin_write(1, 8);
        assert!(table.others_write(7) && table.others_write(8) && table.is_busy(1));
        table.forget_writer(8);
        assert!(!table.is_busy(1) && table.is_busy(0));
        assert!(!table.others_write(7) && table.others_write(8));
        table.move_pointer(0, 512);
        assert_eq!((table.is_busy(0), table.written(0), table.pointer(0)), (false, 512, 512));
        table.move_pointer(0, 2 * ZONE);
        assert_eq!(table.left(0), 0, "at most the capacity");
    }

    #[test]
    fn open_zones_count_for_the_job_that_opened_them() {
        let mut table = empty(4);
        for (zone, job) in [(0, 1), (1, 2), (2, 1), (0, 2)] {
            table.open(zone, job);
        }
        let counts = |table: &ZoneTable| [1, 2, 3].map(|job| table.open_count_of(job));
        assert_eq!((table.open_count(), counts(&table)), (3, [2, 1, 0]));
        table.close(0);
        assert_eq!((table.open_count(), counts(&table)), (2, [1, 1, 0]));
    }

    #[test]
    fn valid_bytes_follow_the_pointers_of_the_range_that_is_asked_for() {
        let mut table = empty(4);
        table.end_write(0, 4096);
        table.end_write(2, 8192);
        assert_eq!(table.valid_bytes(&(0..2)), 4096);
        table.end_write(1, 512);
        table.end_write(2, 512);
        assert_eq!(table.valid_bytes(&(0..2)), 4608);
        assert_eq!(table.valid_bytes(&(1..3)), 512 + 8704, "another range is counted anew");
        table.reset(2);
        assert_eq!(table.valid_bytes(&(1..3)), 512);
        table.finish(2);
        assert_eq!(table.valid_bytes(&(1..3)), 512 + ZONE);
    }

    #[test]
    fn a_cleared_table_is_empty_and_nothing_in_it_is_open_or_written() {
        let open = ZoneReport {
            write_pointer: 512,
            condition: iosonde_base::ZoneCondition::ExplicitlyOpen,
            ..ZoneReport::empty(0, ZONE, ZONE)
        };
        let conventional = ZoneReport {
            kind: ZoneKind::Conventional,
            condition: iosonde_base::ZoneCondition::NotWritePointer,
            ..ZoneReport::empty(ZONE, ZONE, ZONE)
        };
        let reports = [open, conventional, ZoneReport::empty(2 * ZONE, ZONE, ZONE)];
        let mut table = ZoneTable::new(&reports, ZoneLimits::default()).unwrap();
        assert_eq!([0..3, 1..3].map(|range| table.reported_open(range)), [1, 0]);
        assert_eq!(table.take_reported_open(0..3, 1), 1);
        assert_eq!(table.reported_open(0..3), 0, "taken once");
        table.begin_write(2, 1);
        table.clear();
        assert_eq!((table.open_count(), table.written(0), table.is_busy(2)), (0, 0, false));
        assert_eq!(table.written(1), ZONE, "a conventional zone counts as full");
    }
}
