//! Engines that make, look up and remove files and directories.

mod common;
#[path = "common/job.rs"]
mod job;

use common::spec;
use iosonde_base::{Errno, Op};
use iosonde_engine::settings::{StatSettings, StatType};
use iosonde_engine::{Ended, EngineSettings, FileSetup, Tape};
use iosonde_testing::Folder;
use iosonde_workload::{Source, SourceSpec};
use job::{TestJob, at, only, ready};

const FILES: usize = 5;
const BLOCK: u32 = 4096;

/// Four I/Os in each of five names.
fn job(name: &str, settings: EngineSettings, folder: &Folder) -> TestJob {
    let setups = (0..FILES).map(|n| at(&folder.join(&format!("f{n}")), 4 * u64::from(BLOCK)));
    let setups: Vec<FileSetup> = setups.collect();
    ready(name, settings, &source_spec(), setups, 1)
}

fn source_spec() -> SourceSpec {
    spec(only(Op::Write), BLOCK, 4 * u64::from(BLOCK), FILES)
}

fn folder(name: &str) -> Folder {
    Folder::temporary(name)
}

fn names(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

fn every(folder: &Folder, make: impl Fn(&std::path::Path)) {
    (0..FILES).for_each(|n| make(&folder.join(&format!("f{n}"))));
}

/// Every I/O is counted; each name has one latency, and there is no total.
fn counted(job: &TestJob) {
    assert!(matches!(job.ended, Ended::Done), "{:?}", job.ended);
    assert_eq!(job.counts(Op::Write), (20, 20 * u64::from(BLOCK), FILES as u64));
    assert_eq!(job.counters.lanes[Op::Write as usize].lat.snapshot().n, 0);
    assert_eq!(job.counters.depth.level[0].get(), 20);
}

#[test]
fn filecreate_makes_empty_files_and_counts_every_block() {
    let folder = folder("filecreate");
    let job = job("filecreate", EngineSettings::default(), &folder).go();
    counted(&job);
    assert_eq!(names(&folder), FILES);
    assert_eq!(std::fs::metadata(folder.join("f4")).unwrap().len(), 0);
}

#[test]
fn filestat_looks_by_each_of_its_calls_and_changes_nothing() {
    let folder = folder("filestat");
    every(&folder, |path| std::fs::write(path, "x").unwrap());
    for stat in [StatType::Stat, StatType::Lstat] {
        counted(&job("filestat", EngineSettings::new(StatSettings(stat)), &folder).go());
    }
    assert_eq!(names(&folder), FILES);
}

#[test]
fn filedelete_removes_each_file_once() {
    let folder = folder("filedelete");
    every(&folder, |path| std::fs::write(path, "x").unwrap());
    counted(&job("filedelete", EngineSettings::default(), &folder).go());
    assert_eq!(names(&folder), 0);
    let again = job("filedelete", EngineSettings::default(), &folder).go();
    assert_eq!((again.failure().errno, again.failure().doing), (Errno::ENOENT, "delete"));
}

#[test]
fn directories_are_made_looked_up_and_removed() {
    let folder = folder("directories");
    counted(&job("dircreate", EngineSettings::default(), &folder).go());
    assert!(folder.join("f3").is_dir());
    counted(&job("dirstat", EngineSettings::default(), &folder).go());
    let again = job("dircreate", EngineSettings::default(), &folder).go();
    assert_eq!(again.failure().errno, Errno::EEXIST);
    assert!(again.failure().detail.is_some());
    counted(&job("dirdelete", EngineSettings::default(), &folder).go());
    assert_eq!(names(&folder), 0);
}

#[test]
fn logs_get_a_record_of_each_operation_and_none_of_the_other_blocks() {
    let folder = folder("tape");
    let mut job = job("filecreate", EngineSettings::default(), &folder);
    let (out, handed) = std::sync::mpsc::channel();
    let turn = move |full: Vec<_>| {
        // The test may have ended.
        let _ = out.send(full);
        Vec::with_capacity(64)
    };
    job.drive.tape = Some(Tape::new(Box::new(turn)));
    let mut job = job.go();
    job.drive.tape.as_mut().unwrap().hand_over();
    let records = handed.try_iter().flatten().count();
    assert_eq!(records, FILES);
}

#[test]
fn a_name_is_visited_again_after_it_was_closed() {
    let folder = folder("again");
    let mut job = job("filecreate", EngineSettings::default(), &folder).go();
    every(&folder, |path| std::fs::remove_file(path).unwrap());
    job.close();
    job.drive.source = Source::new(source_spec()).unwrap();
    job.ended = job.engine.run(&mut job.drive);
    assert_eq!(names(&folder), FILES);
    assert_eq!(job.counts(Op::Write).2, 2 * FILES as u64);
}
