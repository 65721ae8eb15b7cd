//! The cost of a verified I/O in the loop: a 4 KiB random write with its block, and the read that
//! checks it.
//!
//! `verify_cost TYPE write|check|plain IOS FILE`: the difference of two runs under callgrind,
//! divided by the difference of their I/Os, is the number of instructions for each (psync):
//!
//! ```sh
//! cargo build --release -p iosonde-engine --example verify_cost
//! truncate -s 64m /dev/shm/f
//! for n in 2000 12000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/verify_cost crc32c write $n /dev/shm/f
//! done
//! ```
//!
//! `check` writes and checks: less `write`, it is the check. `plain` writes without verify.

use iosonde_base::{FileId, PerDir};
use iosonde_direct::AlignedBuf;
use iosonde_engine::{
    Accounting, Drive, Ended, EngineSettings, FileSetup, Fill, Memory, OpenMode, OpenWith,
    SyncRangeFlags, Verifying, Window,
};
use iosonde_stats::{CountersWriter, WhichLatencies};
use iosonde_sys::clock::{Clock, ClockSource};
use iosonde_verify::{
    Backlogs, BlockContent, BlockFormat, BlockType, CheckOrder, Checks, VerifyJob, VerifySpec,
};
use iosonde_workload::{Directions, MapMode, Source, SourceFile, SourceSpec};

const BLOCK: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, act, ios, path] = &arguments[..] else {
        return Err("verify_cost TYPE write|check|plain IOS FILE".into());
    };
    let block_type = BlockType::from_name(name).ok_or("TYPE is as in verify=")?;
    let ios: u64 = ios.parse()?;
    let bytes = std::fs::metadata(path)?.len();

    let clock = Clock::pick(ClockSource::Cpu)?;
    let memory = Memory::new(AlignedBuf::new(BLOCK, BLOCK)?, 1, BLOCK);
    let with = OpenWith {
        depth: 1,
        files: 1,
        memory: memory.span(),
        clock,
        settings: EngineSettings::default(),
        sync_range: SyncRangeFlags::default(),
    };
    let engine = iosonde_engine::find("psync").ok_or("no such engine")?;
    let mut engine = (engine.open)(&with, Accounting::Full).map_err(|error| error.message)?;
    let verify = match act.as_str() {
        "plain" => None,
        _ => {
            let spec = verify_spec(block_type, act == "check")?;
            let on_wrong = Box::new(|wrong: &_| eprintln!("wrong: {wrong:?}"));
            let job = VerifyJob::new(spec, None);
            Some(Box::new(Verifying::new(job, clock.now(), None, on_wrong)))
        }
    };
    let mut drive = drive(clock, memory, source(ios, bytes), path.clone(), verify)?;

    engine.open(&mut drive, FileId(0)).map_err(|failure| format!("{failure:?}"))?;
    drive.control.arm(u64::MAX);
    loop {
        match engine.run(&mut drive) {
            Ended::Done => break,
            Ended::Pass => {
                let verify = drive.verify.as_mut().ok_or("one pass is all")?;
                verify.job.begin_check();
            }
            Ended::Time => {}
            Ended::Failed(failure) => return Err(format!("{failure:?}").into()),
        }
    }
    let counters = drive.writer.counters();
    let [read, written] = [0, 1].map(|lane: usize| counters.lanes[lane].ios.get());
    println!("{written} written, {read} checked");
    Ok(())
}

fn verify_spec(block_type: BlockType, reads_back: bool) -> Result<VerifySpec, String> {
    let format = BlockFormat::new(block_type, 0, 0, BlockContent::Seeded, BLOCK);
    Ok(VerifySpec {
        format: format.map_err(|error| error.to_string())?,
        checks: Checks::Writes,
        moves_data: true,
        order: CheckOrder::Issue,
        backlogs: Backlogs {
            verify: reads_back,
            verify_after: 0,
            verify_batch: 0,
            trim_after: 0,
            trim_batch: 0,
            trimmed_are_zero: true,
        },
        draws_again: false,
        only_synced: false,
        until: None,
        ios_most: u64::MAX,
        wraps: false,
        pass_bytes_most: u64::MAX,
        files: [1, 1],
        compare_seed: true,
        compare_number: true,
        trim_percentage: 0,
        randseed: 1,
        thread: 1,
        wide: false,
        repeat: true,
        slots: 1,
    })
}

/// The state of the loop.
fn drive(
    clock: Clock,
    memory: Memory,
    spec: SourceSpec,
    path: String,
    verify: Option<Box<Verifying>>,
) -> Result<Drive, Box<dyn std::error::Error>> {
    let which = WhichLatencies {
        syncs: true,
        slat: false,
        clat: true,
        lat: false,
        response: PerDir([false; 3]),
        dirs: PerDir([verify.is_some(), true, false]),
    };
    let bytes = spec.files[0].size;
    let source = Source::new(spec).map_err(|error| error.to_string())?;
    let mode = OpenMode { read: true, write: true, ..OpenMode::default() };
    let file = FileSetup::new(path, mode, bytes);
    let writer = CountersWriter::new(&which).0;
    Ok(Drive {
        fill: Fill::new(1, verify.is_none()),
        verify,
        ..Drive::new(clock, source, vec![file], memory, writer, Window::ONE)
    })
}

/// 4 KiB random writes, each place once.
fn source(ios: u64, size: u64) -> SourceSpec {
    SourceSpec {
        directions: Directions { write: true, random: true, ..Directions::default() },
        map: MapMode::On,
        files: vec![SourceFile {
            name: "f".into(),
            offset: 0,
            size,
            end: size,
            later_offset: None,
        }],
        total_bytes: size,
        number_ios: ios,
        verify: true,
        ..SourceSpec::default()
    }
}
