//! How many instructions the planner takes for each I/O.
//!
//! `source_cost SHAPE COUNT` plans COUNT I/Os of one shape. Run it under
//! `valgrind --tool=callgrind` (or `perf stat`) for two counts: the difference
//! over the difference of counts is the price of one I/O, start-up left out.
//!
//! ```sh
//! cargo build --release -p iosonde-workload --example source_cost
//! for n in 1000000 5000000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/source_cost norandommap $n
//! done
//! ```

use iosonde_base::{PerDir, Ring};
use iosonde_workload::*;

const GIB: u64 = 1 << 30;

/// The shapes that can be measured.
const SHAPES: [&str; 24] = [
    "sequential",
    "norandommap",
    "map",
    "map16t",
    "lfsr",
    "randrw",
    "rw",
    "bsrange",
    "bssplit",
    "zipf",
    "pareto",
    "normal",
    "nrfiles16",
    "fsync32",
    "tausworthe64",
    "runs8",
    "bssplit_map",
    "zoned",
    "strided",
    "half_random",
    "files_random",
    "files_zipf",
    "files_normal",
    "sequencer",
];

fn spec(shape: &str) -> Option<SourceSpec> {
    let random = |read, write| Directions { read, write, random: true, ..Directions::default() };
    let mut spec = SourceSpec {
        files: vec![file("vec", 100 * GIB)],
        directions: random(true, false),
        time_based: true,
        ..SourceSpec::default()
    };
    match shape {
        "sequential" => spec.directions.random = false,
        "norandommap" => spec.map = MapMode::Off,
        "map" => {}
        "map16t" => spec.files = vec![file("vec", 16 * 1024 * GIB)],
        "lfsr" => spec.generator = Generator::Lfsr,
        "randrw" => spec.directions = random(true, true),
        "rw" => spec.directions = Directions { read: true, write: true, ..Directions::default() },
        "bsrange" => spec.sizes = PerDir::all(Sizes::Range { min: 4096, max: 65536 }),
        "bssplit" => (spec.sizes, spec.map) = (split(), MapMode::Off),
        "zipf" => spec.distribution = Distribution::Zipf { theta: 1.2, center: None },
        "pareto" => spec.distribution = Distribution::Pareto { h: 0.3, center: None },
        "normal" => spec.distribution = Distribution::Normal { deviation: 20.0, center: None },
        "nrfiles16" => files(&mut spec, FilePick::RoundRobin),
        "fsync32" => {
            spec.directions = random(false, true);
            spec.sync_every.fsync = 32;
        }
        "tausworthe64" => spec.generator = Generator::Tausworthe64,
        "runs8" => spec.seq_nr = 8,
        "bssplit_map" => spec.sizes = split(),
        "zoned" => {
            let zone = |percent, size| Zone { percent, size };
            let zones = vec![zone(60, 10), zone(30, 20), zone(8, 30), zone(2, 40)];
            spec.distribution = Distribution::Zoned(PerDir::all(zones));
        }
        "strided" => {
            spec.strided = Some(Strided { range: 256 << 20, size: 256 << 20, skip: 0 });
        }
        "half_random" => spec.percentage_random = PerDir::all(50),
        "sequencer" => {
            spec.directions.random = true;
            (spec.seq_nr, spec.sequencer) = (8, Sequencer::Identical);
        }
        "files_random" => files(&mut spec, FilePick::Random),
        "files_zipf" => files(&mut spec, FilePick::Zipf { theta: 1.2, center: None }),
        "files_normal" => files(&mut spec, FilePick::Normal { deviation: 20.0, center: None }),
        _ => return None,
    }
    Some(spec)
}

fn split() -> PerDir<Sizes> {
    let share = |bytes, percent| Share { bytes, percent };
    PerDir::all(Sizes::Split(vec![share(4096, 60), share(8192, 30), share(65536, 10)]))
}

fn files(spec: &mut SourceSpec, pick: FilePick) {
    spec.files = (0..16).map(|i| file(&format!("vec.0.{i}"), 6 * GIB)).collect();
    spec.file_service.pick = pick;
}

fn file(name: &str, size: u64) -> SourceFile {
    SourceFile { name: name.to_owned(), offset: 0, size, end: size, later_offset: None }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let shape = arguments.next().unwrap_or_default();
    let count: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let Some(spec) = spec(&shape) else {
        println!("usage: cost SHAPE COUNT, where SHAPE is one of {}", SHAPES.join(" "));
        std::process::exit(1);
    };
    let mut source = Source::new(spec).expect("a sound spec");
    let mut ring = Ring::default();
    let (mut planned, mut mixed) = (0, 0);
    while planned < count {
        match source.refill(&mut ring) {
            Refill::Planned => {}
            Refill::PassDone => source.next_pass(),
            Refill::Done | Refill::Broken => break,
        }
        let entries = ring.as_slice();
        planned += entries.len() as u64;
        // Use the entries without the price of taking them one by one.
        mixed ^= entries.first().map_or(0, |entry| entry.offset);
        ring.forget();
    }
    println!("{shape}: {planned} entries, {mixed:x}");
}
