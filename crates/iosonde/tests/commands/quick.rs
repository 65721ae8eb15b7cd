//! `iosonde quick PATH`: what it measures, and that nothing of anybody's is
//! touched and nothing is left.

use crate::support::running::{Running, wait_until};
use crate::support::{Who, words};
use iosonde_testing::Folder;
use rustix::process::Signal;

#[test]
fn a_directory_is_written_and_read_and_left_as_it_was() {
    let folder = Folder::new("quick");
    let line = "quick --seconds=1 --mib=16 --json .";
    let found = Who::Native.run(&folder, &words(line)).well().json();
    let tests = found["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 9, "{found:#}");
    assert!(tests.iter().all(|test| test["iops"].as_f64() > Some(0.0)), "{found:#}");
    let durable = tests.iter().filter(|test| test["durable"] == true).count();
    assert_eq!((durable, &found["kind"]), (1, &"directory".into()), "{found:#}");
    assert!(found["conclusion"].as_str().unwrap().contains("in sequence"), "{found:#}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_file_is_only_read() {
    let folder = Folder::new("quick-file");
    let data: Vec<u8> = (0..17u32 << 20).map(|at| (at % 251) as u8).collect();
    folder.write("data", &data);
    let text = Who::Native.run(&folder, &words("quick --seconds=1 data")).well().stdout;
    assert!(text.contains("random 4 KiB, depth 32") && text.contains("in sequence"), "{text}");
    assert!(!text.contains("durable"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(std::fs::read(folder.join("data")).unwrap(), data);
    assert_eq!(folder.names(), ["data"]);
}

/// Whether the process has a file open in this folder, with or without a name.
fn has_a_file_in(folder: &Folder, process: u32) -> bool {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let mut links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let folder = folder.path().canonicalize().unwrap();
    links.any(|link| link != folder && link.starts_with(&folder))
}

/// No handler of a signal is needed: the file has no name where the file system allows that.
#[test]
fn a_kill_leaves_no_file() {
    let folder = Folder::new("quick-kill");
    let mut running = Running::start(Who::Native, &folder, "quick --mib=64 .");
    wait_until("the temporary file", || has_a_file_in(&folder, running.id()));
    let is_named = !folder.names().is_empty();
    running.signal(Signal::KILL);
    running.end_within(crate::support::running::PATIENCE);
    assert_eq!(folder.names().len(), usize::from(is_named));
    if is_named {
        iosonde_testing::skip!("this file system has no files without names");
    }
}

#[test]
fn ctrl_c_leaves_no_file() {
    let folder = Folder::new("quick-stop");
    let mut running = Running::start(Who::Native, &folder, "quick --mib=64 .");
    wait_until("the temporary file", || has_a_file_in(&folder, running.id()));
    running.signal(Signal::INT);
    let ran = running.end_within(crate::support::running::PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(ran.stdout.contains("stopped"), "{ran:?}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_path_alone_is_measured_unless_it_is_a_job_file() {
    let folder = Folder::new("quick-path");
    folder.write("small", [0, 1, 2]);
    let refused = Who::Native.run(&folder, &words("small"));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("quick: small: it has 3 B"), "{refused:?}");
    folder.write("job.fio", "[job]\nioengine=null\nsize=64k\nrw=read\n");
    let ran = Who::Native.run(&folder, &words("job.fio")).well();
    assert!(ran.stdout.contains("job: read"), "{ran:?}");
    let missing = Who::Native.run(&folder, &words("quick none"));
    assert!(missing.stderr.contains("quick: none: No such file"), "{missing:?}");
}
