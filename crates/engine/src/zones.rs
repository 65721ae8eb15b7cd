//! Commands to zones (`zonemode=zbd`): executed between I/Os, while nothing is in flight.

use crate::Drive;
use crate::drive::Failure;
use iosonde_base::{Errno, Op, Planned};
use iosonde_stats::{batch_class, depth_class};
use iosonde_sys::zones::ZoneDevice;
use iosonde_workload::zbd::ZoneAtHand;
use std::sync::Arc;

/// The zones of each of a job's files, in the order of the files.
pub type ZoneDevices = Box<[Arc<dyn ZoneDevice>]>;

impl Drive {
    /// Execute a command to a zone, or wait for one.
    ///
    /// # Errors
    /// If the target refuses. Only a trim is tolerated: what follows a reset needs it.
    #[cold]
    pub(crate) fn zone_command(&mut self, command: &Planned) -> Result<(), Failure> {
        if command.op == Op::ZoneWait {
            self.source.wait_for_zone(command.file);
            return Ok(());
        }
        let device = self.zones.as_ref().and_then(|zones| zones.get(command.file.0 as usize));
        let (Some(device), Some(zone)) = (device.cloned(), self.source.zone_of(command)) else {
            return Ok(());
        };
        let ZoneAtHand { start, bytes, .. } = zone;
        let file = self.files.open_file(command.file);
        let done = match command.op {
            Op::ZoneFinish => device.finish(file, start, bytes),
            Op::ZoneRecover => self.write_rest(&*device, start, command),
            Op::ZoneReset => device.reset(file, start, bytes),
            // A trim of an empty zone does nothing.
            _ if zone.holds_data => device.reset(file, start, bytes),
            _ => Ok(()),
        };
        done.map_err(|errno| Failure::of(command, errno))?;
        self.source.zone_command_done(command);
        Ok(())
    }

    /// The write that was to end at the offset of `command` failed: write what did not arrive.
    fn write_rest(
        &mut self,
        device: &dyn ZoneDevice,
        start: u64,
        command: &Planned,
    ) -> Result<(), Errno> {
        let end = command.offset;
        let begin = end - u64::from(command.len);
        let report = device.report(self.files.open_file(command.file), start, 1)?;
        let pointer = report.first().map(|zone| zone.start + zone.written());
        // Elsewhere it is not this write that moved it, and nothing can be said of the zone.
        let pointer = pointer.filter(|at| (begin..=end).contains(at)).ok_or(Errno::EIO)?;
        if pointer == end {
            return Ok(());
        }
        if self.window.depth > 1 {
            // Which buffer it was written from is not known any more.
            let file = self.files.open_file(command.file);
            return device.write_rest(file, pointer, end - pointer, None);
        }
        let arrived = (pointer - begin) as usize;
        let Drive { memory, files, .. } = self;
        let data = &memory.bytes(0, command.len)[arrived..];
        device.write_rest(files.open_file(command.file), pointer, end - pointer, Some(data))
    }

    /// Trim a zone, and count that as a trim: when it began and ended, in ticks.
    ///
    /// # Errors
    /// If the target refuses, and the job does not tolerate it.
    #[cold]
    pub(crate) fn zone_trim(&mut self, entry: &Planned) -> Result<[u64; 2], Failure> {
        let begin = self.clock.now();
        let done = self.zone_command(entry);
        let end = self.clock.now();
        let counters = self.writer.counters();
        let lane = &counters.lanes[Op::Trim as usize];
        lane.issued.add(1);
        if let Err(failure) = done {
            lane.errors.add(1);
            self.tolerate(entry, failure)?;
            return Ok([begin, end]);
        }
        let took = self.clock.ticks_to_ns(end.wrapping_sub(begin));
        lane.ios.add(1);
        lane.bytes.add(u64::from(entry.len));
        lane.clat.add(took);
        lane.lat.add(took);
        for histogram in [&lane.clat_histogram, &lane.lat_histogram].into_iter().flatten() {
            histogram.add_many(took, 1);
        }
        let depth = &counters.depth;
        depth.level[depth_class(1)].add(1);
        depth.submit[batch_class(1)].add(1);
        depth.submits.add(1);
        depth.complete[batch_class(1)].add(1);
        depth.completes.add(1);
        Ok([begin, end])
    }
}
