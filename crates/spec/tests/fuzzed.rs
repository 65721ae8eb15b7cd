//! The fuzz targets' bodies over mutations of the corpus: a few thousand each, the same each time.

#[path = "../../../fuzz/src/bodies.rs"]
mod bodies;
mod common;

use common::{command_lines, corpus, job_files};
use iosonde_testing::Mutations;

const MUTATIONS: usize = 3000;

#[test]
fn any_job_file_is_read_or_refused() {
    let bad = job_files("jobs/bad").into_iter().map(|name| format!("jobs/bad/{name}"));
    let good = job_files("jobs").into_iter().map(|name| format!("jobs/{name}"));
    let read = |path: String| std::fs::read(corpus(&path)).unwrap();
    let seeds: Vec<Vec<u8>> = good.chain(bad).map(read).filter(|s| s.len() < 2000).collect();
    mutate(&seeds, bodies::job_file);
}

#[test]
fn any_command_line_is_read_or_refused() {
    let files = ["commands.txt", "habits.txt", "refused.txt"];
    let lines = files.into_iter().flat_map(command_lines);
    let seeds: Vec<Vec<u8>> = lines.map(|line| line.join("\n").into_bytes()).collect();
    mutate(&seeds, bodies::command_line);
}

#[test]
fn any_value_is_taken_or_refused() {
    let examples = iosonde_spec::all().flat_map(|row| {
        let each = row.good.iter().chain(row.bad);
        each.map(move |value| format!("{}={value}", row.name).into_bytes())
    });
    mutate(&examples.collect::<Vec<_>>(), bodies::option_value);
}

#[test]
fn any_expression_has_a_value_or_a_reason() {
    let seeds = ["(4k*10)", "((2+1)*4k)", "1m+5s", "2^3^-2", "0x10%7", "1.5*(3-.25)", "-(1/3)"];
    mutate(&seeds.map(|seed| seed.as_bytes().to_vec()), bodies::arithmetic);
}

fn mutate(seeds: &[Vec<u8>], body: fn(&[u8])) {
    Mutations { seeds, pieces: &PIECES, count: MUTATIONS }.run(body);
}

/// What matters to the language.
const PIECES: [&str; 28] = [
    "=",
    "[",
    "]",
    "\n",
    "\r\n",
    ";",
    "#",
    "${",
    "}",
    "${BS}",
    "$ncpus",
    "include inc",
    "(",
    ")",
    "*",
    "-",
    "--",
    "%",
    ":",
    ",",
    "0",
    "18446744073709551616",
    "-1",
    "k",
    "z",
    "\n[global]\n",
    "\u{e9}",
    "\0",
];
