//! The options of a test's jobs, and its report as text.

use super::super::LikeArgs;
use super::super::findings;
use super::kinds::{PtsCell, PtsKind};
use super::{PtsRun, steady};
use iosonde_base::text::{bytes, count, counted, duration, percent, rate, short_size};
use iosonde_report::finding::FindingCounts;
use std::time::Duration;

/// What all jobs have.
pub fn common() -> Vec<String> {
    ["--ioengine=libaio", "--direct=1", "--refill_buffers"].map(str::to_owned).into()
}

/// All blocks are discarded.
pub fn purge() -> Vec<String> {
    ["--rw=trim", "--bs=1m", "--iodepth=1"].map(str::to_owned).into()
}

/// Twice the capacity is written.
pub fn precondition() -> Vec<String> {
    ["--rw=write", "--bs=128k", "--iodepth=32", "--loops=2"].map(str::to_owned).into()
}

/// A cell, for so long.
pub fn cell(cell: &PtsCell, length: Duration) -> Vec<String> {
    vec![
        format!("--rw={}", cell.direction()),
        format!("--rwmixread={}", cell.reads),
        format!("--bs={}", cell.block),
        format!("--iodepth={}", cell.depth),
        "--norandommap".to_owned(),
        "--time_based".to_owned(),
        format!("--runtime={}ms", length.as_millis()),
    ]
}

/// The jobs of a test as a job file: purge, precondition, one round.
pub fn job_text(kind: PtsKind, arguments: &LikeArgs) -> String {
    let lines = |options: &[String]| -> String {
        options.iter().map(|option| format!("{}\n", option.trim_start_matches("--"))).collect()
    };
    let mut text = format!(
        "# {}\n# Source: SNIA Solid State Storage Performance Test Specification, as TKperf runs it\n# \
         (src/DeviceTests.py, src/StdyState.py): purge, precondition, then rounds of these\n# cells until \
         the state is steady, {} at most.\n[global]\nfilename={}\n{}",
        kind.summary(),
        arguments.rounds,
        arguments.target.display(),
        lines(&common())
    );
    text.push_str(&arguments.with.iter().map(|word| format!("{word}\n")).collect::<String>());
    text.push_str(&format!("\n[purge]\nstonewall\n{}", lines(&purge())));
    if kind != PtsKind::WriteSaturation {
        text.push_str(&format!("\n[precondition]\nstonewall\n{}", lines(&precondition())));
    }
    for one in kind.cells() {
        let name = format!("{}-{}", one.mix().replace('/', "-"), short_size(one.block));
        let options = lines(&cell(&one, arguments.cell));
        text.push_str(&format!("\n[{name}]\nstonewall\n{options}"));
    }
    text
}

/// The result of a test.
pub fn report(run: &PtsRun, arguments: &LikeArgs, findings: &FindingCounts) -> String {
    let mut text = format!("{:<12} {}\n", run.kind.name(), sentence(run, arguments, findings));
    for line in table(run) {
        text.push_str(&format!("  {line}\n"));
    }
    for note in &run.notes {
        text.push_str(&format!("  {note}\n"));
    }
    text + &findings::text(findings)
}

/// What the test came to.
pub fn sentence(run: &PtsRun, arguments: &LikeArgs, findings: &FindingCounts) -> String {
    let rounds = run.rounds.len() as u64;
    if run.kind == PtsKind::WriteSaturation {
        let tracked = run.tracked();
        let (first, last) = (tracked.first().copied(), run.window().map(|window| window.mean));
        let last = last.or(tracked.last().copied()).unwrap_or(0.0);
        return format!(
            "{} IOPS after {} written, {} at first",
            count(last),
            bytes(run.written_bytes()),
            count(first.unwrap_or(0.0))
        );
    }
    match (run.is_steady(), run.window()) {
        (true, Some(window)) => {
            let word = if findings.is_wrong() { "NO PASS" } else { "PASS" };
            format!(
                "steady after {}: {} over the last {}, range {}, slope {}   {word}",
                counted(rounds, "round"),
                tracked_words(run, window.mean),
                steady::WINDOW,
                percent(window.range / window.mean),
                percent(window.slope.abs() / window.mean)
            )
        }
        _ => format!(
            "not steady after {} of {}   FAIL",
            rounds,
            counted(arguments.rounds.into(), "round")
        ),
    }
}

/// The tracked figure.
pub fn tracked_words(run: &PtsRun, value: f64) -> String {
    match run.kind {
        PtsKind::Throughput => rate(value),
        PtsKind::Latency => duration(value.round() as u64),
        _ => format!("{} IOPS", count(value)),
    }
}

/// The figures of the measured rounds.
fn table(run: &PtsRun) -> Vec<String> {
    match run.kind {
        PtsKind::Iops => {
            let rows = grid(run);
            let row = |row: Vec<String>| {
                let cells: Vec<String> = row.iter().map(|cell| format!("{cell:>8}")).collect();
                cells.join(" ").trim_end().to_owned()
            };
            rows.into_iter().map(row).collect()
        }
        _ => run.cells.iter().enumerate().map(|(at, cell)| line(run, at, cell)).collect(),
    }
}

fn line(run: &PtsRun, at: usize, cell: &PtsCell) -> String {
    let time = |percent: f64| {
        run.percentile(at, percent).map_or("-".to_owned(), |ns| duration(ns.round() as u64))
    };
    format!(
        "{:<6} {:>5} {:>8} IOPS {:>12}   mean {:<8} p99 {:<8} p99.9 {:<8} max {}",
        cell.mix(),
        short_size(cell.block),
        count(run.mean(at, |figures| figures.iops)),
        rate(run.mean(at, |figures| figures.bytes_per_s)),
        duration(run.mean(at, super::CellFigures::mean_ns).round() as u64),
        time(99.0),
        time(99.9),
        duration(run.longest_ns(at))
    )
}

/// Block sizes in rows, mixes in columns, with their heads.
pub fn grid(run: &PtsRun) -> Vec<Vec<String>> {
    let mut mixes: Vec<String> = Vec::new();
    let mut blocks: Vec<u64> = Vec::new();
    for cell in &run.cells {
        if !mixes.contains(&cell.mix()) {
            mixes.push(cell.mix());
        }
        if !blocks.contains(&cell.block) {
            blocks.push(cell.block);
        }
    }
    let value = |block: u64, mix: &String| {
        let at = run.cells.iter().position(|cell| cell.block == block && cell.mix() == *mix);
        at.map_or("-".to_owned(), |at| count(run.mean(at, |figures| figures.iops)))
    };
    let head = std::iter::once("IOPS".to_owned()).chain(mixes.iter().cloned()).collect();
    let row = |&block: &u64| {
        std::iter::once(short_size(block))
            .chain(mixes.iter().map(|mix| value(block, mix)))
            .collect()
    };
    std::iter::once(head).chain(blocks.iter().map(row)).collect()
}
