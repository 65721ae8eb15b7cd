//! Comma-separated values: a header and a row for each job and direction, for
//! spreadsheets and data frames. Exact numbers in base units; units in the
//! names of the columns. RFC 4180.

use crate::report::*;
use iosonde_base::text::csv_cell;
use std::fmt::Write;

const COLUMNS: [&str; 19] = [
    "job",
    "group",
    "jobs",
    "direction",
    "ios",
    "bytes",
    "runtime_ms",
    "iops",
    "bytes_per_s",
    "latency_min_ns",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99.9_ns",
    "latency_max_ns",
    "durable_bytes_per_s",
    "errors",
    "conclusion",
];

/// The report as CSV. What was not measured is an empty cell.
pub fn csv(report: &Report) -> String {
    let mut text = COLUMNS.join(",");
    text.push_str("\r\n");
    for (job, job_name) in report.jobs.iter().zip(report.job_names()) {
        let mut add_row = |direction: &str, figures, latency: &_| {
            add_row(&Line { job, name: &job_name, report, direction }, figures, latency, &mut text);
        };
        for (name, dir) in job.shown().into_iter().filter(|(_, dir)| dir.issued_ios > 0) {
            let figures = [
                dir.total_ios.to_string(),
                dir.io_bytes.to_string(),
                dir.runtime_ms.to_string(),
                format!("{:.3}", dir.iops()),
                dir.bw_bytes_per_s().to_string(),
            ];
            add_row(name, figures, dir.shown_latency());
        }
        if job.sync.total_ios > 0 {
            let ios = job.sync.total_ios.to_string();
            let figures = [ios, String::new(), String::new(), String::new(), String::new()];
            add_row("sync", figures, &job.sync.lat);
        }
        if job.failure.is_some() && job.issued_ios() == 0 && job.sync.total_ios == 0 {
            add_row("", Default::default(), &LatencyReport::default());
        }
    }
    text
}

/// What a row is of.
struct Line<'a> {
    job: &'a JobReport,
    name: &'a str,
    report: &'a Report,
    direction: &'a str,
}

fn add_row(line: &Line<'_>, figures: [String; 5], latency: &LatencyReport, text: &mut String) {
    let Line { job, name, report, direction } = *line;
    let known = |ns: u64| if latency.n > 0 { ns.to_string() } else { String::new() };
    let at = |percent| latency.at(percent).map_or(String::new(), |ns| ns.to_string());
    let mean = if latency.n > 0 { format!("{:.1}", latency.mean_ns) } else { String::new() };
    let ledger = report.ours.ledger.as_ref();
    let durable = ledger.filter(|ledger| direction == "write" && ledger.jobs.len() == 1);
    let durable = durable.and_then(|ledger| ledger.writes.as_ref()?.durable_bytes_per_s.get());
    let conclusion = report.ours.conclusion.as_ref();
    let before = [quoted(name), job.group.to_string(), job.clones.max(1).to_string()];
    let latencies = [
        known(latency.min_ns),
        mean,
        at(50.0),
        at(90.0),
        at(99.0),
        at(99.9),
        known(latency.max_ns),
    ];
    let after = [
        durable.map_or(String::new(), |rate| format!("{rate:.0}")),
        errors(job, report).to_string(),
        conclusion.map_or(String::new(), |conclusion| quoted(&conclusion.text)),
    ];
    let cells = before.into_iter().chain([direction.to_owned()]).chain(figures);
    let cells: Vec<String> = cells.chain(latencies).chain(after).collect();
    debug_assert_eq!(cells.len(), COLUMNS.len());
    // Writing to a String cannot fail.
    let _ = write!(text, "{}\r\n", cells.join(","));
}

/// I/Os of a job that failed, and blocks that are not what was written: those that were
/// tolerated, and the one that ended it.
fn errors(job: &JobReport, report: &Report) -> u64 {
    let tolerated = job.errors.map_or(0, |errors| errors.total);
    let of_job = report.jobs.iter().position(|one| std::ptr::eq(one, job));
    let ours = of_job.and_then(|at| report.ours.jobs.get(at));
    let wrong = ours
        .and_then(|ours| ours.verify.as_ref())
        .map_or(0, |verify| verify.counts.wrong + verify.counts.unreadable);
    tolerated.max(wrong).max(u64::from(job.failure.is_some()))
}

/// A text as a cell. One that a spreadsheet would take for a formula begins
/// with an apostrophe.
fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    csv_cell(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_and_never_formulas() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }

    #[test]
    fn a_report_without_jobs_is_a_header() {
        let text = csv(&Report::default());
        assert_eq!(text.lines().count(), 1);
        assert!(text.starts_with("job,group,jobs,direction,ios,"));
    }
}
