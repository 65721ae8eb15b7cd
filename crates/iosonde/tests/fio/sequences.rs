//! The program issues the I/Os that fio 3.42 was recorded to issue, through
//! its own `write_iolog`, which has fio's format.

use crate::support::{Who, at_once, iolog, iolog_ios, with, words};
use iosonde_testing::{Folder, has_fio};
use serde_json::Value;

const ALWAYS: &str = "--name=v --group_reporting --write_iolog=v.log --randrepeat=1";

/// Jobs with work that is not built yet: they must say so, and run once it is.
const NOT_YET: &[&str] = &[];

#[test]
fn every_recorded_job_issues_the_same_ios_in_the_same_order() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../../workload/vectors/fio-3.42.json")).unwrap();
    let mut wrong = Vec::new();
    for (name, job) in recorded.as_object().unwrap() {
        let strings = |key: &str| -> Vec<String> {
            let list = job[key].as_array().unwrap();
            list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let folder = Folder::new("sequence");
        let ran = Who::AsFio.run(&folder, &[words(ALWAYS), strings("arguments")].concat());
        if NOT_YET.contains(&name.as_str()) {
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains("is not supported yet"), "{ran:?}");
            continue;
        }
        let ours = iolog_ios(&folder, "v.log");
        let expected = strings("ios");
        let same = |(ours, theirs): &(&String, &String)| without_sync_place(ours, theirs);
        let at = ours.iter().zip(&expected).take_while(same).count();
        if at < ours.len().max(expected.len()) || ran.code != Some(0) {
            wrong.push(format!(
                "{name}: exit {:?}, {} I/Os of {}, at {at} {:?} for {:?}\n{}",
                ran.code,
                ours.len(),
                expected.len(),
                ours.get(at),
                expected.get(at),
                ran.stderr,
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Jobs of a second recording: files one after the other through a queue, jobs that end by time
/// and read back what they wrote after each pass, odd verify intervals. Of those that end by time
/// the first few hundred I/Os are recorded.
#[test]
fn passes_that_end_by_time_are_read_back_where_fio_342_does_so() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../../workload/vectors/fio-3.42-more.json")).unwrap();
    let jobs: Vec<(&String, &Value)> = recorded.as_object().unwrap().iter().collect();
    let strings = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap();
        list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let differ = at_once(&jobs, |(name, job)| {
        let folder = Folder::new("sequence-more");
        let ran = Who::AsFio.run(&folder, &[words(ALWAYS), strings(&job["arguments"])].concat());
        let mut ours = iolog_ios(&folder, "v.log");
        let expected = strings(&job["ios"]);
        if job.get("ios_are").is_some() {
            ours.truncate(expected.len());
        }
        // Which blocks sprandom writes is its own (docs/differences.md).
        let is_other = name.starts_with("sprandom") && ours.len() >= expected.len();
        let same = ran.code == Some(0) && (ours == expected || is_other);
        let at = ours.iter().zip(&expected).take_while(|(ours, theirs)| ours == theirs).count();
        (!same).then(|| {
            format!("{name}: at {at} {:?} for {:?}\n{ran:?}", ours.get(at), expected.get(at))
        })
    });
    let differ: Vec<String> = differ.into_iter().flatten().collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// Equal; of a sync only the file and the action count.
fn without_sync_place(ours: &str, theirs: &str) -> bool {
    let place = |text: &str| {
        if text.contains("sync") {
            text.split(' ').take(2).collect::<Vec<_>>().join(" ")
        } else {
            text.to_owned()
        }
    };
    place(ours) == place(theirs)
}

/// Sequential jobs, of which fio 3.33 and 3.42 think the same.
const LOGGED: &[&str] = &[
    "--ioengine=null --rw=read --bs=4k --size=32k --nrfiles=2",
    "--ioengine=null --rw=read --bs=4k --size=32k --nrfiles=2 --loops=2",
    "--ioengine=null --rw=read --bs=4k --size=32k --nrfiles=2 --openfiles=1",
    "--ioengine=null --rw=write --bs=4k --size=32k --filename=b:a",
    "--ioengine=psync --rw=write --bs=4k --size=32k --fsync=3",
];

#[test]
fn the_log_is_written_line_by_line_as_fio_writes_it() {
    if !has_fio() {
        return;
    }
    for job in LOGGED {
        let logs = [Who::AsFio, Who::Fio].map(|who| {
            let folder = Folder::new("sequence");
            who.run(&folder, &with(ALWAYS, job)).well();
            // Where a file ends while others go on, fio closes it there.
            let mut entries = iolog(&folder, "v.log");
            let closes = |entry: &String| entry.ends_with(" close");
            let mut closed: Vec<String> =
                entries.iter().filter(|entry| closes(entry)).cloned().collect();
            entries.retain(|entry| !closes(entry));
            closed.sort();
            (entries, closed)
        });
        assert_eq!(logs[0], logs[1], "{job}");
    }
}

#[test]
fn a_log_opens_a_file_before_its_first_io_and_closes_it_after_its_last() {
    let folder = Folder::new("sequence");
    let job = "--ioengine=null --rw=randread --bs=4k --size=64k --nrfiles=3 --loops=2";
    Who::AsFio.run(&folder, &with(ALWAYS, job)).well();
    let entries = iolog(&folder, "v.log");
    for file in ["v.0.0", "v.0.1", "v.0.2"] {
        let own: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry.strip_prefix(file))
            .map(|rest| rest.split_whitespace().next().unwrap())
            .collect();
        let mut reported = own.clone();
        reported.dedup();
        let pass = ["open", "read", "close"];
        assert_eq!(reported, [&["add"][..], &pass, &pass].concat(), "{file}");
    }
}

#[test]
fn a_second_run_appends_to_the_log() {
    let folder = Folder::new("sequence");
    let job = with(ALWAYS, "--ioengine=null --rw=read --size=8k");
    Who::AsFio.run(&folder, &job).well();
    let log = || folder.read("v.log");
    let once = log().lines().count();
    Who::AsFio.run(&folder, &job).well();
    assert_eq!(log().lines().count(), 2 * once);
}

#[test]
fn blocks_that_are_listed_come_in_that_order_over_and_over() {
    let folder = Folder::new("listed");
    let line = "--name=v --ioengine=null --filename=f --size=64k --rw=randread --number_ios=5 \
        --random_distribution=sequence:2,0,15 --write_iolog=log";
    Who::AsFio.run(&folder, &crate::support::words(line)).well();
    let wanted = [8192, 0, 61440, 8192, 0].map(|offset| format!("f read {offset} 4096"));
    assert_eq!(crate::support::iolog_ios(&folder, "log"), wanted);
    let past = line.replace("0,15", "0,16");
    let ran = Who::Native.run(&folder, &crate::support::words(&past));
    assert!(ran.stderr.contains("names block 16, and f has 16"), "{ran:?}");
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_list_with_a_stride_is_shifted_by_its_length_up_to_the_end_of_the_file() {
    let folder = Folder::new("strided-list");
    let job = "--name=v --ioengine=null --filename=f --rw=randread --write_iolog=log \
        --random_distribution=sequence:2,0,1";
    let offsets = |options: &str| {
        Who::AsFio.run(&folder, &crate::support::words(&format!("{job} {options}"))).well();
        let ios = crate::support::iolog_ios(&folder, "log");
        std::fs::remove_file(folder.join("log")).unwrap();
        ios
    };
    let blocks = |blocks: &[u64]| -> Vec<String> {
        blocks.iter().map(|block| format!("f read {} 4096", block * 4096)).collect()
    };
    let strided = "--random_sequence_stride=1";
    assert_eq!(offsets(&format!("--size=36k {strided}")), blocks(&[2, 0, 1, 5, 3, 4, 8, 6, 7]));
    // Block 8 is past the end, and ends the job.
    assert_eq!(offsets(&format!("--size=32k {strided}")), blocks(&[2, 0, 1, 5, 3, 4]));
    let twice = blocks(&[2, 0, 1, 2, 0, 1]);
    assert_eq!(offsets(&format!("--size=12k --loops=2 {strided}")), twice);
    assert_eq!(offsets("--size=24k --random_sequence_stride=0"), twice);
}

#[test]
fn a_pass_moves_no_more_than_the_files_hold() {
    // How many I/Os fio does.
    for (options, ios) in [
        ("--size=200k --filesize=100k", 25),
        ("--size=40k --filesize=100k", 10),
        ("--size=0 --filesize=100k", 25),
        ("--size=300k --filesize=100k --nrfiles=2", 50),
        ("--size=200k --filesize=100k --loops=2", 50),
        ("--size=200k --filesize=100k --offset=20k", 20),
    ] {
        let folder = Folder::new("filesize");
        let line = format!("--name=v --ioengine=null --rw=rw {options} --write_iolog=log");
        Who::AsFio.run(&folder, &crate::support::words(&line)).well();
        assert_eq!(crate::support::iolog_ios(&folder, "log").len(), ios, "{options}");
    }
}
