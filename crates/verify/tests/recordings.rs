//! Jobs with verify as fio 3.42 did them, I/O by I/O: given the writes of a
//! recording, verify reads and trims must come where fio had them.

use iosonde_verify::{Backlogs, BlockDue, CheckOrder, LastDone, VerifySchedule, Written};
use iosonde_workload::{Taus88, seeds};
use serde_json::Value;
use std::collections::HashMap;

type JobArguments = HashMap<String, String>;

/// What was done to which file, at which offset, with how many bytes.
type RecordedIo = (String, String, u64, u32);

struct VerifyRecording {
    name: String,
    options: JobArguments,
    ios: Vec<RecordedIo>,
}

fn recordings() -> Vec<VerifyRecording> {
    let all: Value = serde_json::from_str(include_str!("recordings.json")).unwrap();
    let recording = |(name, entry): (&String, &Value)| VerifyRecording {
        name: name.clone(),
        options: options(&entry["arguments"]),
        ios: entry["ios"].as_str().unwrap().split(' ').map(io).collect(),
    };
    all.as_object().unwrap().iter().map(recording).collect()
}

fn options(arguments: &Value) -> JobArguments {
    let option = |argument: &Value| {
        let text = argument.as_str().unwrap().trim_start_matches('-').to_owned();
        match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (text, "1".to_owned()),
        }
    };
    arguments.as_array().unwrap().iter().map(option).collect()
}

fn io(text: &str) -> RecordedIo {
    let fields: Vec<&str> = text.split(',').collect();
    (fields[1].into(), fields[0].into(), fields[2].parse().unwrap(), fields[3].parse().unwrap())
}

fn bytes(text: &str) -> u64 {
    text.trim_end_matches('k').parse::<u64>().unwrap() * if text.ends_with('k') { 1024 } else { 1 }
}

/// Why the rules of this crate alone do not foretell a recording.
fn is_of_others(options: &JobArguments) -> bool {
    // Reads of the job are among the verify reads, and cannot be distinguished; or the job has
    // no writes; or the job's own I/Os are done again.
    let rw = options["rw"].as_str();
    rw.contains("rw")
        || rw.contains("read")
        || rw == "trimwrite"
        || ["verify_only", "verify_policy", "experimental_verify"]
            .iter()
            .any(|o| options.contains_key(*o))
}

fn number(options: &JobArguments, name: &str) -> u64 {
    options.get(name).map_or(0, |value| value.parse().unwrap())
}

/// The I/Os of one pass with these writes.
fn pass(options: &JobArguments, thread: u32, writes: &[(Written, String)]) -> Vec<RecordedIo> {
    let may_overlap = ["norandommap", "softrandommap"].iter().any(|o| options.contains_key(*o))
        || options["rw"].contains(':')
        || options.get("io_size").is_some_and(|io| bytes(io) > bytes(&options["size"]));
    let percentage = number(options, "trim_percentage");
    let backlogs = Backlogs {
        verify: options.get("do_verify").is_none_or(|value| value != "0"),
        verify_after: number(options, "verify_backlog"),
        verify_batch: number(options, "verify_backlog_batch"),
        trim_after: number(options, "trim_backlog"),
        trim_batch: number(options, "trim_backlog_batch"),
        trimmed_are_zero: options.get("trim_verify_zero").is_none_or(|value| value != "0"),
    };
    let order = if may_overlap { CheckOrder::Offset } else { CheckOrder::Issue };
    let mut schedule = VerifySchedule::new(backlogs, order);
    let mut marks = Taus88::new(seeds(0x89, thread)[8] as u32);
    let most = match backlogs.verify_after {
        0 => usize::MAX,
        _ => options.get("number_ios").map_or(usize::MAX, |n| n.parse().unwrap()),
    };
    let name = |write: &Written| {
        writes.iter().find(|(known, _)| known.number == write.number).unwrap().1.clone()
    };
    let line =
        |what: &str, write: Written| (what.to_owned(), name(&write), write.offset, write.len);
    let (mut done, mut last) = (Vec::new(), LastDone::Other);
    let mut next = writes.iter();
    // The pass ends with its last write, but for trims that are let through.
    while done.len() < most && (next.len() > 0 || schedule.untrimmed() > 0) {
        match schedule.due(last, |_| false) {
            BlockDue::Verify { write, .. } => {
                done.push(line("read", write));
                last = LastDone::Read;
            }
            BlockDue::Trim(write) => {
                done.push(line("trim", write));
                last = LastDone::Trim;
            }
            BlockDue::Nothing => {
                let Some((write, _)) = next.next() else { break };
                let mark = percentage > 0
                    && u64::from(marks.draw()) <= u64::from(u32::MAX) / 100 * percentage;
                schedule.wrote(*write, mark);
                done.push(line("write", *write));
                last = LastDone::Other;
            }
        }
    }
    while let Some((write, _)) = schedule.take() {
        done.push(line("read", write));
    }
    done
}

#[test]
fn verify_reads_and_trims_come_where_fio_has_them() {
    let mut same = 0;
    for recording in recordings().iter().filter(|recording| !is_of_others(&recording.options)) {
        let options = &recording.options;
        let mut by_job: Vec<(u32, Vec<RecordedIo>)> = Vec::new();
        for io in recording.ios.iter().filter(|io| !io.0.contains("sync")) {
            let thread = if options.contains_key("numjobs") {
                io.1.split('.').nth(1).unwrap().parse::<u32>().unwrap() + 1
            } else {
                1
            };
            match by_job.iter_mut().find(|job| job.0 == thread) {
                Some(job) => job.1.push(io.clone()),
                None => by_job.push((thread, vec![io.clone()])),
            }
        }
        for (thread, ios) in by_job {
            let mut files: Vec<String> = Vec::new();
            let mut writes = Vec::new();
            for (_, name, offset, len) in ios.iter().filter(|io| io.0 == "write") {
                if !files.contains(name) {
                    files.push(name.clone());
                }
                let file = files.iter().position(|known| known == name).unwrap() as u32;
                let number = writes.len() as u64;
                writes.push((Written { file, offset: *offset, len: *len, number }, name.clone()));
            }
            let passes = match options["rw"].as_str() {
                "write:8k" => 2,
                _ if options.contains_key("norandommap") || options.contains_key("number_ios") => 1,
                // Another pass goes on into the rest of the file.
                _ if options
                    .get("filesize")
                    .is_some_and(|size| bytes(size) > bytes(&options["size"])) =>
                {
                    1
                }
                _ => number(options, "loops").max(1) as usize,
            };
            let each = writes.len() / passes;
            let done: Vec<RecordedIo> =
                writes.chunks(each).flat_map(|writes| pass(options, thread, writes)).collect();
            assert_eq!(done, ios, "{}", recording.name);
        }
        same += 1;
    }
    assert!(same >= 40, "{same}");
    println!("{same} recordings foretold");
}
