//! What programs that call fio and read what it prints rely on, point by point.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, with, words};
use iosonde_testing::Folder;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// A short job on nothing.
const JOB: &str = "--name=v --ioengine=null --size=64k";

fn run(line: &str) -> Ran {
    Who::AsFio.run(&Folder::new("client"), &words(line))
}

#[test]
fn a_run_that_ends_well_says_nothing_on_standard_error() {
    for format in ["json", "json+", "terse", "normal", "normal,json"] {
        let folder = Folder::new("client");
        let job = "--name=v --ioengine=libaio --iodepth=4 --rw=randrw --size=256k --numjobs=2";
        let ran = Who::AsFio.run(&folder, &with(job, &format!("--output-format={format}"))).well();
        assert_eq!(ran.stderr, "", "{format}");
        assert!(!ran.stdout.contains("[eta"), "{ran:?}");
    }
}

#[test]
fn the_version_is_in_fios_form() {
    for flag in ["--version", "-v"] {
        assert_eq!(run(flag).well().stdout, "fio-3.42\n");
    }
    let line = run(&format!("{JOB} --output-format=terse")).well().stdout;
    assert_eq!(line.split(';').nth(1), Some("fio-3.42"));
}

#[test]
fn questions_are_answered_without_a_job() {
    assert_eq!(run("--parse-only").well().stdout, "");
    assert!(run("--help").well().stdout.contains("json+"));
    assert!(run("--cmdhelp=zonemode").well().stdout.contains("zbd"));
    let engines = run("--enghelp").well().stdout;
    for engine in ["psync", "libaio", "io_uring", "mmap", "null"] {
        assert!(engines.lines().any(|line| line.trim() == engine), "{engine} in {engines}");
    }
    let folder = Folder::new("client");
    folder.write("job.fio", "[v]\nioengine=null\nsize=64k\nnumjobs=3\n");
    let shown = Who::AsFio.run(&folder, &words("--showcmd job.fio")).well().stdout;
    assert!(shown.contains("--numjobs=3"), "{shown}");
}

#[test]
fn an_answer_that_nobody_reads_to_its_end_is_no_failure() {
    for question in ["--cmdhelp=all", "--help", "--enghelp"] {
        let folder = Folder::new("client");
        let mut command = Who::AsFio.command(&folder);
        let mut child =
            command.arg(question).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{question}");
        assert_eq!(output.status.code(), Some(0), "{question}");
    }
}

#[test]
fn warnings_can_be_made_fatal() {
    let ours = "--name=v --ioengine=null --size=64KiB";
    run(ours).well();
    run(&format!("{ours} --warnings-fatal")).well();
    let native =
        Who::Native.run(&Folder::new("client"), &words(&format!("{ours} --warnings-fatal")));
    assert_eq!(native.code, Some(1), "fio does not warn of a kib of 1000, we do");
    // fio warns of it as well.
    let both = format!("{JOB} --time_based");
    run(&both).well();
    assert_eq!(run(&format!("{both} --warnings-fatal")).code, Some(1));
}

#[test]
fn long_options_are_taken_in_all_of_getopts_forms() {
    for form in [
        "-name=v -ioengine=null -size=64k",
        "--name v --ioengine null --size 64k --output-format terse",
        "-name v -iodepth 1 -ioengine=null --size 64k",
        "--name=v --ioengine=null --size=64k --numjob=1",
    ] {
        run(form).well();
    }
    let ran = run("--name=v --ioengine=null --size=64k --direct --rw=write");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("failed parsing direct=--rw=write"), "{ran:?}");
}

#[test]
fn options_are_reported_by_their_canonical_names_as_they_were_written() {
    let line = "--ioengine=null --blocksize=8k --name=v --readwrite=write --size=64k --thread \
        --output-format=json";
    let document = run(line).well().json();
    let global = serde_json::json!({"ioengine": "null", "bs": "8k"});
    let own = serde_json::json!({"name": "v", "rw": "write", "size": "64k", "thread": ""});
    assert_eq!(document["global options"], global);
    assert_eq!(document["jobs"][0]["job options"], own);
    let without = run(&format!("{JOB} --output-format=json")).well().json();
    assert!(without.get("global options").is_none());
}

#[test]
fn jobs_come_from_standard_input_includes_and_the_environment() {
    let folder = Folder::new("client");
    folder.write("common.inc", "ioengine=null\nbs=${BLOCK}\n");
    let job = "[global]\ninclude common.inc\nsize=64k\n[a(b)=c,d/e]\n[f]\nname=renamed\n";
    folder.write("job.fio", job);
    let mut command = Who::AsFio.command(&folder);
    let names = |output: std::process::Output| -> Vec<String> {
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let jobs = document["jobs"].as_array().unwrap();
        assert_eq!(jobs[0]["read"]["total_ios"], 8);
        jobs.iter().map(|job| job["jobname"].as_str().unwrap().to_owned()).collect()
    };
    command.env("BLOCK", "8k");
    let from_file = command.args(["job.fio", "--output-format=json"]).output().unwrap();
    assert_eq!(names(from_file), ["a(b)=c,d/e", "renamed"]);

    let mut command = Who::AsFio.command(&folder);
    command.args(["-", "--output-format=json"]).env("BLOCK", "8k");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(job.as_bytes()).unwrap();
    assert_eq!(names(child.wait_with_output().unwrap()), ["a(b)=c,d/e", "renamed"]);
}

#[test]
fn notes_stand_before_the_text_on_the_same_stream() {
    let note = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will \
        be capped at 1";
    let folder = Folder::new("client");
    let job = "--name=v --ioengine=psync --iodepth=8 --size=64k --numjobs=2";
    let ran = Who::AsFio.run(&folder, &words(job)).well();
    assert_eq!(ran.stdout.matches(note).count(), 1, "{ran:?}");
    assert!(ran.stdout.find(note) < ran.stdout.find("v: (groupid="), "{ran:?}");
    Who::AsFio.run(&folder, &with(job, "--output=o")).well();
    assert!(std::fs::read_to_string(folder.join("o")).unwrap().contains(note));
}

#[test]
fn documents_are_spaced_and_ended_as_line_readers_expect() {
    let text = run(&format!("{JOB} --output-format=json")).well().stdout;
    assert!(text.starts_with("{\n  \"fio version\" : \"fio-3.42\",\n"), "{text}");
    assert!(text.ends_with("\n}\n"), "{text}");
    assert!(text.lines().filter(|line| line.contains("\" : ")).count() > 200);
    assert!(text.find("\"read\" : {") < text.find("\"write\" : {"));
    assert!(text.contains("\n      \"jobname\" : \"v\",\n"), "{text}");
}

#[test]
fn interim_reports_are_whole_documents_or_lines() {
    let job = "--name=v --ioengine=null --size=1g --time_based --runtime=1 --status-interval=300ms";
    let json = run(&format!("{job} --output-format=json")).well().stdout;
    let documents: Vec<Value> =
        serde_json::Deserializer::from_str(&json).into_iter().collect::<Result<_, _>>().unwrap();
    assert!(documents.len() > 1, "{json}");
    let ios = |document: &Value| document["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    assert!(documents.iter().map(ios).is_sorted(), "{json}");

    let terse = run(&format!("{job} --output-format=terse")).well().stdout;
    assert!(terse.lines().count() > 1, "{terse}");
    for line in terse.lines() {
        assert!(line.split(';').count() >= 121, "{line}");
    }
}

#[test]
fn a_terse_line_of_a_job_on_a_disk_has_129_fields_or_more() {
    let folder = Folder::new("client");
    let ran = Who::AsFio.run(&folder, &words("--name=v --size=64k --output-format=terse")).well();
    // A test may run on a file system without a disk: then there is nothing to tell.
    let fields = ran.stdout.trim_end().split(';').count();
    assert!(fields == 121 || fields >= 130, "{fields} in {ran:?}");
}

#[test]
fn a_signal_asks_for_a_report_and_the_run_goes_on() {
    let folder = Folder::new("client");
    let job = "--name=v --size=64k --time_based --runtime=60 --output=o --output-format=json";
    let mut running = Running::start(Who::AsFio, &folder, job);
    let text = || std::fs::read_to_string(folder.join("o")).unwrap_or_default();
    let reports = || text().matches("\n}\n").count();
    running.wait_for_work("v");
    running.signal(rustix::process::Signal::USR1);
    wait_until("a report is there", || reports() == 1);
    assert!(running.is_running());
    running.signal(rustix::process::Signal::INT);
    let ran = running.end_within(PATIENCE);
    assert_eq!((ran.code, reports()), (Some(128), 2), "{ran:?}");
}

#[test]
fn each_clone_has_an_entry_of_its_own_unless_grouped() {
    let entries = |more: &str| {
        let document = run(&format!("{JOB} --numjobs=3 --output-format=json {more}")).well().json();
        let jobs = document["jobs"].as_array().unwrap().clone();
        assert!(jobs.iter().all(|job| job["jobname"] == "v"));
        jobs.iter().map(|job| job["read"]["total_ios"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(entries(""), [16, 16, 16]);
    assert_eq!(entries("--group_reporting"), [48]);
}

#[test]
fn a_job_reports_when_it_began() {
    let document = run(&format!("{JOB} --output-format=json")).well().json();
    let began = document["jobs"][0]["job_start"].as_u64().unwrap();
    let reported = document["timestamp_ms"].as_u64().unwrap();
    assert!(began <= reported && reported - began < 60_000, "{began} {reported}");
}

#[test]
fn logs_that_are_not_written_are_refused_by_name() {
    let folder = Folder::new("client");
    let ran = Who::AsFio.run(&folder, &with(JOB, "--write_bw_log=x"));
    if ran.code != Some(0) {
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("option write_bw_log is not supported yet"), "{ran:?}");
        return;
    }
    let log = folder.read("x_bw.1.log");
    assert!(log.lines().all(|line| line.split(", ").count() == 5), "{log}");
}

#[test]
fn percentiles_are_where_and_as_parsers_look_for_them() {
    let read = |more: &str| -> Value {
        run(&format!("{JOB} --output-format=json {more}")).well().json()["jobs"][0]["read"].clone()
    };
    let plain = read("");
    assert!(plain["clat_ns"]["percentile"]["99.000000"].is_u64(), "{plain}");
    assert!(plain["lat_ns"].get("percentile").is_none(), "{plain}");
    let total = read("--lat_percentiles=1");
    assert!(total["lat_ns"]["percentile"]["99.990000"].is_u64(), "{total}");
    let reduced = read("--gtod_reduce=1");
    assert_eq!(reduced["total_ios"], 16);
    assert!(reduced["iops"].as_f64().unwrap() > 0.0, "{reduced}");
    for latency in ["clat_ns", "lat_ns"] {
        assert_eq!((&reduced[latency]["N"], &reduced[latency]["max"]), (&0.into(), &0.into()));
        assert!(reduced[latency].get("percentile").is_none(), "{reduced}");
    }
}

#[test]
fn the_table_of_syncs_stands_last_and_has_its_columns() {
    let folder = Folder::new("client");
    let job = "--name=v --rw=write --bs=2300 --size=100k --fdatasync=1";
    let text = Who::AsFio.run(&folder, &words(job)).well().stdout;
    let syncs = text.find("  fsync/fdatasync/sync_file_range/syncfs:\n").expect(&text);
    assert!(text.rfind("percentiles (").unwrap() > syncs, "{text}");
    assert_eq!(text[syncs..].matches("     | 99.00th=[").count(), 1, "{text}");
    assert!(text[..syncs].contains("     | 99.00th=["), "{text}");
}

#[test]
fn command_lines_go_to_the_output_file() {
    let folder = Folder::new("client");
    folder.write("job.fio", "[v]\nioengine=null\nsize=64k\n");
    for who in [Who::AsFio, Who::Native] {
        let ran = who.run(&folder, &words("--output=shown --showcmd job.fio")).well();
        assert_eq!(ran.stdout, "", "{ran:?}");
        let shown = std::fs::read_to_string(folder.path().join("shown")).unwrap();
        assert_eq!(shown.trim_end(), "fio --name=v --ioengine=null --size=64k", "{ran:?}");
    }
}

#[test]
fn elapsed_is_of_the_run_and_an_empty_section_has_no_options() {
    let folder = Folder::new("client");
    let globals = "[global]\nioengine=null\nsize=64k\n";
    let job = format!("{globals}[e]\n[a]\nstonewall\ntime_based\nruntime=1100ms\n");
    folder.write("job.fio", &job);
    let document = Who::AsFio.run(&folder, &words("--output-format=json job.fio")).well().json();
    let [empty, full] = [0, 1].map(|at| &document["jobs"][at]);
    assert!(empty["elapsed"].as_u64().unwrap() >= 2, "{empty}");
    assert_eq!(empty["elapsed"], full["elapsed"]);
    assert!(empty.get("job options").is_none(), "{empty}");
    assert_eq!(full["job options"]["runtime"], "1100ms");
}

/// The lines of a debug word, without the word and the process.
fn debug_lines(text: &str, word: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(&format!("{word:<8} ")));
    lines.filter_map(|line| line.get(6..)).map(str::to_owned).collect()
}

#[test]
fn debug_parse_prints_options_without_a_run_and_without_a_job() {
    let lines = |line: &str| {
        let folder = Folder::new("client");
        let ran = Who::AsFio.run(&folder, &words(&format!("--debug=parse --parse-only {line}")));
        debug_lines(&ran.well().stdout, "parse")
    };
    assert_eq!(lines("--bs=4k"), ["handle_option=bs, ptr=4k", "  ret=0, out=4096"]);
    let job = lines("--iodepth=2 --name=a --size=1m");
    for line in ["handle_option=iodepth, ptr=2", "  ret=0, out=2", "  ret=0, out=1048576"] {
        assert!(job.iter().any(|found| found == line), "{line:?} in {job:?}");
    }
    for (goal, threshold) in [
        ("iops:10", "IOPS threshold to 10.000000"),
        ("iops:0.1%", "threshold to 0.100000%"),
        ("iops_slope:3", "IOPS threshold to 3.000000"),
        ("iops_slope:0.3%", "threshold to 0.300000%"),
        ("bw:12", "BW threshold to 12"),
        ("bw:1m", "BW threshold to 1048576"),
        ("bw_slope:20", "BW threshold to 20"),
        ("bw_slope:0.1%", "threshold to 0.100000%"),
    ] {
        let expected = format!("set steady state {threshold}");
        let found = lines(&format!("--name=a --ss={goal}"));
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    let folder = Folder::new("client");
    let line = words("--output=lines --debug=parse --parse-only --bs=4k");
    assert_eq!(Who::AsFio.run(&folder, &line).well().stdout, "");
    let text = std::fs::read_to_string(folder.path().join("lines")).unwrap();
    assert_eq!(debug_lines(&text, "parse").len(), 2, "{text}");
}

/// The `queue` and `complete` lines of `--debug=io`, fio's without the address of the I/O.
fn io_lines(who: Who, job: &str) -> Vec<String> {
    let ran = who.run(&Folder::new("client"), &words(&format!("--debug=io --name=a {job}")));
    let lines = debug_lines(&ran.well().stdout, "io").into_iter().filter_map(|line| {
        let (event, rest) = line.split_once(": ")?;
        let what = rest.find("off=").map(|at| &rest[at..])?;
        ["queue", "complete"].contains(&event).then(|| format!("{event}: {what}"))
    });
    lines.collect()
}

#[test]
fn debug_io_prints_each_io_when_it_is_queued_and_when_it_completes() {
    let file = "--filename=f --size=16k --bs=4k --rw=write";
    let line =
        |event: &str, offset: u64| format!("{event}: off={offset:#x},len=0x1000,ddir=1,file=f");
    let blocks = [0, 0x1000, 0x2000, 0x3000];
    let in_turn: Vec<String> =
        blocks.iter().flat_map(|&at| [line("queue", at), line("complete", at)]).collect();
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    for engine in ["psync", "mmap"] {
        assert_eq!(io_lines(Who::AsFio, &format!("--ioengine={engine} {file}")), in_turn);
    }
    let queued = format!("--ioengine=libaio --iodepth=4 {file}");
    assert_eq!(sorted(io_lines(Who::AsFio, &queued)), sorted(in_turn.clone()));
    let synced = io_lines(Who::AsFio, &format!("--ioengine=psync --fsync=2 {file}"));
    let syncs = |event: &str| {
        let is_sync = |line: &&String| line.starts_with(event) && line.contains("ddir=3");
        synced.iter().filter(is_sync).count()
    };
    assert_eq!(syncs("queue"), syncs("complete"), "{synced:?}");
    assert!(syncs("complete") >= 1, "{synced:?}");
    if iosonde_testing::has_fio_for_part() {
        for job in [format!("--ioengine=psync {file}"), format!("--ioengine=null {file}")] {
            assert_eq!(io_lines(Who::AsFio, &job), io_lines(Who::Fio, &job), "{job}");
        }
        assert_eq!(sorted(io_lines(Who::Fio, &queued)), sorted(in_turn));
    }
}
