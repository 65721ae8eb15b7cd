//! A device in memory, shared by the jobs of a run that name it: zones that take writes at
//! their write pointers only, and the data of jobs that check it.

use super::data::SimulatedData;
use super::{SimZoneSettings, zone::SimZone};
use crate::Io;
use iosonde_base::{Errno, Op, ZoneReport};
use iosonde_sys::zones::{OpenTarget, ZoneDevice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Zones that are open as the device limits them are refused with this, as in Linux
/// (BLK_STS_ZONE_OPEN_RESOURCE); likewise active ones.
const TOO_MANY_OPEN: Errno = Errno::ETOOMANYREFS;
const TOO_MANY_ACTIVE: Errno = Errno::EOVERFLOW;

/// A device in memory.
#[derive(Debug, Default)]
pub struct SimulatedDevice {
    /// From one zone to the next; 0 without zones.
    zone_bytes: u64,
    settings: SimZoneSettings,
    keeps_data: AtomicBool,
    state: Mutex<DeviceState>,
}

#[derive(Debug, Default)]
struct DeviceState {
    zones: Vec<SimZone>,
    data: SimulatedData,
    /// Writes to sequential zones so far.
    writes: u64,
}

impl SimulatedDevice {
    /// With `zones` as they are at the start, all of one length but the last. Without zones
    /// it is written anywhere.
    pub fn new(zones: &[ZoneReport], settings: SimZoneSettings) -> SimulatedDevice {
        let state =
            DeviceState { zones: zones.iter().map(SimZone::new).collect(), ..Default::default() };
        SimulatedDevice {
            zone_bytes: zones.first().map_or(0, |zone| zone.len),
            settings,
            keeps_data: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// Keep what is written from now on; else it is forgotten, and reads bring nothing.
    pub fn keep_data(&self) {
        self.keeps_data.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, DeviceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Do `len` bytes of an I/O: how many were done.
    pub(super) fn perform(&self, io: &Io, len: u32) -> Result<u32, Errno> {
        let mut state = self.lock();
        let done = match io.op {
            Op::Write => self.admit(&mut state, io.offset, len, true)?,
            _ => len,
        };
        let keeps = self.keeps_data.load(Ordering::Relaxed);
        match io.op {
            Op::Write if keeps => state.data.put(io, done),
            Op::Read if keeps => state.data.get(io, done),
            Op::Trim => state.data.discard(io.offset, u64::from(done)),
            _ => {}
        }
        if done < len { Err(Errno::EIO) } else { Ok(done) }
    }

    /// Take a write of `len` bytes at `offset`, and move the pointer of its zone: how many
    /// bytes arrive.
    fn admit(
        &self,
        state: &mut DeviceState,
        offset: u64,
        len: u32,
        may_fail: bool,
    ) -> Result<u32, Errno> {
        if self.zone_bytes == 0 {
            return Ok(len);
        }
        let index = self.index(offset);
        let (end, zones) = (offset + u64::from(len), &mut state.zones);
        let zone = *zones.get(index).ok_or(Errno::ENOSPC)?;
        if !zone.is_sequential() {
            let reaches = zones[index..].iter().take_while(|zone| !zone.is_sequential()).last();
            let fits = reaches.is_some_and(|last| end <= last.end());
            return if fits { Ok(len) } else { Err(Errno::EIO) };
        }
        if offset != zone.pointer() || end > zone.capacity_end() {
            return Err(Errno::EIO);
        }
        self.open(zones, index)?;
        state.writes += u64::from(may_fail);
        let fails = may_fail && state.writes == self.settings.failing_write;
        let arrives = if fails { len / 2 } else { len };
        state.zones[index].advance(u64::from(arrives));
        Ok(arrives)
    }

    /// Open a zone, if it is not open and the limits allow it.
    fn open(&self, zones: &mut [SimZone], index: usize) -> Result<(), Errno> {
        if zones[index].is_open() {
            return Ok(());
        }
        let reaches = |most: u32, counts: fn(&SimZone) -> bool| {
            most > 0 && zones.iter().filter(|zone| counts(zone)).count() >= most as usize
        };
        if !zones[index].is_active() && reaches(self.settings.active_max, SimZone::is_active) {
            return Err(TOO_MANY_ACTIVE);
        }
        if reaches(self.settings.open_max, SimZone::is_open) {
            return Err(TOO_MANY_OPEN);
        }
        zones[index].open();
        Ok(())
    }

    fn index(&self, offset: u64) -> usize {
        usize::try_from(offset / self.zone_bytes.max(1)).unwrap_or(usize::MAX)
    }

    /// Do something with the sequential zone that begins at `start`.
    fn command(
        &self,
        start: u64,
        act: impl FnOnce(&mut DeviceState, usize) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let (mut state, index) = (self.lock(), self.index(start));
        match state.zones.get(index) {
            Some(zone) if zone.is_sequential() && zone.start() == start => act(&mut state, index),
            _ => Err(Errno::EIO),
        }
    }
}

impl ZoneDevice for SimulatedDevice {
    fn report(&self, _: OpenTarget<'_>, from: u64, most: usize) -> Result<Vec<ZoneReport>, Errno> {
        let state = self.lock();
        Ok(state.zones.iter().skip(self.index(from)).take(most).map(SimZone::report).collect())
    }

    fn reset(&self, _: OpenTarget<'_>, start: u64, _: u64) -> Result<(), Errno> {
        self.command(start, |state, index| {
            let DeviceState { zones, data, .. } = state;
            zones[index].reset();
            data.discard(start, zones[index].end() - start);
            Ok(())
        })
    }

    fn finish(&self, _: OpenTarget<'_>, start: u64, _: u64) -> Result<(), Errno> {
        self.command(start, |state, index| {
            let zones = &mut state.zones;
            // An empty zone is active for the moment in which it is filled.
            if !zones[index].is_full() {
                self.open(zones, index)?;
            }
            zones[index].finish();
            Ok(())
        })
    }

    fn write_rest(
        &self,
        _: OpenTarget<'_>,
        offset: u64,
        bytes: u64,
        data: Option<&[u8]>,
    ) -> Result<(), Errno> {
        let len = u32::try_from(bytes).map_err(|_| Errno::EINVAL)?;
        let mut state = self.lock();
        self.admit(&mut state, offset, len, false)?;
        if let Some(data) = data
            && self.keeps_data.load(Ordering::Relaxed)
        {
            state.data.put_slice(offset, data);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::{FileId, ZoneCondition};

    const ZONE: u64 = 4096;

    fn device(settings: SimZoneSettings) -> SimulatedDevice {
        let zones: Vec<ZoneReport> = (0..4)
            .map(|zone| {
                if zone < settings.conventional {
                    ZoneReport::conventional(u64::from(zone) * ZONE, ZONE)
                } else {
                    ZoneReport::empty(u64::from(zone) * ZONE, ZONE, 3072)
                }
            })
            .collect();
        let device = SimulatedDevice::new(&zones, settings);
        device.keep_data();
        device
    }

    fn io(op: Op, offset: u64, bytes: &mut [u8]) -> Io {
        let (buffer, len) = (bytes.as_mut_ptr(), bytes.len() as u32);
        Io { offset, buffer, len, op, file: FileId(0), fd: -1 }
    }

    fn write(device: &SimulatedDevice, offset: u64, len: usize) -> Result<u32, Errno> {
        let mut bytes = vec![7; len];
        device.perform(&io(Op::Write, offset, &mut bytes), len as u32)
    }

    fn read(device: &SimulatedDevice, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![1; len];
        device.perform(&io(Op::Read, offset, &mut bytes), len as u32).unwrap();
        bytes
    }

    fn condition(device: &SimulatedDevice, zone: u64) -> (ZoneCondition, u64) {
        let report = device.report(None, zone * ZONE, 1).unwrap()[0];
        (report.condition, report.written())
    }

    #[test]
    fn sequential_zones_take_writes_at_their_pointers_and_below_their_capacity() {
        let device = device(SimZoneSettings::default());
        assert_eq!(write(&device, 512, 512), Err(Errno::EIO));
        assert_eq!(write(&device, 0, 1024), Ok(1024));
        assert_eq!(write(&device, 0, 512), Err(Errno::EIO));
        assert_eq!(condition(&device, 0), (ZoneCondition::ImplicitlyOpen, 1024));
        assert_eq!(write(&device, 1024, 3072), Err(Errno::EIO), "beyond the capacity");
        assert_eq!(write(&device, 1024, 2048), Ok(2048));
        assert_eq!(condition(&device, 0), (ZoneCondition::Full, 3072));
        assert_eq!(write(&device, 16384, 512), Err(Errno::ENOSPC));
        assert_eq!(read(&device, 512, 4), [7; 4]);
        assert_eq!(read(&device, 3070, 4), [7, 7, 0, 0]);
        device.reset(None, 0, ZONE).unwrap();
        assert_eq!(condition(&device, 0), (ZoneCondition::Empty, 0));
        assert_eq!(read(&device, 512, 4), [0; 4]);
        device.finish(None, ZONE, ZONE).unwrap();
        assert_eq!(condition(&device, 1), (ZoneCondition::Full, 3072));
        assert_eq!(device.reset(None, 512, ZONE), Err(Errno::EIO), "not at the start of a zone");
    }

    #[test]
    fn limits_of_open_and_active_zones_are_kept() {
        let open = device(SimZoneSettings { open_max: 1, ..Default::default() });
        assert_eq!(write(&open, 0, 512), Ok(512));
        assert_eq!(write(&open, ZONE, 512), Err(TOO_MANY_OPEN));
        assert_eq!(write(&open, 512, 2560), Ok(2560));
        assert_eq!(write(&open, ZONE, 512), Ok(512), "the first is full, and open no more");
        let active = device(SimZoneSettings { active_max: 2, ..Default::default() });
        assert_eq!(write(&active, 0, 512), Ok(512));
        assert_eq!(write(&active, ZONE, 512), Ok(512));
        assert_eq!(write(&active, 2 * ZONE, 512), Err(TOO_MANY_ACTIVE));
        active.finish(None, 0, ZONE).unwrap();
        assert_eq!(write(&active, 2 * ZONE, 512), Ok(512));
    }

    #[test]
    fn conventional_zones_are_written_anywhere_and_not_beyond() {
        let device = device(SimZoneSettings { conventional: 2, ..Default::default() });
        assert_eq!(write(&device, 1000, 10), Ok(10));
        assert_eq!(write(&device, ZONE - 8, 16), Ok(16), "into the next conventional one");
        assert_eq!(write(&device, 2 * ZONE - 8, 16), Err(Errno::EIO));
        assert_eq!(device.reset(None, 0, ZONE), Err(Errno::EIO));
        assert_eq!(condition(&device, 0), (ZoneCondition::NotWritePointer, ZONE));
        let mut none = [0; 0];
        let trim = Io { len: 512, ..io(Op::Trim, 1000, &mut none) };
        assert_eq!(device.perform(&trim, 512), Ok(512));
        assert_eq!(read(&device, 1000, 4), [0; 4]);
    }

    #[test]
    fn a_write_fails_half_done_and_the_rest_can_be_written() {
        let device = device(SimZoneSettings { failing_write: 2, ..Default::default() });
        assert_eq!(write(&device, 0, 512), Ok(512));
        assert_eq!(write(&device, 512, 1024), Err(Errno::EIO));
        assert_eq!(condition(&device, 0), (ZoneCondition::ImplicitlyOpen, 1024));
        device.write_rest(None, 1024, 512, Some(&[9; 512])).unwrap();
        assert_eq!(condition(&device, 0).1, 1536);
        assert_eq!(read(&device, 1022, 4), [7, 7, 9, 9]);
        assert_eq!(write(&device, 1536, 512), Ok(512), "only one fails");
    }

    #[test]
    fn a_device_without_zones_is_written_anywhere_and_keeps_data_only_if_asked() {
        let plain = SimulatedDevice::default();
        assert_eq!(write(&plain, 1 << 40, 4), Ok(4));
        assert_eq!(read(&plain, 1 << 40, 4), [1; 4], "reads bring nothing");
        plain.keep_data();
        assert_eq!(write(&plain, (1 << 40) + 2, 4), Ok(4));
        assert_eq!(read(&plain, 1 << 40, 8), [0, 0, 7, 7, 7, 7, 0, 0]);
    }
}
