//! The figures that count: a card for each direction, and for syncs.

use crate::figures::{ledger, merged, totals};
use crate::typical;
use iosonde_base::text::{bytes, count, duration, duration_of_ms, rate};
use iosonde_base::{DIRS, Dir};
use iosonde_report::finding::Severity;
use iosonde_report::{LatencyReport, Report};
use maud::{Markup, html};

/// A durable rate that differs by more than this share is shown next to the other.
const RATES_DIFFER: f64 = 0.01;

/// One card.
struct Card {
    title: String,
    /// Names and values of the figures in large letters.
    figures: Vec<(&'static str, String)>,
    /// The latency whose percentiles stand below.
    latency: LatencyReport,
    /// What that latency is of, where it is not the I/O itself.
    of: &'static str,
    note: String,
    /// What devices of the class reach.
    typical: Markup,
}

/// The cards; that of the syncs first where they take most of the time of a write.
pub(crate) fn cards(report: &Report) -> Markup {
    let mut cards = directions(report);
    if let Some(sync) = syncs(report) {
        let mean = |card: &Card| card.latency.mean_ns;
        let place = if cards.iter().any(|card| mean(card) > mean(&sync)) { cards.len() } else { 0 };
        cards.insert(place, sync);
    }
    let worst = ledger(report).and_then(|ledger| ledger.verdict.first());
    let is_wrong = worst.is_some_and(|finding| finding.severity >= Severity::Wrong);
    html! {
        div.numbers { @for card in &cards {
            div.direction {
                h2 { (card.title) @if is_wrong { " " span.wrong { "see the finding" } } }
                dl { @for (name, value) in &card.figures { div { dt { (name) } dd { (value) } } } }
                (percentiles(card))
                @if !card.note.is_empty() { p.moved { (card.note) } }
                (card.typical)
            }
        } }
    }
}

/// `p50 1 ms, p99 2 ms, p99.9 3 ms, max 9 ms`, each with its name.
fn percentiles(card: &Card) -> Markup {
    let latency = &card.latency;
    if latency.n == 0 {
        return Markup::default();
    }
    let at = |percent| latency.at(percent).map_or("-".to_owned(), duration);
    let cells = [
        ("p50", at(50.0)),
        ("p99", at(99.0)),
        ("p99.9", at(99.9)),
        ("max", duration(latency.max_ns)),
    ];
    html! {
        @if !card.of.is_empty() { p.of { (card.of) } }
        dl.tail { @for (name, value) in cells { div { dt { (name) } dd { (value) } } } }
    }
}

fn directions(report: &Report) -> Vec<Card> {
    let durable = ledger(report).and_then(|ledger| ledger.writes.as_ref()).and_then(|writes| {
        let durable = writes.durable_bytes_per_s.get()?;
        let reported = writes.reported_bytes_per_s;
        ((durable - reported).abs() > reported * RATES_DIFFER).then_some(durable)
    });
    let card = |(name, total): (&'static str, crate::figures::DirTotal)| {
        let mut figures =
            vec![("IOPS", count(total.iops())), ("bandwidth", rate(total.bytes_per_s()))];
        if name == "write" {
            figures.extend(durable.map(|durable| ("durable rate", rate(durable))));
        }
        let due = responses(report, name);
        let (latency, of) = match due {
            Some(due) => (due, "latency from the due time"),
            None => (total.latency.clone(), "latency"),
        };
        let time = duration_of_ms(total.runtime_ms);
        let note = if total.ios == 0 {
            format!("no {name} completed")
        } else {
            format!("{} in {time}", bytes(total.bytes))
        };
        let band = direction(name).and_then(|dir| typical::band(report, dir));
        let typical = band.map(|band| typical::section(&band, total.iops(), total.bytes_per_s()));
        let typical = typical.unwrap_or_default();
        let is_check = name == "read" && reads_only_check(report, total.bytes);
        let title = if is_check { "read back to verify" } else { name };
        Card { title: title.to_owned(), figures, latency, of, note, typical }
    };
    totals(report).into_iter().map(card).collect()
}

/// Whether what was read of a run that wrote was its check.
fn reads_only_check(report: &Report, read: u64) -> bool {
    let ledger = ledger(report).filter(|ledger| ledger.writes.is_some());
    let checked = ledger.and_then(|ledger| ledger.verify_reads.as_ref());
    checked.is_some_and(|checked| checked.completed_bytes >= read)
}

fn direction(name: &str) -> Option<Dir> {
    DIRS.into_iter().find(|dir| dir.name() == name)
}

/// Latencies of a direction from the moment its I/Os were due, where jobs are paced.
fn responses(report: &Report, name: &str) -> Option<LatencyReport> {
    let dir = direction(name)?;
    let all: Vec<&LatencyReport> =
        report.ours.jobs.iter().filter_map(|job| job.response[dir].as_ref()).collect();
    let latency = merged(&all);
    (latency.n > 0).then_some(latency)
}

fn syncs(report: &Report) -> Option<Card> {
    let all: Vec<_> = report.jobs.iter().map(|job| &job.sync.lat).collect();
    let total = report.jobs.iter().map(|job| job.sync.total_ios).sum::<u64>();
    if total == 0 {
        return None;
    }
    let syncing = report.jobs.iter().filter(|job| job.sync.total_ios > 0);
    let runtime_ms = syncing
        .flat_map(|job| job.shown())
        .map(|(_, dir)| dir.runtime_ms)
        .max()
        .unwrap_or(0)
        .max(1);
    Some(Card {
        title: "sync".to_owned(),
        figures: vec![
            ("syncs per second", count(total as f64 * 1000.0 / runtime_ms as f64)),
            ("syncs", total.to_string()),
        ],
        latency: merged(&all),
        of: "latency of a sync",
        note: String::new(),
        typical: Markup::default(),
    })
}
