//! Ctrl-C in each phase of a job that verifies: it ends, reports what was checked and why the rest
//! was not, and saves its state.
//!
//! A simulated device makes the phase last longer than a test waits; the signal comes when the
//! first I/O of the phase was issued.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Ran, Who, at_once};
use iosonde_testing::{Folder, LoopDevice, freeze, or_skip};
use iosonde_verify::StateFile;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

const STATE: &str = "local-v-0-verify.state";
const SLOW: &str = "--ioengine=sim --size=1m --bs=4k --rw=randwrite --verify=crc32c";
const STOPPED: &str = "the job was stopped before the rest was read back";

/// Start a job, send it SIGINT once it prints `text`, and wait for its end.
fn interrupted(folder: &Folder, line: &str, text: &str) -> Ran {
    let line = format!("--name=v --debug=io --output-format=json --output=out {line}");
    let mut program = Running::start(Who::Native, folder, &line);
    program.wait_for_text(text);
    program.signal(Signal::INT);
    program.end_within(PATIENCE)
}

/// The report, without what precedes it in the file.
fn report(folder: &Folder) -> Value {
    let text = fs::read_to_string(folder.join("out")).unwrap();
    let json = text.find("\n{").map_or(&text[..], |at| &text[at..]);
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn state(folder: &Folder, depth: usize) -> StateFile {
    StateFile::decode(&fs::read(folder.join(STATE)).unwrap(), depth).unwrap()
}

#[test]
fn a_job_that_is_interrupted_reports_what_it_checked_and_saves_its_state() {
    const WRITES: &str = "ddir=1";
    const READS: &str = "ddir=0";
    let cases = [
        ("writes", "--sim_latency=300ms", WRITES, 1),
        ("writes of a queue", "--sim_latency=300ms --iodepth=4", WRITES, 4),
        ("verify reads", "--sim_latency=300ms,0", READS, 1),
        ("verify reads of a queue", "--sim_latency=1s,0 --iodepth=4", READS, 4),
        ("backlog", "--sim_latency=300ms,0 --verify_backlog=16", READS, 1),
        ("backlog of a queue", "--sim_latency=1s,0 --verify_backlog=16 --iodepth=4", READS, 4),
        ("threads", "--sim_latency=300ms,0 --verify_async=2", READS, 1),
        (
            "threads, backlog",
            "--sim_latency=300ms,0 --verify_async=2 --verify_backlog=16",
            READS,
            1,
        ),
        ("zones", "--sim_latency=300ms,0 --zonemode=zbd --zonesize=64k", READS, 1),
    ];
    at_once(&cases, |&(phase, options, text, depth)| {
        let folder = Folder::new("verify-interrupted");
        let ran = interrupted(&folder, &format!("{SLOW} {options}"), text);
        let json = report(&folder);
        let verify = &json["iosonde"]["jobs"][0]["verify"];
        let count = |key: &str| verify[key].as_u64().unwrap_or_else(|| panic!("{phase}: {json}"));
        let (written, checked) = (count("written"), count("checked"));
        assert_eq!(count("wrong"), 0, "{phase}: {verify}");
        assert!(written > 0 && checked < written, "{phase}: {verify}");
        assert_eq!(count("unchecked"), written - checked, "{phase}: {verify}");
        assert_eq!(verify["unchecked_reason"], STOPPED, "{phase}: {verify}");
        let words = format!("checked {checked} of {written} writes: {STOPPED}");
        // Notes are part of the report.
        assert!(json.to_string().contains(&words), "{phase}: {words}: {json}");
        assert_eq!(ran.code, Some(128), "{phase}: {ran:?}");
        let state = state(&folder, depth);
        assert_eq!(state.writes, written, "{phase}: {state:?}");
        assert!(state.in_flight.iter().all(Option::is_none), "{phase}: {state:?}");
    });
}

#[test]
fn no_state_is_saved_where_none_is_asked_for() {
    let folder = Folder::new("verify-interrupted");
    let line = format!("{SLOW} --sim_latency=300ms --verify_state_save=0");
    interrupted(&folder, &line, "ddir=1");
    assert!(!folder.join(STATE).exists());
}

#[test]
fn an_interrupted_layout_leaves_no_write_to_check() {
    let folder = Folder::new("verify-layout");
    let Some((mounted, _device)) = LoopDevice::mounted(&folder, "ext4", 64 << 20) else { return };
    fs::write(mounted.0.join("f"), vec![0; 4 << 20]).unwrap();
    let Some(frozen) = or_skip(freeze(mounted.0.to_str().unwrap())) else { return };
    let line = "--name=v --filename=on/f --rw=randrw --bs=4k --size=40m --fallocate=none \
                --verify=crc32c";
    let mut program = Running::start(Who::Native, &folder, line);
    program.wait_for_stuck_thread();
    program.signal(Signal::INT);
    program.wait_for_text("terminating on signal 2");
    drop(frozen);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(!format!("{ran:?}").contains("writes: "), "none of them is unchecked: {ran:?}");
    assert!(!folder.join(STATE).exists(), "a job that never began has none");
}
