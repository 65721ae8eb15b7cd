//! A quick look as text: a conclusion, one table, what to mind.

use super::measure::{QuickFigures, QuickLook};
use iosonde_base::Dir;
use iosonde_base::text::{bytes, count, counted, duration, rate, wrap};
use iosonde_command::format::printable;
use iosonde_report::finding::{Finding, Severity};
use iosonde_report::formats::{Style, findings_folded};
use iosonde_sys::terminal::columns;
use std::fmt::Write;

/// The look as text.
pub fn report(measured: &QuickLook) -> String {
    let mut out = format!("{}\n\n", wrap(&title(measured), 0, columns()));
    let _ = writeln!(out, "{}\n", wrap(&conclusion(measured), 0, columns()));
    table(measured, &mut out);
    out.push('\n');
    out.push_str(&remarks(measured));
    out
}

/// `/data: directory on vda (ext4), test file of 1 GiB, direct I/O`.
pub fn title(measured: &QuickLook) -> String {
    let on = place(measured);
    let file = match (measured.kind, measured.bytes) {
        ("directory", bytes_used) => format!(", temporary file of {}", bytes(bytes_used)),
        ("file", bytes_used) => format!(", {} read", bytes(bytes_used)),
        _ => ", only read".to_owned(),
    };
    let direct = if measured.direct {
        "direct I/O"
    } else {
        "through the page cache: direct I/O is refused"
    };
    format!("{}: {}{on}{file}, {direct}", printable(&measured.path), measured.kind)
}

/// ` on vda (ext4)`, as far as it is known.
pub fn place(measured: &QuickLook) -> String {
    let Some(job) = measured.ledger.as_ref().and_then(|ledger| ledger.jobs.first()) else {
        return String::new();
    };
    match (job.files.devices.first(), job.files.filesystems.first()) {
        (Some(device), Some(kind)) => format!(" on {device} ({kind})"),
        (Some(device), None) => format!(" {device}"),
        (None, Some(kind)) => format!(" on {kind}"),
        (None, None) => String::new(),
    }
}

/// What the disk does, in one sentence, and what the figures may be used for.
pub fn conclusion(measured: &QuickLook) -> String {
    let of = |dir: Dir, depth: u32, name: &str| {
        let is = |one: &&QuickFigures| {
            one.test.dir == dir && one.test.depth == depth && one.test.name.starts_with(name)
        };
        measured.tests.iter().find(is)
    };
    let mut parts = Vec::new();
    let sequential = [Dir::Read, Dir::Write].map(|dir| of(dir, 32, "seq."));
    match sequential {
        [Some(read), Some(write)] => parts.push(format!(
            "reads {} and writes {} in sequence",
            rate(read.bytes_per_s as f64),
            rate(write.bytes_per_s as f64)
        )),
        [Some(read), None] => {
            parts.push(format!("reads {} in sequence", rate(read.bytes_per_s as f64)))
        }
        _ => {}
    }
    if let Some(random) = of(Dir::Read, 32, "random") {
        parts.push(format!("does {} random 4 KiB reads a second at depth 32", count(random.iops)));
    }
    let durable = of(Dir::Write, 1, "durable").and_then(|one| one.latency);
    if let Some(latency) = durable {
        parts.push(format!("makes a 4 KiB write durable in {} (p50)", duration(latency.p50_ns)));
    }
    let usable = match measured.findings.all().first() {
        Some((finding, _)) if finding.severity == Severity::Wrong => {
            "These are not figures of the device: see the findings."
        }
        _ if !measured.direct => "These are figures of memory as well as of the device.",
        _ => "A first look: a few seconds each, on a small range.",
    };
    let stopped = if measured.stopped {
        format!("Stopped after {}. ", counted(measured.tests.len() as u64, "test"))
    } else {
        String::new()
    };
    match parts.split_last() {
        Some((last, [])) => format!("{stopped}It {last}. {usable}"),
        Some((last, rest)) => format!("{stopped}It {}, and {last}. {usable}", rest.join(", ")),
        None => "It was stopped before anything was measured.".to_owned(),
    }
}

/// A row for each kind of I/O, reads and writes beside each other.
fn table(measured: &QuickLook, out: &mut String) {
    let mut names: Vec<&str> = Vec::new();
    for one in &measured.tests {
        if !names.contains(&one.test.name) {
            names.push(one.test.name);
        }
    }
    let dirs = [Dir::Read, Dir::Write];
    let is_wide = columns() >= 80;
    if is_wide {
        let shown =
            dirs.iter().filter(|dir| measured.tests.iter().any(|one| one.test.dir == **dir));
        let shown: Vec<&str> = shown.map(|dir| dir.name()).collect();
        let names: String = shown.iter().map(|name| format!("{name:>28}")).collect();
        let head = format!("{:>12}{:>8}{:>8}", "rate", "IOPS", "p99").repeat(shown.len());
        let _ = writeln!(out, "  {:<22}{names}\n  {:<22}{head}", "", "");
    }
    for name in names {
        let cell = |dir: Dir| {
            measured.tests.iter().find(|one| one.test.name == name && one.test.dir == dir)
        };
        if is_wide {
            let cells = dirs.map(|dir| cell(dir).map_or_else(|| " ".repeat(28), wide));
            let line = format!("  {name:<22}{}", cells.concat());
            let _ = writeln!(out, "{}", line.trim_end());
            continue;
        }
        for (dir, one) in dirs.into_iter().filter_map(|dir| Some((dir, cell(dir)?))) {
            let words = format!("{name} {}: {}", dir.name(), narrow(one));
            let _ = writeln!(out, "  {}", wrap(&words, 2, columns()));
        }
    }
}

fn p99(one: &QuickFigures) -> String {
    one.latency.map_or("-".to_owned(), |latency| duration(latency.p99_ns))
}

fn wide(one: &QuickFigures) -> String {
    let moved = rate(one.bytes_per_s as f64);
    format!("{moved:>12}{:>8}{:>8}", count(one.iops), p99(one))
}

fn narrow(one: &QuickFigures) -> String {
    format!("{}, {} IOPS, p99 {}", rate(one.bytes_per_s as f64), count(one.iops), p99(one))
}

/// Findings of the tests, and what the look was not.
fn remarks(measured: &QuickLook) -> String {
    let mut out = String::new();
    let several = measured.tests.len() as u32;
    let found: Vec<_> = measured
        .findings
        .all()
        .iter()
        .map(|(finding, tests)| Finding {
            statement: format!("in {tests} of {several} tests, {}", printable(&finding.statement)),
            ..finding.clone()
        })
        .collect();
    out.push_str(&findings_folded(&found, &Style { columns: columns(), ..Style::default() }));
    if let Some(first) = found.first() {
        let _ = writeln!(out, "  (iosonde explain {}: what to do)", first.id);
    }
    let words = if measured.stopped {
        "stopped by a signal: the other tests were not run"
    } else {
        "for results to quote: a job file with runtime=60 or more and the application's size; \
         examples/ has some"
    };
    let _ = writeln!(out, "  {}", wrap(words, 2, columns()));
    out
}
