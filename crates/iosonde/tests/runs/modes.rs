//! The smaller modes of a run: a pace where engines have loops of their own,
//! idleness of processors, a file that asks for an account.

use crate::support::running::wait_until;
use crate::support::{Who, at_once, iolog_ios, words};
use iosonde_testing::{Folder, has_fio_for_part};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// Whom a test can ask.
fn everybody() -> &'static [Who] {
    if has_fio_for_part() { &[Who::AsFio, Who::Fio] } else { &[Who::AsFio] }
}

#[test]
fn a_pace_is_kept_where_names_are_worked_on_as_in_fio() {
    let jobs: Vec<(Who, &str, &str, u64)> = everybody()
        .iter()
        .flat_map(|&who| {
            [
                (who, "filestat", "--rate_iops=50", 30),
                (who, "filecreate", "--rate_iops=50 --openfiles=1", 30),
                (who, "filestat", "--rate=200k", 30),
                (who, "filestat", "--thinktime=20ms", 30),
            ]
        })
        .collect();
    at_once(&jobs, |&(who, engine, pace, files)| {
        let folder = Folder::new("names");
        let line = format!(
            "--name=a --ioengine={engine} {pace} --nrfiles={files} --filesize=4k --rw=read \
             --output-format=json"
        );
        let document = who.run(&folder, &words(&line)).well().json();
        let read = &document["jobs"][0]["read"];
        assert_eq!(read["total_ios"], files, "{who:?} {line}");
        // The last of 30 at 50 a second starts after 580 ms; nothing is early.
        assert!(read["runtime"].as_u64().unwrap() >= 560, "{who:?} {line}: {read}");
    });
}

#[test]
fn a_latency_above_the_bound_ends_a_job_on_names() {
    let folder = Folder::new("names");
    let line = "--name=a --ioengine=filestat --nrfiles=20 --filesize=4k --max_latency=1";
    let ran = Who::AsFio.run(&folder, &words(line));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("exceeds specified max"), "{ran:?}");
}

#[test]
fn a_pace_that_can_hold_nothing_back_is_said_to() {
    let folder = Folder::new("cpuio");
    let line = "--name=a --ioengine=cpuio --cpuload=10 --rate_iops=10 --runtime=1 --time_based";
    let ran = Who::Native.run(&folder, &words(line)).well();
    assert!(ran.stdout.contains("ioengine=cpuio does no I/O that a rate"), "{ran:?}");
}

#[test]
fn idleness_of_processors_is_reported_as_fio_does() {
    let runs: Vec<(Who, &str)> =
        everybody().iter().flat_map(|&who| [(who, "system"), (who, "percpu")]).collect();
    let reported = at_once(&runs, |&(who, kind)| {
        let line = format!(
            "--name=a --ioengine=null --size=1g --rate_iops=10 --runtime=1 --time_based \
             --idle-prof={kind} --output-format=json,normal"
        );
        let text = who.run(&Folder::new("idle"), &words(&line)).well().stdout;
        let end = text.find("\n}\n").unwrap() + 3;
        let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..end]).unwrap();
        let idle = document["cpu_idleness"].as_object().unwrap().clone();
        for (name, percent) in idle.iter().filter(|(name, _)| !name.starts_with("unit")) {
            let percent = percent.as_f64().unwrap();
            // fio measures its unit while others run, and then finds more than all.
            let most = if who == Who::Fio { f64::INFINITY } else { 100.0 };
            assert!((0.0..=most).contains(&percent), "{who:?} {name}: {percent}");
        }
        assert!(idle["unit_mean"].as_f64().unwrap() > 0.0, "{idle:?}");
        let words = text[text.find("CPU idleness:").unwrap()..].to_owned();
        let shape = words.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        (idle.keys().cloned().collect::<Vec<String>>(), shorten(shape))
    });
    assert_eq!(reported[0].0, ["system", "unit_mean", "unit_stddev"]);
    assert_eq!(reported[1].0[1], "cpu-0");
    if let [system, each, fio_system, fio_each] = &reported[..] {
        assert_eq!((system, each), (fio_system, fio_each));
    }
}

/// Numbers of any length as one digit.
fn shorten(shape: String) -> String {
    let mut short = String::new();
    for c in shape.trim_end().chars() {
        if !(c == '9' && short.ends_with('9')) {
            short.push(c);
        }
    }
    short
}

#[test]
fn the_unit_of_idleness_is_printed_alone_and_other_words_are_refused() {
    let folder = Folder::new("idle");
    let reported = Who::AsFio.run(&folder, &["--idle-prof=calibrate"]).well().stdout;
    assert!(reported.starts_with("CPU idleness:\n  unit work: mean="), "{reported}");
    for wrong in ["", "all", "System"] {
        let ran = Who::AsFio.run(&folder, &[format!("--idle-prof={wrong}")]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("incorrect idle-prof option: "), "{ran:?}");
    }
}

#[test]
fn a_file_named_fio_dump_status_asks_for_an_account_and_is_removed() {
    let job = "--name=a --ioengine=null --rate_iops=100 --size=1g --runtime=100 --time_based";
    let jobs: Vec<(Who, &str)> = ["terse", "json", "json+", "normal", "terse,json"]
        .into_iter()
        .flat_map(|format| everybody().iter().map(move |&who| (who, format)))
        .collect();
    let reported = at_once(&jobs, |&(who, format)| {
        let folder = Folder::new("dump");
        let mut command = who.command(&folder);
        let out = std::fs::File::create(folder.join("out")).unwrap();
        command.env("TMPDIR", folder.path()).stdout(out).stderr(Stdio::null());
        let mut child = command
            .args(words(job))
            .args(["--eta=never".into(), format!("--output-format={format}")])
            .spawn()
            .unwrap();
        // Before it runs, fio looks for nothing.
        std::thread::sleep(Duration::from_millis(500));
        let asked = folder.write("fio-dump-status", "");
        wait_until("the file is taken", || !std::path::Path::new(&asked).exists());
        // fio keeps a text back until its end.
        let is_there = || who == Who::Fio || documents(&folder.read("out")) != (0, 0, 0);
        wait_until("an account is there", is_there);
        let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        child.wait().unwrap();
        documents(&folder.read("out"))
    });
    // fio may be ended before it has printed anything.
    let ours = reported.iter().zip(&jobs).filter(|(_, (who, _))| *who == Who::AsFio);
    for (reported, (who, format)) in ours {
        let (terse, json) =
            (2 * u32::from(format.contains("terse")), 2 * u32::from(format.contains("json")));
        assert_eq!((reported.0, reported.1), (terse, json), "{who:?} {format}");
        assert_eq!(reported.2 >= 2, *format == "normal", "{who:?} {format}");
    }
}

/// Lines of terse, whole documents of JSON, and reports in words.
fn documents(text: &str) -> (u32, u32, u32) {
    let terse = text.lines().filter(|line| line.starts_with("3;fio-")).count() as u32;
    let words = text.lines().filter(|line| line.contains("(groupid=0, jobs=1)")).count() as u32;
    let (mut whole, mut document) = (0, String::new());
    for line in text.lines() {
        if line == "{" {
            document.clear();
        }
        document.push_str(line);
        if line == "}" {
            let value: Value = serde_json::from_str(&document).unwrap();
            assert_eq!(value["jobs"].as_array().unwrap().len(), 1);
            whole += 1;
        }
    }
    (terse, whole, words)
}

#[test]
fn a_pool_of_threads_does_the_same_io_as_the_job_itself() {
    for engine in ["psync", "pvsync2", "mmap", "libaio", "io_uring", "splice"] {
        let folder = Folder::new("offload");
        let run = |mode: &str, log: &str| {
            let line = format!(
                "--name=a --ioengine={engine} --filename=f --rw=randrw --bsrange=4k-64k \
                 --size=4m --nrfiles=3 --iodepth=8 --fsync=16 --write_iolog={log} \
                 --io_submit_mode={mode} --output-format=json --loops=2"
            );
            Who::AsFio.run(&folder, &words(&line)).well().json()["jobs"][0].clone()
        };
        let (inline, offload) = (run("inline", "inline"), run("offload", "offload"));
        for way in ["read", "write", "sync"] {
            assert_eq!(inline[way]["total_ios"], offload[way]["total_ios"], "{engine} {way}");
        }
        assert_eq!(iolog_ios(&folder, "inline"), iolog_ios(&folder, "offload"), "{engine}");
    }
}

#[test]
fn a_pool_of_threads_is_as_deep_as_asked_also_where_one_thread_does_one_thing() {
    let folder = Folder::new("offload");
    let line = "--name=a --ioengine=psync --rw=randread --size=16m --iodepth=16 \
                --io_submit_mode=offload --output-format=json";
    let document = Who::AsFio.run(&folder, &words(line)).well().json();
    let levels = &document["jobs"][0]["iodepth_level"];
    // How often it is full depends on who gets the processors; of one thread
    // that does one thing it is never so deep.
    assert!(levels["16"].as_f64().unwrap() > 0.0, "{levels}");
    assert!(levels["1"].as_f64().unwrap() < 100.0, "{levels}");
}

#[test]
fn a_pool_of_threads_keeps_a_pace_and_due_times() {
    let folder = Folder::new("offload");
    let line = "--name=a --ioengine=psync --rw=randread --size=16m --iodepth=16 --runtime=1 \
                --time_based --rate_iops=1000 --io_submit_mode=offload --output-format=json";
    let document = Who::Native.run(&folder, &words(line)).well().json();
    let ios = document["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    // A busy machine is late, never early.
    assert!((1..=1001).contains(&ios), "{ios}");
    assert_eq!(document["iosonde"]["jobs"][0]["response_ns"]["read"]["N"], ios);
}

#[test]
fn a_pool_of_threads_reports_failures_and_engines_it_does_not_suit() {
    let folder = Folder::new("offload");
    let run = |options: &str| {
        let line = format!("--name=a --io_submit_mode=offload --iodepth=4 --size=64k {options}");
        Who::AsFio.run(&folder, &words(&line))
    };
    let full = run("--ioengine=psync --rw=write --filename=/dev/full");
    assert!(full.stderr.contains("No space left on device"), "{full:?}");
    assert!(!full.stderr.contains("os error"), "{full:?}");
    for engine in ["sync", "vsync", "filestat", "net --port=1"] {
        let refused = run(&format!("--ioengine={engine}"));
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("cannot be used by many threads"), "{refused:?}");
    }
}

#[test]
fn names_are_made_without_a_size_one_io_each_as_in_fio() {
    for who in everybody() {
        let folder = Folder::new("names");
        let line = "--name=a --ioengine=filecreate --nrfiles=3 --output-format=json";
        let document = who.run(&folder, &words(line)).well().json();
        assert_eq!(document["jobs"][0]["read"]["total_ios"], 3, "{who:?}");
        let expected = ["a.0.0", "a.0.1", "a.0.2"].map(|name| (name.to_owned(), 0));
        assert_eq!(folder.sizes(), expected, "{who:?}");
    }
}
