//! A run that failed, or was stopped, says so first in every output.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Who, words};
use iosonde_testing::Folder;
use rustix::process::Signal;
use serde_json::Value;

const JOB: &str = "--name=w --filename=vf --size=32k --bs=4k --verify=crc32c";

/// A file that a job wrote, with a byte changed.
fn corrupt(folder: &Folder) {
    Who::Native.run(folder, &words(&format!("{JOB} --rw=write --do_verify=0"))).well();
    let mut data = std::fs::read(folder.join("vf")).unwrap();
    data[20480 + 100] ^= 1;
    std::fs::write(folder.join("vf"), data).unwrap();
}

#[test]
fn a_wrong_block_is_the_first_line_of_every_output() {
    let folder = Folder::new("outcome-wrong");
    corrupt(&folder);
    let run = |more: &str| {
        let ran = Who::Native.run(&folder, &words(&format!("{JOB} --rw=read {more}")));
        assert_ne!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    let begins =
        "FAILED: 1 of 6 blocks is not what was written (job w, vf at offset 20480; iosonde";
    let text = run("--html=page.html").replace('\n', " ");
    assert!(text.contains(begins) && !text.contains("Limited by"), "{text}");
    assert!(!text.contains("clean"), "{text}");
    let page = folder.read("page.html");
    assert!(page.contains(begins) && page.contains("6 checked, 1 wrong"), "not on the page");
    assert!(run("--output-format=markdown").starts_with("**FAILED: 1 of 6 blocks"));
    let csv = run("--output-format=csv");
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(row[17], "1", "errors: {csv}");
    assert!(csv.contains(begins), "{csv}");
    let json = run("--output-format=json");
    folder.write("r.json", &json);
    let document: Value = serde_json::from_str(&json).unwrap();
    let conclusion = &document["iosonde"]["conclusion"];
    assert_eq!(conclusion["outcome"], "failed");
    assert_eq!(conclusion["usable"], "no");
    assert!(conclusion["text"].as_str().unwrap().starts_with(begins), "{conclusion}");
    for format in ["text", "csv", "markdown"] {
        let report = Who::Native.run(&folder, &["report", "r.json", "--format", format]).well();
        let text = report.stdout.replace('\n', " ");
        assert!(text.contains("FAILED: 1 of 6 blocks"), "{text}");
        assert!(!text.contains("multibyte"), "{text}");
    }
    // An older version of iosonde wrote no outcome; fio writes a number only.
    let mut old = document.clone();
    let lines = |document: &Value| {
        folder.write("old.json", document.to_string());
        Who::Native.run(&folder, &["report", "old.json"]).well().stdout
    };
    old["iosonde"]["conclusion"] =
        serde_json::json!({"limited_by": "storage", "text": "Limited by vda; usable."});
    assert!(lines(&old).contains("FAILED: 1 of 6 blocks"), "{}", lines(&old));
    old.as_object_mut().unwrap().remove("iosonde");
    assert!(lines(&old).contains("FAILED: job w: "), "{}", lines(&old));
}

#[test]
fn the_command_that_is_named_shows_the_block() {
    let folder = Folder::new("outcome-diagnose");
    corrupt(&folder);
    let ran = Who::Native.run(&folder, &words(&format!("{JOB} --rw=read --output-format=json")));
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = document["iosonde"]["conclusion"]["text"].as_str().unwrap();
    let (_, command) = text.split_once("; iosonde ").unwrap();
    let command = command.strip_suffix(").").unwrap();
    let shown = Who::Native.run(&folder, &words(command));
    assert!(shown.stdout.contains("20480"), "{shown:?}");
}

#[test]
fn jobs_that_failed_are_counted_and_have_a_row() {
    let folder = Folder::new("outcome-jobs");
    let line = "--name=a --ioengine=null --size=4k --rw=read --name=b --filename=nowhere-x \
                --size=4k --rw=read --allow_file_create=0 --ioengine=psync";
    let text = Who::Native.run(&folder, &words(line)).stdout.replace('\n', " ");
    assert!(text.contains("FAILED: 1 of 2 jobs: b: ") && text.contains("nowhere-x"), "{text}");
    let csv = Who::Native.run(&folder, &words(&format!("--output-format=csv {line}"))).stdout;
    assert!(csv.lines().any(|line| line.starts_with("b,0,1,,,,")), "{csv}");
}

#[test]
fn a_run_that_a_signal_ends_says_after_how_long() {
    let folder = Folder::new("outcome-stopped");
    let line = "--name=s --ioengine=sim --sim_latency=10ms --size=1m --rw=read --time_based \
                --runtime=500 --debug=io --output=out --output-format=json";
    let mut program = Running::start(Who::Native, &folder, line);
    program.wait_for_text("ddir=0");
    program.signal(Signal::INT);
    program.end_within(PATIENCE);
    let text = folder.read("out");
    let document = text.find("\n{").map_or(&text[..], |at| &text[at..]);
    let document: Value = serde_json::from_str(document).unwrap();
    let conclusion = &document["iosonde"]["conclusion"];
    assert_eq!(conclusion["outcome"], "stopped", "{conclusion}");
    let text = conclusion["text"].as_str().unwrap();
    assert!(text.starts_with("Stopped after ") && text.contains(" of 500 s (SIGINT)"), "{text}");
}

#[test]
fn tolerated_errors_are_in_the_sentence() {
    let folder = Folder::new("outcome-tolerated");
    corrupt(&folder);
    let line = format!("{JOB} --rw=read --continue_on_error=verify --output-format=json");
    let ran = Who::Native.run(&folder, &words(&line));
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = document["iosonde"]["conclusion"]["text"].as_str().unwrap();
    assert!(text.starts_with("FAILED: 1 of 8 blocks is not what was written"), "{text}");
}

#[test]
fn studies_whose_runs_fail_say_so_first() {
    let folder = Folder::new("outcome-studies");
    corrupt(&folder);
    let run = |command: &str, more: &str| {
        let line = words(&format!("{command} {JOB} --rw=read {more}"));
        let ran = Who::Native.run(&folder, &line);
        assert_ne!(ran.code, Some(0), "{ran:?}");
        ran
    };
    let swept = run("sweep", "--over iodepth=1,2 --rounds 1 --ramp 0 -o swept");
    let text = swept.stdout.replace('\n', " ");
    assert!(text.starts_with("FAILED: 2 of 2 points: iodepth=1: job w: verify of"), "{swept:?}");
    let page = folder.read("swept/sweep.html");
    let block = "<section class=\"answer failed\"><p class=\"conclusion\">FAILED: 2 of 2 points";
    assert!(page.contains(block), "{page}");
    let compared = run("compare", "--a=--iodepth=1 --b=--iodepth=2");
    let all = format!("{}{}", compared.stdout, compared.stderr);
    assert!(all.contains("FAILED: job w: verify of"), "{compared:?}");
}
