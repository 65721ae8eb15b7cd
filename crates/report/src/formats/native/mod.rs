//! Our own report: the most wanted numbers first, and no line without content.

mod many;
mod one;
pub(super) mod paint;

use crate::report::*;
use crate::scale::date;
use iosonde_base::text::{bytes, percent, wrap};
use paint::{Mark, paint};

/// How to write for the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour (ANSI escapes).
    pub colour: bool,
    /// How wide lines may be. Where a table does not fit, each of its rows is a
    /// wrapped line.
    pub columns: usize,
}

/// No layout is narrower than this.
const COLUMNS_MIN: usize = 40;

impl Style {
    /// The same style in lines that can be laid out.
    fn usable(self) -> Style {
        Style { columns: self.columns.max(COLUMNS_MIN), ..self }
    }
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, columns: 80 }
    }
}

/// The report for a person: at most some 25 lines for one job, a row for each
/// job and direction when there are several.
pub fn native(report: &Report, style: &Style) -> String {
    let style = &style.usable();
    let mut text = String::new();
    let tool = if report.tool.is_empty() { &report.version } else { &report.tool };
    let title = format!("{tool}, {}", date(report.time_unix_ms, report.utc_offset_s));
    text.push_str(&paint(wrap(&title, 0, style.columns), Mark::Label, style));
    text.push_str("\n\n");
    match report.jobs.as_slice() {
        [] => text.push_str("no job is reported\n"),
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

/// Names and numbers as one wrapped line: a row of a table that does not fit.
pub(super) fn add_narrow_row(name: &str, cells: &[String], style: &Style, text: &mut String) {
    text.push_str("  ");
    text.push_str(&wrap(&format!("{name}: {}", cells.join(", ")), 2, style.columns));
    text.push('\n');
}

/// A line that begins with a label in its own column.
pub(super) fn add_labelled(label: &str, words: &str, mark: Mark, style: &Style, text: &mut String) {
    text.push_str(&paint(format!("  {label:<10}"), mark, style));
    text.push_str(&wrap(words, 12, style.columns));
    text.push('\n');
}

/// The latency that is reported: the total latency where its percentiles were
/// kept. The completion latency begins when a submission returns, and may be
/// over by then.
fn shown_latency(dir: &DirReport) -> &LatencyReport {
    if dir.clat.n == 0 || dir.lat.quick.is_some() { &dir.lat } else { &dir.clat }
}

/// A disk, and those below it, marked so.
fn add_disk(disk: &DiskReport, level: usize, style: &Style, text: &mut String) {
    let DiskCounts { ios, sectors, util_percent, .. } = disk.counts;
    let part = |dir: &str, at: usize| {
        let moved = bytes(sectors[at].saturating_mul(512));
        format!("{} {dir} ({moved})", ios[at])
    };
    let words = format!(
        "{}: {}, {}, {} busy",
        disk.name,
        part("reads", 0),
        part("writes", 1),
        percent(util_percent / 100.0)
    );
    let label = if level == 0 { "disk" } else { "  below" };
    add_labelled(label, &words, Mark::Label, style, text);
    disk.slaves.iter().for_each(|slave| add_disk(slave, level + 1, style, text));
}

/// Why a job failed, in words.
fn failure_words(failure: &JobFailure) -> String {
    format!("{}: {}: {}", failure.doing, failure.place, failure.errno)
}
