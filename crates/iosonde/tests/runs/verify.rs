//! Jobs that verify: the order of their I/O beside recordings of fio 3.42,
//! every type of block, damage of all kinds, and what must be refused before
//! anything is written.

use crate::support::{Ran, Who, at_once, iolog_ios, trace, words};
use iosonde_testing::{Folder, has_strace};
use serde_json::Value;
use std::fs;
use std::path::Path;

const JOB: &str = "--name=v --filename=data --size=256k --bs=4k --verify_state_save=0";

/// Recordings that are not ours, and why.
const OTHERWISE: [(&str, &str); 1] =
    [("io_size_more_rand", "verify reads do not count for io_size: fio writes half")];

#[test]
fn verify_reads_and_trims_come_where_fio_342_has_them() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../../verify/tests/recordings.json")).unwrap();
    let jobs: Vec<(&String, &Value)> = recorded.as_object().unwrap().iter().collect();
    let differing = at_once(&jobs, |(name, job)| {
        let list = job["arguments"].as_array().unwrap();
        let mut arguments = words(
            "--name=v --group_reporting --write_iolog=v.log --randrepeat=1 --verify_state_save=0",
        );
        let named = list.iter().any(|text| {
            let text = text.as_str().unwrap();
            text.starts_with("--numjobs") || text.starts_with("--nrfiles")
        });
        arguments.extend((!named).then(|| "--filename=vec".to_owned()));
        arguments.extend(list.iter().map(|text| text.as_str().unwrap().to_owned()));
        let folder = Folder::new("verify-recorded");
        let ran = Who::AsFio.run(&folder, &arguments);
        let place = |text: &str| {
            if text.contains("sync") {
                text.split(' ').take(2).collect::<Vec<_>>().join(" ")
            } else {
                text.to_owned()
            }
        };
        let mut ours: Vec<String> = match ran.code {
            Some(0) => iolog_ios(&folder, "v.log").iter().map(|io| place(io)).collect(),
            _ => Vec::new(),
        };
        let recorded = job["ios"].as_str().unwrap();
        let mut theirs: Vec<String> =
            recorded.split(' ').map(|io| place(&io.replace(',', " "))).collect();
        if name.starts_with("numjobs") {
            // Jobs of one log write to it as they come, each with a first line of its own: the
            // order is that of each one's file.
            ours.retain(|io| io != "version 3 iolog");
            let file = |io: &String| io.split(' ').next().map(str::to_owned);
            ours.sort_by_key(file);
            theirs.sort_by_key(file);
        }
        (ours != theirs).then(|| (*name).clone())
    });
    let mut differing: Vec<String> = differing.into_iter().flatten().collect();
    let mut listed: Vec<String> = OTHERWISE.iter().map(|(name, _)| (*name).to_owned()).collect();
    differing.sort();
    listed.sort();
    assert_eq!(differing, listed);
}

fn native(folder: &Folder, options: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("{JOB} --output-format=json {options}")))
}

fn counts(ran: &Ran) -> Value {
    ran.json()["iosonde"]["jobs"][0]["verify"].clone()
}

fn flip(folder: &Folder, at: usize) {
    let path = folder.join("data");
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 0xff;
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_type_is_written_read_back_and_refused_once_damaged() {
    let types = "md5 crc64 crc32 crc32c crc32c-intel crc16 crc7 sha1 sha256 sha512 sha3-224 \
                 sha3-256 sha3-384 sha3-512 xxhash meta pattern pattern_hdr";
    at_once(&words(types), |kind| {
        let folder = Folder::new("verify-type");
        let pattern =
            if kind.starts_with("pattern") { "--verify_pattern=0xdeadbeef%o" } else { "" };
        let options = format!("--verify={kind} {pattern}");
        let ran = native(&folder, &format!("--rw=randwrite {options}")).well();
        let counts = counts(&ran);
        assert_eq!(
            (&counts["written"], &counts["checked"], &counts["wrong"], &counts["unchecked"]),
            (&64.into(), &64.into(), &0.into(), &0.into()),
            "{kind}"
        );
        native(&folder, &format!("--rw=read {options}")).well();
        native(&folder, &format!("--rw=randwrite --verify_only=1 {options}")).well();
        // The header of the third block; of a pattern, its content.
        flip(&folder, 8192 + 9);
        for rw in ["--rw=read", "--rw=randwrite --verify_only=1"] {
            let ran = native(&folder, &format!("{rw} {options}"));
            assert_eq!(ran.code, Some(1), "{kind} {rw} {ran:?}");
            assert!(ran.stderr.contains("offset 8192, length 4096"), "{kind} {rw} {ran:?}");
        }
    });
}

#[test]
fn a_file_that_is_only_read_back_is_not_said_to_be_overwritten() {
    let folder = Folder::new("verify-only-says");
    let said = |more: &str| {
        let line = format!("{JOB} --rw=randwrite --verify=crc32c {more}");
        let ran = Who::Native.run(&folder, &words(&line)).well();
        ran.stdout + &ran.stderr
    };
    said("");
    assert!(said("").contains("overwrites data in this existing file"));
    assert!(!said("--verify_only=1").contains("overwrites"));
}

#[test]
fn engines_depths_backlogs_and_loops_check_each_write_once() {
    let jobs = [
        "--ioengine=libaio --iodepth=16 --direct=1 --rw=randwrite",
        "--ioengine=io_uring --iodepth=16 --rw=randwrite --verify_backlog=8",
        "--ioengine=posixaio --iodepth=4 --rw=write",
        "--ioengine=mmap --rw=write",
        "--ioengine=psync --rw=randwrite --verify_backlog=7 --verify_backlog_batch=3",
        "--ioengine=psync --rw=randwrite --loops=3",
        "--ioengine=libaio --iodepth=8 --rw=write --rate_iops=2000",
        "--ioengine=psync --rw=write --verify_interval=512 --verify_offset=128",
        "--ioengine=psync --rw=randwrite --verify_async=2",
        "--ioengine=io_uring --iodepth=8 --rw=randwrite --verify_backlog=8 --verify_async=1",
    ];
    at_once(&jobs, |job| {
        let folder = Folder::new("verify-engine");
        let ran = native(&folder, &format!("--verify=crc32c {job}")).well();
        let counts = counts(&ran);
        let writes = if job.contains("loops") { 192 } else { 64 };
        assert_eq!(
            (&counts["written"], &counts["checked"]),
            (&writes.into(), &writes.into()),
            "{job}"
        );
    });
}

#[test]
fn with_each_engine_blocks_are_durable_and_dropped_from_memory_before_they_are_read() {
    if !has_strace() {
        return;
    }
    let folder = Folder::new("verify-device");
    native(&folder, "--rw=write --verify=crc32c").well();
    let jobs = [
        "--rw=write --ioengine=psync",
        "--rw=write --ioengine=sync",
        "--rw=write --ioengine=pvsync2",
        "--rw=write --ioengine=libaio",
        "--rw=write --ioengine=posixaio",
        "--rw=write --ioengine=mmap",
        "--rw=write --ioengine=io_uring",
        "--rw=write --ioengine=psync --verify_only=1",
        "--rw=read --ioengine=psync",
        "--rw=read --ioengine=mmap",
    ];
    for job in jobs {
        let line = words(&format!("{JOB} --verify=crc32c --output=/dev/null {job}"));
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        let program = Path::new(env!("CARGO_BIN_EXE_iosonde"));
        let (calls, code) = trace::calls(program, folder.path(), &arguments);
        assert_eq!(code, Some(0), "{job}");
        // Engines that move data by no such calls show none.
        let first_read = calls
            .iter()
            .position(|call| ["read data", "preadv2 data"].iter().any(|act| call.starts_with(act)));
        let before = &calls[..first_read.unwrap_or(calls.len())];
        // The last one of a run, which the report needs, comes after the reads.
        let sync = before.iter().position(|call| call == "fdatasync data");
        let sync = sync.unwrap_or_else(|| panic!("{job}: no sync: {calls:?}"));
        let dropped = |call: &String| call.starts_with("fadvise data DONTNEED");
        assert!(before[sync..].iter().any(dropped), "{job}: {calls:?}");
        assert!(!before[sync..].iter().any(|call| call.starts_with("write data")), "{job}");
    }
}

#[test]
fn one_wrong_interval_among_good_ones_fails_the_job() {
    let folder = Folder::new("verify-interval");
    let options = "--verify=crc32c --verify_interval=1024";
    native(&folder, &format!("--rw=write {options}")).well();
    // The first of four intervals of the third block: fio drops it.
    flip(&folder, 8192 + 500);
    let ran = native(&folder, &format!("--rw=read {options}"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("crc32c: verify failed at file"), "{ran:?}");
}

#[test]
fn wrong_blocks_that_are_tolerated_still_fail_the_job_in_our_own_name() {
    let folder = Folder::new("verify-tolerated");
    native(&folder, "--rw=write --verify=crc32c").well();
    flip(&folder, 9000);
    flip(&folder, 90_000);
    let ran = native(&folder, "--rw=read --verify=crc32c --continue_on_error=verify");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(
        (counts(&ran)["checked"].as_u64(), counts(&ran)["wrong"].as_u64()),
        (Some(64), Some(2))
    );
    let options = format!("{JOB} --rw=read --verify=crc32c --continue_on_error=verify");
    let as_fio = Who::AsFio.run(&folder, &words(&options));
    assert_eq!(as_fio.code, Some(0), "as fio has it: {as_fio:?}");
    assert_eq!(as_fio.stderr.matches("verify failed at file").count(), 2, "{as_fio:?}");
}

#[test]
fn threads_that_check_drop_no_check_and_count_each_failure() {
    let folder = Folder::new("verify-async");
    native(&folder, "--rw=write --verify=crc32c").well();
    let options = "--verify=crc32c --verify_async=2 --ioengine=libaio --iodepth=8";
    for rw in ["--rw=read", "--rw=write --verify_only=1"] {
        let ran = native(&folder, &format!("{rw} {options}")).well();
        assert_eq!(
            (counts(&ran)["checked"].as_u64(), counts(&ran)["wrong"].as_u64()),
            (Some(64), Some(0))
        );
    }
    // The first, one among them, and the last: its check is the last to be handed over.
    for at in [500, 90_000, 262_000] {
        flip(&folder, at);
    }
    for rw in ["--rw=read", "--rw=write --verify_only=1"] {
        let ran = native(&folder, &format!("{rw} {options} --continue_on_error=verify"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(
            (counts(&ran)["checked"].as_u64(), counts(&ran)["wrong"].as_u64()),
            (Some(64), Some(3))
        );
        assert_eq!(ran.stderr.matches("crc32c: verify failed at").count(), 3, "{ran:?}");
    }
    flip(&folder, 500);
    flip(&folder, 90_000);
    let ran = native(&folder, &format!("--rw=read {options}"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.json()["jobs"][0]["error"].as_i64(), Some(84), "{ran:?}");
    let as_fio = Who::AsFio.run(&folder, &words(&format!("{JOB} --rw=read {options}")));
    assert!(as_fio.stderr.contains("flags=4)"), "{as_fio:?}");
}

#[test]
fn verify_fatal_ends_the_job_at_the_first_wrong_block_whatever_is_tolerated() {
    let folder = Folder::new("verify-fatal");
    native(&folder, "--rw=write --verify=crc32c").well();
    flip(&folder, 9000);
    let options = "--rw=read --verify=crc32c --continue_on_error=verify --verify_fatal=1";
    let ran = native(&folder, options);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(counts(&ran)["checked"].as_u64(), Some(3), "{ran:?}");
}

#[test]
fn places_that_are_written_twice_are_checked_for_what_was_written_last() {
    let jobs = [
        "--rw=randwrite --norandommap=1",
        "--rw=randwrite --random_distribution=zipf:1.2",
        "--rw=randwrite --percentage_random=50",
        "--rw=write --zonemode=strided --zonesize=32k --zonerange=32k --zoneskip=32k",
        "--rw=write --io_size=400k",
    ];
    at_once(&jobs, |job| {
        let folder = Folder::new("verify-twice");
        let ran = native(&folder, &format!("--verify=crc32c {job}")).well();
        let counts = counts(&ran);
        let number = |key: &str| counts[key].as_u64().unwrap();
        assert_eq!((number("wrong"), number("unchecked")), (0, 0), "{job}");
        assert_eq!(number("written"), number("checked") + number("replaced"), "{job}");
    });
}

#[test]
fn what_cannot_be_checked_is_refused_and_nothing_is_touched() {
    let folder = Folder::new("verify-refused");
    native(&folder, "--rw=write --verify=crc32c").well();
    let before = fs::read(folder.join("data")).unwrap();
    for (options, words) in [
        ("--rw=write --size=512k --verify=crc32c --verify_only=1", "524288 are to be checked"),
        ("--rw=read --size=512k --verify=crc32c", "to be checked"),
        ("--rw=write --verify=pattern", "set verify_pattern"),
        ("--rw=write --verify=sha512 --verify_offset=4030", "leaves the interval"),
        ("--rw=write --verify=sha512 --verify_offset=100", "overlaps"),
        ("--rw=write --verify=sha512 --verify_interval=128", "no room"),
        ("--rw=write --verify=crc32c --verify_interval=64", "4k or 1m, 96 or more"),
        (
            "--rw=write --verify=crc32c --verify_async=2 --verify_async_cpus=4095",
            "verify_async_cpus",
        ),
    ] {
        let ran = native(&folder, options);
        assert_eq!(ran.code, Some(1), "{options} {ran:?}");
        assert!(ran.stderr.contains(words), "{options} {ran:?}");
        assert_eq!(fs::read(folder.join("data")).unwrap(), before, "{options}");
    }
}

#[test]
fn writes_that_cannot_be_remembered_are_announced_before_the_run() {
    let folder = Folder::new("verify-memory");
    let job = "--name=v --ioengine=null --bs=4k --verify=crc32c --rw=randwrite --norandommap=1 \
               --verify_state_save=0";
    let run = |more: &str| Who::Native.run(&folder, &words(&format!("{job} {more}")));
    // 40 bytes for each of 2^38 writes: 10 TiB.
    let ran = run("--size=1p");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for words in ["275G writes are remembered", "takes 10 TiB of memory", "use verify_backlog=N"] {
        assert!(ran.stderr.contains(words), "{words} {ran:?}");
    }
    for less in [
        "--size=1g --number_ios=100",
        "--size=1p --number_ios=100",
        "--size=1p --number_ios=100 --verify_backlog=10",
    ] {
        run(less).well();
    }
    let ran = run("--size=1p --runtime=1ms");
    assert!(ran.stdout.contains("takes 10 TiB of memory"), "{ran:?}");
    assert!(ran.stdout.contains("v: randwrite 4k"), "it runs: {ran:?}");
}

#[test]
fn writes_that_were_not_checked_are_reported() {
    let folder = Folder::new("verify-unchecked");
    let ran = native(&folder, "--rw=write --verify=crc32c --time_based --runtime=100ms");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let text = format!("{}{}", ran.stderr, ran.stdout);
    assert!(text.contains("writes was checked"), "{ran:?}");
    let reason = counts(&ran)["unchecked_reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.starts_with("the runtime was over"), "{reason:?} {ran:?}");
    let all = native(&folder, "--rw=write --verify=crc32c").well();
    assert!(counts(&all).get("unchecked_reason").is_none(), "{all:?}");
}

/// What was printed, without line breaks.
fn on_one_line(ran: &Ran) -> String {
    let text = format!("{} {}", ran.stdout, ran.stderr);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn called_as_fio_a_job_whose_writes_were_not_checked_says_so() {
    let folder = Folder::new("verify-unchecked-as-fio");
    let job = format!("{JOB} --rw=write --verify=crc32c --time_based --runtime=100ms");
    let ran = Who::AsFio.run(&folder, &words(&format!("{job} --output-format=normal"))).well();
    assert!(ran.stderr.contains("fio: warning: verify of job v: checked 0 of "), "{ran:?}");
    // Beside a document it would break parsers.
    let ran = Who::AsFio.run(&folder, &words(&format!("{job} --output-format=json"))).well();
    assert_eq!(ran.stderr, "");
}

/// fio passes both without a word: nothing is wrong, and nothing was looked at.
#[test]
fn a_job_that_compares_nothing_says_so_and_why() {
    for (options, who, why) in [
        ("--verify=null", Who::Native, "verify=null compares nothing"),
        ("--verify=null", Who::AsFio, "verify=null compares nothing"),
        ("--verify=crc32c --ioengine=null", Who::Native, "ioengine=null moves no data"),
        ("--verify=crc32c --ioengine=null", Who::AsFio, "ioengine=null moves no data"),
    ] {
        let folder = Folder::new("verify-nothing");
        let job = format!("{JOB} --rw=write {options}");
        let ran = who.run(&folder, &words(&job)).well();
        let said = format!("verify of job v: checked 0 of 64 writes: {why}");
        assert!(on_one_line(&ran).contains(&said), "{options} {ran:?}");
        let reading = who.run(&folder, &words(&format!("{job} --rw=read --size=4k"))).well();
        let said = format!("verify of job v: none of its reads was checked: {why}");
        assert!(on_one_line(&reading).contains(&said), "{options} {reading:?}");
        let asked = who.run(&folder, &words(&format!("{job} --do_verify=0"))).well();
        assert!(!on_one_line(&asked).contains("verify of job"), "{options} {asked:?}");
    }
    let folder = Folder::new("verify-nothing-counts");
    for options in ["--rw=write --verify=null", "--rw=write --verify=md5 --ioengine=null"] {
        let counts = counts(&native(&folder, options).well());
        assert_eq!((&counts["checked"], &counts["unchecked"]), (&0.into(), &64.into()), "{counts}");
        assert!(counts["unchecked_reason"].is_string(), "{counts}");
    }
}

#[test]
fn a_dump_holds_what_was_read_and_what_was_expected() {
    let folder = Folder::new("verify-dump");
    native(&folder, "--rw=write --verify=crc32c").well();
    let good = fs::read(folder.join("data")).unwrap();
    flip(&folder, 9000);
    native(&folder, "--rw=read --verify=crc32c --verify_dump=1");
    let read = fs::read(folder.join("data.8192.received")).unwrap();
    let expected = fs::read(folder.join("data.8192.expected")).unwrap();
    assert_eq!(read, fs::read(folder.join("data")).unwrap()[8192..12288]);
    assert_eq!(expected[48..], good[8192 + 48..12288]);
}

#[test]
fn a_dump_of_a_pattern_is_the_pattern() {
    let folder = Folder::new("verify-dump-pattern");
    let pattern = "--verify=pattern --verify_pattern=0xdeadbeef";
    native(&folder, &format!("--rw=write {pattern}")).well();
    let good = fs::read(folder.join("data")).unwrap();
    flip(&folder, 9000);
    let ran = native(&folder, &format!("--rw=read {pattern} --verify_dump=1"));
    assert!(ran.stderr.contains("       expected data dumped as data.8192.expected"), "{ran:?}");
    assert_eq!(fs::read(folder.join("data.8192.expected")).unwrap(), good[8192..12288]);
}

#[test]
fn the_state_of_a_job_that_wrote_is_saved() {
    let folder = Folder::new("verify-state");
    let job = "--name=v --filename=data --size=64k --bs=4k --rw=write --verify=crc32c";
    Who::AsFio.run(&folder, &words(job)).well();
    let bytes = fs::read(folder.join("local-v-0-verify.state")).unwrap();
    let state = iosonde_verify::StateFile::decode(&bytes, 1).unwrap();
    assert_eq!((state.writes, state.job, state.name.as_str()), (16, 0, "v"));
    assert_eq!(state.in_flight, [None]);
}
