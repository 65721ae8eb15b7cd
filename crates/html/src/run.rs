//! One run: what it found first, then the charts, then everything.

use crate::charts::heat::HeatOf;
use crate::charts::{bars, cliff, heat, percentiles, phases, rate, strip};
use crate::figures::{active, latencies, ledger, series};
use crate::jobs;
use crate::parts;
use crate::tables;
use crate::tested;
use crate::{PageRun, RunNumber};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use iosonde_report::{JobReport, Report};
use maud::{Markup, html};
use std::io::Write;

/// A download that would be larger is left out.
const DOWNLOAD_BYTES_MOST: usize = 200 << 10;

/// The part of a run, if it fits into `room` bytes; without the download if
/// that alone is too much.
pub(crate) fn part(run: &PageRun<'_>, number: RunNumber, room: usize) -> Option<Markup> {
    let download = run.json.and_then(download);
    let whole = section(run, number, download.as_deref());
    if whole.0.len() <= room {
        return Some(whole);
    }
    let without = section(run, number, None);
    (without.0.len() <= room).then_some(without)
}

fn section(run: &PageRun<'_>, number: RunNumber, download: Option<&str>) -> Markup {
    let report = run.report;
    html! {
        section.run id={ "run-" (number.at + 1) } {
            (parts::headline(run, number))
            @if report.jobs.len() > 1 { (jobs::section(report)) }
            div.charts { (charts(report)) }
            (tested::section(report))
            (tables::latency(report))
            (tables::system(report))
            (tables::settings(report))
            (about(run, number, download))
        }
    }
}

/// The charts of all jobs together: on the left what was moved and when, on the right how
/// long it took.
fn charts(report: &Report) -> Markup {
    let all: Vec<&JobReport> = report.jobs.iter().collect();
    let (ledger, series) = (ledger(report), series(report));
    let changes = ledger.map_or(&[][..], |ledger| &ledger.changes);
    html! {
        div {
            @if let Some(ledger) = ledger { (optional(bars::bytes_chart(ledger))) }
            @if let Some(series) = series {
                (optional(rate::chart(series, changes, report.jobs.len())))
                (optional(strip::chart(series)))
                (optional(cliff::chart(series, changes)))
            }
            (optional(phases::chart(report)))
        }
        div {
            (optional(percentiles::chart("latency", &latencies(report, &all))))
            @if let Some(series) = series {
                // Of a job that syncs they are what it is about.
                @let directions = active(series).into_iter().map(HeatOf::Dir);
                @for of in [HeatOf::Syncs].into_iter().chain(directions) { (optional(heat::chart(series, of))) }
            }
            @if let Some(ledger) = ledger { (optional(bars::levels_chart(ledger, &report.job_names()))) }
        }
    }
}

fn optional(chart: Option<Markup>) -> Markup {
    chart.unwrap_or_default()
}

/// Where the page is from, the result itself, and what was missing in it.
fn about(run: &PageRun<'_>, number: RunNumber, download: Option<&str>) -> Markup {
    html! {
        @if number.is_alone { h2 { "About this page" } }
        @for note in run.notes { p.note { (note) } }
        @if series(run.report).is_none() {
            p.note {
                "The result has no figures over time, so that rate and latency over time are not drawn: "
                (without_series(run.report)) "."
            }
        }
        p {
            "Made from " (run.name) " by iosonde. The page works offline and without JavaScript."
            @match download {
                Some(uri) => {
                    " " a download="result.json.gz" href=(uri) { "The result as JSON (gzip)" } "."
                }
                None if run.json.is_some() => " The result itself is too large to be part of it.",
                None => {}
            }
        }
    }
}

/// Why a result has no series.
fn without_series(report: &Report) -> &'static str {
    match (report.ours.hosts.is_some(), report.ours.ledger.is_some()) {
        (true, _) => "they are not merged, the results of the hosts have them",
        (false, true) => "the run was too short for two windows",
        (false, false) => "runs of iosonde record them, those of fio do not",
    }
}

/// The result as a URI that contains it, if it is small enough.
pub(crate) fn download(json: &str) -> Option<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json.as_bytes()).ok()?;
    let packed = STANDARD.encode(encoder.finish().ok()?);
    (packed.len() <= DOWNLOAD_BYTES_MOST).then(|| format!("data:application/gzip;base64,{packed}"))
}
