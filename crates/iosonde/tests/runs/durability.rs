//! Which data a job makes durable, when, and how the report counts it.

use crate::support::{Ran, Who, link_named_fio, trace, words};
use iosonde_testing::{Folder, has_strace};

/// Engines that write through the page cache or beside it, and sync by
/// system calls or by requests of their own.
const ENGINES: [&str; 7] = ["sync", "psync", "vsync", "pvsync2", "mmap", "libaio", "io_uring"];

fn run(folder: &Folder, line: &str) -> Ran {
    Who::AsFio.run(folder, &words(&format!("--name=j --filename=f {line}"))).well()
}

/// Calls on `f` after the files were laid out: from its last opening on.
fn calls(line: &str) -> Option<Vec<String>> {
    if !has_strace() {
        return None;
    }
    let folder = Folder::new("durable");
    let line = words(&format!("--name=j --filename=f --zero_buffers {line}"));
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let (calls, code) = trace::calls(&link_named_fio(), folder.path(), &line);
    assert_eq!(code, Some(0), "{line:?}");
    let opened = calls.iter().rposition(|call| call.starts_with("open f")).unwrap();
    Some(calls[opened..].to_vec())
}

fn is_write(call: &str) -> bool {
    call.starts_with("write ")
}

#[test]
fn nothing_is_unsynced_after_a_job_that_syncs_each_write() {
    for line in ["--fsync=1", "--fdatasync=1", "--sync_file_range=write:1"] {
        let line = format!("--rw=randwrite --bs=4k --size=32k {line}");
        let Some(calls) = calls(&line) else { return };
        let ios: Vec<bool> = calls[1..]
            .iter()
            .filter(|call| !call.starts_with("fadvise"))
            .map(|c| is_write(c))
            .collect();
        assert_eq!(ios, [true, false].repeat(8), "{line}: {calls:?}");
    }
}

#[test]
fn syncs_in_a_mix_follow_writes_only() {
    let Some(calls) = calls("--rw=rw --bs=4k --size=64k --fsync=1") else { return };
    for (index, call) in calls.iter().enumerate() {
        if call.starts_with("fsync") {
            assert!(is_write(&calls[index - 1]), "{calls:?}");
        }
    }
    assert!(calls.iter().any(|call| call.starts_with("fsync")), "{calls:?}");
}

#[test]
fn every_engine_syncs_as_often_as_asked_and_the_report_counts_it() {
    for engine in ENGINES {
        for (sync, expected) in [("fsync=1", 8), ("fsync=3", 2), ("fdatasync=4", 1)] {
            let folder = Folder::new("syncs");
            let line = format!("--ioengine={engine} --rw=write --bs=4k --size=32k --{sync}");
            let reported = run(&folder, &format!("{line} --output-format=json")).json();
            let job = &reported["jobs"][0];
            assert_eq!(job["sync"]["total_ios"], expected, "{engine} {sync}");
            assert_eq!(job["sync"]["lat_ns"]["N"], expected, "{engine} {sync}");
            assert!(job["sync"]["lat_ns"]["mean"].as_f64().unwrap() > 0.0, "{engine} {sync}");
            assert_eq!(job["write"]["total_ios"], 8, "{engine} {sync}");
        }
    }
}

#[test]
fn the_text_has_a_block_of_sync_latencies_where_there_were_syncs() {
    let folder = Folder::new("text");
    let reported = run(&folder, "--rw=write --bs=4k --size=32k --fsync=2").stdout;
    assert!(reported.contains("  fsync/fdatasync/sync_file_range"), "{reported}");
    assert!(reported.contains("    sync ("), "{reported}");
    assert!(reported.contains("issued rwts: total=0,8,0,3 "), "{reported}");
    let reported = run(&folder, "--rw=write --bs=4k --size=32k").stdout;
    assert!(!reported.contains("fsync/fdatasync"), "{reported}");
    assert!(reported.contains("issued rwts: total=0,8,0,0 "), "{reported}");
}

#[test]
fn syncs_at_the_end_come_last_and_are_not_counted() {
    for (option, call) in [
        ("--end_fsync=1", "fsync f"),
        ("--end_syncfs=1", "syncfs f"),
        ("--fsync_on_close=1", "fsync f"),
    ] {
        let line = format!("--rw=write --bs=4k --size=16k {option}");
        let Some(calls) = calls(&line) else { return };
        assert_eq!(calls.last().map(String::as_str), Some(call), "{calls:?}");
        let folder = Folder::new("end");
        let reported = run(&folder, &format!("{line} --output-format=json")).json();
        assert_eq!(reported["jobs"][0]["sync"]["total_ios"], 0);
    }
}

/// No sync but the very last thing of a job makes `end_fsync` needless, and that
/// only where there is nothing else to make durable.
#[test]
fn end_fsync_follows_the_last_write_whatever_was_synced_before() {
    let jobs = [
        // Makes nothing durable.
        "--sync_file_range=write:1 --size=32k",
        "--sync_file_range=write:3 --size=32k",
        "--fsync=3 --size=32k",
        // Ends anywhere, with the next I/Os and syncs decided.
        "--fsync=1 --size=1m --time_based --runtime=100ms",
        "--fsync=2 --size=1m --time_based --runtime=100ms",
        "--fsync=2 --size=1m --filename=g --time_based --runtime=100ms",
        "--fsync=2 --size=1m --filename=g --ioengine=libaio --iodepth=4 \
         --time_based --runtime=100ms",
    ];
    for job in jobs {
        let line = format!("--rw=write --bs=4k --end_fsync=1 {job}");
        let Some(calls) = calls(&line) else { return };
        for file in ["f", "g"] {
            let last = |what: &str| {
                let begins = format!("{what} {file}");
                let place = calls
                    .iter()
                    .rposition(|call| call == &begins || call.starts_with(&format!("{begins} ")));
                place.map(|place| place + 1).unwrap_or(0)
            };
            assert!(last("fsync") >= last("write"), "{line}: {file}: {calls:?}");
        }
        assert!(calls.iter().any(|call| call == "fsync f"), "{line}: {calls:?}");
    }
}

#[test]
fn a_job_that_only_reads_syncs_nothing() {
    let line = "--rw=randread --bs=4k --size=16k --fsync=1 --end_fsync=1 --end_syncfs=1";
    let Some(calls) = calls(line) else { return };
    assert!(!calls.iter().any(|call| call.contains("sync")), "{calls:?}");
}

#[test]
fn the_end_of_each_pass_is_made_durable() {
    let Some(calls) = calls("--rw=write --bs=4k --size=8k --loops=3 --end_fsync=1") else { return };
    // `calls` begins at the last opening: the third pass.
    assert_eq!(calls.last().map(String::as_str), Some("fsync f"), "{calls:?}");
    assert_eq!(calls.iter().filter(|call| is_write(call)).count(), 2, "{calls:?}");
}

#[test]
fn engines_open_with_the_flag_that_sync_names() {
    for engine in ["psync", "libaio", "io_uring"] {
        for (word, flag) in [("1", "SYNC"), ("sync", "SYNC"), ("dsync", "DSYNC")] {
            let line = format!(
                "--ioengine={engine} --rw=write --bs=4k --size=8k --sync={word} --direct=1"
            );
            let Some(calls) = calls(&line) else { return };
            let flags: Vec<&str> = calls[0].rsplit(' ').next().unwrap().split('|').collect();
            assert!(flags.contains(&flag), "{engine} {word}: {}", calls[0]);
            assert!(flags.contains(&"DIRECT"), "{engine} {word}: {}", calls[0]);
        }
        let Some(calls) =
            calls(&format!("--ioengine={engine} --rw=write --bs=4k --size=8k --sync=0"))
        else {
            return;
        };
        assert!(!calls[0].contains("SYNC"), "{}", calls[0]);
    }
}
