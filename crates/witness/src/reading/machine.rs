//! Counters of the whole machine and of the process, at one moment.

use super::backing::{PagesBelow, pages_below};
use iosonde_report::ledger::Fact;
use iosonde_sys::counters::{
    CpuTime, DiskCounters, GroupLimits, Groups, PageFlow, Pressure, Resource, TaskIo, Throttled,
};
use std::time::Instant;

/// Everything that is counted for the machine or the process.
#[derive(Clone, Debug, Default)]
pub struct MachineReading {
    /// When.
    pub at: Option<Instant>,
    /// Devices by name.
    pub devices: Vec<(String, Fact<DiskCounters>)>,
    /// Of loop devices: what of their backing files is in the page cache.
    pub below: Vec<(String, Fact<PagesBelow>)>,
    /// I/O of the process.
    pub process_io: Fact<TaskIo>,
    /// Processors.
    pub cpu: Fact<CpuTime>,
    /// Time lost for want of a processor, memory, storage.
    pub pressure: [Fact<Pressure>; 3],
    /// Pages of everybody.
    pub pages: Fact<PageFlow>,
    /// How often the control group took the processor away.
    pub throttled: Fact<Throttled>,
    /// What control groups allow.
    pub limits: GroupLimits,
}

impl MachineReading {
    /// Now, with the counters of these devices and what these groups allow.
    pub fn now<'a>(devices: impl IntoIterator<Item = &'a str>, groups: &Groups) -> MachineReading {
        let counters = |name: &'a str| (name.to_owned(), DiskCounters::of(name).into());
        let devices: Vec<_> = devices.into_iter().map(counters).collect();
        let below = |name: &String| Some((name.clone(), pages_below(name)?));
        let unthrottled = || Fact::unknown("there is no control group that counts it");
        MachineReading {
            below: devices.iter().filter_map(|(name, _)| below(name)).collect(),
            devices,
            process_io: TaskIo::of_process().into(),
            cpu: CpuTime::now().into(),
            pressure: [Resource::Cpu, Resource::Memory, Resource::Io]
                .map(|resource| Pressure::of(resource).into()),
            pages: PageFlow::now().into(),
            throttled: groups.throttled().map_or_else(unthrottled, Fact::Known),
            limits: groups.limits(),
            at: Some(Instant::now()),
        }
    }

    /// Nanoseconds from `earlier` to this.
    pub(crate) fn ns_since(&self, earlier: &MachineReading) -> u64 {
        match (earlier.at, self.at) {
            (Some(earlier), Some(later)) => {
                later.saturating_duration_since(earlier).as_nanos() as u64
            }
            _ => 0,
        }
    }

    /// What of the backing file of a loop device is in the page cache.
    pub fn below(&self, name: &str) -> Option<&Fact<PagesBelow>> {
        self.below.iter().find(|(known, _)| known == name).map(|(_, pages)| pages)
    }

    /// The I/O of a device between `earlier` and this.
    pub(crate) fn device_since(&self, earlier: &MachineReading, name: &str) -> Fact<DiskCounters> {
        let find = |all: &[(String, Fact<DiskCounters>)]| {
            let found = all.iter().find(|(found, _)| found == name);
            found.map_or(Fact::default(), |(_, counters)| counters.clone())
        };
        both(&find(&self.devices), &find(&earlier.devices), DiskCounters::since)
    }
}

/// What passed between two readings, where both are known.
pub(crate) fn both<T, U>(
    later: &Fact<T>,
    earlier: &Fact<T>,
    since: impl FnOnce(&T, &T) -> U,
) -> Fact<U> {
    match (later, earlier) {
        (Fact::Known(later), Fact::Known(earlier)) => Fact::Known(since(later, earlier)),
        (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => Fact::Unknown(why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_unknown_and_time_passes() {
        let groups = Groups::of_thread();
        let before = MachineReading::now(["no such device"], &groups);
        let after = MachineReading::now(["no such device"], &groups);
        assert!(after.device_since(&before, "no such device").get().is_none());
        assert!(after.device_since(&before, "never asked for").get().is_none());
        assert!(after.ns_since(&before) > 0);
        assert_eq!(before.ns_since(&MachineReading::default()), 0);
    }
}
