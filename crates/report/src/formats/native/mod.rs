//! Our own report: what a person asks first comes first, and nothing is told
//! that says nothing.

mod many;
mod one;
pub(super) mod words;

use crate::report::*;
use crate::scale::date;
use words::{Mark, paint, wrap};
pub use words::{count as count_words, time as time_words};

/// How to write for the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour (ANSI escapes).
    pub colour: bool,
    /// How wide lines may be; tables take 80, so no less is used.
    pub columns: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, columns: 80 }
    }
}

/// The report for a person: at most some 25 lines for one job, a row for each
/// job and direction when there are several.
pub fn native(report: &Report, style: &Style) -> String {
    let style = &Style { columns: style.columns.max(80), ..*style };
    let mut text = String::new();
    let tool = if report.tool.is_empty() { &report.version } else { &report.tool };
    let title = format!("{tool}, {}", date(report.time_unix_ms, report.utc_offset_s));
    text.push_str(&paint(title, Mark::Label, style));
    text.push_str("\n\n");
    match report.jobs.as_slice() {
        [] => text.push_str("no job was told of\n"),
        [job] => one::add_job(job, report.ours.jobs.first(), style, &mut text),
        jobs => many::add_jobs(jobs, report, style, &mut text),
    }
    report.disks.iter().for_each(|disk| add_disk(disk, 0, style, &mut text));
    let remarks = report.diagnostics.iter().chain(&report.ours.notes);
    for remark in remarks {
        text.push_str(&paint("  note      ", Mark::Note, style));
        text.push_str(&wrap(remark, 12, style.columns));
        text.push('\n');
    }
    text.push_str(&super::ledger_text(report, style));
    text
}

/// A line that begins with a label in its own column.
pub(super) fn add_labelled(label: &str, words: &str, mark: Mark, style: &Style, text: &mut String) {
    text.push_str(&paint(format!("  {label:<10}"), mark, style));
    text.push_str(&wrap(words, 12, style.columns));
    text.push('\n');
}

/// The latency that is told: the whole of it where its percentiles were kept.
/// The completion latency alone begins when a submission returns, and may be
/// over by then.
fn told_latency(dir: &DirReport) -> &LatencyReport {
    if dir.clat.n == 0 || dir.lat.quick.is_some() { &dir.lat } else { &dir.clat }
}

/// A disk, and those it stands on, marked so.
fn add_disk(disk: &DiskReport, level: usize, style: &Style, text: &mut String) {
    let DiskCounts { ios, sectors, util_percent, .. } = disk.counts;
    let part = |dir: &str, at: usize| {
        let bytes = words::bytes(sectors[at].saturating_mul(512));
        format!("{} {dir} ({bytes})", ios[at])
    };
    let words = format!(
        "{}: {}, {}, {util_percent:.0} % busy",
        disk.name,
        part("reads", 0),
        part("writes", 1)
    );
    let label = if level == 0 { "disk" } else { "  below" };
    add_labelled(label, &words, Mark::Label, style, text);
    disk.slaves.iter().for_each(|slave| add_disk(slave, level + 1, style, text));
}

/// Why a job failed, in words.
fn failure_words(failure: &JobFailure) -> String {
    format!("{}: {}: {}", failure.doing, failure.place, failure.errno)
}
