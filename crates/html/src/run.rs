//! One run: what it found first, then the charts, then everything.

use crate::PageRun;
use crate::charts::{bars, cliff, heat, percentiles, phases, rate, strip};
use crate::figures::{active, latencies, ledger, series, totals};
use crate::hosts;
use crate::jobs;
use crate::parts;
use crate::tables;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use iosonde_base::text::{bytes, count, duration, rate as rate_words};
use iosonde_report::{JobReport, Report};
use maud::{Markup, html};
use std::io::Write;

/// A download that would be larger is left out.
const DOWNLOAD_BYTES_MOST: usize = 200 << 10;

/// The part of a run, if it fits into `room` bytes; without the download if
/// that alone is too much.
pub(crate) fn part(run: &PageRun<'_>, number: usize, room: usize) -> Option<Markup> {
    let download = run.json.and_then(download);
    let whole = section(run, number, download.as_deref());
    if whole.0.len() <= room {
        return Some(whole);
    }
    let without = section(run, number, None);
    (without.0.len() <= room).then_some(without)
}

fn section(run: &PageRun<'_>, number: usize, download: Option<&str>) -> Markup {
    let report = run.report;
    html! {
        section.run id={ "run-" (number + 1) } {
            (parts::headline(run))
            @match &report.ours.hosts {
                Some(merged) => (hosts::section(merged)),
                None => (parts::numbers(report)),
            }
            (charts(report))
            @if report.jobs.len() > 1 { (jobs::section(report)) }
            (tables::latency(report))
            (tables::system(report))
            (tables::settings(report))
            (about(run, download))
        }
    }
}

/// The charts of all jobs together.
fn charts(report: &Report) -> Markup {
    let all: Vec<&JobReport> = report.jobs.iter().collect();
    let (ledger, series) = (ledger(report), series(report));
    let changes = ledger.map_or(&[][..], |ledger| &ledger.changes);
    html! {
        @if let Some(ledger) = ledger { (optional(bars::bytes_chart(ledger))) }
        @if let Some(series) = series {
            (optional(rate::chart(series, changes)))
            (optional(strip::chart(series)))
            (optional(cliff::chart(series, changes)))
        }
        (optional(percentiles::chart("latency", &latencies(report, &all))))
        @if let Some(series) = series {
            @for dir in active(series) { (optional(heat::chart(series, dir))) }
        }
        @if let Some(ledger) = ledger { (optional(bars::levels_chart(ledger))) }
        (optional(phases::chart(report)))
    }
}

fn optional(chart: Option<Markup>) -> Markup {
    chart.unwrap_or_default()
}

/// Where the page is from, the result itself, and what was missing in it.
fn about(run: &PageRun<'_>, download: Option<&str>) -> Markup {
    html! {
        h2 { "About this page" }
        @for note in run.notes { p.note { (note) } }
        @if series(run.report).is_none() {
            p.note {
                "The result has no series: rate and latency over time are not drawn. iosonde records one in "
                "its own name."
            }
        }
        p {
            "Made from " (run.name) " by iosonde. It makes no request; without a script it is complete."
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

/// The result as a URI that contains it, if it is small enough.
pub(crate) fn download(json: &str) -> Option<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json.as_bytes()).ok()?;
    let packed = STANDARD.encode(encoder.finish().ok()?);
    (packed.len() <= DOWNLOAD_BYTES_MOST).then(|| format!("data:application/gzip;base64,{packed}"))
}

/// Several runs as a table, each with a link to its part.
pub(crate) fn overview(runs: &[PageRun<'_>]) -> Markup {
    html! {
        section.overview {
            h1 { (runs.len()) " runs" }
            div.scroll tabindex="0" {
                table.sortable {
                    thead { tr {
                        @for head in ["run", "direction", "IOPS", "bandwidth", "p50", "p99", "max", "moved"] {
                            th scope="col" { (head) }
                        }
                    } }
                    tbody {
                        @for (number, run) in runs.iter().enumerate() {
                            @for (name, total) in totals(run.report) {
                                @let at = |percent| total.latency.at(percent).map_or("-".to_owned(), duration);
                                tr {
                                    th scope="row" { a href={ "#run-" (number + 1) } { (run.name) } }
                                    td { (name) }
                                    td { (count(total.iops())) }
                                    td { (rate_words(total.bytes_per_s())) }
                                    td { (at(50.0)) }
                                    td { (at(99.0)) }
                                    td { (duration(total.latency.max_ns)) }
                                    td { (bytes(total.bytes)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
