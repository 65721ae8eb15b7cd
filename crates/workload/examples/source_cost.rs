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
const SHAPES: [&str; 14] = [
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
    "fsync8",
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
        "bssplit" => {
            let share = |bytes, percent| Share { bytes, percent };
            spec.sizes =
                PerDir::all(Sizes::Split(vec![share(4096, 60), share(8192, 30), share(65536, 10)]));
        }
        "zipf" => spec.distribution = Distribution::Zipf { theta: 1.2, center: None },
        "pareto" => spec.distribution = Distribution::Pareto { h: 0.3, center: None },
        "normal" => spec.distribution = Distribution::Normal { deviation: 20.0, center: None },
        "nrfiles16" => spec.files = (0..16).map(|i| file(&format!("vec.0.{i}"), 6 * GIB)).collect(),
        "fsync8" => {
            spec.directions = random(false, true);
            spec.sync_every.fsync = 8;
        }
        _ => return None,
    }
    Some(spec)
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
