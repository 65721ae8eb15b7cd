//! What the ledger was silent about once, or accused wrongly: each as a run
//! (docs/trust.md has the list).

use crate::support::ledgers::{MIB, TestFileSystem, finds, ledger};
use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Who, words};
use iosonde_testing::{Folder, or_skip, run, skip_part};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_of_a_program_is_unknown_and_strict_says_so() {
    use iosonde_faults::{Caching, FaultMount, Script, Store, with_own_mounts};
    let folder = Folder::new("ledger-fuse");
    let on = folder.join("on");
    std::fs::create_dir(&on).unwrap();
    let ran = with_own_mounts(|| {
        let store = Store::new(Script::new(1, Vec::new()), "");
        let mount = FaultMount::mount(store, Caching::None, &on)?;
        let line = "--strict --name=j --filename=on/f --rw=randread --bs=4k --size=4m --direct=1";
        let ran = Who::Native.run(&folder, &words(line));
        drop(mount);
        Ok::<_, String>(ran)
    });
    let Some(ran) = or_skip(ran.and_then(|ran| ran)) else { return };
    assert!(!ran.stdout.contains("clean"), "{ran:?}");
    assert!(ran.stdout.contains("unknown"), "{ran:?}");
    // A finding that is more than a note goes before it, such as one about a busy machine.
    let is_more = |line: &str| line.contains(" warning ") || line.contains(" wrong ");
    let expected = if ran.stdout.lines().any(is_more) { 3 } else { 4 };
    assert_eq!(ran.code, Some(expected), "{ran:?}");
}

/// Longest I/O and p99 of direct random reads that are stopped for so long, and
/// whether the stall is reported.
fn stalled(place: &TestFileSystem, stall: Duration) -> (u64, u64, bool) {
    let line = format!(
        "--name=j --filename={} --rw=randread --bs=4k --size=32m --direct=1 --runtime=1d \
         --time_based --output-format=json",
        place.path("f")
    );
    let mut running = Running::start(Who::Native, &place.folder, &line);
    running.wait_for_work("j");
    // So many calls that the stall is not one I/O in a hundred.
    let calls = format!("/proc/{}/io", running.id());
    let reads = || {
        let counts = std::fs::read_to_string(&calls).unwrap_or_default();
        let line = counts.lines().find_map(|line| line.strip_prefix("syscr: "));
        line.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0)
    };
    wait_until("enough I/Os are done", || reads() > 5000);
    running.signal(Signal::STOP);
    std::thread::sleep(stall);
    running.signal(Signal::CONT);
    running.signal(Signal::INT);
    let ran = running.end_within(PATIENCE);
    let document = ran.json();
    let latency = &document["jobs"][0]["read"]["clat_ns"];
    let figure = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{ran:?}"));
    let found = finds(&document["iosonde"]["ledger"], "closed-loop");
    let is_found = found.is_some_and(|text| text.contains("stall"));
    (figure(&latency["max"]), figure(&latency["percentile"]["99.000000"]), is_found)
}

#[test]
fn a_long_stall_of_psync_is_reported_beside_its_own_percentiles() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    // On a busy machine other I/Os take long, too: the stall is made longer until it
    // stands out, and each report agrees with its own figures.
    let mut stall = Duration::from_secs(1);
    loop {
        let (max, p99, is_found) = stalled(&place, stall);
        if max > 60 * p99 {
            assert!(is_found, "{max} ns beside {p99} ns");
            break;
        }
        assert!(max > 40 * p99 || !is_found, "{max} ns beside {p99} ns");
        stall *= 2;
    }
}

#[test]
fn a_rate_that_no_storage_reaches_is_reported() {
    let folder = Folder::new("ledger-rate");
    let line = "--name=j --filename=f --rw=randread --bs=4k --size=4m --rate_iops=100000000 \
                --runtime=2 --time_based";
    let reported = ledger(&folder, line);
    let found = finds(&reported, "rate-not-reached").unwrap();
    assert!(found.contains("of 100M IOPS set"), "{found}");
}

#[test]
fn others_writes_are_seen_beside_direct_writes_with_syncs_and_buffered_ones() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let other = format!(
        "--name=other --filename={} --rw=write --bs=1m --size=64m --direct=1 --time_based \
         --runtime=1d",
        place.path("other")
    );
    let mut writer = Running::start(Who::Native, &place.folder, &other);
    writer.wait_for_work("other");
    for how in ["--direct=1 --fsync=1", "--direct=1 --sync=dsync"] {
        let line = format!("--rw=randwrite --bs=4k --size=16m {how} --runtime=2 --time_based");
        let reported = place.ledger("f", &format!("{line} --rate=100k"));
        let found = finds(&reported, "other-traffic");
        assert!(found.is_some(), "{how}: {}", reported["other_traffic"]);
        // The depth at the device is that of both.
        let depth = &reported["jobs"][0]["depth"]["observed_at_device"];
        assert!(depth["unknown"].is_string(), "{how}: {depth}");
    }
    writer.signal(Signal::INT);
    writer.end_within(PATIENCE);
}

#[test]
fn what_another_process_reads_through_the_cache_does_not_accuse_a_direct_job() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    place.ledger("f", "--rw=write --bs=1m --size=64m --end_fsync=1");
    place.ledger("f", "--rw=read --bs=4k --size=64m --number_ios=1");
    let other = format!(
        "--name=other --filename={} --rw=read --bs=64k --size=64m --rate=8m --time_based \
         --runtime=1d",
        place.path("f")
    );
    let mut reader = Running::start(Who::Native, &place.folder, &other);
    reader.wait_for_work("other");
    let reported =
        place.ledger("f", "--rw=randread --bs=4k --size=64m --direct=1 --runtime=1 --time_based");
    reader.signal(Signal::INT);
    reader.end_within(PATIENCE);
    assert_eq!(finds(&reported, "not-direct"), None, "{}", reported["jobs"][0]["direct"]);
}

#[test]
fn syncs_in_flight_together_share_flushes_and_lose_none() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=randwrite --bs=4k --size=8m --direct=1 --ioengine=io_uring --iodepth=32 \
                --fsync=1 --number_ios=400";
    let reported = place.ledger("f", line);
    assert!(reported["jobs"][0]["syncs"]["requested"].as_u64().unwrap() >= 200);
    assert_eq!(finds(&reported, "lost-flushes"), None, "{}", reported["devices"][0]);
}

#[test]
fn metadata_of_the_run_itself_is_no_traffic_of_others() {
    let Some(place) = TestFileSystem::of("btrfs") else { return };
    let reported = place.ledger("f", "--rw=randwrite --bs=4k --size=32m --end_fsync=1");
    assert_eq!(finds(&reported, "other-traffic"), None, "{}", reported["other_traffic"]);
    let written = &reported["other_traffic"]["written_bytes"];
    assert!(written["unknown"].is_string(), "{written}");
}

#[test]
fn zeroes_are_reported_on_compressing_btrfs_and_not_where_space_was_reserved() {
    let Some(place) = TestFileSystem::of("btrfs") else { return };
    let on = place.mounted.0.to_str().unwrap();
    if or_skip(run("mount", &["-o", "remount,compress-force=zstd", on])).is_none() {
        return;
    }
    let line = "--rw=write --bs=128k --size=16m --zero_buffers=1 --end_fsync=1";
    let compressed = place.ledger("f", &format!("{line} --fallocate=none"));
    assert!(finds(&compressed, "compressible-data").is_some(), "{}", compressed["devices"][0]);
    let reserved = place.ledger("reserved", &format!("{line} --fallocate=posix"));
    let written = reserved["devices"][0]["counters"]["write_bytes"].as_u64().unwrap();
    assert!(written >= 16 * MIB, "reserved space is not compressed: {written}");
    assert_eq!(finds(&reserved, "compressible-data"), None);
}

#[test]
fn what_is_written_without_a_sync_is_dirty_in_the_file_below_a_loop_device() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=write --bs=128k --size=16m --direct=1";
    // Somebody's sync(2) may come between; not ten times.
    let found = (0..10).find_map(|_| {
        let reported = place.ledger("f", line);
        let dirty = reported["devices"][0]["dirty_below_bytes"].as_u64().unwrap_or(0);
        (dirty >= MIB).then(|| finds(&reported, "write-cache-not-flushed").unwrap())
    });
    let Some(found) = found else { return skip_part!("no dirty bytes of files are reported") };
    assert!(found.contains("of the file below were dirty in memory"), "{found}");
    let synced = place.ledger("f", &format!("{line} --end_fsync=1"));
    let dirty = synced["devices"][0]["dirty_below_bytes"].as_u64().unwrap();
    assert!(dirty < 16 * MIB, "a flush writes it: {dirty}");
}
