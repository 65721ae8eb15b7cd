//! Engines of calls other than read and write: falloc, ftruncate, splice,
//! page_fault.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/job.rs"]
mod job;

use common::nowhere;
use iosonde_base::{Errno, Op};
use iosonde_engine::{Ended, EngineSettings};
use iosonde_testing::Folder;
use job::{at, one_file, ready};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

const BLOCK: u32 = 4096;

fn file(name: &str, bytes: &[u8]) -> (Folder, PathBuf) {
    let folder = Folder::temporary(name);
    let path = folder.join("f");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn run(name: &str, op: Op, block: u32, blocks: u64, path: &std::path::Path) -> job::TestJob {
    let spec = one_file(op, block, blocks);
    ready(name, EngineSettings::default(), &spec, vec![at(path, spec.total_bytes)], 1).go()
}

#[test]
fn falloc_grows_by_writes_reserves_by_reads_and_punches_by_trims() {
    let (_folder, path) = file("falloc", &[]);
    let reserved = run("falloc", Op::Read, BLOCK, 8, &path);
    assert_eq!(reserved.counts(Op::Read), (8, 32768, 8));
    let now = std::fs::metadata(&path).unwrap();
    assert_eq!((now.len(), now.blocks() * 512 >= 32768), (0, true), "space without size");
    assert_eq!(run("falloc", Op::Write, BLOCK, 8, &path).counts(Op::Write), (8, 32768, 8));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 32768);
    std::fs::write(&path, [7; 32768]).unwrap();
    assert_eq!(run("falloc", Op::Trim, BLOCK, 4, &path).counts(Op::Trim), (4, 16384, 4));
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes[..16384].iter().all(|&byte| byte == 0), "punched");
    assert!(bytes[16384..].iter().all(|&byte| byte == 7), "left alone");
}

#[test]
fn ftruncate_sets_the_size_to_the_offset_of_the_last_write() {
    let (_folder, path) = file("ftruncate", &[1; 100_000]);
    let run_ = run("ftruncate", Op::Write, BLOCK, 8, &path);
    assert_eq!(run_.counts(Op::Write), (8, 32768, 8));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 28672);
    let reads = run("ftruncate", Op::Read, BLOCK, 8, &path);
    assert_eq!(reads.failure().errno, Errno::EINVAL);
    assert!(reads.failure().detail.unwrap().contains("only writes"));
}

#[test]
fn splice_moves_blocks_larger_than_a_pipe_whole() {
    // 60 KiB fit in the buffers of these tests, and in a pipe of 4 KiB pages not.
    for block in [BLOCK, 512, 60 * 1024] {
        let bytes: Vec<u8> = (0..4 * block).map(|at| (at / 100) as u8).collect();
        let (_folder, path) = file("splice", &bytes);
        let mut read = run("splice", Op::Read, block, 4, &path);
        assert_eq!(read.counts(Op::Read), (4, u64::from(4 * block), 4));
        assert_eq!(read.counters.lanes[0].short.get(), 0);
        let last = read.drive.memory.bytes(0, block).to_vec();
        assert_eq!(last[..], bytes[3 * block as usize..], "the last block read");

        let spec = one_file(Op::Write, block, 4);
        let mut job =
            ready("splice", EngineSettings::default(), &spec, vec![at(&path, spec.total_bytes)], 1);
        job.drive.memory.bytes(0, block).fill(0xA5);
        let written = job.go();
        assert!(matches!(written.ended, Ended::Done), "{:?}", written.ended);
        assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 0xA5));
    }
}

#[test]
fn splice_says_where_a_file_ends() {
    let (_folder, path) = file("splice-end", &[1; 4096]);
    let read = run("splice", Op::Read, BLOCK, 2, &path);
    assert_eq!(read.counts(Op::Read).0, 1);
    assert_eq!((read.failure().errno, read.failure().offset), (Errno::EIO, Some(4096)));
}

#[test]
fn page_fault_faults_on_each_page_and_anew_in_the_next_round() {
    let faults = || iosonde_sys::counters::Usage::of_thread().unwrap().minor_faults;
    let spec = one_file(Op::Write, 16384, 64);
    let job =
        ready("page_fault", EngineSettings::default(), &spec, vec![nowhere(spec.total_bytes)], 1);
    let before = faults();
    let mut job = job.go();
    let pages = spec.total_bytes / rustix::param::page_size() as u64;
    assert!(faults() - before >= pages, "each page once");
    assert_eq!(job.counts(Op::Write), (64, spec.total_bytes, 64));
    job.drive.source = iosonde_workload::Source::new(spec.clone()).unwrap();
    let before = faults();
    job.ended = job.engine.run(&mut job.drive);
    assert!(matches!(job.ended, Ended::Done), "{:?}", job.ended);
    assert!(faults() - before >= pages, "each page once more");
}
