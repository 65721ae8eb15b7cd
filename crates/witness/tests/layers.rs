//! The ledger of stacks of devices: flushes of each layer, and what is below a loop device.

use iosonde_base::Dir;
use iosonde_report::ledger::{DeviceDescription, DirectLedger, FilesystemFacts};
use iosonde_sys::counters::{DiskCounters, TaskIo};
use iosonde_sys::stack::{DeviceId, Layer, LayerKind};
use iosonde_witness::reading::{FileReading, Location, LoopBacking};
use iosonde_witness::{DurableAfter, Evidence, Fact, JobEvidence, Ledger, Wave, judge, ledger};

const MIB: u64 = 1 << 20;

fn layer(name: &str, minor: u32, kind: LayerKind, below: Vec<Layer>) -> Layer {
    Layer { name: name.into(), id: DeviceId { major: 7, minor }, kind, below }
}

/// One job that wrote 1 MiB in 256 writes to a file on loop1, which is on loop0, which is on
/// a disk; flushes of each while it ran.
fn writer(flushes: [u64; 3]) -> Evidence {
    let file = FileReading {
        path: "/mnt/f".into(),
        bytes: MIB,
        device: 1,
        unwritten: [Fact::Known(0), Fact::Known(0)],
        ..FileReading::default()
    };
    let mut job = JobEvidence {
        depth: 1,
        runtime_ns: 1_000_000_000,
        touches_storage: true,
        files: (1, MIB),
        inspected: vec![file],
        thread_io: Fact::Known(TaskIo::default()),
        durability: Fact::Known(DurableAfter::default()),
        synced_at_end: true,
        ..JobEvidence::default()
    };
    job.bytes[Dir::Write] = MIB;
    job.ios[Dir::Write] = 256;
    let disk = layer("vda", 9, LayerKind::Disk, Vec::new());
    let lower = layer("loop0", 0, LayerKind::Loop("/lower".into()), vec![disk]);
    let upper = layer("loop1", 1, LayerKind::Loop("/upper".into()), vec![lower]);
    let facts = FilesystemFacts { kind: "ext4".into(), ..FilesystemFacts::default() };
    let place =
        Location { device: 1, filesystem: Some(facts), layers: vec![upper], ..Location::default() };
    let mut wave = Wave::default();
    for (name, flushes) in ["loop1", "loop0", "vda"].into_iter().zip(flushes) {
        let counters = |flushes| Fact::Known(DiskCounters { flushes, ..DiskCounters::default() });
        wave.before.devices.push((name.into(), counters(100)));
        wave.after.devices.push((name.into(), counters(100 + flushes)));
    }
    let volatile = |direct| DeviceDescription {
        write_cache: Some("write back".into()),
        backing_direct: direct,
        ..DeviceDescription::default()
    };
    Evidence {
        jobs: vec![job],
        waves: vec![wave],
        places: vec![place],
        facts: vec![
            ("loop1".into(), volatile(Some(true))),
            ("loop0".into(), volatile(Some(true))),
            ("vda".into(), volatile(None)),
        ],
        ..Evidence::default()
    }
}

fn lost(ledger: &Ledger) -> Vec<String> {
    let found = judge(ledger).into_iter().filter(|finding| finding.id == "lost-flushes");
    found.map(|finding| finding.statement.to_string()).collect()
}

fn in_volatile_cache(ledger: &Ledger) -> Fact<bool> {
    ledger.writes.as_ref().unwrap().in_volatile_cache.clone()
}

#[test]
fn flushes_of_other_programs_below_do_not_hide_that_none_came() {
    let mut seen = writer([0, 0, 184]);
    seen.jobs[0].syncs = (256, None);
    let found = ledger(&seen);
    assert_eq!(lost(&found), ["256 fsync calls, 0 flushes reached loop1"]);
    assert_eq!(in_volatile_cache(&found), Fact::Known(true));
    seen = writer([256, 256, 256]);
    seen.jobs[0].syncs = (256, None);
    let found = ledger(&seen);
    assert_eq!((lost(&found), in_volatile_cache(&found)), (Vec::new(), Fact::Known(false)));
}

#[test]
fn few_syncs_o_sync_and_a_sync_at_the_end_ask_for_flushes_too() {
    let with = |change: fn(&mut JobEvidence), flushes: u64| {
        let mut seen = writer([flushes, flushes, flushes]);
        change(&mut seen.jobs[0]);
        ledger(&seen).devices[0].flushes_due
    };
    assert_eq!(with(|_| {}, 0), None, "nothing was synced");
    assert_eq!(with(|job| job.syncs = (16, None), 0), Some(1));
    assert_eq!(with(|job| job.end_syncs = 1, 0), Some(1));
    assert_eq!(with(|job| job.options.sync = true, 0), Some(128));
    let reads_only = |job: &mut JobEvidence| {
        (job.syncs, job.bytes[Dir::Write]) = ((100, None), 0);
    };
    assert_eq!(with(reads_only, 0), None, "there was nothing to flush");
}

#[test]
fn syncs_in_flight_together_may_share_a_flush() {
    let mut seen = writer([4, 4, 4]);
    (seen.jobs[0].syncs, seen.jobs[0].depth) = ((256, None), 32);
    assert!(lost(&ledger(&seen)).is_empty());
    seen.jobs[0].depth = 16;
    assert_eq!(lost(&ledger(&seen)), ["256 fsync calls, 4 flushes reached loop1"]);
}

#[test]
fn a_layer_below_that_gets_none_is_found() {
    let mut seen = writer([512, 0, 300]);
    seen.jobs[0].syncs = (256, None);
    let found = ledger(&seen);
    assert_eq!(lost(&found), ["512 flushes reached loop1, none loop0 below it"]);
    assert_eq!(in_volatile_cache(&found), Fact::Known(true));
    seen = writer([1, 0, 0]);
    assert!(lost(&ledger(&seen)).is_empty(), "one at the edge may be counted in one layer");
}

#[test]
fn a_direct_write_of_a_device_that_bypasses_its_cache_needs_no_flush() {
    let mut seen = writer([0, 0, 0]);
    (seen.jobs[0].options.sync, seen.jobs[0].direct) = (true, true);
    assert!(!lost(&ledger(&seen)).is_empty());
    seen.facts[0].1.fua = Some(true);
    assert!(lost(&ledger(&seen)).is_empty());
}

#[test]
fn a_disk_that_never_counted_a_flush_accuses_nobody() {
    let mut seen = writer([0, 0, 0]);
    seen.jobs[0].syncs = (256, None);
    let disk = seen.places[0].layers[0].below[0].below[0].clone();
    seen.places[0].layers = vec![disk];
    assert_eq!(lost(&ledger(&seen)), ["256 fsync calls, 0 flushes reached vda"]);
    seen.waves[0].before.devices[2].1 = Fact::Known(DiskCounters::default());
    seen.waves[0].after.devices[2].1 = Fact::Known(DiskCounters::default());
    assert!(lost(&ledger(&seen)).is_empty());
}

#[test]
fn a_direct_loop_device_set_to_write_through_drops_flushes() {
    let mut seen = writer([0, 0, 184]);
    (seen.jobs[0].syncs, seen.facts[0].1.write_cache) = ((256, None), Some("write through".into()));
    let found = ledger(&seen);
    assert_eq!(in_volatile_cache(&found), Fact::Known(true));
    let words = judge(&found).into_iter().find(|finding| finding.id == "write-cache-not-flushed");
    assert!(words.unwrap().statement.contains("below loop1"));
}

#[test]
fn a_journal_elsewhere_is_a_device_of_the_run() {
    let mut seen = writer([512, 512, 512]);
    seen.places[0].journals = vec![layer("loop7", 77, LayerKind::Disk, Vec::new())];
    let names: Vec<(String, u32)> =
        ledger(&seen).devices.into_iter().map(|device| (device.name, device.level)).collect();
    assert!(names.contains(&("loop7".into(), 0)), "{names:?}");
    assert_eq!(ledger(&seen).jobs[0].files.devices, ["loop1"], "its data is not there");
}

#[test]
fn what_is_out_of_sight_below_a_loop_device_is_unknown() {
    let mut seen = writer([1, 1, 1]);
    seen.jobs[0].direct = true;
    let backing = LoopBacking {
        device: "loop0".into(),
        filesystem: "fuse.nbdfuse".into(),
        unseen: Some("the backing file of loop0 is on fuse.nbdfuse".into()),
        ..LoopBacking::default()
    };
    seen.places[0].loops = vec![backing];
    let found = ledger(&seen);
    let writes = found.writes.as_ref().unwrap();
    assert!(
        writes.durable_bytes_per_s.get().is_none() && writes.dirty_at_end_bytes.get().is_none()
    );
    assert!(in_volatile_cache(&found).get().is_none());
    let DirectLedger { honoured, .. } = &found.jobs[0].direct;
    assert!(honoured.get().is_none() && !found.unknown_statements().is_empty());
    (seen.jobs[0].bytes[Dir::Read], seen.jobs[0].bytes[Dir::Write]) = (MIB, 0);
    assert!(ledger(&seen).reads.unwrap().device_bytes.get().is_none());
    let lower = found.devices.iter().find(|device| device.name == "loop0").unwrap();
    assert_eq!(lower.backing_filesystem.as_deref(), Some("fuse.nbdfuse"));
}

#[test]
fn an_overlay_that_ignores_syncs_has_no_durable_rate() {
    let mut seen = writer([0, 0, 0]);
    let facts = seen.places[0].filesystem.as_mut().unwrap();
    (facts.kind, facts.options) = ("overlay".into(), "rw,lowerdir=/l".into());
    assert!(ledger(&seen).writes.unwrap().durable_bytes_per_s.get().is_some());
    seen.places[0].filesystem.as_mut().unwrap().options.push_str(",volatile");
    let durable = ledger(&seen).writes.unwrap().durable_bytes_per_s;
    assert!(matches!(&durable, Fact::Unknown(why) if why.contains("volatile")), "{durable:?}");
    assert_ne!(in_volatile_cache(&ledger(&seen)), Fact::Known(false));
}
