//! One job, run to its end on an engine of the catalogue.
#![allow(dead_code)] // Each test file uses its share.

use crate::common::{drive, spec, window};
use iosonde_base::{FileId, Op};
use iosonde_engine::{
    Accounting, Drive, Ended, EngineSettings, Failure, FileSetup, Loop, OpenMode, OpenWith,
    SyncRangeFlags, find,
};
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use iosonde_workload::{Directions, SourceSpec};
use std::path::Path;
use std::sync::Arc;

/// The results of a run.
pub struct TestJob {
    pub ended: Ended,
    pub drive: Drive,
    pub counters: Arc<Counters>,
    pub engine: Box<dyn Loop>,
    files: usize,
}

/// One direction, in order.
pub fn only(op: Op) -> Directions {
    let (read, write, trim) = (op == Op::Read, op == Op::Write, op == Op::Trim);
    Directions { read, write, trim, ..Directions::default() }
}

/// A file that is read and written.
pub fn at(path: &Path, bytes: u64) -> FileSetup {
    let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
    FileSetup::new(path, mode, bytes)
}

/// Open `name` for this job and its files, without running it.
pub fn ready(
    name: &str,
    settings: EngineSettings,
    spec: &SourceSpec,
    setups: Vec<FileSetup>,
    depth: u32,
) -> TestJob {
    let clock = Clock::monotonic();
    let files = setups.len();
    let (drive, counters) = drive(clock, spec, setups, window(depth, 1));
    let with = OpenWith {
        depth,
        files: files as u32,
        memory: drive.memory.span(),
        clock,
        settings,
        sync_range: SyncRangeFlags(2),
    };
    let engine = (find(name).unwrap().open)(&with, Accounting::Full).unwrap();
    TestJob { ended: Ended::Time, drive, counters, engine, files }
}

impl TestJob {
    /// Open the files and run to the end of the pass.
    pub fn go(mut self) -> TestJob {
        for file in 0..self.files {
            self.engine.open(&mut self.drive, FileId(file as u32)).unwrap();
        }
        self.engine.connect(&mut self.drive).unwrap();
        self.ended = self.engine.run(&mut self.drive);
        self
    }

    /// Close the files, as at the end of a pass.
    pub fn close(&mut self) {
        for file in 0..self.files {
            self.engine.close(&mut self.drive, FileId(file as u32)).unwrap();
        }
    }

    pub fn failure(&self) -> &Failure {
        match &self.ended {
            Ended::Failed(failure) => failure,
            other => panic!("no failure: {other:?}"),
        }
    }

    /// I/Os, bytes, latencies of one direction.
    pub fn counts(&self, op: Op) -> (u64, u64, u64) {
        let lane = &self.counters.lanes[op as usize];
        (lane.ios.get(), lane.bytes.get(), lane.clat.snapshot().n)
    }
}

/// A job in `blocks` blocks of `block` bytes in one file.
pub fn one_file(op: Op, block: u32, blocks: u64) -> SourceSpec {
    spec(only(op), block, u64::from(block) * blocks, 1)
}
