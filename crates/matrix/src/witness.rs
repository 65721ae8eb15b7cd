//! The machine's own counters: flushes that reached the disk
//! beside syncs that were requested, and how busy it was.

use crate::cell::{Access, WriteSync};
use crate::target::Target;
use iosonde_direct::{DeviceFacts, WriteCache};
use iosonde_sys::counters::DiskCounters;
use serde::Serialize;

/// Syncs that programs requested, and flushes that a disk was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flushes {
    /// The disk, by the kernel's name.
    pub disk: String,
    /// Whether it says that it keeps what is written in a volatile cache;
    /// `None` if it does not say.
    pub volatile_cache: Option<bool>,
    /// fsync(2) and fdatasync(2), one after each write.
    pub syncs: u64,
    /// Flushes that the disk was sent in that time, by any process.
    pub flushes: u64,
}

impl Flushes {
    /// Of the disk right below a target; `None` if there is not exactly one.
    pub fn of(target: &Target) -> Option<Flushes> {
        let [device] = target.devices.as_slice() else { return None };
        let cache = DeviceFacts::of(device.id).write_cache;
        let disk = device.disk().name.clone();
        DiskCounters::of(&disk).ok()?;
        let volatile_cache = cache.get().map(|cache| cache == WriteCache::Back);
        Some(Flushes { disk, volatile_cache, syncs: 0, flushes: 0 })
    }

    /// Count one slice of `blocks` writes, run by `slice`, if each of them is
    /// followed by a sync. (`O_SYNC` and the like may be done without a flush,
    /// by writes that are durable themselves.)
    pub fn beside<T>(&mut self, kind: Access, blocks: u64, slice: impl FnOnce() -> T) -> T {
        let counts = matches!(kind, Access::Write(WriteSync::Fsync | WriteSync::Fdatasync, _));
        let count = || DiskCounters::of(&self.disk).ok().filter(|_| counts);
        let before = count();
        let done = slice();
        if let (Some(before), Some(after)) = (before, count()) {
            self.syncs += blocks;
            self.flushes += after.since(&before).flushes;
        }
        done
    }

    /// The conclusion, if there is one: a sentence.
    pub fn words(&self) -> Option<String> {
        let Flushes { disk, volatile_cache, syncs, flushes } = self;
        // Others flush too, and a flush may serve two: only a shortage means something.
        let few = *syncs >= 20 && *flushes < *syncs / 2;
        match volatile_cache {
            _ if *syncs == 0 => None,
            Some(true) if few => Some(format!(
                "{disk} has a volatile cache and was sent {flushes} flushes for {syncs} syncs: \
                 what is above it does not pass them on, so FSYNC and FDATASYNC may not be \
                 durable."
            )),
            Some(false) => Some(format!(
                "{disk} says that it has no volatile cache, so a sync costs no flush there \
                 ({flushes} flushes for {syncs} syncs)."
            )),
            _ => None,
        }
    }
}

/// Whether others kept the machine busy before the run began: a sentence.
pub fn busy() -> Option<String> {
    let text = iosonde_direct::sysfs::text("proc/loadavg").ok()?;
    busy_words(&text, iosonde_sys::cpu::allowed_count())
}

/// `loadavg` as /proc has it: the means of one, five and fifteen minutes first.
fn busy_words(loadavg: &str, processors: usize) -> Option<String> {
    let load: f64 = loadavg.split(' ').next()?.parse().ok()?;
    (load >= 0.5 * processors as f64).then(|| {
        let plural = if processors == 1 { "" } else { "s" };
        format!(
            "The machine was busy before this began (load {load:.1} on {processors} \
             processor{plural}): that is in the figures."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::WritePath;

    fn flushes(volatile_cache: Option<bool>, syncs: u64, flushes: u64) -> Flushes {
        Flushes { disk: "vda".into(), volatile_cache, syncs, flushes }
    }

    #[test]
    fn syncs_that_reach_a_volatile_cache_are_nothing_to_tell() {
        assert_eq!(flushes(Some(true), 100, 100).words(), None);
        assert_eq!(flushes(Some(true), 100, 50).words(), None);
        assert_eq!(flushes(None, 100, 0).words(), None);
        assert_eq!(flushes(Some(false), 0, 0).words(), None);
        let lost = flushes(Some(true), 100, 3).words().unwrap();
        assert!(lost.contains("sent 3 flushes for 100 syncs"), "{lost}");
        assert!(flushes(Some(false), 100, 0).words().unwrap().contains("no volatile cache"));
    }

    #[test]
    fn only_cells_that_sync_each_write_are_counted() {
        let Some(disk) = std::fs::read_dir("/sys/class/block").ok().and_then(|mut all| all.next())
        else {
            iosonde_testing::skip!("there is no block device");
        };
        let disk = disk.unwrap().file_name().into_string().unwrap();
        let mut flushes = Flushes { disk, ..flushes(None, 0, 0) };
        for kind in Access::all() {
            let before = flushes.syncs;
            assert_eq!(flushes.beside(kind, 7, || 5), 5);
            let each = WritePath::ALL
                .into_iter()
                .flat_map(|way| {
                    [Access::Write(WriteSync::Fsync, way), Access::Write(WriteSync::Fdatasync, way)]
                })
                .any(|each| each == kind);
            assert_eq!(flushes.syncs - before, if each { 7 } else { 0 }, "{kind:?}");
        }
    }

    #[test]
    fn a_load_of_half_the_processors_is_reported() {
        assert_eq!(busy_words("0.99 3.0 3.0 1/2 3\n", 2), None);
        assert!(
            busy_words("1.00 0.0 0.0 1/2 3\n", 2).unwrap().contains("load 1.0 on 2 processors")
        );
        assert_eq!(busy_words("", 2), None);
    }
}
