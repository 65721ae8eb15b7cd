//! State files of jobs that verify, saved however a job ends and loaded by one
//! that checks exactly what was written; `verify_policy`,
//! `experimental_verify`.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, at_once, words};
use iosonde_testing::{Folder, is_root, or_skip, run};
use iosonde_verify::StateFile;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

const JOB: &str = "--name=v --filename=data --size=256k --bs=4k --verify=crc32c \
                   --output-format=json";
const STATE: &str = "local-v-0-verify.state";

fn native(folder: &Folder, options: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("{JOB} {options}")))
}

fn count(ran: &Ran, key: &str) -> u64 {
    ran.json()["iosonde"]["jobs"][0]["verify"][key].as_u64().unwrap_or_else(|| panic!("{ran:?}"))
}

/// Whether it says so: notes are part of the JSON.
fn says(ran: &Ran, words: &str) -> bool {
    ran.stderr.contains(words) || ran.stdout.contains(words)
}

fn saved(folder: &Folder) -> StateFile {
    StateFile::decode(&fs::read(folder.join(STATE)).unwrap(), 1).unwrap()
}

/// Check what the state file says was written, and nothing else.
fn load(folder: &Folder, options: &str) -> Ran {
    native(folder, &format!("--verify_only=1 --verify_state_load=1 {options}"))
}

#[test]
fn exactly_what_was_written_is_checked() {
    for (options, writes) in [
        ("--rw=randwrite --number_ios=40 --do_verify=0", 40),
        ("--rw=write --io_size=100k", 25),
        ("--rw=randrw --number_ios=50 --do_verify=0", 0),
        ("--rw=randwrite --random_generator=tausworthe64 --number_ios=7", 7),
    ] {
        let folder = Folder::new("state-trip");
        let ran = native(&folder, options).well();
        let issued = ran.json()["jobs"][0]["write"]["total_ios"].as_u64().unwrap();
        let state = saved(&folder);
        assert!(writes == 0 || writes == issued, "{options} {issued}");
        assert_eq!((state.writes, state.failed.len()), (issued, 0), "{options}");
        let before = fs::read(folder.join("data")).unwrap();
        // As many I/Os as fit: the state file ends them.
        let same = options.split_whitespace().filter(|word| {
            !word.starts_with("--number_ios")
                && !word.starts_with("--io_size")
                && *word != "--do_verify=0"
        });
        let same: Vec<&str> = same.collect();
        let ran = load(&folder, &same.join(" ")).well();
        assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (issued, 0), "{options}");
        let words = format!("Stop verify because seq {issued} >= {issued}");
        assert!(says(&ran, &words), "{options} {ran:?}");
        assert_eq!(fs::read(folder.join("data")).unwrap(), before, "{options}");
        // Without it, what was never written is wrong.
        let ran = native(&folder, &format!("--verify_only=1 {}", same.join(" ")));
        assert_eq!(ran.code, Some(1), "{options} {ran:?}");
    }
}

#[test]
fn a_job_that_reads_checks_as_many_reads_as_writes_were_issued() {
    let folder = Folder::new("state-read");
    native(&folder, "--rw=write --number_ios=40 --do_verify=0").well();
    let ran = native(&folder, "--rw=read --verify_state_load=1").well();
    assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (40, 0));
    assert!(says(&ran, "Stop verify because seq 40 >= 40"), "{ran:?}");
}

#[test]
fn a_job_that_is_stopped_saves_how_far_it_came() {
    for (signal, engine) in
        [(Signal::INT, "--ioengine=psync"), (Signal::TERM, "--ioengine=libaio --iodepth=8")]
    {
        let folder = Folder::new("state-signal");
        let line = format!("{JOB} --rw=randwrite --size=4m --rate_iops=300 {engine}");
        let mut program = Running::start(Who::Native, &folder, &line);
        let path = folder.join("data");
        wait_until("blocks are written", || {
            fs::read(&path).is_ok_and(|bytes| bytes.iter().any(|byte| *byte != 0))
        });
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        let issued = ran.json()["jobs"][0]["write"]["total_ios"].as_u64().unwrap();
        let state = StateFile::decode(&fs::read(folder.join(STATE)).unwrap(), 8).unwrap();
        assert!(state.in_flight.iter().all(Option::is_none), "all came back: {state:?}");
        assert_eq!(state.writes, issued, "{ran:?}");
        assert!(ran.stderr.contains("the job was stopped"), "{ran:?}");
        let ran = load(&folder, &format!("--rw=randwrite --size=4m {engine}")).well();
        assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (issued, 0));
    }
}

#[test]
fn a_signal_in_any_phase_leaves_a_state_and_an_account_that_adds_up() {
    // Phases of writing and of reading back follow each other quickly: the
    // signals find the job in either.
    let jobs: Vec<u32> = (0..6).collect();
    at_once(&jobs, |_| {
        let folder = Folder::new("state-phases");
        let line = format!("{JOB} --rw=randwrite --loops=1000000 --verify_async=1");
        let mut program = Running::start(Who::Native, &folder, &line);
        wait_until("it writes", || folder.join("data").metadata().is_ok_and(|f| f.len() > 0));
        program.wait_for_work("v");
        program.signal(Signal::INT);
        let ran = program.end_within(PATIENCE);
        let verify = &ran.json()["iosonde"]["jobs"][0]["verify"];
        let of = |key: &str| verify[key].as_u64().unwrap();
        assert_eq!(of("wrong"), 0, "{ran:?}");
        assert_eq!(of("written"), of("checked") + of("unchecked"), "{ran:?}");
        assert_eq!(saved(&folder).writes, of("written"), "{ran:?}");
    });
}

#[test]
fn a_runtime_that_ends_the_writes_saves_the_state_and_fails() {
    let folder = Folder::new("state-runtime");
    let ran = native(&folder, "--rw=write --rate_iops=100 --runtime=200ms");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let issued = ran.json()["jobs"][0]["write"]["total_ios"].as_u64().unwrap();
    assert!(ran.stderr.contains(&format!("none of {issued} writes was checked")), "{ran:?}");
    assert_eq!(saved(&folder).writes, issued);
    let ran = load(&folder, "--rw=write").well();
    assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (issued, 0));
}

#[test]
fn a_write_that_failed_is_in_the_state_and_is_not_checked() {
    let folder = Folder::new("state-error");
    let place = folder.join("small");
    fs::create_dir(&place).unwrap();
    let place = place.to_str().unwrap().to_owned();
    if !is_root("mount a file system that is full soon") {
        return;
    }
    let mounted = run("mount", &["-t", "tmpfs", "-o", "size=128k", "none", &place]);
    if or_skip(mounted).is_none() {
        return;
    }
    let job = "--name=v --filename=small/data --size=256k --bs=4k --verify=crc32c --rw=write \
               --output-format=json --fallocate=truncate";
    let run_job = |more: &str| Who::Native.run(&folder, &words(&format!("{job} {more}")));
    let ran = run_job("");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let state = saved(&folder);
    let ran = run_job("--verify_only=1 --verify_state_load=1");
    let unmounted = run("umount", &[&place]);
    assert_eq!((state.writes, state.failed.as_slice()), (33, &[32][..]));
    assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (32, 0), "{ran:?}");
    unmounted.unwrap();
}

#[test]
fn a_state_that_fio_wrote_is_loaded() {
    let folder = Folder::new("state-fio");
    let job = "--name=trig --filename=data --size=64k --bs=4k --verify=crc32c --rw=write \
               --output-format=json";
    Who::Native.run(&folder, &words(&format!("{job} --verify_state_save=0"))).well();
    let state = include_bytes!("../fixtures/verify-inflight.state");
    fs::write(folder.join("local-trig-0-verify.state"), state).unwrap();
    let load = format!("{job} --verify_only=1 --verify_state_load=1 --verify_state_save=0");
    for more in ["--ioengine=libaio --iodepth=8", "--ioengine=psync"] {
        let ran = Who::Native.run(&folder, &words(&format!("{load} {more}"))).well();
        assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (16, 0));
        assert!(says(&ran, "checked 16 of 364898 writes of the state file"), "{ran:?}");
    }
}

#[test]
fn a_write_in_flight_ends_the_check_and_failed_ones_are_left_out() {
    let folder = Folder::new("state-in-flight");
    native(&folder, "--rw=write --do_verify=0").well();
    let state = StateFile {
        writes: 64,
        name: "v".to_owned(),
        in_flight: vec![Some(50)],
        failed: vec![3, 9],
        ..StateFile::default()
    };
    // What failed holds anything.
    let mut bytes = fs::read(folder.join("data")).unwrap();
    bytes[3 * 4096 + 100] ^= 1;
    fs::write(folder.join("data"), bytes).unwrap();
    for rw in [
        "--rw=write --verify_only=1",
        "--rw=read",
        "--rw=write --verify_only=1 --experimental_verify=1",
    ] {
        fs::write(folder.join(STATE), state.encode()).unwrap();
        let ran = native(&folder, &format!("{rw} --verify_state_load=1")).well();
        assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (48, 0), "{rw}");
        let words = "Stop verify because seq 50 was an inflight write";
        assert!(says(&ran, words), "{rw} {ran:?}");
    }
}

#[test]
fn a_state_that_cannot_be_trusted_is_refused_before_anything_is_written() {
    let folder = Folder::new("state-refused");
    native(&folder, "--rw=write").well();
    let good = fs::read(folder.join(STATE)).unwrap();
    let before = fs::read(folder.join("data")).unwrap();
    let of = |state: StateFile| Some(state.encode());
    let changed = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        Some(bytes)
    };
    let v = || StateFile { writes: 64, name: "v".to_owned(), ..StateFile::default() };
    let cases = [
        (None, "open state file", "verify_state_save=1 makes it"),
        (Some(Vec::new()), "failed reading verify state header", "damaged"),
        (Some(good[..100].to_vec()), "failed reading verity state", "damaged"),
        (changed(0, 6), "unsupported (6) version in verify state header", "write it again"),
        (changed(40, 0xff), "verify state is corrupt", "damaged"),
        (of(StateFile { name: "w".to_owned(), ..v() }), "is of job \"w\" number 0", "the name"),
        (of(StateFile { job: 3, ..v() }), "is of job \"v\" number 3", "the name"),
    ];
    for (state, reason, remedy) in cases {
        let path = folder.join(STATE);
        let _ = fs::remove_file(&path);
        if let Some(bytes) = &state {
            fs::write(&path, bytes).unwrap();
        }
        for rw in [
            "--rw=write",
            "--rw=write --verify_only=1",
            "--rw=read",
            "--rw=write --create_serialize=0",
        ] {
            let ran = native(&folder, &format!("{rw} --verify_state_load=1 --randseed=5"));
            assert_eq!(ran.code, Some(1), "{rw} {reason} {ran:?}");
            for words in [reason, remedy] {
                assert!(ran.stderr.contains(words), "{rw} {words} {ran:?}");
            }
            assert_eq!(fs::read(folder.join("data")).unwrap(), before, "{rw} {reason}");
            assert_eq!(fs::read(&path).ok(), state, "{rw} {reason}");
        }
    }
}

#[test]
fn a_state_that_cannot_be_written_fails_the_job_in_our_own_name() {
    let folder = Folder::new("state-nowhere");
    let ran = native(&folder, "--rw=write --aux-path=nowhere");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("verify_state_save=0 for none"), "{ran:?}");
    let line = format!("{JOB} --rw=write --aux-path=nowhere");
    let ran = Who::AsFio.run(&folder, &words(&line));
    assert_eq!(ran.code, Some(0), "as fio has it: {ran:?}");
    fs::create_dir(folder.join("here")).unwrap();
    native(&folder, "--rw=write --aux-path=here").well();
    assert!(folder.join("here").join(STATE).exists());
    native(&folder, "--rw=write --aux-path=here --verify_state_load=1 --verify_only=1").well();
}

#[test]
fn of_verify_policy_fsynced_only_writes_that_a_sync_followed_are_checked() {
    let jobs = [
        ("--rw=randwrite --fsync=7", 63),
        ("--rw=write --fdatasync=10 --norandommap=1", 60),
        ("--rw=write --fsync=10 --end_fsync=1", 64),
        ("--rw=write --ioengine=io_uring --iodepth=4 --fsync=16", 48),
        ("--rw=randwrite --fsync=9 --verify_backlog=4", 63),
        ("--rw=randwrite --fsync=7 --experimental_verify=1", 63),
    ];
    at_once(&jobs, |(options, least)| {
        let folder = Folder::new("state-fsynced");
        let ran = native(&folder, &format!("--verify_policy=fsynced {options}")).well();
        let (checked, unsynced) = (count(&ran, "checked"), count(&ran, "unsynced"));
        assert_eq!((checked + unsynced, count(&ran, "unchecked")), (64, 0), "{options}");
        assert!(checked <= *least && checked + 8 > *least, "{options} {checked}");
        assert_eq!(saved(&folder).writes, checked, "{options}");
        // A run that only checks has the limit from the state, and leaves it as it is.
        for _ in 0..2 {
            let again = "--verify_policy=fsynced --verify_only=1 --verify_state_load=1";
            let ran = native(&folder, &format!("{options} {again}")).well();
            assert_eq!(count(&ran, "checked"), checked, "{options}: {ran:?}");
        }
    });
    let folder = Folder::new("state-unsynced");
    let ran = native(&folder, "--verify_policy=fsynced --rw=write");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no sync followed them; set fsync=N"), "{ran:?}");
}

#[test]
fn writes_drawn_a_second_time_are_those_of_the_job() {
    let jobs = [
        ("--rw=randwrite --randseed=7", 64),
        ("--rw=randwrite --randrepeat=0", 64),
        ("--rw=randwrite --fsync=8", 64),
        ("--rw=write --loops=2", 128),
        ("--rw=randwrite --loops=3 --randrepeat=0", 192),
        ("--rw=randrw --ioengine=libaio --iodepth=8", 0),
        ("--rw=randwrite --bsrange=4k-16k", 0),
        ("--rw=randwrite --norandommap=1", 64),
        ("--rw=randwrite --random_distribution=zipf:1.2", 64),
        ("--rw=randtrimwrite --ioengine=null", 0),
    ];
    at_once(&jobs, |(options, writes)| {
        let folder = Folder::new("state-again");
        let ran = native(&folder, &format!("--experimental_verify=1 {options}")).well();
        let (written, checked) = (count(&ran, "written"), count(&ran, "checked"));
        assert!(*writes == 0 || written == *writes, "{options} {written}");
        assert!(checked == written || options.contains("null"), "{options} {checked} {written}");
        assert_eq!(count(&ran, "wrong"), 0, "{options}");
    });
}

#[test]
fn a_wrong_block_is_found_by_writes_drawn_a_second_time() {
    let folder = Folder::new("state-again-wrong");
    native(&folder, "--rw=randwrite").well();
    let mut bytes = fs::read(folder.join("data")).unwrap();
    bytes[9000] ^= 1;
    fs::write(folder.join("data"), bytes).unwrap();
    let options = "--rw=randwrite --verify_only=1 --experimental_verify=1";
    let ran = native(&folder, &format!("{options} --continue_on_error=verify"));
    assert_eq!((ran.code, count(&ran, "checked"), count(&ran, "wrong")), (Some(1), 64, 1));
}

#[test]
fn files_that_are_closed_are_opened_for_their_checks() {
    let jobs = [
        "--rw=write",
        "--rw=randwrite --ioengine=libaio --iodepth=4",
        "--rw=write --verify_backlog=3 --file_service_type=sequential",
        "--rw=randwrite --verify_only=1",
        "--rw=write --loops=2 --experimental_verify=1",
    ];
    at_once(&jobs, |options| {
        let folder = Folder::new("state-files");
        let job = "--name=v --nrfiles=8 --openfiles=2 --size=256k --bs=4k --verify=crc32c \
                   --output-format=json";
        if options.contains("verify_only") {
            Who::Native.run(&folder, &words(&format!("{job} --rw=randwrite"))).well();
        }
        let ran = Who::Native.run(&folder, &words(&format!("{job} {options}"))).well();
        let writes = if options.contains("loops") { 128 } else { 64 };
        assert_eq!((count(&ran, "checked"), count(&ran, "wrong")), (writes, 0), "{options}");
        let read: &Value = &ran.json()["jobs"][0]["read"];
        assert_eq!(read["total_ios"].as_u64(), Some(writes), "{options}");
    });
}
