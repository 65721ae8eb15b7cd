//! Rates, pauses and bounds through the whole program. Counts over a given time
//! are compared, never the time itself: a busy machine is late, and catches up.

mod support;

use iosonde_testing::Folder;
use serde_json::Value;
use support::{Ran, Who, at_once, words};

/// A job on the null engine that would go on for ever.
const NULL: &str = "--name=a --ioengine=null --size=1g --time_based --output-format=json";

fn ours(folder: &Folder, line: &str) -> Ran {
    Who::AsFio.run(folder, &words(line))
}

fn count(document: &Value, job: usize, way: &str, what: &str) -> f64 {
    document["jobs"][job][way][what].as_f64().unwrap()
}

#[track_caller]
fn near(got: f64, want: f64, percent: f64, line: &str) {
    assert!((got - want).abs() <= want * percent / 100.0, "{line}: {got}, not {want}");
}

#[test]
fn a_rate_is_kept_within_a_percent_whatever_the_job() {
    let folder = Folder::new("rates");
    // Options, I/Os read in two seconds, KiB written in two seconds, percent.
    let jobs = [
        ("--rw=read --rate_iops=1000 --runtime=2", 2000.0, 0.0, 1.0),
        ("--rw=read --rate_iops=1000 --iodepth=16 --runtime=2", 2000.0, 0.0, 1.0),
        ("--rw=read --rate_iops=1000 --gtod_reduce=1 --runtime=2", 2000.0, 0.0, 1.0),
        ("--rw=read --rate_iops=1000 --gtod_reduce=1 --iodepth=4 --runtime=2", 2000.0, 0.0, 1.0),
        ("--rw=randread --rate_iops=1000 --bsrange=512-64k --runtime=2", 2000.0, 0.0, 1.0),
        ("--rw=randrw --rate_iops=1000,500 --rwmixread=90 --runtime=2", 2000.0, 4000.0, 1.0),
        ("--rw=randrw --rate=4m,1m --runtime=2", 2048.0, 2048.0, 1.0),
        ("--rw=randwrite --rate=20m --bssplit=4k/60:16k/40 --runtime=2", 0.0, 40960.0, 1.0),
        // A Poisson process of 20 000 deviates by 0.7 %.
        ("--rw=read --rate_iops=10000 --rate_process=poisson --runtime=2", 20_000.0, 0.0, 3.0),
    ];
    at_once(&jobs, |&(options, reads, written_kib, percent)| {
        let line = format!("{NULL} {options}");
        let close = |got: f64, want: f64| (got - want).abs() <= want * percent / 100.0;
        // A machine that stands still as the time ends takes the last I/Os
        // away; a rate that is wrong is wrong each time.
        let mut seen = Vec::new();
        let kept = (0..3).any(|_| {
            let document = ours(&folder, &line).well().json();
            let read = count(&document, 0, "read", "total_ios");
            let written = count(&document, 0, "write", "io_kbytes");
            seen.push((read, written));
            close(read, reads) && close(written, written_kib)
        });
        assert!(kept, "{options}: {seen:?}, not {reads} reads and {written_kib} KiB written");
    });
}

#[test]
fn a_direction_without_a_rate_is_free_as_in_fio() {
    let folder = Folder::new("free-direction");
    let line = format!("{NULL} --rw=randrw --rate=,1m --runtime=1");
    let document = ours(&folder, &line).well().json();
    near(count(&document, 0, "write", "total_ios"), 256.0, 1.0, &line);
    assert!(count(&document, 0, "read", "total_ios") > 10_000.0);
}

#[test]
fn response_times_are_told_where_there_is_a_rate_and_only_there() {
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
    assert!(text.contains("read, due"), "{text}");
}

#[test]
fn pauses_come_after_so_many_ios_and_the_schedule_waits_where_asked() {
    let folder = Folder::new("pauses");
    let jobs = [
        // A run of five, then 20 ms: 50 runs at most in a second.
        ("--thinktime=20ms --thinktime_blocks=5 --runtime=1", 250.0),
        ("--thinktime=20ms --thinktime_blocks=5 --thinktime_spin=5ms --runtime=1", 250.0),
        (
            "--thinktime=20ms --thinktime_blocks=5 --iodepth=8 --thinktime_blocks_type=issue --runtime=1",
            250.0,
        ),
        // Five at 1 ms each, then 20 ms.
        (
            "--thinktime=20ms --thinktime_blocks=5 --rate_iops=1000 --rate_ignore_thinktime=1 --runtime=1",
            200.0,
        ),
        // Half of the time.
        (
            "--thinktime=100ms --thinktime_iotime=100ms --rate_iops=1000 --rate_ignore_thinktime=1 --runtime=1",
            500.0,
        ),
    ];
    at_once(&jobs, |&(options, most)| {
        let document = ours(&folder, &format!("{NULL} --rw=read {options}")).well().json();
        let ios = count(&document, 0, "read", "total_ios");
        // Pauses are longer on a busy machine, never shorter.
        assert!(ios <= most * 1.03 + 5.0 && ios >= most * 0.5, "{options}: {ios}, not {most}");
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
    near(a, 3.0 * b, 3.0, "flow=3 beside flow=1");
    assert!(c > b, "a flow of its own is not held back: {c}, {b}");
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
        assert!(job["job_runtime"].as_u64().unwrap() < 8000, "{ran:?}");
    });
    ours(&folder, &format!("{SIM} --runtime=1 --max_latency=5s")).well();
}

#[test]
fn a_floor_is_for_the_directions_that_the_job_has() {
    let folder = Folder::new("floors");
    // Judged from two seconds on, each fifth of a second.
    let jobs = [
        "--rw=write --rate=10m --rate_min=1m",
        "--rw=randread --rate_iops=500 --rate_iops_min=50",
        "--rw=randrw --rwmixread=100 --rate=10m --rate_min=1m",
        "--rw=randrw --rate_iops=500 --rate_iops_min=50",
    ];
    at_once(&jobs, |options| {
        let line = format!("{NULL} {options} --rate_cycle=200 --runtime=3");
        assert_eq!(ours(&folder, &line).well().json()["jobs"][0]["error"], 0, "{options}");
    });
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
        near(count(&document, 0, "read", "total_ios"), reads, 1.0, options);
        near(count(&document, 0, "write", "total_ios"), writes, 1.0, options);
    });
}

#[test]
fn the_depth_that_meets_a_target_is_found_and_told() {
    let folder = Folder::new("target");
    // However many are in flight, each takes 100 us: all depths will do.
    let line = "--name=a --ioengine=sim --size=1g --time_based --rw=randread --iodepth=16 \
                --latency_target=50ms --latency_window=50ms --latency_percentile=90 --runtime=20 \
                --output-format=json";
    let document = ours(&folder, line).well().json();
    let job = &document["jobs"][0];
    assert_eq!((&job["latency_depth"], &job["latency_target"]), (&16.into(), &50_000_000.into()));
    assert!(job["job_runtime"].as_u64().unwrap() < 10_000, "it ends once it is found: {job}");
}
