//! One zone of a simulated device.

use iosonde_base::{ZoneCondition, ZoneKind, ZoneReport};

/// A zone: what the device reports of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimZone(ZoneReport);

impl SimZone {
    pub fn new(report: &ZoneReport) -> SimZone {
        SimZone(*report)
    }

    pub fn report(&self) -> ZoneReport {
        self.0
    }

    pub fn start(&self) -> u64 {
        self.0.start
    }

    pub fn end(&self) -> u64 {
        self.0.start + self.0.len
    }

    pub fn capacity_end(&self) -> u64 {
        self.0.start + self.0.capacity
    }

    /// Where the next write goes.
    pub fn pointer(&self) -> u64 {
        self.0.start + self.0.written()
    }

    pub fn is_sequential(&self) -> bool {
        self.0.kind == ZoneKind::Sequential
    }

    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Whether it is open, or was and holds data.
    pub fn is_active(&self) -> bool {
        self.0.is_open() || self.0.condition == ZoneCondition::Closed
    }

    pub fn is_full(&self) -> bool {
        self.0.condition == ZoneCondition::Full
    }

    /// A write opens it.
    pub fn open(&mut self) {
        self.0.condition = ZoneCondition::ImplicitlyOpen;
    }

    /// So many bytes were written at its pointer.
    pub fn advance(&mut self, bytes: u64) {
        self.0.write_pointer += bytes;
        if self.0.write_pointer >= self.capacity_end() {
            self.finish();
        }
    }

    pub fn finish(&mut self) {
        self.0.write_pointer = self.capacity_end();
        self.0.condition = ZoneCondition::Full;
    }

    pub fn reset(&mut self) {
        self.0.write_pointer = self.0.start;
        self.0.condition = ZoneCondition::Empty;
    }
}
