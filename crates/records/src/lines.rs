//! The lines of SBK, letter by letter: those of 0.77 and today's.

use crate::bench::{Benchmark, LineFormat, Logger, MB, WorkerRole};
use crate::figures::Figures;
use crate::latencies::{Latencies, name, percentiles};
use std::fmt::Write;

/// A window or the total as SBK prints it, its line ends included.
pub fn line(bench: &Benchmark, figures: &Figures) -> String {
    match bench.output.format {
        LineFormat::Old => old(bench, figures),
        LineFormat::Today => today(bench, figures),
    }
}

fn old(bench: &Benchmark, figures: &Figures) -> String {
    let unit = bench.output.unit;
    let (mean, _, max) = figures.spread(unit);
    let unit = unit.word();
    let latencies = &figures.latencies;
    let total = if figures.total { "(Total)" } else { "" };
    let mut text = format!(
        "{}{total} {:>10} records, {:>9.1} records/sec, {:>8.2} MB/sec, {mean:>8.1} {unit} avg \
         latency, {max:>7} {unit} max latency; Discarded Latencies:{:>8} lower, {:>8} higher;  \
         Latency Percentiles:",
        bench.action.word(),
        latencies.records,
        figures.records_per_second(),
        figures.per_second(figures.mb()),
        latencies.lower,
        latencies.higher,
    );
    text.push_str(&ranks(bench, &figures.ranked.values));
    text.push_str(".\n");
    text
}

fn today(bench: &Benchmark, figures: &Figures) -> String {
    let unit = bench.output.unit;
    let (mean, min, max) = figures.spread(unit);
    let unit = unit.word();
    let latencies = &figures.latencies;
    let mut text = String::new();
    if bench.output.logger != Logger::Sl4j {
        let date = iosonde_report::scale::timestamp(
            figures.unix_ms,
            iosonde_sys::local_time::utc_offset_s(),
        );
        let _ = write!(text, "{date}, ");
    }
    if figures.total {
        text.push_str("Total ");
    }
    let _ = write!(text, "{} {}", bench.class.storage(), bench.action.word());
    let [writers, readers, writers_most, readers_most] = figures.workers_of(bench.action);
    let _ = write!(
        text,
        " {writers:>5} writers, {readers:>5} readers, \
         \x20{writers_most:>5} max writers, {readers_most:>5} max readers, "
    );
    text.push_str(&requests(bench, figures));
    let _ = write!(
        text,
        "{:>8} seconds, {:>11.1} MB, {:>16} records, {:>11.1} records/sec, {:>8.2} MB/sec, \
         {mean:>8.1} {unit} avg latency, {min:>7} {unit} min latency, {max:>7} {unit} max latency;\
         \x20{:>8} invalid latencies; Discarded Latencies:{:>8} lower, {:>8} higher; \
         SLC-1: {:>3}, SLC-2: {:>3}; Latency Percentiles:",
        figures.seconds(),
        figures.mb(),
        latencies.records,
        figures.records_per_second(),
        figures.per_second(figures.mb()),
        0,
        latencies.lower,
        latencies.higher,
        figures.ranked.slc.0,
        figures.ranked.slc.1,
    );
    text.push_str(&ranks(bench, &figures.ranked.values));
    text.push_str("\n\n");
    text
}

/// Requests and what has not come back, in MiB and records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requested {
    /// Records requested.
    pub records: u64,
    /// In MiB.
    pub mb: f64,
    /// Records that have not come back.
    pub pending: u64,
    /// In MiB.
    pub pending_mb: f64,
}

impl Requested {
    /// Of writers and of readers; zeroes where requests are not counted apart.
    pub fn of(bench: &Benchmark, figures: &Figures) -> [Requested; 2] {
        let (records, pending) = figures.requests.unwrap_or((0, 0));
        let mb = |records: u64| records as f64 * f64::from(bench.size.max) / MB;
        let requested = Requested { records, mb: mb(records), pending, pending_mb: mb(pending) };
        match bench.action {
            WorkerRole::Write => [requested, Requested::default()],
            WorkerRole::Read => [Requested::default(), requested],
        }
    }
}

fn requests(bench: &Benchmark, figures: &Figures) -> String {
    let [write, read] = Requested::of(bench, figures);
    let mut text = String::new();
    for (word, gap, requested) in [("write", " ", write), ("read", "  ", read)] {
        let _ = write!(
            text,
            " {:>11.1} {word} request MB,{gap}{:>16} {word} request records, {:>11.1} {word} \
             request records/sec, {:>8.2} {word} request MB/sec,",
            requested.mb,
            requested.records,
            figures.per_second(requested.records as f64),
            figures.per_second(requested.mb),
        );
    }
    for (word, requested) in [
        ("write response", write),
        ("read response", read),
        ("write read request", Requested::default()),
    ] {
        let _ = write!(
            text,
            " {:>8.2} {word} pending MB, {:>13} {word} pending records, ",
            requested.pending_mb, requested.pending,
        );
    }
    let _ = write!(
        text,
        " {:>13} write timeout events, {:>8.2} write timeout events/sec, {:>13} read timeout \
         events, {:>8.2} read timeout events/sec,",
        0, 0.0, 0, 0.0
    );
    text
}

/// ` %7d ms 10th, ...`.
fn ranks(bench: &Benchmark, values: &[(u64, u64)]) -> String {
    let unit = bench.output.unit.word();
    let shown = percentiles(bench.output.format).iter().zip(values);
    let shown: Vec<String> =
        shown.map(|(&p, (value, _))| format!(" {value:>7} {unit} {}th", name(p))).collect();
    shown.join(",")
}

/// The latencies of syncs: our own line, after the total.
pub fn syncs(bench: &Benchmark, call: &str, mut syncs: Latencies) -> String {
    let output = &bench.output;
    let unit = output.unit;
    let ranked = syncs.ranked(percentiles(output.format), unit);
    let word = unit.word();
    format!(
        "Syncs in total {:>10} {call}, {:>8.1} {word} avg latency, {:>7} {word} min latency, \
         {:>7} {word} max latency; {:>11.3} seconds in all; Latency Percentiles:{}.\n",
        syncs.records,
        syncs.mean(unit),
        syncs.least() / unit.ns(),
        syncs.max / unit.ns(),
        syncs.sum as f64 / 1e9,
        ranks(bench, &ranked.values),
    )
}
