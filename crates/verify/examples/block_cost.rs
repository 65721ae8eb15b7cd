//! What making or checking one block costs.
//!
//! `block_cost TYPE ACT BLOCKS`, ACT being `make`, `check` or `digest`: the
//! difference of two runs under callgrind, divided by the difference of their
//! blocks, is the number of instructions for each 4 KiB block:
//!
//! ```sh
//! cargo build --release -p iosonde-verify --example block_cost
//! for n in 1000 5000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/block_cost crc32c make $n
//! done
//! ```

use iosonde_verify::{BlockContent, BlockFormat, BlockIdentity, BlockType, Expected, HEADER_BYTES};
use iosonde_workload::content::Pattern;
use std::hint::black_box;

const BLOCK: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, act, blocks] = &arguments[..] else {
        return Err("block_cost TYPE make|check|digest BLOCKS".into());
    };
    let block_type = BlockType::from_name(name).ok_or("TYPE is as in verify=")?;
    let content = match block_type {
        BlockType::Pattern | BlockType::PatternHeader => BlockContent::Pattern {
            pattern: Pattern::from(vec![0xde, 0xad, 0xbe, 0xef]),
            interval: 0,
        },
        _ => BlockContent::Seeded,
    };
    let format = BlockFormat::new(block_type, 0, 0, content, BLOCK)?;
    let blocks: u64 = blocks.parse()?;
    let mut block = vec![0; BLOCK];
    let identity = |number: u64| BlockIdentity {
        seed: number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        offset: number * BLOCK as u64,
        number,
        thread: 1,
        time_sec: 0,
        time_nsec: 7,
    };
    format.make(&mut block, &identity(3));
    let began = std::time::Instant::now();
    let mut scratch = Vec::new();
    for number in 0..blocks {
        match act.as_str() {
            "make" => format.make(black_box(&mut block), &identity(number)),
            "check" => {
                let BlockIdentity { offset, seed, number, .. } = identity(3);
                let expected = Expected { offset, seed: Some(seed), number: Some(number) };
                format
                    .check(black_box(&mut block), &expected, &mut scratch)
                    .map_err(|mismatch| format!("{mismatch:?}"))?;
            }
            _ => {
                let data = &block[HEADER_BYTES + block_type.trailer_bytes()..];
                black_box(block_type.checksum(black_box(data)));
            }
        }
    }
    println!("{:.0} ns each", began.elapsed().as_nanos() as f64 / blocks as f64);
    Ok(())
}
