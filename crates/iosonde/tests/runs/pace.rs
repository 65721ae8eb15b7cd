//! Rates, pauses and limits through the program. No test depends on the speed
//! of the machine: a busy one is late, but never ahead of a schedule.

use crate::support::{Ran, Who, at_once, words};
use iosonde_testing::Folder;
use serde_json::Value;

/// A job on the null engine that would go on for ever.
const NULL: &str = "--name=a --ioengine=null --size=1g --time_based --output-format=json";

fn ours(folder: &Folder, line: &str) -> Ran {
    Who::AsFio.run(folder, &words(line))
}

fn count(document: &Value, job: usize, way: &str, what: &str) -> f64 {
    document["jobs"][job][way][what].as_f64().unwrap()
}

/// That a rate is kept within a percent is tested on a simulated clock
/// (`crates/engine/tests/paced.rs`), and that options mean it, on plans
/// (`crates/run/src/plan/pacing.rs`). Here they reach the engine: no job is ahead
/// of its schedule, and each I/O is timed from the moment it was due.
#[test]
fn no_job_is_ahead_of_its_rate() {
    let folder = Folder::new("rates");
    // Each job takes two seconds by its schedule; percent it may deviate by.
    let jobs = [
        ("--rw=read --rate_iops=1000 --number_ios=2000", 0.5),
        ("--rw=read --rate_iops=1000 --iodepth=16 --number_ios=2000", 1.0),
        ("--rw=read --rate_iops=1000 --gtod_reduce=1 --number_ios=2000", 0.5),
        ("--rw=read --rate_iops=1000 --gtod_reduce=1 --iodepth=4 --number_ios=2000", 0.5),
        ("--rw=randread --rate_iops=1000 --bsrange=512-64k --number_ios=2000", 0.5),
        ("--rw=randrw --rate_iops=1000,500 --rwmixread=90 --number_ios=3000", 1.0),
        ("--rw=randrw --rate=4m,1m --number_ios=2560", 1.0),
        ("--rw=randwrite --rate=20m --bssplit=4k/60:16k/40 --io_size=40m", 1.0),
        // A Poisson process of 20 000 deviates by 0.7 %.
        ("--rw=read --rate_iops=10000 --rate_process=poisson --number_ios=20000", 3.0),
    ];
    at_once(&jobs, |&(options, percent)| {
        let line = format!("--name=a --ioengine=null --size=1g --output-format=json {options}");
        let document = Who::Native.run(&folder, &words(&line)).well().json();
        let took = document["jobs"][0]["job_runtime"].as_f64().unwrap();
        let least = 2000.0 * (1.0 - percent / 100.0);
        assert!(took >= least, "{options}: {took} ms, ahead of the schedule");
        let ways = ["read", "write"];
        let ios: f64 = ways.iter().map(|way| count(&document, 0, way, "total_ios")).sum();
        let responses = &document["iosonde"]["jobs"][0]["response_ns"];
        let timed: f64 = ways.iter().filter_map(|way| responses[way]["N"].as_f64()).sum();
        assert_eq!(timed, ios, "{options}: {responses}");
    });
}

#[test]
fn a_direction_without_a_rate_is_free_as_in_fio() {
    let folder = Folder::new("free-direction");
    let line = format!("{NULL} --rw=randrw --rate=,1m --runtime=1");
    let document = ours(&folder, &line).well().json();
    let [read, write] = ["read", "write"].map(|way| count(&document, 0, way, "total_ios"));
    assert!((1.0..=259.0).contains(&write), "no more than the schedule has: {write}");
    assert!(read > 4.0 * write, "{read} reads, {write} writes");
}

#[test]
fn response_times_are_reported_with_a_rate_and_only_then() {
    let folder = Folder::new("responses");
    let run = |line: &str| Who::Native.run(&folder, &words(line)).well();
    let paced = run(&format!("{NULL} --rw=randrw --rate_iops=500,0 --runtime=1")).json();
    let job = &paced["iosonde"]["jobs"][0];
    let read = &job["response_ns"]["read"];
    assert_eq!(read["N"], paced["jobs"][0]["read"]["total_ios"], "{job}");
    assert!(read["percentile"]["99.000000"].as_u64().unwrap() > 0, "{job}");
    assert!(job["response_ns"].get("write").is_none(), "{job}");
    let free = run(&format!("{NULL} --rw=read --number_ios=100 --runtime=1")).json();
    assert!(free["iosonde"]["jobs"][0].get("response_ns").is_none());
    let line = "--name=a --ioengine=null --size=1g --rw=read --rate_iops=500 --runtime=1";
    let text = run(line).stdout;
    assert!(text.contains("read from due"), "{text}");
}

#[test]
fn pauses_come_after_so_many_ios_and_the_schedule_waits_where_asked() {
    let folder = Folder::new("pauses");
    // Options, I/Os, and the least milliseconds that these take.
    let jobs = [
        // 20 runs of five, 20 ms between two of them.
        ("--thinktime=20ms --thinktime_blocks=5", 100, 380.0),
        ("--thinktime=20ms --thinktime_blocks=5 --thinktime_spin=5ms", 100, 380.0),
        (
            "--thinktime=20ms --thinktime_blocks=5 --iodepth=8 --thinktime_blocks_type=issue",
            100,
            380.0,
        ),
        // Besides, five at 1 ms each.
        (
            "--thinktime=20ms --thinktime_blocks=5 --rate_iops=1000 --rate_ignore_thinktime=1",
            100,
            455.0,
        ),
        // 249 ms of schedule, which waits during pauses. One of 100 ms comes after 100 ms of I/O,
        // and another, unless a busy machine was late by more than 49 ms before the first.
        (
            "--thinktime=100ms --thinktime_iotime=100ms --rate_iops=1000 --rate_ignore_thinktime=1",
            250,
            345.0,
        ),
    ];
    at_once(&jobs, |&(options, ios, least)| {
        let line = "--name=a --ioengine=null --size=1g --output-format=json --rw=read";
        let line = format!("{line} {options} --number_ios={ios}");
        let document = ours(&folder, &line).well().json();
        assert_eq!(document["jobs"][0]["read"]["total_ios"], ios, "{options}");
        // Pauses are longer on a busy machine, never shorter. How long exactly is
        // tested on a simulated clock, in crates/engine/tests/paced.rs.
        let took = document["jobs"][0]["job_runtime"].as_f64().unwrap();
        assert!(took >= least, "{options}: {took} ms, {least} at least");
    });
}

#[test]
fn jobs_of_one_flow_do_ios_by_their_weights() {
    let folder = Folder::new("flow");
    let file = folder.write(
        "flow.fio",
        "[global]\nioengine=sim\nsize=1g\nrw=randread\ntime_based\nruntime=1\nflow_sleep=50\n\
         [a]\nflow=3\n[b]\nflow=1\n[c]\nflow=1\nflow_id=7\n",
    );
    let document = ours(&folder, &format!("--output-format=json {file}")).well().json();
    let [a, b, c] = [0, 1, 2].map(|job| count(&document, job, "read", "total_ios"));
    // Whoever is stopped first may be a turn behind.
    assert!((a - 3.0 * b).abs() <= 0.03 * a + 16.0, "flow=3 beside flow=1: {a}, {b}");
    assert!(c > b, "a separate flow is not held back: {c}, {b}");
}

#[test]
fn what_is_too_slow_ends_the_job_in_the_words_of_fio() {
    let folder = Folder::new("too-slow");
    const SIM: &str = "--name=a --ioengine=sim --size=1g --time_based --rw=randread";
    // Options, error number, words.
    let jobs = [
        ("--runtime=9 --max_latency=50", 110, "exceeds specified max (50000 nsec)"),
        ("--runtime=9 --max_latency=50 --iodepth=8", 110, "exceeds specified max (50000 nsec)"),
        ("--runtime=9 --rate_min=1g", 5, "rate_min=1073741824B/s not met, got "),
        (
            "--runtime=9 --rate_iops_min=1m --rate_cycle=200",
            5,
            "rate_iops_min=1048576 not met, got ",
        ),
        (
            "--runtime=9 --latency_target=50 --latency_window=50ms --latency_percentile=90",
            110,
            "not met",
        ),
        (
            "--runtime=9 --latency_target=50 --latency_window=50ms",
            110,
            "exceeds specified max (50000 nsec)",
        ),
    ];
    at_once(&jobs, |&(options, errno, text)| {
        let ran = ours(&folder, &format!("{SIM} {options} --output-format=json"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(text), "{ran:?}");
        let job = &ran.json()["jobs"][0];
        assert_eq!(job["error"], errno, "{ran:?}");
    });
    ours(&folder, &format!("{SIM} --runtime=1 --max_latency=10m")).well();
}

#[test]
fn a_direction_without_a_share_of_the_mix_has_no_turn_whatever_its_rate() {
    let folder = Folder::new("shares");
    // Options, I/Os read and written in a second.
    let jobs = [
        ("--rwmixread=100 --rate_iops=500", 500.0, 0.0),
        ("--rwmixread=0 --rate_iops=500,300", 0.0, 300.0),
        ("--rwmixwrite=100 --rate_iops=,300", 0.0, 300.0),
        ("--rwmixread=100 --rate_iops=500,", 500.0, 0.0),
    ];
    at_once(&jobs, |&(options, reads, writes)| {
        let line = format!("{NULL} --rw=randrw {options} --runtime=1");
        let document = ours(&folder, &line).well().json();
        for (way, most) in [("read", reads), ("write", writes)] {
            let ios = count(&document, 0, way, "total_ios");
            assert_eq!(ios > 0.0, most > 0.0, "{options}: {ios} {way}s");
            assert!(ios <= most * 1.01, "{options}: {ios} {way}s, not {most}");
        }
    });
}

#[test]
fn the_depth_that_meets_a_target_is_found_and_reported() {
    let folder = Folder::new("target");
    // However many are in flight, each takes 100 us: all depths will do.
    let line = "--name=a --ioengine=sim --size=1g --time_based --rw=randread --iodepth=16 \
                --latency_target=5s --latency_window=50ms --latency_percentile=90 --runtime=100 \
                --output-format=json";
    let document = ours(&folder, line).well().json();
    let job = &document["jobs"][0];
    assert_eq!(
        (&job["latency_depth"], &job["latency_target"]),
        (&16.into(), &5_000_000_000_u64.into())
    );
    assert!(job["job_runtime"].as_u64().unwrap() < 90_000, "it ends once it is found: {job}");
}
