//! The ledger made of evidence that was written down: what adds up, and what
//! stays unknown.

use iosonde_base::Dir;
use iosonde_report::ledger::FilesystemFacts;
use iosonde_sys::counters::{Attributes, DiskCounters, Extents, GroupLimits, PageFlow, TaskIo};
use iosonde_sys::stack::{DeviceId, Layer, LayerKind};
use iosonde_witness::reading::{FileReading, Location, PagesBelow};
use iosonde_witness::{DurableAfter, Evidence, Fact, JobEvidence, ResidencySample, Wave, ledger};

const MIB: u64 = 1 << 20;

/// One job that read 100 MiB and had `fetched` of them fetched, on a file system
/// of this kind, from a file with these extents.
fn reader(kind: &str, fetched: u64, extents: Extents) -> Evidence {
    let file = FileReading {
        path: "/mnt/f".into(),
        bytes: 100 * MIB,
        device: 1,
        extents: Fact::Known(extents),
        resident: [Fact::Known(0), Fact::Known(0)],
        unwritten: [Fact::Known(0), Fact::Known(0)],
        ..FileReading::default()
    };
    let mut job = JobEvidence {
        name: "j".into(),
        number: 1,
        depth: 1,
        runtime_ns: 1_000_000_000,
        touches_storage: true,
        thread_io: Fact::Known(TaskIo { storage_read_bytes: fetched, ..TaskIo::default() }),
        files: (1, 100 * MIB),
        inspected: vec![file],
        ..JobEvidence::default()
    };
    job.bytes[Dir::Read] = 100 * MIB;
    job.ios[Dir::Read] = 100;
    let facts = FilesystemFacts { kind: kind.into(), ..FilesystemFacts::default() };
    let place = Location { device: 1, filesystem: Some(facts), ..Location::default() };
    Evidence { jobs: vec![job], places: vec![place], ..Evidence::default() }
}

fn solid() -> Extents {
    Extents { data_bytes: 100 * MIB, looked_at_bytes: 100 * MIB, ..Extents::default() }
}

#[test]
fn what_the_device_did_not_deliver_came_out_of_memory() {
    let reported = ledger(&reader("ext4", 40 * MIB, solid())).reads.unwrap();
    assert_eq!(reported.device_bytes, Fact::Known(40 * MIB));
    assert_eq!(reported.cache_bytes, Fact::Known(60 * MIB));
    assert_eq!((reported.hole_bytes, reported.readahead_bytes), (Fact::Known(0), Fact::Known(0)));
}

#[test]
fn what_was_fetched_and_not_asked_for_is_read_ahead() {
    let reported = ledger(&reader("xfs", 130 * MIB, solid())).reads.unwrap();
    assert_eq!(reported.readahead_bytes, Fact::Known(30 * MIB));
    assert_eq!(reported.cache_bytes, Fact::Known(0));
}

#[test]
fn half_a_file_of_holes_is_reported_by_share_and_for_direct_io_exactly() {
    let half = Extents { data_bytes: 50 * MIB, hole_bytes: 50 * MIB, ..solid() };
    let mut seen = reader("ext4", 30 * MIB, half);
    let reported = ledger(&seen).reads.unwrap();
    assert!(reported.holes_estimated);
    assert_eq!(reported.hole_bytes, Fact::Known(50 * MIB));
    assert_eq!(reported.cache_bytes, Fact::Known(20 * MIB));
    seen.jobs[0].direct = true;
    let reported = ledger(&seen).reads.unwrap();
    assert!(!reported.holes_estimated);
    assert_eq!(
        (reported.hole_bytes, reported.cache_bytes),
        (Fact::Known(70 * MIB), Fact::Known(0))
    );
}

#[test]
fn a_file_system_that_counts_for_nobody_leaves_it_unknown() {
    let reported = ledger(&reader("fuse.sshfs", 0, solid()));
    let reads = reported.reads.unwrap();
    assert!(matches!(&reads.device_bytes, Fact::Unknown(why) if why.contains("fuse.sshfs")));
    assert!(reads.cache_bytes.get().is_none(), "no guess: {reads:?}");
    let memory = ledger(&reader("tmpfs", 0, solid())).reads.unwrap();
    assert_eq!(memory.cache_bytes, Fact::Known(100 * MIB));
}

#[test]
fn bytes_of_helper_threads_are_not_reported_as_a_jobs() {
    let mut seen = reader("ext4", 10 * MIB, solid());
    seen.jobs[0].has_helpers = true;
    let reported = ledger(&seen);
    assert!(reported.jobs[0].reads.as_ref().unwrap().device_bytes.get().is_none());
    // Alone, what the process counted is the job's.
    seen.jobs[0].process_io = Some(TaskIo { storage_read_bytes: 100 * MIB, ..TaskIo::default() });
    let reported = ledger(&seen);
    assert_eq!(reported.jobs[0].reads.as_ref().unwrap().device_bytes, Fact::Known(100 * MIB));
}

#[test]
fn a_sync_that_leaves_the_drives_cache_is_found_and_durability_is_not_claimed() {
    let mut seen = reader("apfs", 0, solid());
    seen.jobs[0].bytes[Dir::Read] = 0;
    seen.jobs[0].bytes[Dir::Write] = 100 * MIB;
    seen.jobs[0].synced_at_end = true;
    seen.jobs[0].end_syncs = 1;
    let found = |seen: &Evidence| {
        let ledger = ledger(seen);
        let kept = ledger.writes.as_ref().unwrap().in_volatile_cache.clone();
        let findings = iosonde_witness::judge(&ledger).into_iter();
        (kept, findings.map(|finding| finding.id).any(|id| id == "fsync-without-flush"))
    };
    assert_eq!(found(&seen), (Fact::Known(false), false), "a sync with a flush");
    seen.sync_without_flush = Some("fsync(2)".to_owned());
    let (kept, reported) = found(&seen);
    assert!(matches!(&kept, Fact::Unknown(why) if why.contains("fsync(2)")), "{kept:?}");
    assert!(reported);
    // A job that synced nothing was promised nothing.
    seen.jobs[0].synced_at_end = false;
    seen.jobs[0].end_syncs = 0;
    assert!(!found(&seen).1);
}

#[test]
fn the_rate_to_durability_counts_the_time_until_all_was_safe() {
    let mut seen = reader("ext4", 0, solid());
    seen.jobs[0].bytes[Dir::Read] = 0;
    seen.jobs[0].bytes[Dir::Write] = 100 * MIB;
    seen.jobs[0].inspected[0].unwritten[1] = Fact::Known(60 * MIB);
    seen.jobs[0].durability =
        Fact::Known(DurableAfter { took_ns: 1_000_000_000, ..DurableAfter::default() });
    let reported = ledger(&seen);
    let writes = reported.writes.unwrap();
    assert_eq!(writes.dirty_at_end_share(), Some(0.6));
    assert_eq!(writes.reported_bytes_per_s, (100 * MIB) as f64);
    assert_eq!(writes.durable_bytes_per_s, Fact::Known((50 * MIB) as f64));
    assert!(reported.reads.is_none());
    seen.jobs[0].durability = Fact::unknown("its files were removed at its end");
    assert!(ledger(&seen).writes.unwrap().durable_bytes_per_s.get().is_none());
}

#[test]
fn jobs_on_one_file_do_not_count_what_is_left_twice() {
    let mut seen = reader("ext4", 0, solid());
    seen.jobs[0].bytes[Dir::Write] = 100 * MIB;
    seen.jobs[0].inspected[0].unwritten[1] = Fact::Known(60 * MIB);
    let mut other = seen.jobs[0].clone();
    other.inspected[0].unwritten[1] = Fact::Known(50 * MIB);
    seen.jobs.push(other);
    assert_eq!(ledger(&seen).writes.unwrap().dirty_at_end_bytes, Fact::Known(50 * MIB));
}

#[test]
fn of_many_files_those_looked_at_stand_for_all() {
    let mut seen = reader("ext4", 0, solid());
    seen.jobs[0].bytes[Dir::Write] = 100 * MIB;
    seen.jobs[0].inspected[0].unwritten[1] = Fact::Known(2 * MIB);
    seen.jobs[0].files = (10, 100 * MIB);
    let reported = ledger(&seen);
    assert_eq!(reported.writes.unwrap().dirty_at_end_bytes, Fact::Known(20 * MIB));
    assert_eq!((reported.jobs[0].files.files, reported.jobs[0].files.inspected), (10, 1));
}

#[test]
fn pages_of_a_buffered_job_beside_it_do_not_accuse_a_direct_one() {
    let mut seen = reader("ext4", 100 * MIB, solid());
    let mut beside = seen.jobs[0].clone();
    seen.jobs[0].direct = true;
    seen.jobs[0].inspected[0].resident[1] = Fact::Known(90 * MIB);
    let honoured = ledger(&seen).jobs[0].direct.honoured.clone();
    assert!(honoured.get().is_none(), "another process may have read the file: {honoured:?}");
    let mut cached = reader("ext4", 10 * MIB, solid());
    cached.jobs[0].direct = true;
    cached.jobs[0].inspected[0].resident[1] = Fact::Known(90 * MIB);
    assert_eq!(ledger(&cached).jobs[0].direct.honoured, Fact::Known(false));
    beside.name = "beside".into();
    seen.jobs.push(beside);
    assert_eq!(ledger(&seen).jobs[0].direct.honoured, Fact::Known(true), "all was fetched");
    seen.jobs[0].bytes[Dir::Write] = MIB;
    assert!(ledger(&seen).jobs[0].direct.honoured.get().is_none(), "nothing is known of writes");
}

#[test]
fn the_fingerprint_stays_while_nothing_changes_that_lasts() {
    let seen = reader("ext4", 0, solid());
    let print = |seen: &Evidence| ledger(seen).environment.fingerprint;
    let mut fuller = seen.clone();
    fuller.machine.available_bytes = Some(1);
    if let Some(facts) = &mut fuller.places[0].filesystem {
        facts.fill_share = Fact::Known(0.9);
    }
    assert_eq!(print(&seen), print(&fuller));
    let mut other = seen.clone();
    other.machine.kernel = "7.0".into();
    assert_ne!(print(&seen), print(&other));
}

/// A partition on a disk: a limit of either counts, one of another disk does not.
#[test]
fn limits_of_other_disks_are_left_out() {
    let layer = |name: &str, id: &str, kind, below| Layer {
        name: name.into(),
        id: DeviceId::parse(id).unwrap(),
        kind,
        below,
    };
    let disk = layer("sda", "8:0", LayerKind::Disk, Vec::new());
    let mut seen = reader("ext4", 100 * MIB, solid());
    seen.places[0].layers = vec![layer("sda1", "8:1", LayerKind::Partition, vec![disk])];
    let mut wave = Wave::default();
    wave.before.limits.io =
        ["8:0 rbps=1", "8:16 rbps=1", "8:1 wiops=9", "18:0 rbps=1"].map(str::to_owned).to_vec();
    seen.waves.push(wave);
    assert_eq!(ledger(&seen).environment.cgroup_io, ["8:0 rbps=1", "8:1 wiops=9"]);
}

#[test]
fn what_is_dirty_below_a_loop_device_is_that_of_the_end() {
    let layer = |name: &str, minor| Layer {
        name: name.into(),
        id: DeviceId::parse(&format!("7:{minor}")).unwrap(),
        kind: LayerKind::Loop("/image".into()),
        below: Vec::new(),
    };
    let mut seen = reader("ext4", 100 * MIB, solid());
    seen.places[0].layers = vec![layer("loop0", 0), layer("loop1", 1)];
    for dirty in [7, 9] {
        let mut wave = Wave::default();
        let pages = PagesBelow { cached_bytes: 20 * MIB, dirty_bytes: dirty * MIB };
        wave.after.below = vec![("loop1".to_owned(), Fact::Known(pages))];
        seen.waves.push(wave);
    }
    let dirty = ledger(&seen).devices.into_iter().map(|device| device.dirty_below_bytes);
    assert_eq!(dirty.collect::<Vec<_>>(), [None, Some(Fact::Known(9 * MIB))]);
}

#[test]
fn limits_that_are_set_during_the_run_count() {
    let disk = Layer {
        name: "sda".into(),
        id: DeviceId::parse("8:0").unwrap(),
        kind: LayerKind::Disk,
        below: Vec::new(),
    };
    let mut seen = reader("ext4", 100 * MIB, solid());
    seen.places[0].layers = vec![disk];
    let mut wave = Wave::default();
    wave.before.limits.memory_bytes = Some(300);
    wave.after.limits.io = vec!["8:0 rbps=1".to_owned()];
    wave.after.limits.memory_bytes = Some(200);
    wave.after.limits.cpus = Some(0.5);
    seen.waves.push(wave);
    let found = ledger(&seen).environment;
    assert_eq!(found.cgroup_io, ["8:0 rbps=1"]);
    let for_a_while = GroupLimits { io: vec!["8:0 wbps=7".to_owned()], ..GroupLimits::default() };
    seen.limits_meanwhile.push(for_a_while);
    assert_eq!(ledger(&seen).environment.cgroup_io, ["8:0 rbps=1", "8:0 wbps=7"]);
    assert_eq!((found.cgroup_memory_bytes, found.cgroup_cpus), (Some(200), Some(0.5)));
}

#[test]
fn holes_of_files_without_extents_are_filled_through_the_page_cache() {
    let with = |has_extents: bool, file_bytes: u64, written_pages: u64| {
        let holes =
            Extents { hole_bytes: 100 * MIB, looked_at_bytes: 100 * MIB, ..Extents::default() };
        let mut seen = reader("ext4", 0, holes);
        seen.jobs[0].direct = true;
        seen.jobs[0].bytes[Dir::Read] = 0;
        seen.jobs[0].bytes[Dir::Write] = 50 * MIB;
        let file = &mut seen.jobs[0].inspected[0];
        file.attributes = Fact::Known(Attributes { has_extents, ..Attributes::default() });
        file.file_bytes = file_bytes;
        let mut wave = Wave::default();
        wave.before.pages = Fact::Known(PageFlow::default());
        wave.after.pages = Fact::Known(PageFlow { written_pages, ..PageFlow::default() });
        seen.waves.push(wave);
        ledger(&seen).jobs[0].direct.honoured.clone()
    };
    let written = 50 * MIB / 4096;
    assert_eq!(with(false, 100 * MIB, written), Fact::Known(false));
    assert_eq!(with(true, 100 * MIB, written), Fact::Known(true));
    assert_eq!(with(false, 0, written), Fact::Known(true), "a file that grows has no holes");
    assert_eq!(with(false, 100 * MIB, 10), Fact::Known(true), "nothing left the page cache");
}

#[test]
fn what_overlayfs_hides_is_dirty_if_no_page_has_left_the_cache() {
    let with = |written_pages: u64| {
        let mut seen = reader("overlay", 0, solid());
        seen.jobs[0].bytes[Dir::Read] = 0;
        seen.jobs[0].bytes[Dir::Write] = 100 * MIB;
        let io = TaskIo { storage_write_bytes: 100 * MIB, ..TaskIo::default() };
        seen.jobs[0].thread_io = Fact::Known(io);
        seen.jobs[0].inspected[0].unwritten[1] = Fact::unknown("overlayfs");
        let mut wave = Wave::default();
        wave.before.pages = Fact::Known(PageFlow::default());
        wave.after.pages = Fact::Known(PageFlow { written_pages, ..PageFlow::default() });
        seen.waves.push(wave);
        ledger(&seen).writes.unwrap().dirty_at_end_bytes
    };
    assert_eq!(with(0), Fact::Known(100 * MIB));
    assert_eq!(with(15 * 1024), Fact::Known(40 * MIB));
    assert_eq!(with(100 * 1024), Fact::unknown("overlayfs"));
}

#[test]
fn the_page_cache_below_a_loop_device_grows_by_what_enters_it_and_what_was_taken() {
    let mut seen = reader("ext4", 100 * MIB, solid());
    seen.places[0].layers = vec![Layer {
        name: "loop1".into(),
        id: DeviceId::parse("7:1").unwrap(),
        kind: LayerKind::Loop("/image".into()),
        below: Vec::new(),
    }];
    let mut wave = Wave::default();
    for (reading, mib) in [(&mut wave.before, 10), (&mut wave.after, 14)] {
        let pages = PagesBelow { cached_bytes: mib * MIB, dirty_bytes: 0 };
        reading.below = vec![("loop1".to_owned(), Fact::Known(pages))];
        let reclaimed_pages = mib;
        reading.pages = Fact::Known(PageFlow { reclaimed_pages, ..PageFlow::default() });
    }
    seen.waves.push(wave);
    let entered = ledger(&seen).devices[0].entered_below_bytes.clone();
    assert_eq!(entered, Some(Fact::Known(4 * MIB + 4 * 4096)));
}

/// A job that read 100 MiB at random, all in the page cache when it began, of which
/// `fetched` came from the device in so many requests.
fn random(fetched: u64, requests: u64, residency: &[(u64, f64)]) -> Evidence {
    let mut seen = reader("ext4", fetched, solid());
    let job = &mut seen.jobs[0];
    job.ios[Dir::Read] = 25_600;
    (job.evenly, job.options.random) = (true, true);
    (job.options.block_bytes_min, job.options.block_bytes_max) = (4096, 4096);
    job.inspected[0].resident = [Fact::Known(100 * MIB), Fact::Known(0)];
    let sample = |&(mib, share): &(u64, f64)| ResidencySample { read_bytes: mib * MIB, share };
    job.residency = residency.iter().map(sample).collect();
    seen.places[0].layers = vec![Layer {
        name: "sda".into(),
        id: DeviceId::parse("8:0").unwrap(),
        kind: LayerKind::Disk,
        below: Vec::new(),
    }];
    let mut wave = Wave::default();
    let none = || Fact::Known(TaskIo::default());
    let read = TaskIo { storage_read_bytes: fetched, ..TaskIo::default() };
    (wave.before.process_io, wave.after.process_io) = (none(), Fact::Known(read));
    let counted =
        DiskCounters { reads: requests, read_sectors: fetched / 512, ..Default::default() };
    wave.before.devices = vec![("sda".into(), Fact::Known(DiskCounters::default()))];
    wave.after.devices = vec![("sda".into(), Fact::Known(counted))];
    seen.waves.push(wave);
    seen
}

fn cached_mib(seen: &Evidence) -> Result<u64, String> {
    match ledger(seen).reads.unwrap().cache_bytes {
        Fact::Known(bytes) => Ok(bytes / MIB),
        Fact::Unknown(why) => Err(why.into_owned()),
    }
}

#[test]
fn a_cache_that_was_dropped_meanwhile_gives_the_hits_that_there_were() {
    // Each request was one block: what the device did not deliver is all that was cached.
    assert_eq!(cached_mib(&random(70 * MIB, 17_920, &[])), Ok(30));
    // Read ahead, and as many requests as reads that missed.
    assert_eq!(cached_mib(&random(80 * MIB, 19_900, &[])), Ok(20));
    // Fewer requests than bytes: what was cached while it ran decides.
    let dropped = [(20, 1.0), (40, 1.0), (45, 0.0), (90, 0.2)];
    assert_eq!(cached_mib(&random(80 * MIB, 10_000, &dropped)), Ok(40));
}

#[test]
fn signals_that_contradict_each_other_leave_a_range() {
    let found = cached_mib(&random(80 * MIB, 10_000, &[(30, 1.0), (90, 0.0)])).unwrap_err();
    assert!(found.contains("between 30.0 % and 60.9 %"), "{found}");
    let mut uneven = random(80 * MIB, 10_000, &[(99, 1.0)]);
    uneven.jobs[0].evenly = false;
    let found = cached_mib(&uneven).unwrap_err();
    assert!(found.contains("between 20.0 % and 60.9 %"), "{found}");
    assert!(!ledger(&uneven).unknown_statements().is_empty());
    // Where no read was without a request, a cache that nobody read explains nothing.
    let mut cold = random(104 * MIB, 25_500, &[(50, 0.5)]);
    cold.jobs[0].evenly = false;
    assert_eq!(cached_mib(&cold), Ok(0));
}

#[test]
fn compressed_files_that_nobody_had_read_are_cold() {
    let mut seen = reader("squashfs", MIB, solid());
    let reads = ledger(&seen).reads.unwrap();
    assert_eq!((reads.cache_bytes, reads.hole_bytes), (Fact::Known(0), Fact::Known(0)));
    seen.jobs[0].inspected[0].resident[0] = Fact::Known(MIB);
    assert!(ledger(&seen).reads.unwrap().cache_bytes.get().is_none(), "some of it was there");
    let encoded = Extents { encoded_bytes: 100 * MIB, ..solid() };
    let reads = ledger(&reader("btrfs", MIB, encoded)).reads.unwrap();
    assert_eq!(reads.cache_bytes, Fact::Known(0));
    let twice = |seen: &mut Evidence| seen.jobs[0].files.1 = 50 * MIB;
    let mut seen = reader("erofs", MIB, solid());
    twice(&mut seen);
    assert!(ledger(&seen).reads.unwrap().cache_bytes.get().is_none(), "it was read twice");
}

#[test]
fn holes_that_were_made_while_a_job_read_accuse_nobody() {
    let mut seen = reader("ext4", MIB, solid());
    let punched = Extents { hole_bytes: 100 * MIB, ..solid() };
    seen.jobs[0].inspected[0].extents_after = Fact::Known(punched);
    assert!(ledger(&seen).reads.unwrap().cache_bytes.get().is_none());
    seen.jobs[0].direct = true;
    let found = ledger(&seen);
    assert_eq!(found.reads.as_ref().unwrap().hole_bytes, Fact::Known(99 * MIB));
    assert_eq!(found.reads.as_ref().unwrap().cache_bytes, Fact::Known(0));
    assert_eq!(found.jobs[0].direct.honoured, Fact::Known(true));
}

#[test]
fn a_phase_that_reads_back_is_no_part_of_the_rates_of_writes() {
    let mut seen = reader("ext4", 0, solid());
    let job = &mut seen.jobs[0];
    (job.bytes[Dir::Read], job.bytes[Dir::Write]) = (0, 100 * MIB);
    (job.runtime_ns, job.checks_ns, job.direct) = (5_000_000_000, 4_000_000_000, true);
    job.durability = Fact::Known(DurableAfter { took_ns: 1_000_000_000, ..Default::default() });
    let writes = ledger(&seen).writes.unwrap();
    assert_eq!(writes.reported_bytes_per_s, (100 * MIB) as f64);
    assert_eq!(writes.durable_bytes_per_s, Fact::Known((50 * MIB) as f64));
    seen.jobs[0].direct = false;
    let durable = ledger(&seen).writes.unwrap().durable_bytes_per_s;
    assert!(matches!(&durable, Fact::Unknown(why) if why.contains("verify")), "{durable:?}");
}

#[test]
fn time_in_which_other_jobs_ran_is_no_part_of_a_jobs_own_durable_rate() {
    let mut seen = reader("ext4", 0, solid());
    let job = &mut seen.jobs[0];
    (job.bytes[Dir::Read], job.bytes[Dir::Write]) = (0, 100 * MIB);
    let (took_ns, waited_ns) = (9_000_000_000, 8_000_000_000);
    job.durability = Fact::Known(DurableAfter { took_ns, waited_ns, by_part: false });
    let durable =
        |seen: &Evidence| ledger(seen).jobs[0].writes.clone().unwrap().durable_bytes_per_s.get();
    assert_eq!(durable(&seen), Some((50 * MIB) as f64), "all was written when it ended");
    seen.jobs[0].inspected[0].unwritten[1] = Fact::Known(MIB);
    assert_eq!(durable(&seen), None);
    let together = ledger(&seen).writes.unwrap().durable_bytes_per_s;
    assert_eq!(together, Fact::Known((10 * MIB) as f64), "of the run it is known");
}
