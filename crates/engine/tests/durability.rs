//! Syncs that fail, files that are closed, and the log of both.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/job.rs"]
mod job;

use iosonde_base::{Errno, FileId, Op};
use iosonde_engine::{Ended, EngineSettings, FileSetup, IoLog, OpenMode};
use iosonde_testing::Folder;
use iosonde_workload::SourceSpec;
use job::{TestJob, one_file, ready};
use std::path::Path;

const BLOCKS: u64 = 4;

fn setup(path: &Path) -> FileSetup {
    let mode = OpenMode { read: true, write: true, ..OpenMode::default() };
    FileSetup::new(path, mode, BLOCKS * 4096)
}

/// Writes to a device that takes them and cannot be synced: fsync(2) of /dev/null is EINVAL.
fn unsyncable(engine: &str, spec: &SourceSpec) -> TestJob {
    ready(engine, EngineSettings::default(), spec, vec![setup(Path::new("/dev/null"))], 1)
}

fn synced_writes(op: Op) -> SourceSpec {
    let mut spec = one_file(Op::Write, 4096, BLOCKS);
    match op {
        Op::Sync => spec.sync_every.fsync = 1,
        Op::DataSync => spec.sync_every.fdatasync = 1,
        _ => spec.sync_every.range = 1,
    }
    spec
}

const ENGINES: [&str; 6] = ["psync", "sync", "pvsync2", "libaio", "io_uring", "posixaio"];

#[test]
fn a_sync_that_fails_ends_the_job_and_says_what_it_was() {
    for engine in ENGINES {
        for (op, word) in
            [(Op::Sync, "fsync"), (Op::DataSync, "fdatasync"), (Op::SyncRange, "sync_file_range")]
        {
            let job = unsyncable(engine, &synced_writes(op)).go();
            assert_eq!(job.failure().doing, word, "{engine}: {:?}", job.failure());
            assert_eq!(job.failure().file, Some(FileId(0)), "{engine}");
            let expected = if op == Op::SyncRange { libc::ESPIPE } else { libc::EINVAL };
            assert_eq!(job.failure().errno, Errno(expected), "{engine} {word}");
            assert_eq!(job.counters.sync.errors.get(), 1, "{engine} {word}");
        }
    }
}

#[test]
fn a_sync_that_fails_and_is_tolerated_is_counted_each_time() {
    for engine in ENGINES {
        let mut job = unsyncable(engine, &synced_writes(Op::Sync));
        job.drive.tolerance.ignored[1] = vec![Errno::EINVAL];
        let job = job.go();
        assert!(matches!(job.ended, Ended::Done), "{engine}: {:?}", job.ended);
        assert_eq!(job.counts(Op::Write).0, BLOCKS, "{engine}");
        assert_eq!(job.counters.sync.errors.get(), BLOCKS, "{engine}");
        assert_eq!(job.drive.tolerance.tolerated, BLOCKS, "{engine}");
        assert_eq!(job.drive.tolerance.first, Some(Errno::EINVAL), "{engine}");
    }
}

#[test]
fn syncs_of_all_files_report_their_errors() {
    let mut job = unsyncable("psync", &one_file(Op::Write, 4096, BLOCKS)).go();
    for attempt in 0..2 {
        let failure = job.drive.sync_all().unwrap_err();
        assert_eq!((failure.doing, failure.errno), ("fsync", Errno::EINVAL));
        let failure = job.drive.sync_all_data().unwrap_err();
        assert_eq!((failure.doing, failure.errno), ("fdatasync", Errno::EINVAL));
        assert_eq!(failure.file, Some(FileId(0)));
        // A file that is closed by then is opened for it.
        if attempt == 0 {
            job.close();
            assert_eq!(job.drive.files.open_count(), 0);
        }
    }
    // One that the job never came to has nothing to sync.
    let nowhere = setup(Path::new("/no/such/file"));
    let spec = one_file(Op::Write, 4096, BLOCKS);
    let mut job = ready("psync", EngineSettings::default(), &spec, vec![nowhere], 1);
    job.drive.sync_all().unwrap();
    job.drive.sync_all_data().unwrap();
    job.drive.files.sync_file_systems().unwrap();
    // Any other error in opening it counts.
    let odd = setup(Path::new("/dev/null/below"));
    let mut job = ready("psync", EngineSettings::default(), &spec, vec![odd], 1);
    assert_eq!(job.drive.sync_all().unwrap_err().errno, Errno::ENOTDIR);
    let failure = job.drive.sync_file_systems().unwrap_err();
    assert_eq!((failure.doing, failure.errno), ("syncfs", Errno::ENOTDIR));
    assert_eq!(job.engine.connect(&mut job.drive).unwrap(), None, "it waits for nobody");
}

/// A job whose file is made durable as it is closed.
fn syncing_on_close(spec: &SourceSpec) -> TestJob {
    let file = FileSetup { sync_on_close: true, ..setup(Path::new("/dev/null")) };
    let mut job = ready("psync", EngineSettings::default(), spec, vec![file], 1);
    job.drive.tolerance.ignored[1] = vec![Errno::EINVAL];
    job.go()
}

#[test]
fn closing_makes_durable_what_no_sync_has() {
    let mut job = syncing_on_close(&one_file(Op::Write, 4096, BLOCKS));
    let failure = job.engine.close(&mut job.drive, FileId(0)).unwrap_err();
    assert_eq!((failure.doing, failure.errno), ("fsync", Errno::EINVAL));
    assert_eq!(failure.file, Some(FileId(0)));
    // The last entry was a sync: closing does none.
    let mut job = syncing_on_close(&synced_writes(Op::Sync));
    job.engine.close(&mut job.drive, FileId(0)).unwrap();
    assert_eq!(job.drive.files.open_count(), 0);
    // sync_file_range(2) makes nothing durable.
    let mut spec = synced_writes(Op::SyncRange);
    spec.total_bytes = BLOCKS * 4096;
    let file = FileSetup { sync_on_close: true, ..setup(Path::new("/dev/null")) };
    let mut job = ready("psync", EngineSettings::default(), &spec, vec![file], 1);
    job.drive.tolerance.ignored[1] = vec![Errno::ESPIPE];
    let mut job = job.go();
    assert!(job.engine.close(&mut job.drive, FileId(0)).is_err());
}

#[test]
fn the_log_has_each_write_and_sync_and_close_in_order() {
    for engine in ["psync", "io_uring", "libaio"] {
        let folder = Folder::new("logged");
        let (log, file) = (folder.join("log"), folder.join("file"));
        std::fs::write(&file, [0; BLOCKS as usize * 4096]).unwrap();
        let spec = synced_writes(Op::DataSync);
        let mut job = ready(engine, EngineSettings::default(), &spec, vec![setup(&file)], 1);
        let epoch = job.drive.clock.now();
        job.drive.log = Some(IoLog::open(&log, vec!["f".to_owned()], epoch).unwrap());
        let mut job = job.go();
        job.drive.sync_all().unwrap();
        job.drive.sync_all_data().unwrap();
        job.drive.sync_file_systems().unwrap();
        job.close();
        job.close();
        job.drive.log.take().unwrap().finish().unwrap();
        let text = folder.read("log");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["fio version 3 iolog", "0 f add"], "{engine}");
        let acts: Vec<String> =
            lines[2..].iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
        let mut expected = vec!["f open".to_owned()];
        for block in 0..BLOCKS {
            expected.push(format!("f write {} 4096", block * 4096));
            expected.push(format!("f datasync {} 4096", block * 4096));
        }
        let all = ["f sync 0 0", "f datasync 0 0", "f syncfs 0 0", "f close"];
        expected.extend(all.map(str::to_owned));
        let trimmed = |line: &String| line.split(" datasync").next().unwrap().to_owned();
        // The offset of a sync among the writes has no meaning.
        assert_eq!(acts.len(), expected.len(), "{engine}: {acts:?}");
        for (act, expected) in acts.iter().zip(&expected) {
            assert_eq!(trimmed(act), trimmed(expected), "{engine}: {acts:?}");
        }
        // The times are microseconds since the epoch, and never go back.
        let times: Vec<u64> = lines[1..]
            .iter()
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(times.is_sorted() && times.iter().all(|&us| us < 60_000_000), "{times:?}");
    }
}

#[test]
fn a_log_that_cannot_be_written_says_so_at_its_end() {
    let folder = Folder::new("full-log");
    let file = folder.write("file", [0; 4096]);
    let spec = one_file(Op::Write, 512, 8);
    let mut job =
        ready("psync", EngineSettings::default(), &spec, vec![setup(Path::new(&file))], 1);
    // Longer than what is kept before it is written.
    let name = "n".repeat(1 << 18);
    job.drive.log = Some(IoLog::open(Path::new("/dev/full"), vec![name], 0).unwrap());
    let job = job.go();
    assert!(matches!(job.ended, Ended::Done), "{:?}", job.ended);
    let mut log = job.drive.log.unwrap();
    assert!(log.has_failed());
    assert_eq!(log.finish().unwrap_err().raw_os_error(), Some(libc::ENOSPC));
}
