//! The ledger and the verdict where a control group holds the run back, for
//! real: limits, a processor that is taken away, a rate that falls.

use crate::support::groups::{DeviceThrottle, Group};
use crate::support::ledgers::{MIB, TestFileSystem, finds};
use crate::support::running::wait_until;
use crate::support::words;
use serde_json::Value;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_iosonde");

/// A job on `file`, and its ledger in JSON.
fn job(file: &str, line: &str) -> Vec<String> {
    words(&format!("--output-format=json --name=j --filename={file} {line}"))
}

fn ledger_of(mut command: Command) -> Value {
    let output = command.output().unwrap();
    let reported: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(output.status.success(), "{output:?}");
    reported["iosonde"]["ledger"].clone()
}

#[test]
fn a_limit_of_io_is_reported_as_it_was_set() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let Some(group) = Group::of("blkio") else { return };
    let id =
        std::fs::read_to_string(format!("/sys/class/block/{}/dev", place.device.name())).unwrap();
    let id = id.trim();
    let one = format!("{id} 32");
    let two = format!("{id} riops=32");
    if !group.limit(("blkio.throttle.read_iops_device", &one), ("io.max", &two)) {
        return;
    }
    // The limit is what the job measures, whatever else the machine does.
    let line = "--rw=read --bs=64k --size=4m --direct=1";
    let reported = ledger_of(group.command(PROGRAM, &job(&place.path("f"), line)));
    let found =
        finds(&reported, "group-limits").unwrap_or_else(|| panic!("{}", reported["environment"]));
    assert!(found.contains(id) && found.contains("riops=32"), "{found}");
}

#[test]
fn a_processor_limit_of_a_group_is_reported() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let Some(group) = Group::of("cpu") else { return };
    let limited = group.limit(("cpu.cfs_quota_us", "10000"), ("cpu.max", "10000 100000"));
    if !limited {
        return;
    }
    let line = "--rw=randread --bs=4k --size=1m --norandommap --runtime=1 --time_based";
    let reported = ledger_of(group.command(PROGRAM, &job(&place.path("f"), line)));
    let found = finds(&reported, "cpu-taken").unwrap_or_else(|| panic!("{}", reported["machine"]));
    assert!(found.contains("limit of 0.1 processors throttled the process"), "{found}");
}

#[test]
fn a_falling_rate_is_reported_with_the_bytes_until_then() {
    let Some(place) = TestFileSystem::in_memory("ext4") else { return };
    let Some(throttle) = DeviceThrottle::new(&place.device, MIB) else { return };
    // With a queue of half a second the device always has something to hold back,
    // also while this machine does other things. It takes a while to fill. Runs of
    // up to a minute have windows of 200 ms.
    let line = "--rw=write --bs=16k --size=256m --direct=1 --fallocate=none --ioengine=libaio \
                --iodepth=32 --time_based --runtime=58 --ramp_time=1";
    rustix::fs::syncfs(std::fs::File::open(&place.mounted.0).unwrap()).unwrap();
    let written = || {
        let stat = format!("/sys/class/block/{}/stat", place.device.name());
        let stat = std::fs::read_to_string(stat).unwrap();
        stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
    };
    let before = written();
    let mut command = throttle.command(PROGRAM, &job(&place.path("f"), line));
    let program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Four seconds at least at either rate.
    wait_until("4 MiB are written", || written() - before >= 4 * MIB);
    throttle.set(MIB / 4);
    wait_until("1 MiB more is written", || written() - before >= 5 * MIB);
    let id = rustix::process::Pid::from_child(&program);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = program.wait_with_output().unwrap();
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reported = &reported["iosonde"]["ledger"];
    let found = finds(reported, "not-steady").unwrap_or_else(|| panic!("{}", reported["verdict"]));
    assert!(found.starts_with("the rate fell by "), "{found}");
    let (_, until) = found.split_once(", after ").unwrap();
    let until: f64 = until.split(' ').next().unwrap().parse().unwrap();
    assert!((1.5..=6.0).contains(&until), "{found}");
}

/// The device takes so much and no more; a busy machine is slower, and never
/// slower than the program took from its start to its end.
#[test]
fn the_rate_to_durability_is_that_of_a_run_with_end_fsync() {
    let Some(place) = TestFileSystem::in_memory("ext4") else { return };
    let Some(throttle) = DeviceThrottle::new(&place.device, 24 * MIB) else { return };
    let durable = |line: &str, key: &str| {
        let _ = std::fs::remove_file(place.path("w"));
        rustix::fs::syncfs(std::fs::File::open(&place.mounted.0).unwrap()).unwrap();
        let line = format!("--rw=write --bs=1m --size=32m {line}");
        let began = std::time::Instant::now();
        let ledger = ledger_of(throttle.command(PROGRAM, &job(&place.path("w"), &line)));
        let least = (32 * MIB) as f64 / began.elapsed().as_secs_f64();
        let rate = ledger["writes"][key].as_f64().unwrap();
        // A throttle lets bursts pass; memory would take a hundred times as much.
        assert!(rate >= least, "{rate} bytes/s, {least} at least: {ledger}");
        assert!(rate <= 24.0 * MIB as f64 * 2.0, "{rate} bytes/s pass no throttle: {ledger}");
        (rate, ledger)
    };
    let (ours, ledger) = durable("", "durable_bytes_per_s");
    assert_eq!(ledger["writes"]["dirty_at_end_bytes"], 32 * MIB, "{}", ledger["writes"]);
    let reported = ledger["writes"]["reported_bytes_per_s"].as_f64().unwrap();
    assert!(reported > ours, "{reported} bytes/s without write-back: {ledger}");
    durable("--end_fsync=1", "reported_bytes_per_s");
}
