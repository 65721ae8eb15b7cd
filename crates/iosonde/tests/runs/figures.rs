//! Figures of jobs that are over before they count, that begin late, that go over
//! a file again and again, and that do nothing.

use crate::support::{Ran, Who, at_once, words};
use iosonde_testing::{Folder, skip};
use serde_json::Value;
use std::process::Command;

fn run(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("--name=a --output-format=json {line}")))
}

/// I/Os and bytes of a direction of the first job.
fn moved(document: &Value, way: &str) -> [u64; 2] {
    ["total_ios", "io_bytes"].map(|key| document["jobs"][0][way][key].as_u64().unwrap())
}

fn diagnostics(document: &Value) -> Vec<&str> {
    let list = document["iosonde"]["diagnostics"].as_array().unwrap();
    list.iter().map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn a_job_that_ends_within_its_ramp_reports_what_it_did_there() {
    let folder = Folder::new("short-ramp");
    folder.write("f", vec![7; 1 << 20]);
    let ramps = [
        ("--ramp_time=100", "ended within its ramp_time of 100000 ms"),
        ("--ramp_size=1g", "ended within its ramp_size of 1073741824 bytes"),
    ];
    let jobs = [
        "--rw=read --ioengine=psync",
        "--rw=randread --ioengine=libaio --iodepth=4",
        "--rw=randread --ioengine=psync --rate_iops=100000",
    ];
    for job in jobs {
        for (ramp, note) in ramps {
            let line = format!("{job} {ramp} --filename=f --size=1m --bs=4k");
            let ran = run(&folder, &line).well();
            let document = ran.json();
            assert_eq!(moved(&document, "read"), [256, 1 << 20], "{ran:?}");
            let read = &document["jobs"][0]["read"];
            let timed = read["clat_ns"]["N"].as_u64();
            assert_eq!(timed, Some(256), "latencies are of all of them: {ran:?}");
            assert!(read["iops"].as_f64() > Some(0.0), "{ran:?}");
            assert!(diagnostics(&document).iter().any(|one| one.contains(note)), "{ran:?}");
        }
    }
}

#[test]
fn a_job_without_io_gives_its_reason() {
    let folder = Folder::new("no-io");
    let jobs = [
        (
            "--rw=read --size=64k --nrfiles=32",
            "in none of 32 files; the first: a.0.0 has 2048 bytes to use, and one I/O takes 4096",
        ),
        (
            "--rw=randread --size=6k --blockalign=8k",
            "a.0.0 has no place for an I/O of 4096 at multiples of 8192",
        ),
        (
            "--rw=randread --size=64k --random_distribution=zoned_abs:100/128k",
            "the zones of random_distribution=zoned_abs end at 131072, past the 65536 bytes of a.0.0",
        ),
        (
            "--rw=randread --size=64k --zonemode=strided --zonesize=2k --zonerange=2k",
            "a.0.0 has no place for an I/O of 4096 at multiples of 4096",
        ),
    ];
    for (job, reason) in jobs {
        let ran = run(&folder, &format!("--ioengine=null {job}")).well();
        let document = ran.json();
        assert_eq!(moved(&document, "read"), [0, 0], "{ran:?}");
        let said = format!("job a did no I/O: {reason}");
        assert!(diagnostics(&document).contains(&&*said), "{ran:?}");
        assert_eq!(ran.stderr.matches(&said).count(), 1, "{ran:?}");
        // In each of our formats, and as fio.
        for who in [Who::Native, Who::AsFio] {
            let ran = who.run(&folder, &words(&format!("--name=a --ioengine=null {job}"))).well();
            let all = format!("{}{}", ran.stdout, ran.stderr);
            // The report folds long lines.
            let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(all.contains(&said), "{ran:?}");
        }
    }
    let busy = run(&folder, "--ioengine=null --rw=read --size=64k").well();
    assert!(!busy.stderr.contains("did no I/O"), "{busy:?}");
}

#[test]
fn reads_of_nothing_count_with_what_came_where_there_is_a_queue() {
    let folder = Folder::new("nothing-read");
    for job in ["--ioengine=libaio --iodepth=4", "--ioengine=io_uring --iodepth=4"] {
        let line = format!("{job} --filename=/dev/null --rw=read --size=64k --bs=4k");
        let ran = run(&folder, &line).well();
        assert_eq!(moved(&ran.json(), "read"), [16, 0], "{ran:?}");
    }
    // An engine that completes at once fails, as in fio.
    let ran = run(&folder, "--ioengine=psync --filename=/dev/null --rw=read --size=64k");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("end of file"), "{ran:?}");
}

/// Between two passes over a file nothing waits for the queue to be empty: only
/// the first I/Os of all find it less than full.
#[test]
fn a_job_by_time_keeps_its_queue_full_from_one_pass_to_the_next() {
    let folder = Folder::new("full-queue");
    let jobs = ["--rw=read", "--rw=randread", "--rw=randread --norandommap", "--rw=randwrite"];
    at_once(&jobs, |job| {
        let line = format!(
            "--ioengine=null --iodepth=32 --size=256k --bs=4k --time_based --runtime=300ms {job}"
        );
        let document = run(&folder, &line).well().json();
        let way = if job.contains("write") { "write" } else { "read" };
        let [ios, _] = moved(&document, way);
        let share = document["jobs"][0]["iodepth_level"]["32"].as_f64().unwrap();
        // A pass is 64 I/Os; half of them would be issued on the way to 32.
        let least = 100.0 * (1.0 - 64.0 / ios.max(64) as f64);
        assert!(share >= least - 0.01, "{job}: {share} % of {ios} I/Os");
    });
}

#[test]
fn a_delay_counts_from_the_start_of_the_run_also_after_a_stonewall() {
    let folder = Folder::new("delays");
    let job_file = folder.write(
        "delays.fio",
        "[global]\nioengine=null\nsize=4k\n\
         [first]\nstartdelay=100ms\ntime_based\nruntime=300ms\n\
         [over]\nstonewall\nstartdelay=200ms\n",
    );
    let line = format!("--output-format=json {job_file}");
    let document = Who::Native.run(&folder, &words(&line)).well().json();
    let is_delayed = |job: usize| {
        let phases = document["iosonde"]["jobs"][job]["phases"].as_array().unwrap();
        phases.iter().any(|phase| phase["name"] == "delay")
    };
    // The delay of the second is over when its turn comes, 400 ms after the start
    // or, on a busy machine, later.
    assert_eq!([is_delayed(0), is_delayed(1)], [true, false], "{document}");
}

/// The source of a library that refuses fsync as a request of libaio, as kernels
/// before 4.18 do, and says how often.
const REFUSES_SYNCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/refuses_syncs.c");

#[test]
fn a_kernel_that_takes_no_sync_as_a_request_is_asked_by_a_call() {
    let folder = Folder::new("refused-syncs");
    let library = folder.join("refuses.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", library.to_str().unwrap(), REFUSES_SYNCS, "-ldl"])
        .status();
    let Ok(compiled) = compiled else {
        return skip::test(format_args!("there is no cc to compile the library with"));
    };
    assert!(compiled.success());
    for (sync, syncs) in [("fsync=8", 7), ("fdatasync=1", 64)] {
        let line = format!(
            "--name=a --output-format=json --ioengine=libaio --iodepth=8 --rw=write --size=256k \
             --bs=4k --{sync}"
        );
        let mut command = Who::Native.command(&folder);
        command.args(words(&line)).env("LD_PRELOAD", &library);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        // Once it is known, it is not tried again; those in flight by then are.
        let refused = errors.matches("refused").count();
        assert!((1..=8).contains(&refused), "{sync}: {errors}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(moved(&document, "write"), [64, 256 << 10]);
        assert_eq!(document["jobs"][0]["sync"]["total_ios"], syncs, "{sync}");
    }
    // A file that cannot be synced at all fails the job, in words.
    let line = "--ioengine=libaio --filename=/dev/null --rw=write --size=64k --fsync=1";
    let ran = run(&folder, line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("fsync") && ran.stderr.contains("Invalid argument"), "{ran:?}");
}

#[test]
fn a_run_of_a_second_has_two_samples_the_last_at_its_end() {
    let folder = Folder::new("samples");
    let job = "--ioengine=null --rw=randread --size=1g --time_based --runtime=1";
    // A thread that others kept from running for half a second has one sample less.
    let of_two_samples = (0..10).map(|_| run(&folder, job).well().json()).find(|document| {
        let read = &document["jobs"][0]["read"];
        ["bw_samples", "iops_samples"].iter().all(|key| read[*key] == 2)
    });
    let document = of_two_samples.expect("one run of ten in which the thread ran");
    let read = &document["jobs"][0]["read"];
    for key in ["bw_dev", "iops_stddev"] {
        assert!(read[key].as_f64().unwrap() > 0.0, "{key}: {read}");
    }
}
