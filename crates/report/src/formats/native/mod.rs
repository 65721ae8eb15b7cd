//! Our own report: a conclusion, the most wanted figures, then where the bytes
//! went; no line without content and no figure twice.

mod hosts;
mod many;
mod one;
mod spark;
mod table;

use super::ledger_text::{LedgerPlace, add_ledger};
use super::style::{Mark, Style, add_labelled, paint};
use crate::conclusion::Outcome;
use crate::report::*;
use crate::scale::date;
use iosonde_base::text::{bytes, percent, wrap};

/// The report for a person: at most some 25 lines for one job, a row for each
/// job and direction when there are several.
pub fn native(report: &Report, style: &Style) -> String {
    let style = &style.usable();
    let mut text = String::new();
    let tool = if report.tool.is_empty() { &report.version } else { &report.tool };
    let title = format!("{tool}, {}", date(report.time_unix_ms, report.utc_offset_s));
    text.push_str(&paint(wrap(&title, 0, style.columns), Mark::Label, style));
    text.push_str("\n\n");
    let ledger = report.ours.ledger.as_ref();
    if let Some(conclusion) = &report.ours.conclusion {
        let failed = [Outcome::Failed, Outcome::Stopped, Outcome::Nothing];
        let mark = if failed.contains(&conclusion.outcome) { Mark::Error } else { Mark::Heading };
        text.push_str(&paint(wrap(&conclusion.text, 0, style.columns), mark, style));
        text.push_str("\n\n");
    }
    match (&report.ours.hosts, report.jobs.as_slice()) {
        (Some(merged), _) => hosts::add_hosts(merged, style, &mut text),
        (None, []) => text.push_str("no job is reported\n"),
        (None, [job]) => one::add_job(job, report, style, &mut text),
        (None, jobs) => many::add_jobs(jobs, report, style, &mut text),
    }
    // The ledger's figures of the devices are more exact.
    if ledger.is_none() || style.verbose {
        report.disks.iter().for_each(|disk| add_disk(disk, 0, style, &mut text));
    }
    let remarks = report.diagnostics.iter().chain(&report.ours.notes);
    for remark in remarks {
        add_labelled("note", remark, Mark::Note, style, &mut text);
    }
    if let Some(ledger) = ledger {
        let place = LedgerPlace::OwnText(report.ours.conclusion.as_ref());
        add_ledger(ledger, place, style, &mut text);
    }
    text
}

/// A disk, and those below it, marked so.
fn add_disk(disk: &DiskReport, level: usize, style: &Style, text: &mut String) {
    let DiskCounts { ios, sectors, util_percent, .. } = disk.counts;
    let part = |dir: &str, at: usize| {
        let moved = sectors.map(|sectors| bytes(sectors[at].saturating_mul(512)));
        let moved = moved.map_or(String::new(), |moved| format!(" ({moved})"));
        format!("{} {dir}{moved}", ios[at])
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
