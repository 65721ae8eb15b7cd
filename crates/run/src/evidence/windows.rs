//! What the system does in each window of a run: devices, steal, dirty data.
//! Read by the conductor between ticks, never by a job.

use iosonde_report::series::DeviceCounts;
use iosonde_sys::counters::{CpuTime, DiskCounters};
use iosonde_sys::memory;

/// The kernel counts in these, whatever the device has.
const SECTOR_BYTES: u64 = 512;
/// Devices at most: each costs some ten microseconds a window.
const DEVICES_MOST: usize = 16;

/// Readings of the system, each the difference to the one before.
#[derive(Default)]
pub(super) struct SystemWindows {
    reads_dirty: bool,
    devices: Vec<String>,
    counted: Option<Vec<DiskCounters>>,
    cpu: Option<CpuTime>,
}

/// What the system did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SystemWindow {
    pub dirty_bytes: Option<u64>,
    pub device: Option<DeviceCounts>,
    pub steal_share: Option<f64>,
}

impl SystemWindows {
    /// Dirty data only where a job may make some.
    pub fn new(reads_dirty: bool) -> SystemWindows {
        SystemWindows { reads_dirty, ..SystemWindows::default() }
    }

    /// The first window begins: `devices` are those directly below the files.
    pub fn begin(&mut self, devices: Vec<String>) {
        self.devices = if devices.len() <= DEVICES_MOST { devices } else { Vec::new() };
        self.counted = self.count();
        self.cpu = CpuTime::now().ok();
    }

    /// A window has ended.
    pub fn end_window(&mut self) -> SystemWindow {
        let (counted, cpu) = (self.count(), CpuTime::now().ok());
        let window = SystemWindow {
            dirty_bytes: self.reads_dirty.then(memory::dirty_bytes).flatten(),
            device: self.counted.as_deref().zip(counted.as_deref()).map(difference),
            steal_share: self.cpu.zip(cpu).and_then(|(before, now)| steal(&now.since(&before))),
        };
        (self.counted, self.cpu) = (counted, cpu);
        window
    }

    /// The counters of all devices; `None` where there are none, or one is gone.
    fn count(&self) -> Option<Vec<DiskCounters>> {
        if self.devices.is_empty() {
            return None;
        }
        self.devices.iter().map(|name| DiskCounters::of(name).ok()).collect()
    }
}

fn difference((before, now): (&[DiskCounters], &[DiskCounters])) -> DeviceCounts {
    let mut sum = DeviceCounts::default();
    for (before, now) in before.iter().zip(now) {
        let used = now.since(before);
        sum.merge(&DeviceCounts {
            read_bytes: used.read_sectors.saturating_mul(SECTOR_BYTES),
            written_bytes: used.write_sectors.saturating_mul(SECTOR_BYTES),
            flushes: used.flushes,
        });
    }
    sum
}

/// The share of all processor time; `None` of a window too short for the
/// kernel's ticks.
fn steal(used: &CpuTime) -> Option<f64> {
    (used.total > 0).then(|| (used.stolen as f64 / used.total as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_added_up_and_sectors_are_of_512_bytes() {
        let before =
            [DiskCounters::default(), DiskCounters { read_sectors: 10, ..DiskCounters::default() }];
        let now = [
            DiskCounters { write_sectors: 4, flushes: 2, ..DiskCounters::default() },
            DiskCounters { read_sectors: 13, ..DiskCounters::default() },
        ];
        let sum = DeviceCounts { read_bytes: 1536, written_bytes: 2048, flushes: 2 };
        assert_eq!(difference((&before, &now)), sum);
    }

    #[test]
    fn without_devices_or_time_nothing_is_known() {
        let mut windows = SystemWindows::new(false);
        windows.begin(vec!["no-such-device".into()]);
        let window = windows.end_window();
        assert_eq!((window.device, window.dirty_bytes), (None, None));
        assert_eq!(steal(&CpuTime::default()), None);
        assert_eq!(steal(&CpuTime { total: 200, idle: 0, stolen: 50 }), Some(0.25));
    }
}
