//! `io_submit_mode=offload`: threads do the I/Os of an engine, as many as the depth.

mod common;
#[path = "common/job.rs"]
mod job;

use common::{STRIDE, drive, spec, window};
use iosonde_base::{Errno, FileId, Op};
use iosonde_engine::{
    Accounting, CATALOGUE, Drive, Ended, EngineSettings, Failure, FileSetup, OpenMode, OpenWith,
    SyncRangeFlags, find,
};
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use iosonde_testing::Folder;
use iosonde_workload::SourceSpec;
use job::only;
use std::path::Path;
use std::sync::Arc;

const BLOCK: usize = 4096;
const BLOCKS: usize = 32;
const DEPTH: u32 = 8;

/// Those that read and write files and can be offloaded.
const ENGINES: [&str; 6] = ["psync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring"];

/// Those of `names` that this system has.
fn here<'a>(names: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    names.iter().copied().filter(|name| find(name).is_some())
}

fn setup(path: &Path, bytes: usize) -> FileSetup {
    let mode = OpenMode { read: true, write: true, ..OpenMode::default() };
    FileSetup::new(path, mode, bytes as u64)
}

/// Run to the end on the threads of `name`; close the files.
fn run(
    name: &str,
    spec: &SourceSpec,
    setups: Vec<FileSetup>,
    prepare: impl FnOnce(&mut Drive),
) -> (Ended, Drive, Arc<Counters>) {
    let clock = Clock::monotonic();
    let files = setups.len() as u32;
    let (mut drive, counters) = drive(clock, spec, setups, window(DEPTH, 1));
    let with = OpenWith {
        depth: DEPTH,
        files,
        memory: drive.memory.span(),
        clock,
        settings: EngineSettings::default(),
        sync_range: SyncRangeFlags(2),
    };
    let definition = CATALOGUE.iter().find(|engine| engine.name == name).unwrap();
    let open = definition.offload.unwrap_or_else(|| panic!("{name} cannot be offloaded"));
    let mut engine = open(&with, Accounting::Full).unwrap();
    prepare(&mut drive);
    for file in (0..files).map(FileId) {
        engine.open(&mut drive, file).unwrap();
    }
    let ended = engine.run(&mut drive);
    for file in (0..files).map(FileId) {
        engine.close(&mut drive, file).unwrap();
    }
    (ended, drive, counters)
}

fn failure(ended: &Ended) -> &Failure {
    match ended {
        Ended::Failed(failure) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

/// A byte that differs at each place of each buffer.
fn mark(slot: usize, at: usize) -> u8 {
    (slot * 89 + at / 256 + at * 7) as u8
}

#[test]
fn blocks_are_written_and_read_whole_by_whatever_thread() {
    for name in here(&ENGINES) {
        let folder = Folder::new("offload");
        // Two files, of which each thread must know.
        let paths = [folder.join("a"), folder.join("b")];
        for path in &paths {
            std::fs::write(path, vec![0; BLOCKS * BLOCK]).unwrap();
        }
        let setups = || paths.iter().map(|path| setup(path, BLOCKS * BLOCK)).collect();
        let of = |op| spec(only(op), BLOCK as u32, (BLOCKS * BLOCK) as u64, 2);
        let (ended, _, counters) = run(name, &of(Op::Write), setups(), |drive| {
            for slot in 0..DEPTH {
                let bytes = drive.memory.bytes(slot, STRIDE as u32);
                let marks = (0..).map(|at| mark(slot as usize, at));
                bytes.iter_mut().zip(marks).for_each(|(byte, mark)| *byte = mark);
            }
        });
        assert!(matches!(ended, Ended::Done), "{name}: {ended:?}");
        let lane = &counters.lanes[Op::Write as usize];
        assert_eq!((lane.ios.get(), lane.errors.get()), (2 * BLOCKS as u64, 0), "{name}");
        for path in &paths {
            for (number, block) in std::fs::read(path).unwrap().chunks(BLOCK).enumerate() {
                let of = |slot| block.iter().enumerate().all(|(at, &byte)| byte == mark(slot, at));
                assert!((0..DEPTH as usize).any(of), "{name}: block {number} of {path:?}");
            }
        }
        for (file, path) in paths.iter().enumerate() {
            std::fs::write(path, vec![file as u8 + 1; BLOCKS * BLOCK]).unwrap();
        }
        let (ended, mut drive, counters) = run(name, &of(Op::Read), setups(), |_| {});
        assert!(matches!(ended, Ended::Done), "{name}: {ended:?}");
        assert_eq!(counters.lanes[0].bytes.get(), (2 * BLOCKS * BLOCK) as u64, "{name}");
        for slot in 0..DEPTH {
            let bytes = drive.memory.bytes(slot, BLOCK as u32);
            let whole = bytes.iter().all(|&byte| byte == bytes[0]) && [1, 2].contains(&bytes[0]);
            assert!(whole, "{name}: slot {slot}");
        }
    }
}

#[test]
fn errors_come_back_from_the_threads_with_their_words() {
    for name in here(&ENGINES) {
        let folder = Folder::new("offload-errors");
        let path = folder.join("file");
        std::fs::write(&path, vec![0; BLOCKS * BLOCK]).unwrap();
        let trims = spec(only(Op::Trim), BLOCK as u32, (BLOCKS * BLOCK) as u64, 1);
        let (ended, ..) = run(name, &trims, vec![setup(&path, BLOCKS * BLOCK)], |_| {});
        let failure = failure(&ended);
        // Linux says that it is no device, Windows that it is not supported.
        let refusals = [Errno::ENOTTY, Errno::EOPNOTSUPP];
        assert_eq!(failure.doing, "trim", "{name}");
        assert!(refusals.contains(&failure.errno), "{name}: {failure:?}");
        let words = failure.detail.unwrap_or_default();
        assert!(words.contains("trimmed"), "{name}: {words:?}");
    }
}

#[test]
fn a_file_that_ends_too_early_is_reported_with_its_place() {
    for name in here(&["psync", "pvsync2", "io_uring", "libaio"]) {
        let folder = Folder::new("offload-short");
        let path = folder.join("file");
        std::fs::write(&path, vec![1; 3 * BLOCK]).unwrap();
        let reads = spec(only(Op::Read), BLOCK as u32, (BLOCKS * BLOCK) as u64, 1);
        let (ended, _, counters) = run(name, &reads, vec![setup(&path, BLOCKS * BLOCK)], |_| {});
        // As in fio, I/Os past the end count with what they moved.
        assert!(matches!(ended, Ended::Done), "{name}: {ended:?}");
        assert_eq!(counters.lanes[0].bytes.get(), 3 * BLOCK as u64, "{name}");
    }
}
