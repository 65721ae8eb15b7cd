//! The top of a run: what it was, what it found, three figures a direction.

use crate::PageRun;
use crate::figures::{ledger, totals};
use iosonde_base::text::{bytes, count, duration, rate};
use iosonde_report::conclusion::{Conclusion, Outcome};
use iosonde_report::finding::{Finding, Severity};
use iosonde_report::scale::timestamp;
use iosonde_report::{Report, VerifyReport};
use maud::{Markup, html};

/// A durable rate that differs by more than this share is shown beside the other.
const RATES_DIFFER: f64 = 0.01;

/// The jobs in words, when and on what, the conclusion, the findings.
pub(crate) fn headline(run: &PageRun<'_>) -> Markup {
    let report = run.report;
    let ledger = ledger(report);
    let names: Vec<&str> = report.jobs.iter().map(|job| job.name.as_str()).collect();
    let title = match names[..] {
        [one] => one.to_owned(),
        _ => format!("{} jobs", names.len()),
    };
    let summaries: Vec<&str> = report.ours.jobs.iter().map(|job| job.what.as_str()).collect();
    let conclusion = report.ours.conclusion.as_ref();
    let has_failed = conclusion.is_some_and(|one| one.outcome == Outcome::Failed);
    let mut different = summaries.clone();
    different.dedup();
    html! {
        header {
            h1 { (title) }
            @if let [one] = different[..] { @if !one.is_empty() { p.what { (one) } } }
            p.when {
                (program(report)) ", " (timestamp(report.time_unix_ms, report.utc_offset_s))
                @if let Some(ledger) = ledger {
                    @let places: Vec<&str> = ledger.jobs.iter().flat_map(|job| &job.files.devices)
                        .map(String::as_str).collect();
                    @if let Some(first) = places.first() { ", on " (first) }
                    @if let Some(fs) = ledger.environment.filesystems.first() { " (" (fs.kind) ")" }
                }
            }
            @if let Some(conclusion) = conclusion {
                @if is_bad(conclusion) {
                    p.conclusion.failed { (conclusion.text) }
                } @else {
                    p.conclusion { (conclusion.text) }
                }
            }
            @for job in report.jobs.iter().filter(|job| job.failure.is_some()) {
                p.finding-line.wrong {
                    strong { "failed" } " " (job.name) ": "
                    (job.failure.as_ref().map_or(String::new(), |failure| failure.words()))
                }
            }
            @for (name, verify) in verified(report) {
                p.finding-line class={ @if verify.counts.wrong > 0 { "wrong" } @else { "good" } } {
                    strong { "verify" } " " @if names.len() > 1 { (name) ": " } (verify.words())
                }
            }
            @if let Some(ledger) = ledger { (findings(&ledger.verdict, has_failed)) }
        }
    }
}

/// What each job that was to verify checked.
fn verified(report: &Report) -> impl Iterator<Item = (&str, &VerifyReport)> {
    report.ours.jobs.iter().filter_map(|job| Some((job.name.as_str(), job.verify.as_ref()?)))
}

/// Whether the run did not do what it was to do.
fn is_bad(conclusion: &Conclusion) -> bool {
    [Outcome::Failed, Outcome::Stopped, Outcome::Nothing].contains(&conclusion.outcome)
}

fn program(report: &Report) -> &str {
    if report.tool.is_empty() { &report.version } else { &report.tool }
}

fn findings(findings: &[Finding], has_failed: bool) -> Markup {
    html! {
        @if findings.is_empty() && !has_failed { p.finding-line.good { strong { "clean" } " no finding" } }
        @for finding in findings {
            details class={ "finding-line " (finding.severity.word()) } {
                summary {
                    strong { (finding.severity.word()) } " " (finding.statement)
                    " [" (finding.id) "]"
                }
                p {
                    "What to do: " (finding.remedy) ". " code { "iosonde explain " (finding.id) }
                    " prints more"
                    @if let Some(chart) = chart_of(&finding.id) {
                        "; see " a href={ "#" (chart) } { "the chart" }
                    }
                    "."
                }
            }
        }
    }
}

/// The chart for a rule's finding.
fn chart_of(id: &str) -> Option<&'static str> {
    match id {
        "not-steady" => Some("rate"),
        "page-cache-reads"
        | "not-durable"
        | "holes-read"
        | "overwritten-in-memory"
        | "cache-below"
        | "not-direct" => Some("bytes"),
        "depth-not-reached" | "tool-bound" | "cpu-bound" => Some("levels"),
        "closed-loop" => Some("latency"),
        _ => None,
    }
}

/// Three figures for each direction, and the rate to durability.
pub(crate) fn numbers(report: &Report) -> Markup {
    let ledger = ledger(report);
    let worst = ledger.and_then(|ledger| ledger.verdict.first());
    let is_wrong = worst.is_some_and(|finding| finding.severity >= Severity::Wrong);
    let durable = ledger.and_then(|ledger| ledger.writes.as_ref()).and_then(|writes| {
        let durable = writes.durable_bytes_per_s.get()?;
        let reported = writes.reported_bytes_per_s;
        ((durable - reported).abs() > reported * RATES_DIFFER).then_some(durable)
    });
    html! {
        div.numbers {
            @for (name, total) in totals(report) {
                div.direction {
                    h2 { (name) @if is_wrong { " " span.wrong { "see the finding" } } }
                    dl {
                        div { dt { "IOPS" } dd { (count(total.iops())) } }
                        div { dt { "bandwidth" } dd { (rate(total.bytes_per_s())) } }
                        div { dt { "p99" } dd {
                            (total.latency.at(99.0).map_or("-".to_owned(), duration))
                        } }
                        @if name == "write" { @if let Some(durable) = durable {
                            div { dt { "to durability" } dd { (rate(durable)) } }
                        } }
                    }
                    p.moved { (bytes(total.bytes)) " in " (duration(total.runtime_ms.saturating_mul(1_000_000))) }
                }
            }
            @if report.jobs.iter().any(|job| job.sync.total_ios > 0) { (syncs(report)) }
        }
    }
}

fn syncs(report: &Report) -> Markup {
    let all: Vec<_> = report.jobs.iter().map(|job| &job.sync.lat).collect();
    let latency = crate::figures::merged(&all);
    let total = report.jobs.iter().map(|job| job.sync.total_ios).sum::<u64>();
    let at = |percent| latency.at(percent).map_or("-".to_owned(), duration);
    html! {
        div.direction {
            h2 { "sync" }
            dl {
                div { dt { "syncs" } dd { (total) } }
                div { dt { "p50" } dd { (at(50.0)) } }
                div { dt { "p99" } dd { (at(99.0)) } }
            }
        }
    }
}
