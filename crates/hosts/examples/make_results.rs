//! Results of many ranks out of one, to measure `iosonde merge` by:
//! `cargo run --release -p iosonde-hosts --example make_results -- RESULT.json RANKS DIRECTORY`.
//!
//! Each rank has a name, a place, a start and latencies of its own, drawn from its number.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, result, ranks, directory] = words.as_slice() else {
        return Err("use make_results RESULT.json RANKS DIRECTORY".into());
    };
    let ranks: u64 = ranks.parse()?;
    let one: Value = serde_json::from_str(&fs::read_to_string(result)?)?;
    fs::create_dir_all(directory)?;
    for rank in 0..ranks {
        let file = Path::new(directory).join(format!("result.{rank}.json"));
        fs::write(file, of_rank(one.clone(), rank, ranks).to_string())?;
    }
    Ok(())
}

/// The result as rank `rank` might have it.
fn of_rank(mut result: Value, rank: u64, ranks: u64) -> Value {
    // A multiplier of Knuth's: neighbours differ, and a rank is the same each time.
    let drawn = rank.wrapping_mul(2_654_435_761) % 1000;
    let start_ms = result["jobs"][0]["job_start"].as_u64().unwrap_or(0);
    let run_ms = result["jobs"][0]["job_runtime"].as_u64().unwrap_or(0);
    let began = start_ms * 1_000_000 + drawn * 100;
    let ended = began + run_ms * 1_000_000 + drawn * 1000;
    result["iosonde"]["host"] = json!({
        "name": format!("node{rank:05}"),
        "rank": rank,
        "ranks": ranks,
        "start": "mpi",
        "groups": [{
            "group": 0,
            "began_unix_ns": began,
            "first_done_unix_ns": ended,
            "ended_unix_ns": ended,
        }],
        "clock": {"offset_ns": 0, "error_ns": 10_000},
        "job": "",
        "ended_early": null,
    });
    for job in result["iosonde"]["jobs"].as_array_mut().into_iter().flatten() {
        for bins in job["latency_bins"].as_object_mut().into_iter().flatten() {
            for bin in bins.1.as_array_mut().into_iter().flatten() {
                let count = bin[1].as_u64().unwrap_or(0);
                bin[1] = (count + count * drawn / 1000).into();
            }
        }
    }
    result
}
