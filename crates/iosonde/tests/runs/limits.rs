//! Limits of the process (ulimit): an error and a report, never an abort.

use crate::support::{Who, words};
use iosonde_testing::Folder;
use std::fmt::Write as _;
use std::process::{Command, Output};

/// The program with these words, under a limit.
fn limited(limit: &str, folder: &Folder, line: &str) -> Output {
    let program = Who::Native.command(folder);
    let line = words(line).join(" ");
    let script = format!("ulimit {limit}; exec {} {line}", program.get_program().display());
    Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap()
}

const JOB: &str = "--name=j --filename=f --rw=read --bs=4k --size=64k";

#[test]
fn a_small_stack_is_enough() {
    let folder = Folder::new("limits-stack");
    let ran = limited("-s 128", &folder, JOB);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}

#[test]
fn few_descriptors_are_an_error_that_says_so() {
    let folder = Folder::new("limits-files");
    let ran = limited("-n 5", &folder, JOB);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("Too many open files"), "{ran:?}");
}

#[test]
fn jobs_that_have_no_room_in_the_address_space_are_refused() {
    let folder = Folder::new("limits-addresses");
    let ran = limited("-v 200000", &folder, &format!("{JOB} --numjobs=200"));
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("of address space") && said.contains("ulimit -v"), "{said}");
    assert!(!folder.join("f").exists(), "nothing was done");
    let ran = limited("-v 400000", &folder, &format!("{JOB} --numjobs=20"));
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}

#[test]
fn a_limit_of_data_is_known_beforehand_as_one_of_addresses() {
    let folder = Folder::new("limits-data");
    let line = format!("{JOB} --numjobs=20 --ioengine=io_uring --iodepth=64");
    let ran = limited("-d 10000", &folder, &line);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("of address space") && said.contains("-d)"), "{said}");
    let ran = limited("-d 400000", &folder, JOB);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}

#[test]
fn thousands_of_sections_take_little_memory() {
    let folder = Folder::new("limits-sections");
    let mut text = String::new();
    for section in 0..50_000 {
        let _ = write!(text, "[job{section}]\nrw=read\nsize=4k\n");
    }
    folder.write("many.fio", text);
    // 13 kB a section were 651 MB; 2 kB are 100 MB, and the program itself takes some.
    let ran = limited("-v 200000", &folder, "--parse-only many.fio");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
}
