//! The engines of this system, whichever it is, on real files.

mod common;
#[path = "common/job.rs"]
mod job;

use common::spec;
use iosonde_base::{Errno, FileId, Op};
use iosonde_engine::{
    CATALOGUE, DEFAULT_ENGINE, ELSEWHERE, Ended, EngineDef, EngineSettings, FileSetup, OpenMode,
    elsewhere, find,
};
use iosonde_testing::Folder;
use iosonde_workload::{Directions, SourceSpec};
use job::{TestJob, at, one_file, ready};
use std::path::Path;

const BLOCK: u32 = 4096;
const BLOCKS: u64 = 24;

/// Engines that read and write any file.
fn movers() -> impl Iterator<Item = &'static &'static EngineDef> {
    let special = ["falloc", "ftruncate", "e4defrag", "splice", "page_fault"];
    CATALOGUE.iter().filter(move |def| {
        def.caps.has_descriptors() && !special.contains(&def.name) && (def.available)().is_ok()
    })
}

fn depth(def: &EngineDef) -> u32 {
    if def.caps.sync { 1 } else { 8 }
}

fn setup(def: &EngineDef, path: &Path, bytes: u64) -> FileSetup {
    let mut setup = at(path, bytes);
    setup.mode.overlapped = def.caps.overlapped;
    setup
}

fn run(def: &EngineDef, spec: &SourceSpec, setup: FileSetup) -> TestJob {
    ready(def.name, EngineSettings::default(), spec, vec![setup], depth(def)).go()
}

fn mark(at: u64, salt: u8) -> u8 {
    (at / 512) as u8 ^ salt
}

#[test]
fn the_default_engine_is_one_of_this_system_and_no_name_is_here_and_elsewhere() {
    assert!(find(DEFAULT_ENGINE).is_some());
    for other in ELSEWHERE {
        for (name, summary) in other.engines {
            assert!(find(name).is_none(), "{name}");
            assert!(!summary.is_empty(), "{name}");
            assert_eq!(elsewhere(name), Some(other.systems));
        }
    }
    assert_eq!(elsewhere(DEFAULT_ENGINE), None);
    assert_eq!(elsewhere("warp"), None);
}

#[test]
fn each_engine_writes_what_another_reads() {
    let folder = Folder::new("any-writes");
    for def in movers() {
        let path = folder.join(def.name);
        let bytes = BLOCKS * u64::from(BLOCK);
        std::fs::write(&path, vec![0xEE; bytes as usize]).unwrap();
        let salt = def.name.len() as u8;
        let source = one_file(Op::Write, BLOCK, BLOCKS);
        let setups = vec![setup(def, &path, bytes)];
        let mut job = ready(def.name, EngineSettings::default(), &source, setups, depth(def));
        for slot in 0..depth(def) {
            job.drive.memory.bytes(slot, BLOCK).fill(mark(u64::from(slot) * 512, salt));
        }
        let mut job = job.go();
        assert!(matches!(job.ended, Ended::Done), "{}: {:?}", def.name, job.ended);
        assert_eq!(job.counts(Op::Write), (BLOCKS, bytes, BLOCKS), "{}", def.name);
        job.close();
        let found = std::fs::read(&path).unwrap();
        assert_eq!(found.len() as u64, bytes, "{}", def.name);
        let slots: Vec<u8> =
            (0..depth(def)).map(|slot| mark(u64::from(slot) * 512, salt)).collect();
        for block in found.chunks(BLOCK as usize) {
            assert!(slots.contains(&block[0]), "{}: {:x}", def.name, block[0]);
            assert!(block.iter().all(|byte| *byte == block[0]), "{}: a block is mixed", def.name);
        }
    }
}

#[test]
fn each_engine_reads_in_any_order_and_syncs() {
    let folder = Folder::new("any-reads");
    for def in movers() {
        let path = folder.join(def.name);
        let bytes = BLOCKS * u64::from(BLOCK);
        std::fs::write(&path, vec![1; bytes as usize]).unwrap();
        let directions =
            Directions { read: true, write: true, random: true, ..Directions::default() };
        let mut source = spec(directions, BLOCK, bytes, 1);
        source.sync_every.fsync = 5;
        let mut job = run(def, &source, setup(def, &path, bytes));
        assert!(matches!(job.ended, Ended::Done), "{}: {:?}", def.name, job.ended);
        let (reads, writes) = (job.counts(Op::Read), job.counts(Op::Write));
        assert_eq!(reads.0 + writes.0, BLOCKS, "{}", def.name);
        assert_eq!(reads.1 + writes.1, bytes, "{}", def.name);
        job.close();
        job.drive.files.sync_all().unwrap();
        job.drive.files.sync_all_data().unwrap();
    }
}

#[test]
fn a_file_that_ends_before_the_job_does_is_an_end_with_the_place() {
    let folder = Folder::new("any-short");
    for def in movers() {
        let path = folder.join(def.name);
        std::fs::write(&path, vec![1; 2 * BLOCK as usize + 512]).unwrap();
        let mode = OpenMode { read: true, overlapped: def.caps.overlapped, ..OpenMode::default() };
        let setup = FileSetup::new(&path, mode, 4 * u64::from(BLOCK));
        let job = run(def, &one_file(Op::Read, BLOCK, 4), setup);
        if !def.caps.sync {
            // As in fio, a queue counts a read with what it moved, if only nothing.
            assert!(matches!(job.ended, Ended::Done), "{}: {:?}", def.name, job.ended);
            let counts = job.counts(Op::Read);
            assert_eq!((counts.0, counts.1), (4, 2 * u64::from(BLOCK) + 512), "{}", def.name);
            continue;
        }
        let failure = job.failure();
        assert_eq!((failure.doing, failure.file), ("read", Some(FileId(0))), "{}", def.name);
        let at = failure.offset.unwrap();
        assert!((2 * u64::from(BLOCK)..4 * u64::from(BLOCK)).contains(&at), "{}: {at}", def.name);
    }
}

#[test]
fn offsets_beyond_4_gib_are_reached() {
    let folder = Folder::new("any-far");
    let far = (4u64 << 30) + 3 * u64::from(BLOCK);
    for def in movers() {
        let path = folder.join(def.name);
        let file = std::fs::File::create(&path).unwrap();
        // Sparse where the file system knows holes: nothing but the blocks of the job takes room.
        if file.set_len(far + 4 * u64::from(BLOCK)).is_err() {
            iosonde_testing::skip!("no file of 4 GiB here");
        }
        drop(file);
        let mut source = one_file(Op::Write, BLOCK, 4);
        for file in &mut source.files {
            (file.offset, file.end) = (far, far + 4 * u64::from(BLOCK));
        }
        let mut setup = setup(def, &path, 4 * u64::from(BLOCK));
        setup.offset = far;
        let mut job = run(def, &source, setup);
        assert!(matches!(job.ended, Ended::Done), "{}: {:?}", def.name, job.ended);
        job.close();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), far + 4 * u64::from(BLOCK));
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error_of_its_name() {
    let folder = Folder::new("any-missing");
    for def in movers() {
        let mode = OpenMode { read: true, overlapped: def.caps.overlapped, ..OpenMode::default() };
        let setups = vec![FileSetup::new(folder.join("nowhere"), mode, u64::from(BLOCK))];
        let source = one_file(Op::Read, BLOCK, 1);
        let mut job = ready(def.name, EngineSettings::default(), &source, setups, depth(def));
        let failure = job.engine.open(&mut job.drive, FileId(0)).unwrap_err();
        assert_eq!((failure.doing, failure.errno), ("open", Errno::ENOENT), "{}", def.name);
    }
}

#[test]
fn a_trim_of_a_file_says_what_is_trimmed() {
    let folder = Folder::new("any-trim");
    for def in movers().filter(|def| def.caps.trim && !def.caps.trims_files) {
        let path = folder.join(def.name);
        std::fs::write(&path, vec![1; BLOCK as usize]).unwrap();
        let job = run(def, &one_file(Op::Trim, BLOCK, 1), setup(def, &path, u64::from(BLOCK)));
        let words = job.failure().detail.unwrap_or_default();
        assert!(words.contains("trimmed"), "{}: {:?}", def.name, job.failure());
    }
}
