//! Markdown, for tickets and pull requests: the conclusion, a table, findings.

use crate::report::*;
use crate::scale::timestamp;
use iosonde_base::text::{bytes, count, duration, rate};
use std::fmt::Write;

/// The report as GitHub's Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    let ledger = report.ours.ledger.as_ref();
    if let Some(conclusion) = &report.ours.conclusion {
        let _ = writeln!(text, "**{}**\n", escaped(&conclusion.text));
    }
    text.push_str("| job | direction | IOPS | bandwidth | p50 | p99 | p99.9 | max | moved |\n");
    text.push_str("|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (job, name) in report.jobs.iter().zip(report.job_names()) {
        add_rows(job, &name, &mut text);
    }
    add_summaries(report, &mut text);
    if let Some(ledger) = ledger {
        add_findings(ledger, &mut text);
    }
    let moment = timestamp(report.time_unix_ms, report.utc_offset_s);
    let tool = if report.tool.is_empty() { &report.version } else { &report.tool };
    let _ = writeln!(text, "\n{} at {moment}", escaped(tool));
    text
}

/// What each job did, in words; one line for jobs of one name that did the same.
fn add_summaries(report: &Report, text: &mut String) {
    let mut lines: Vec<(&OurJob, u64)> = Vec::new();
    for job in report.ours.jobs.iter().filter(|job| !job.what.is_empty()) {
        let same =
            |line: &&mut (&OurJob, u64)| (&line.0.name, &line.0.what) == (&job.name, &job.what);
        match lines.iter_mut().find(same) {
            Some((_, number)) => *number += 1,
            None => lines.push((job, 1)),
        }
    }
    if !lines.is_empty() {
        text.push('\n');
    }
    for (job, number) in lines {
        let name = job.name.replace('`', "'");
        let jobs = if number > 1 { format!(" ({number} jobs)") } else { String::new() };
        let _ = writeln!(text, "- `{name}`{jobs}: {}", escaped(&job.what));
    }
}

fn add_rows(job: &JobReport, name: &str, text: &mut String) {
    let mut name = escaped(name);
    if let Some(failure) = &job.failure {
        let _ = writeln!(text, "| {name} | failed: {} |||||||| ", escaped(&failure.words()));
    }
    for (dir_name, dir) in job.shown().into_iter().filter(|(_, dir)| dir.issued_ios > 0) {
        let latencies = latencies(dir.shown_latency());
        let (iops, bandwidth) = (count(dir.iops()), rate(dir.bw_bytes_per_s() as f64));
        let moved = bytes(dir.io_bytes);
        let _ = writeln!(
            text,
            "| {name} | {dir_name} | {iops} | {bandwidth} | {latencies} | {moved} |"
        );
        name.clear();
    }
    if job.sync.total_ios > 0 {
        let latencies = latencies(&job.sync.lat);
        let _ = writeln!(text, "| {name} | sync |  |  | {latencies} | {} |", job.sync.total_ios);
    }
}

fn latencies(latency: &LatencyReport) -> String {
    let at = |percent| latency.at(percent).map_or("-".into(), duration);
    let max = if latency.n > 0 { duration(latency.max_ns) } else { "-".into() };
    [at(50.0), at(99.0), at(99.9), max].join(" | ")
}

fn add_findings(ledger: &crate::ledger::Ledger, text: &mut String) {
    if !ledger.verdict.is_empty() {
        text.push('\n');
    }
    for finding in &ledger.verdict {
        let _ = writeln!(
            text,
            "- **{}** `{}`: {}",
            finding.severity.word(),
            finding.id,
            escaped(&finding.statement)
        );
    }
}

/// Text in which nothing is markup: names of jobs and devices are anybody's.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for one in text.chars() {
        match one {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '@' => {
                out.push('\\');
                out.push(one);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_markup() {
        assert_eq!(escaped("a|b"), "a\\|b");
        assert_eq!(escaped("<img>*"), "&lt;img>\\*");
    }
}
