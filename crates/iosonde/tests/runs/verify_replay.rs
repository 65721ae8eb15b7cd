//! Recordings that are done again and checked.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use std::fs;

fn folder(log: &str) -> Folder {
    let folder = Folder::new("verify-replay");
    folder.write("log", log);
    folder
}

fn replay(folder: &Folder, options: &str) -> Ran {
    let line = format!("--name=r --read_iolog=log --verify=crc32c --verify_state_save=0 {options}");
    Who::Native.run(folder, &words(&format!("{line} --output-format=json")))
}

fn counts(ran: &Ran) -> [u64; 4] {
    let verify = &ran.json()["iosonde"]["jobs"][0]["verify"];
    ["written", "checked", "replaced", "wrong"].map(|key| verify[key].as_u64().unwrap())
}

const TWICE: &str = "fio version 2 iolog\ndata add\ndata open\ndata write 0 4096\n\
                     data write 8192 4096\ndata write 0 4096\ndata close\n";

#[test]
fn a_recording_that_writes_a_place_twice_is_checked_for_the_last() {
    for engine in ["psync", "libaio --iodepth=8", "io_uring --iodepth=4"] {
        let folder = folder(TWICE);
        let ran = replay(&folder, &format!("--ioengine={engine}")).well();
        assert_eq!(counts(&ran), [3, 2, 1, 0], "{ran:?}");
    }
}

#[test]
fn a_recording_with_times_is_checked_too() {
    let folder = folder(
        "fio version 3 iolog\n0 data add\n0 data open\n1000 data write 0 4096\n\
         2000 data read 0 4096\n3000 data write 4096 8192\n4000 data sync 0 0\n5000 data close\n",
    );
    for options in ["", "--replay_no_stall=1", "--ioengine=libaio --iodepth=4"] {
        let ran = replay(&folder, options).well();
        assert_eq!(counts(&ran), [2, 2, 0, 0], "{options}: {ran:?}");
        let read = &ran.json()["jobs"][0]["read"]["total_ios"];
        assert_eq!(read, 3, "one of the recording, two checks: {ran:?}");
    }
}

#[test]
fn the_options_give_the_interval_and_the_recording_the_sizes() {
    let folder = folder(
        "fio version 2 iolog\ndata add\ndata open\ndata write 0 16384\ndata write 16384 4096\n\
         data close\n",
    );
    replay(&folder, "--bs=4k").well();
    let data = fs::read(folder.join("data")).unwrap();
    for block in data.chunks(4096) {
        assert_eq!(block[..2], [0xca, 0xac], "a header for each 4 KiB");
    }
    replay(&folder, "--bs=8k").well();
    let data = fs::read(folder.join("data")).unwrap();
    assert_eq!(data[8192..8194], [0xca, 0xac]);
    assert_ne!(data[4096..4098], [0xca, 0xac]);
}

#[test]
fn reads_of_a_recording_are_not_checked() {
    let folder = folder("fio version 2 iolog\ndata add\ndata open\ndata read 0 4096\ndata close\n");
    folder.write("data", vec![7; 4096]);
    let ran = replay(&folder, "").well();
    assert!(ran.json()["iosonde"]["jobs"][0]["verify"].is_null(), "{ran:?}");
}

#[test]
fn what_a_verifying_job_recorded_is_done_again_and_checked() {
    let folder = Folder::new("verify-recorded-again");
    let job = "--name=v --filename=data --size=64k --bs=4k --rw=randwrite --verify=md5 \
               --write_iolog=log --verify_state_save=0";
    Who::Native.run(&folder, &words(job)).well();
    fs::remove_file(folder.join("data")).unwrap();
    let ran = replay(&folder, "--replay_no_stall=1").well();
    assert_eq!(counts(&ran), [16, 16, 0, 0], "{ran:?}");
    assert_eq!(ran.json()["jobs"][0]["read"]["total_ios"], 32, "recorded checks and ours: {ran:?}");
}

#[test]
fn files_that_a_recording_closes_are_opened_for_the_check() {
    let log = "fio version 2 iolog\na add\nb add\na open\na write 0 4096\na close\nb open\n\
               b write 0 4096\nb write 4096 4096\nb close\n";
    for options in ["--ioengine=psync", "--ioengine=libaio --iodepth=4", "--verify_backlog=1"] {
        let folder = folder(log);
        let ran = replay(&folder, options).well();
        assert_eq!(counts(&ran), [3, 3, 0, 0], "{options}: {ran:?}");
    }
}

#[test]
fn blocks_without_room_for_a_header_are_refused() {
    let folder = folder("fio version 2 iolog\ndata add\ndata open\ndata write 0 50\ndata close\n");
    let ran = replay(&folder, "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no room for the header"), "{ran:?}");
    assert!(!folder.join("data").exists());
}
