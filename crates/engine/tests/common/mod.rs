//! Building blocks for the tests of loops and engines.
#![allow(dead_code)] // Each test file uses its share.

use iosonde_base::{Op, PerDir, Planned, Ring};
use iosonde_direct::AlignedBuf;
use iosonde_engine::{Drive, FileSetup, Memory, OpenMode, Window};
use iosonde_stats::{Counters, CountersWriter, WhichLatencies};
use iosonde_sys::clock::Clock;
use iosonde_workload::{Directions, Refill, Sizes, Source, SourceFile, SourceSpec};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of each slot's buffer.
pub const STRIDE: usize = 1 << 16;

/// A window with all its sizes equal to `batch`.
pub fn window(depth: u32, batch: u32) -> Window {
    Window { depth, batch, reap_min: 1, reap_max: depth, low: depth, serialize_overlap: false }
}

/// A file that is nowhere, for engines without files.
pub fn nowhere(bytes: u64) -> FileSetup {
    FileSetup::new(PathBuf::new(), OpenMode::default(), bytes)
}

/// A spec over `files` files of `bytes` each.
pub fn spec(directions: Directions, block: u32, bytes: u64, files: usize) -> SourceSpec {
    let file = |n: usize| SourceFile {
        name: format!("f{n}"),
        offset: 0,
        size: bytes,
        end: bytes,
        later_offset: None,
    };
    SourceSpec {
        directions,
        sizes: PerDir::all(Sizes::Fixed(block)),
        files: (0..files).map(file).collect(),
        total_bytes: bytes * files as u64,
        ..SourceSpec::default()
    }
}

/// All that a source will plan, pass after pass.
pub fn plan(spec: &SourceSpec) -> Vec<Planned> {
    let (mut source, mut ring) = (Source::new(spec.clone()).unwrap(), Ring::default());
    let mut all = Vec::new();
    loop {
        let refill = source.refill(&mut ring);
        while let Some(entry) = ring.pop() {
            all.push(entry);
        }
        match refill {
            Refill::Planned => {}
            Refill::PassDone => source.next_pass(),
            Refill::Done | Refill::Broken => return all,
        }
    }
}

/// How many entries of one kind a plan has, and their bytes.
pub fn tally(plan: &[Planned], op: Op) -> (u64, u64) {
    let of_kind = plan.iter().filter(|entry| entry.op == op);
    (of_kind.clone().count() as u64, of_kind.map(|entry| u64::from(entry.len)).sum())
}

/// A drive over files that keeps every latency.
pub fn drive(
    clock: Clock,
    spec: &SourceSpec,
    setups: Vec<FileSetup>,
    window: Window,
) -> (Drive, Arc<Counters>) {
    let which = WhichLatencies {
        syncs: true,
        slat: true,
        clat: true,
        lat: true,
        response: PerDir::all(false),
        dirs: PerDir([true, true, true]),
    };
    let (writer, counters) = CountersWriter::new(&which);
    let bytes = AlignedBuf::new(window.depth as usize * STRIDE, 4096).unwrap();
    let memory = Memory::new(bytes, window.depth, STRIDE);
    let drive =
        Drive::new(clock, Source::new(spec.clone()).unwrap(), setups, memory, writer, window);
    drive.control.arm(u64::MAX);
    (drive, counters)
}
