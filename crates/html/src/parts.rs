//! The top of a run: what it was, and in one block how it came out: the conclusion, the
//! figures that count, what was checked, the findings.

use crate::cards;
use crate::figures::ledger;
use crate::hosts;
use crate::verified;
use crate::{PageRun, RunNumber};
use iosonde_base::text::{counted, unbroken};
use iosonde_report::Report;
use iosonde_report::conclusion::{Conclusion, Outcome, Usable};
use iosonde_report::finding::Finding;
use iosonde_report::scale::timestamp_with_zone;
use maud::{Markup, html};

/// Names of jobs in a heading at most.
const NAMED_MOST: usize = 3;

/// The jobs, and how they came out.
pub(crate) fn headline(run: &PageRun<'_>, number: RunNumber) -> Markup {
    let report = run.report;
    let ledger = ledger(report);
    let mut different: Vec<&str> = report.ours.jobs.iter().map(|job| job.what.as_str()).collect();
    different.dedup();
    html! {
        header {
            h1 { @if !number.is_alone { (run.name) ": " } (title(report)) }
            @if let [one] = different[..] { @if !one.is_empty() { p.what { (one) } } }
            p.when {
                (program(report)) ", "
                (timestamp_with_zone(report.time_unix_ms, report.utc_offset_s))
                @if let Some(ledger) = ledger {
                    @if let Some(host) = &ledger.environment.host { ", on " (host) }
                    @let mut places = ledger.jobs.iter().flat_map(|job| &job.files.devices);
                    @if let Some(first) = places.next() { ", " (first) }
                    @if let Some(fs) = ledger.environment.filesystems.first() { " (" (fs.kind) ")" }
                }
            }
        }
        (answer(run))
    }
}

/// The block on top.
fn answer(run: &PageRun<'_>) -> Markup {
    let report = run.report;
    let conclusion = report.ours.conclusion.as_ref();
    let is_bad = conclusion.is_some_and(is_bad);
    // Of a run that was cut off, or of figures that nobody can judge, no finding is no praise.
    let is_known = !is_bad && conclusion.is_none_or(|one| one.usable != Usable::Unknown);
    let class = match conclusion.map(|one| &one.usable) {
        _ if is_bad => "answer failed",
        Some(Usable::No) => "answer unusable",
        Some(Usable::Warnings | Usable::Unknown) => "answer doubtful",
        _ => "answer",
    };
    let findings = ledger(report).map(|ledger| ledger.verdict.as_slice());
    html! {
        section class=(class) {
            @if let Some(conclusion) = conclusion { p.conclusion { (unbroken(&conclusion.text)) } }
            @for (job, name) in report.jobs.iter().zip(report.job_names()) {
                @if let Some(failure) = &job.failure {
                    p.finding-line.wrong { strong { "failed" } " " (name) ": " (failure.words()) }
                }
            }
            @match &report.ours.hosts {
                Some(merged) => (hosts::section(merged)),
                None => (cards::cards(report)),
            }
            (verified::section(report))
            @match findings {
                Some(findings) => (self::findings(findings, is_known)),
                None if !run.findings.is_empty() => (self::findings(run.findings, is_known)),
                None => {}
            }
        }
    }
}

/// `readers x10, log-writer and after`: the names of the jobs.
pub(crate) fn title(report: &Report) -> String {
    let mut names: Vec<(&str, u64)> = Vec::new();
    for job in &report.jobs {
        match names.iter_mut().find(|(name, _)| *name == job.name) {
            Some((_, number)) => *number += 1,
            None => names.push((&job.name, 1)),
        }
    }
    if names.len() > NAMED_MOST {
        return counted(report.jobs.len() as u64, "job");
    }
    let one = |&(name, number): &(&str, u64)| match number {
        1 => name.to_owned(),
        _ => format!("{name} x{number}"),
    };
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether the run did not do what it was to do.
pub(crate) fn is_bad(conclusion: &Conclusion) -> bool {
    [Outcome::Failed, Outcome::Stopped, Outcome::Nothing].contains(&conclusion.outcome)
}

/// What measured.
pub(crate) fn program(report: &Report) -> &str {
    if report.tool.is_empty() { &report.version } else { &report.tool }
}

fn findings(findings: &[Finding], is_known: bool) -> Markup {
    html! {
        @if findings.is_empty() && is_known { p.finding-line.good { strong { "clean" } " no finding" } }
        @for finding in findings {
            details class={ "finding-line " (finding.severity.word()) } {
                summary {
                    strong { (finding.severity.word()) } " " (unbroken(&finding.statement))
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
