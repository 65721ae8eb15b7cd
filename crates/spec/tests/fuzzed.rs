//! The fuzz targets' bodies over mutations of the corpus: a few thousand each, the same each time.

#[path = "../../../fuzz/src/bodies.rs"]
mod bodies;
mod common;

use common::{command_lines, corpus, job_files};

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

/// Each seed as it is, then changed in one to eight places, again and again.
fn mutate(seeds: &[Vec<u8>], body: fn(&[u8])) {
    seeds.iter().for_each(|seed| body(seed));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..MUTATIONS {
        let mut data = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(8) {
            change(&mut data, seeds, &mut random);
        }
        // What fails says with which bytes: they are the test's next seed.
        let kept = data.clone();
        if let Err(panic) = std::panic::catch_unwind(|| body(&data)) {
            eprintln!("failed on {:?}", String::from_utf8_lossy(&kept));
            std::panic::resume_unwind(panic);
        }
    }
}

fn change(data: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(data.len() + 1);
    match random.below(6) {
        0 if at < data.len() => data[at] ^= 1 << random.below(8),
        1 if at < data.len() => drop(data.drain(at..data.len().min(at + 1 + random.below(8)))),
        2 => data.insert(at, random.below(256) as u8),
        3 => {
            let piece = PIECES[random.below(PIECES.len())];
            data.splice(at..at, piece.bytes());
        }
        4 => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len() + 1);
            let to = other.len().min(from + random.below(40));
            data.splice(at..at, other[from..to].iter().copied());
        }
        _ => data.truncate(data.len().max(at + 200)),
    }
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

/// xorshift64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
