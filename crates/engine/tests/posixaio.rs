//! posixaio: what it writes it reads back, and its syncs go through the queue.
#![cfg(unix)]

mod common;
#[path = "common/job.rs"]
mod job;

use iosonde_base::Op;
use iosonde_engine::{Ended, EngineSettings};
use iosonde_testing::Folder;
use job::{at, one_file, ready};

const BLOCK: u32 = 4096;
const DEPTH: u32 = 8;

#[test]
fn every_block_lands_where_it_belongs_from_the_buffer_it_was_given() {
    let folder = Folder::temporary("posixaio");
    let path = folder.join("f");
    let spec = one_file(Op::Write, BLOCK, 64);
    let mut job = ready(
        "posixaio",
        EngineSettings::default(),
        &spec,
        vec![at(&path, spec.total_bytes)],
        DEPTH,
    );
    for slot in 0..DEPTH {
        job.drive.memory.bytes(slot, BLOCK).fill(slot as u8 + 1);
    }
    let written = job.go();
    assert!(matches!(written.ended, Ended::Done), "{:?}", written.ended);
    assert_eq!(written.counts(Op::Write), (64, 64 * u64::from(BLOCK), 64));
    assert_eq!(written.counters.lanes[Op::Write as usize].slat.snapshot().n, 64);
    let bytes = std::fs::read(&path).unwrap();
    for block in bytes.chunks(BLOCK as usize) {
        assert!((1..=DEPTH as u8).contains(&block[0]), "no slot holds {}", block[0]);
        assert!(block.iter().all(|&byte| byte == block[0]), "of two slots");
    }
    let spec = one_file(Op::Read, BLOCK, 64);
    let read = ready(
        "posixaio",
        EngineSettings::default(),
        &spec,
        vec![at(&path, spec.total_bytes)],
        DEPTH,
    );
    assert_eq!(read.go().counts(Op::Read), (64, 64 * u64::from(BLOCK), 64));
}

#[test]
fn syncs_go_through_the_queue_and_reads_past_the_end_move_nothing() {
    let folder = Folder::temporary("posixaio-sync");
    let path = folder.join("f");
    let mut spec = one_file(Op::Write, BLOCK, 16);
    spec.sync_every.fsync = 4;
    let job = ready(
        "posixaio",
        EngineSettings::default(),
        &spec,
        vec![at(&path, spec.total_bytes)],
        DEPTH,
    );
    let written = job.go();
    assert_eq!(written.counters.sync.ios.get(), written.counters.sync.lat.snapshot().n);
    assert!(written.counters.sync.ios.get() >= 3);
    let spec = one_file(Op::Read, BLOCK, 32);
    let read = ready(
        "posixaio",
        EngineSettings::default(),
        &spec,
        vec![at(&path, spec.total_bytes)],
        DEPTH,
    );
    let read = read.go();
    let (ios, bytes, _) = read.counts(Op::Read);
    assert_eq!((ios, bytes), (32, 16 * u64::from(BLOCK)));
}
