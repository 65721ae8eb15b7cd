//! What filling one block costs.
//!
//! `content KIND COUNT` makes COUNT blocks of 4 KiB of one kind. Run it under
//! `valgrind --tool=callgrind` for two counts: the difference over the
//! difference of counts is the price of one block. By itself it prints GB/s.
//!
//! ```sh
//! cargo build --release -p iosonde-workload --example content
//! for n in 100000 200000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/content refill $n
//! done
//! ```

use iosonde_workload::content::{Base, Compress, Content, Dedupe, EachWrite, Pattern, WorkingSet};

const BLOCK: usize = 4096;

/// The kinds that can be measured.
const KINDS: [&str; 6] = ["scramble", "refill", "compress50", "dedupe50", "set50", "offset"];

fn content(kind: &str) -> Option<Content> {
    let refill = |base| Content::new(1, base, EachWrite::Refill, None);
    let repeats = |set| {
        let dedupe = Dedupe { percentage: 50, set, block: 4096 };
        Content::new(1, Base::Random, EachWrite::Refill, Some(&dedupe))
    };
    Some(match kind {
        "scramble" => Content::new(1, Base::Random, EachWrite::Scramble, None),
        "refill" => refill(Base::Random),
        "compress50" => refill(Base::Mixed(Compress::new(50, 512, Pattern::default()))),
        "dedupe50" => repeats(None),
        "set50" => repeats(Some(WorkingSet { key: 1, first: 0, own: 500, all: 500, pass: 10_000 })),
        "offset" => refill(Base::Pattern(Pattern::new(vec![1; 16], vec![4]))),
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_default();
    let count: u64 = arguments.next().ok_or("content KIND COUNT")?.parse()?;
    let kinds = KINDS.join(", ");
    let mut content = content(&kind).ok_or_else(|| format!("KIND is one of {kinds}"))?;
    // As many blocks as are in flight.
    let mut buffer = vec![0; 32 * BLOCK];
    buffer.chunks_mut(BLOCK).for_each(|block| content.prepare(block));
    let start = std::time::Instant::now();
    for i in 0..count {
        let at = i as usize % 32 * BLOCK;
        content.apply(&mut buffer[at..at + BLOCK], i * BLOCK as u64);
    }
    let ns = start.elapsed().as_nanos() as f64 / count as f64;
    let sum = buffer.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte));
    println!("{kind}: {ns:.1} ns a block, {:.1} GB/s ({sum:x})", BLOCK as f64 / ns);
    Ok(())
}
