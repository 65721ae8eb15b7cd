//! The least that a record can cost: `bare FILE RECORDS BYTES` writes records
//! and reads the clock twice for each, and does nothing else. What
//! scripts/bench-records.py compares with.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let [_, path, records, bytes] = &words[..] else { panic!("bare FILE RECORDS BYTES") };
    let (records, bytes): (u64, usize) =
        (records.parse().expect("records"), bytes.parse().expect("bytes"));
    let record = vec![b'A'; bytes];
    // A missing file need not be removed; other errors appear when it is created.
    let _ = std::fs::remove_file(path);
    let mut file = File::create(path)?;
    let mut sum = Duration::ZERO;
    for _ in 0..records {
        let start = Instant::now();
        file.write_all(&record)?;
        sum += start.elapsed();
    }
    println!("{} ns a record", sum.as_nanos() / u128::from(records.max(1)));
    Ok(())
}
