//! The defects of fio 3.42's verify, one by one: a test for each that shows
//! ours right. [`DEFECTS`] says where.

use crate::external::compile;
use crate::filesystems::FileSystem;
use crate::support::{Ran, Who, at_once, words};
use iosonde_testing::{Folder, LoopDevice, is_root, or_skip};
use iosonde_verify::{Header, crc32c};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Each defect by its number in the description of fio's verify, and the test
/// that covers it; or the page that says why it is as fio has it.
const DEFECTS: [(u32, &str, &str); DEFECTS_TESTED] = [
    (
        1,
        "short write: what follows is not checked",
        "short_transfers_are_completed_and_all_is_checked",
    ),
    (
        2,
        "tolerated write error: what follows is not checked",
        "failed_writes_are_left_out_and_all_others_checked",
    ),
    (
        3,
        "the same of the first write: nothing is checked",
        "failed_writes_are_left_out_and_all_others_checked",
    ),
    (
        4,
        "only the last interval of an I/O counts",
        "one_wrong_interval_among_good_ones_fails_the_job",
    ),
    (5, "the same by default with bsrange", "a_wrong_interval_of_a_job_with_many_sizes_fails_it"),
    (
        6,
        "verify_async: checks and failures at the end are dropped",
        "threads_that_check_drop_no_check_and_count_each_failure",
    ),
    (
        7,
        "verify_only destroys a file that is too short",
        "what_cannot_be_checked_is_refused_and_nothing_is_touched",
    ),
    (8, "so does rw=read", "what_cannot_be_checked_is_refused_and_nothing_is_touched"),
    (
        9,
        "runtime ends the writes: nothing is checked or said",
        "writes_that_the_clock_left_unchecked_are_reported",
    ),
    (
        10,
        "time_based: checked or not, by engine",
        "writes_that_the_clock_left_unchecked_are_reported",
    ),
    (
        11,
        "tolerated wrong data: exit 0",
        "wrong_blocks_that_are_tolerated_still_fail_the_job_in_our_own_name",
    ),
    (
        12,
        "abort with exit 0: unknown type, pattern without one",
        "a_header_of_an_unknown_type_is_wrong_data",
    ),
    (
        13,
        "verify_offset beyond the interval",
        "what_cannot_be_checked_is_refused_and_nothing_is_touched",
    ),
    (14, "verify_offset on the header", "what_cannot_be_checked_is_refused_and_nothing_is_touched"),
    (
        15,
        "zipf: false failure",
        "places_that_are_written_twice_are_checked_for_what_was_written_last",
    ),
    (
        16,
        "percentage_random: false failure",
        "places_that_are_written_twice_are_checked_for_what_was_written_last",
    ),
    (
        17,
        "strided zones: false failure",
        "places_that_are_written_twice_are_checked_for_what_was_written_last",
    ),
    (
        18,
        "replay that writes twice: false failure",
        "a_recording_that_writes_a_place_twice_is_checked_for_the_last",
    ),
    (
        19,
        "short read in the check: false failure",
        "short_transfers_are_completed_and_all_is_checked",
    ),
    (
        20,
        "read error in the check is fatal",
        "a_read_error_that_is_tolerated_leaves_one_block_unchecked",
    ),
    (
        21,
        "experimental_verify with other seeds: false failure",
        "writes_drawn_a_second_time_are_those_of_the_job",
    ),
    (22, "experimental_verify with fsync hangs", "writes_drawn_a_second_time_are_those_of_the_job"),
    (
        23,
        "buffered: the page cache is checked",
        "blocks_are_read_back_from_the_device_in_our_own_name",
    ),
    (24, "io_size, random: half is written", "io_size_counts_writes_alone"),
    (
        25,
        "create_serialize=0: verify_state_load is ignored",
        "a_state_that_cannot_be_trusted_is_refused_before_anything_is_written",
    ),
    (
        26,
        "verify_policy=fsynced without a state file: nothing is checked",
        "of_verify_policy_fsynced_only_writes_that_a_sync_followed_are_checked",
    ),
    (
        27,
        "a state file that cannot be written: exit 0",
        "a_state_that_cannot_be_written_fails_the_job_in_our_own_name",
    ),
    (
        28,
        "loops: a lost write of a later pass is not seen",
        "a_lost_write_of_a_later_pass_is_found",
    ),
    (29, "trim_backlog with a queue: half is written", "trims_do_not_count_as_written_bytes"),
    (30, "trim_verify_zero=0: false failure", "a_trim_of_the_first_block_is_no_failure"),
    (
        31,
        "experimental_verify with loops: one pass",
        "writes_drawn_a_second_time_are_those_of_the_job",
    ),
    (
        32,
        "wrong offset in the message of later intervals",
        "the_message_names_the_offset_of_the_interval",
    ),
    (33, "the manual is wrong on backlog batch and sync", "docs/verify.md"),
    (34, "fill_device: nothing is checked", "a_full_device_ends_the_writes_and_not_the_checks"),
];
const DEFECTS_TESTED: usize = 34;

#[test]
fn each_defect_has_a_test_or_a_page_that_exists() {
    let tests = [
        include_str!("verify.rs"),
        include_str!("verify_defects.rs"),
        include_str!("verify_ledger.rs"),
        include_str!("verify_replay.rs"),
        include_str!("verify_state.rs"),
    ];
    for (number, what, place) in DEFECTS {
        let exists = match place.strip_prefix("docs/") {
            Some(page) => {
                let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
                let text = fs::read_to_string(docs.join(page)).unwrap();
                text.contains(&format!("defect {number}"))
            }
            None => tests.iter().any(|text| text.contains(&format!("fn {place}()"))),
        };
        assert!(exists, "{number}, {what}: {place}");
    }
    assert!(DEFECTS.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order, none twice");
}

const JOB: &str = "--name=v --filename=data --bs=4k --verify=crc32c --verify_state_save=0";

fn native(folder: &Folder, options: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("{JOB} --output-format=json {options}")))
}

fn counts(ran: &Ran) -> Value {
    ran.json()["iosonde"]["jobs"][0]["verify"].clone()
}

/// Counts by name.
fn of<const N: usize>(ran: &Ran, keys: [&str; N]) -> [u64; N] {
    let counts = counts(ran);
    keys.map(|key| counts[key].as_u64().unwrap_or_else(|| panic!("{key}: {ran:?}")))
}

/// A folder with an engine that does I/O number `at` of a kind wrong, in one
/// way: one I/O at a time, and with a queue.
fn faulty(op: u32, at: u32, kind: &str) -> Option<[(Folder, &'static str); 2]> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fault_engine.c");
    let engine = |queued: u32| {
        let folder = Folder::new("verify-fault");
        let defined = [
            format!("-DOP={op}"),
            format!("-DAT={at}"),
            format!("-DKIND={kind}"),
            format!("-DQUEUED={queued}"),
        ];
        let defined: Vec<&str> = defined.iter().map(String::as_str).collect();
        compile(&folder, &source, "fault.so", &defined)?;
        Some(folder)
    };
    let engine_and_depth = ["--ioengine=./fault.so", "--ioengine=./fault.so --iodepth=8"];
    Some([(engine(0)?, engine_and_depth[0]), (engine(1)?, engine_and_depth[1])])
}

#[test]
fn short_transfers_are_completed_and_all_is_checked() {
    for (op, at) in [(1, 50), (0, 5)] {
        let Some(engines) = faulty(op, at, "SHORT") else { return };
        for (folder, engine) in engines {
            let ran = native(&folder, &format!("{engine} --size=1m --rw=write")).well();
            assert_eq!(of(&ran, ["written", "checked", "wrong"]), [256, 256, 0], "{ran:?}");
            let short = ["read", "write"][op as usize];
            assert_eq!(ran.json()["jobs"][0][short]["short_ios"], 1, "{ran:?}");
        }
    }
}

#[test]
fn failed_writes_are_left_out_and_all_others_checked() {
    for at in [50, 1] {
        let Some(engines) = faulty(1, at, "FAIL") else { return };
        for (folder, engine) in engines {
            let line = format!("{engine} --size=1m --rw=write --continue_on_error=write");
            let ran = native(&folder, &line);
            let found = of(&ran, ["written", "checked", "wrong", "failed_writes", "unchecked"]);
            assert_eq!(found, [255, 255, 0, 1, 0], "{ran:?}");
        }
    }
}

#[test]
fn a_read_error_that_is_tolerated_leaves_one_block_unchecked() {
    let Some(engines) = faulty(0, 5, "FAIL") else { return };
    for (folder, engine) in engines {
        let line = format!("{engine} --size=1m --rw=write --continue_on_error=read");
        let ran = native(&folder, &line);
        let found = of(&ran, ["written", "checked", "wrong", "unreadable"]);
        assert_eq!(found, [256, 255, 0, 1], "{ran:?}");
    }
}

#[test]
fn a_write_that_is_lost_torn_or_misplaced_is_found_and_named() {
    // Before: an older pass, so that what is lost is an older version.
    for (kind, names) in [
        ("LOSE", ["other-version", "other-version"]),
        ("TEAR", ["torn", "torn"]),
        ("ELSEWHERE", ["other-version", "other-version"]),
    ] {
        let Some(engines) = faulty(1, 20, kind) else { return };
        for ((folder, engine), name) in engines.into_iter().zip(names) {
            native(&folder, "--size=256k --rw=write --randseed=5").well();
            let ran = native(&folder, &format!("{engine} --size=256k --rw=write"));
            assert_eq!(ran.code, Some(1), "{kind} {ran:?}");
            let first = &counts(&ran)["first_wrong"];
            // What went elsewhere was overwritten by the write to that place.
            assert_eq!(
                (&first["offset"], &first["bytes"]),
                (&77_824.into(), &4096.into()),
                "{ran:?}"
            );
            assert_eq!(first["kind"], name, "{kind} {ran:?}");
            assert_eq!(counts(&ran)["wrong_kinds"][name], 1, "{kind} {ran:?}");
        }
    }
}

#[test]
fn a_lost_write_of_a_later_pass_is_found() {
    // 16 writes a pass: number 20 is the fourth of the second.
    let Some(engines) = faulty(1, 20, "LOSE") else { return };
    for (folder, engine) in engines {
        let ran = native(&folder, &format!("{engine} --size=64k --rw=write --loops=2"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let first = &counts(&ran)["first_wrong"];
        assert_eq!((&first["offset"], &first["kind"]), (&12_288.into(), &"other-version".into()));
    }
}

#[test]
fn a_wrong_interval_of_a_job_with_many_sizes_fails_it() {
    let folder = Folder::new("verify-sizes");
    let job = "--name=v --filename=data --bsrange=4k-64k --size=512k --verify=crc32c";
    let run = |more: &str| {
        let line = format!("{job} --verify_state_save=0 --output-format=json {more}");
        Who::Native.run(&folder, &words(&line))
    };
    run("--rw=write").well();
    run("--rw=read").well();
    let mut data = fs::read(folder.join("data")).unwrap();
    data[100] ^= 1;
    folder.write("data", data);
    let ran = run("--rw=read");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(counts(&ran)["first_wrong"]["offset"], 0, "{ran:?}");
}

#[test]
fn writes_that_the_clock_left_unchecked_are_reported() {
    let jobs = [
        "--rw=write --size=256k --rate=256k --runtime=100ms",
        "--rw=write --size=64k --time_based --runtime=100ms",
        "--rw=write --size=64k --time_based --runtime=100ms --ioengine=libaio --iodepth=4",
    ];
    at_once(&jobs, |job| {
        let folder = Folder::new("verify-clock");
        let ran = native(&folder, job);
        let [checked, unchecked] = of(&ran, ["checked", "unchecked"]);
        assert!(unchecked > 0 || checked > 0, "{ran:?}");
        if checked == 0 {
            assert_eq!(ran.code, Some(1), "{ran:?}");
        }
        // What the clock cut off of the last of many passes is counted, and no warning.
        if checked == 0 {
            let said = format!("checked {checked} of");
            let text = format!("{}{}", ran.stdout, ran.stderr);
            assert!(text.contains(&said) || text.contains("writes was checked"), "{ran:?}");
        }
    });
}

#[test]
fn a_header_of_an_unknown_type_is_wrong_data() {
    let folder = Folder::new("verify-type");
    native(&folder, "--size=64k --rw=write").well();
    let mut data = fs::read(folder.join("data")).unwrap();
    data[8192 + 3] = 99;
    let crc = crc32c(&data[8192..8192 + 44]);
    data[8192 + 44..8192 + 48].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(Header::decode(&data[8192..]).block_type, 99);
    folder.write("data", data);
    let ran = native(&folder, "--size=64k --rw=read");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(of(&ran, ["wrong"]), [1], "{ran:?}");
}

#[test]
fn io_size_counts_writes_alone() {
    let folder = Folder::new("verify-io-size");
    let ran = native(&folder, "--rw=randwrite --size=256k --io_size=512k").well();
    let [written, checked, replaced] = of(&ran, ["written", "checked", "replaced"]);
    assert_eq!((written, checked + replaced), (128, 128), "{ran:?}");
}

#[test]
fn trims_do_not_count_as_written_bytes() {
    let folder = Folder::new("verify-trims");
    let line = "--ioengine=null --filesize=256k --size=256k --rw=randwrite --trim_percentage=100 \
                --trim_backlog=2 --iodepth=4";
    let ran = native(&folder, line).well();
    assert_eq!(ran.json()["jobs"][0]["write"]["total_ios"], 64, "{ran:?}");
}

#[test]
fn a_trim_of_the_first_block_is_no_failure() {
    if !is_root("attach a loop device") {
        return;
    }
    let folder = Folder::new("verify-trim");
    let image = folder.image("image", 1 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let line = format!(
        "--name=v --filename={} --bs=4k --verify=crc32c --verify_state_save=0 --size=256k \
         --rw=randwrite --trim_percentage=50 --trim_backlog=8 --trim_verify_zero=0 \
         --output-format=json",
        device.text()
    );
    let ran = Who::Native.run(&folder, &words(&line)).well();
    let [written, checked, trimmed, wrong] = of(&ran, ["written", "checked", "trimmed", "wrong"]);
    assert_eq!((written, checked + trimmed, wrong), (64, 64, 0), "{ran:?}");
    assert!(trimmed > 0, "{ran:?}");
}

#[test]
fn the_message_names_the_offset_of_the_interval() {
    let folder = Folder::new("verify-message");
    let options = "--size=64k --verify_interval=1k";
    native(&folder, &format!("--rw=write {options}")).well();
    let mut data = fs::read(folder.join("data")).unwrap();
    data.copy_within(1024..2048, 8192 + 2048);
    folder.write("data", data);
    let ran = Who::AsFio.run(&folder, &words(&format!("{JOB} --rw=read {options}")));
    let words = "bad header offset 1024, wanted 10240 at file data offset 10240, length 1024 \
                 (requested block: offset=8192, length=4096)";
    assert!(ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn a_full_device_ends_the_writes_and_not_the_checks() {
    let Some(system) = FileSystem::tmpfs(1 << 20) else { return };
    for engine in ["psync", "libaio"] {
        let file = system.path("data");
        let line = format!(
            "--name=v --filename={} --bs=4k --rw=write --fill_device=1 --verify=crc32c \
             --verify_state_save=0 --ioengine={engine} --output-format=json",
            file.display()
        );
        let ran = Who::Native.run(&system.folder, &words(&line)).well();
        let [written, checked, wrong] = of(&ran, ["written", "checked", "wrong"]);
        assert!(written > 200, "{ran:?}");
        assert_eq!((checked, wrong), (written, 0), "{ran:?}");
        fs::remove_file(file).unwrap();
    }
}
