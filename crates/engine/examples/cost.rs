//! What one I/O costs in the loop itself.
//!
//! `cost CASE IOS [FILE]`: the difference of two runs under callgrind, divided by
//! the difference of their I/Os, is the number of instructions for each:
//!
//! ```sh
//! cargo build --release -p iosonde-engine --example cost
//! for n in 100000 500000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/cost qd1 $n
//! done
//! ```
//!
//! The cases `psync` and `io_uring` read FILE. Those that begin with `waits` start
//! 5000 I/Os a second, and wait for each: `callgrind_annotate --inclusive=yes`
//! shows what of that is the wait itself (`Sleeper`).
//!
//! The processor's counter is read even where valgrind hides that it is steady.

use iosonde_base::{FileId, PerDir};
use iosonde_direct::AlignedBuf;
use iosonde_engine::{
    Accounting, Drive, Ended, EngineSettings, FileSetup, JobContext, Loop, Memory, OpenMode,
    OpenWith, Pacing, SyncRangeFlags, Window,
};
use iosonde_options::{Origin, ParseContext, Topic};
use iosonde_stats::{Counters, CountersWriter, WhichLatencies};
use iosonde_sys::clock::{Clock, ClockSource};
use iosonde_workload::{
    Cap, Directions, MapMode, Pace, PaceSpec, Process, Source, SourceFile, SourceSpec,
};
use std::sync::Arc;

/// The settings of a case.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    engine: &'static str,
    depth: u32,
    batch: u32,
    accounting: Accounting,
    map: MapMode,
    pace: Paced,
}

/// How the case is paced.
#[derive(Clone, Copy, PartialEq)]
enum Paced {
    Not,
    /// By a rate so high that nothing ever waits.
    Even,
    /// The same by a Poisson process.
    Poisson,
    /// 5000 I/Os a second.
    Waits,
}

const PLAIN: Case = Case {
    name: "",
    engine: "null",
    depth: 1,
    batch: 1,
    accounting: Accounting::Full,
    map: MapMode::Off,
    pace: Paced::Not,
};

const CASES: [Case; 16] = [
    Case { name: "qd1", ..PLAIN },
    Case { name: "qd32b32", depth: 32, batch: 32, ..PLAIN },
    Case { name: "qd32b1", depth: 32, ..PLAIN },
    Case { name: "counts", accounting: Accounting::CountsOnly, ..PLAIN },
    Case { name: "counts32", depth: 32, batch: 32, accounting: Accounting::CountsOnly, ..PLAIN },
    Case { name: "map", map: MapMode::On, ..PLAIN },
    Case { name: "paced", pace: Paced::Even, ..PLAIN },
    Case { name: "poisson", pace: Paced::Poisson, ..PLAIN },
    Case { name: "paced32", depth: 32, pace: Paced::Even, ..PLAIN },
    Case { name: "waits", pace: Paced::Waits, ..PLAIN },
    Case { name: "waits32", depth: 32, pace: Paced::Waits, ..PLAIN },
    Case { name: "psync", engine: "psync", ..PLAIN },
    Case { name: "psync_waits", engine: "psync", pace: Paced::Waits, ..PLAIN },
    Case { name: "io_uring", engine: "io_uring", depth: 128, batch: 32, ..PLAIN },
    Case { name: "io_uring_waits", engine: "io_uring", depth: 32, pace: Paced::Waits, ..PLAIN },
    Case { name: "io_uring_one", engine: "io_uring", ..PLAIN },
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let ios: u64 = arguments.next().ok_or("cost CASE IOS [FILE]")?.parse()?;
    let path = arguments.next().unwrap_or_default();
    let names = CASES.map(|case| case.name).join(", ");
    let case = CASES.iter().find(|case| case.name == name).ok_or(format!("CASE is {names}"))?;

    let clock = Clock::pick(ClockSource::Cpu)?;
    let bytes = if path.is_empty() { 100 << 30 } else { std::fs::metadata(&path)?.len() };
    let memory = AlignedBuf::new(case.depth as usize * 4096, 4096)?;
    let memory = Memory::new(memory, case.depth, 4096);
    let mut engine = open(case, clock, &memory)?;
    let (mut drive, counters) = drive(case, clock, memory, spec(case, ios, bytes), path)?;

    engine.open(&mut drive, FileId(0)).map_err(|failure| format!("{failure:?}"))?;
    drive.control.arm(u64::MAX);
    let start = clock.now();
    let ended = loop {
        match engine.run(&mut drive) {
            Ended::Pass => {}
            ended => break ended,
        }
    };
    let took = clock.ns_between(start, clock.now());
    let done = counters.lanes[0].ios.get();
    if !matches!(ended, Ended::Done) || done != ios {
        return Err(format!("{done} of {ios} I/Os: {ended:?}").into());
    }
    println!("{name}: {done} I/Os, {:.1} ns each", took as f64 / done as f64);
    Ok(())
}

/// The engine of a case, in its loop.
fn open(case: &Case, clock: Clock, memory: &Memory) -> Result<Box<dyn Loop>, String> {
    let with = OpenWith {
        depth: case.depth,
        files: 1,
        memory: memory.span(),
        clock,
        settings: match case.engine {
            "io_uring" => registered()?,
            _ => EngineSettings::default(),
        },
        sync_range: SyncRangeFlags::default(),
    };
    let engine = iosonde_engine::find(case.engine).ok_or("no such engine")?;
    (engine.open)(&with, case.accounting).map_err(|error| error.message)
}

/// io_uring with its files and buffers registered.
fn registered() -> Result<EngineSettings, String> {
    let def = iosonde_engine::find("io_uring").ok_or("no such engine")?;
    let options = def.options.ok_or("an engine without options")?;
    let read = |topic: &mut dyn Topic| {
        for row in
            options.rows.iter().filter(|row| ["fixedbufs", "registerfiles"].contains(&row.name))
        {
            let set = topic.set(row.name, "1", Origin::Default, &mut ParseContext::new(row));
            assert!(matches!(set, Some(Ok(()))), "{}", row.name);
        }
        Ok(())
    };
    (options.settings)(&read, &JobContext::default()).map_err(|error| error.message)
}

/// The state of the loop, and what it counts.
fn drive(
    case: &Case,
    clock: Clock,
    memory: Memory,
    spec: SourceSpec,
    path: String,
) -> Result<(Drive, Arc<Counters>), String> {
    let reads = PerDir([true, false, false]);
    // As by default: means of all three, percentiles of the completion latency.
    let which = WhichLatencies {
        syncs: true,
        slat: false,
        clat: true,
        lat: false,
        response: PerDir([case.pace != Paced::Not, false, false]),
        dirs: reads,
    };
    let (writer, counters) = CountersWriter::new(&which);
    let source = Source::new(spec.clone()).map_err(|error| error.to_string())?;
    let window = Window {
        depth: case.depth,
        batch: case.batch,
        reap_min: case.batch,
        reap_max: case.batch,
        low: case.depth,
        serialize_overlap: false,
    };
    let mode = OpenMode { read: true, ..OpenMode::default() };
    let files = vec![FileSetup::new(path, mode, spec.files[0].size)];
    let drive = Drive {
        pacing: pacing(case, &spec, &clock),
        ..Drive::new(clock, source, files, memory, writer, window)
    };
    Ok((drive, counters))
}

fn pacing(case: &Case, spec: &SourceSpec, clock: &Clock) -> Option<Box<Pacing>> {
    let second = clock.ns_to_ticks(1_000_000_000);
    let mut pacing = Pacing::new(Some(Pace::new(&spec.pace, second, 1, 1)));
    pacing.begin(clock.now());
    (case.pace != Paced::Not).then(|| Box::new(pacing))
}

/// 4 KiB random reads over as many bytes, again and again.
fn spec(case: &Case, ios: u64, size: u64) -> SourceSpec {
    SourceSpec {
        directions: Directions { read: true, random: true, ..Directions::default() },
        map: case.map,
        files: vec![SourceFile {
            name: "null".into(),
            offset: 0,
            size,
            end: size,
            later_offset: None,
        }],
        total_bytes: u64::MAX,
        io_size_given: true,
        number_ios: ios,
        pace: PaceSpec {
            caps: PerDir::all(match case.pace {
                Paced::Not => Cap::Free,
                Paced::Even | Paced::Poisson => Cap::Ios(1 << 40),
                Paced::Waits => Cap::Ios(5000),
            }),
            process: if case.pace == Paced::Poisson { Process::Poisson } else { Process::Even },
        },
        ..SourceSpec::default()
    }
}
