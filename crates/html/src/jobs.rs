//! Several jobs: a table, the worst latency first, and the full charts of some.

use crate::charts::{percentiles, spark};
use crate::figures::{latencies, ledger, merged};
use iosonde_base::text::{bytes, count, counted, duration, rate};
use iosonde_report::series::JobSeries;
use iosonde_report::{JobReport, LatencyReport, Report};
use maud::{Markup, html};

/// Jobs that have a chart of their own.
const CHARTED_MOST: usize = 12;
/// Jobs with small drawings in their rows.
const DRAWN_MOST: usize = 128;
/// Jobs of one name from which on they have a common row, and their own are folded.
const FOLDED_LEAST: usize = 4;

/// A job with the latency that it is about: of its syncs where it syncs, else of all its
/// directions.
struct RankedJob<'a> {
    name: String,
    job: &'a JobReport,
    latency: LatencyReport,
    series: Option<&'a JobSeries>,
}

impl RankedJob<'_> {
    fn p99(&self) -> u64 {
        self.latency.at(99.0).unwrap_or(self.latency.max_ns)
    }

    fn iops(&self) -> f64 {
        self.job.shown().iter().map(|(_, dir)| dir.iops()).sum()
    }

    fn bytes_per_s(&self) -> u64 {
        self.job.shown().iter().map(|(_, dir)| dir.bw_bytes_per_s()).sum()
    }

    fn moved(&self) -> u64 {
        self.job.shown().iter().map(|(_, dir)| dir.io_bytes).sum()
    }

    fn is_of_syncs(&self) -> bool {
        self.job.sync.total_ios > 0
    }
}

/// What all rows of drawings have in common.
struct DrawnScale {
    latency: (u64, u64),
    has_series: bool,
}

/// The table and the charts.
pub(crate) fn section(report: &Report) -> Markup {
    let jobs = ranked(report);
    let scale = DrawnScale {
        latency: spark::tail_scale(jobs.iter().map(|one| &one.latency)),
        has_series: jobs.iter().any(|one| one.series.is_some()),
    };
    let groups = groups(&jobs);
    let is_folded = groups.iter().any(|group| group.len() >= FOLDED_LEAST);
    html! {
        h2 { "Jobs" }
        p.finding {
            (counted(jobs.len() as u64, "job")) ", the highest p99 first: of the syncs where a job syncs, "
            "else of its I/Os."
        }
        @if is_folded {
            (groups_table(&groups))
            details.all-jobs { summary { "Each job" } (table(&jobs, &scale)) }
        } @else {
            (table(&jobs, &scale))
        }
        details.job {
            summary {
                "Latency by percentile of each job"
                @if jobs.len() > CHARTED_MOST { ", of the first " (CHARTED_MOST) }
            }
            div.charts { @for (index, one) in jobs.iter().take(CHARTED_MOST).enumerate() {
                (percentiles::titled(&format!("job-{}", index + 1),
                    &format!("Latency by percentile: {}", one.name), &latencies(report, &[one.job]))
                    .unwrap_or_default())
            } }
        }
    }
}

fn table(jobs: &[RankedJob<'_>], scale: &DrawnScale) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.sortable.jobs {
                thead { tr {
                    @for head in ["job", "IOPS", "bandwidth", "latency of", "p50", "p99", "max", "moved"] {
                        th scope="col" { (head) }
                    }
                    @if scale.has_series { th scope="col" { "rate" } }
                    th scope="col" { "p0.1 to p99.9" }
                } }
                tbody { @for (index, one) in jobs.iter().enumerate() { (row(one, index, scale)) } }
            }
        }
        p.note {
            "Small drawings: the rate over time, each from 0 to its own largest value; the latency by \
             percentile, logarithmic and on one scale for all jobs."
        }
    }
}

fn row(one: &RankedJob<'_>, index: usize, scale: &DrawnScale) -> Markup {
    let at = |percent: f64| one.latency.at(percent).map_or("-".to_owned(), duration);
    html! {
        tr {
            th scope="row" {
                (one.name) @if one.job.clones > 1 { " x" (one.job.clones) }
                @if one.job.failure.is_some() { " " span.wrong { "failed" } }
            }
            td { (count(one.iops())) }
            td { (rate(one.bytes_per_s() as f64)) }
            td { @if one.is_of_syncs() { "sync" } @else { "I/O" } }
            td { (at(50.0)) }
            td { (at(99.0)) }
            td { @if one.latency.n > 0 { (duration(one.latency.max_ns)) } @else { "-" } }
            td { (bytes(one.moved())) }
            @if scale.has_series { td { @if let Some(series) = one.series {
                @if index < DRAWN_MOST { (spark::rate(whole(series))) }
            } } }
            td { @if index < DRAWN_MOST { (spark::tail(&one.latency, scale.latency)) } }
        }
    }
}

/// Jobs of one name together, in the order of the first.
fn groups<'a, 'b>(jobs: &'b [RankedJob<'a>]) -> Vec<Vec<&'b RankedJob<'a>>> {
    let mut groups: Vec<Vec<&RankedJob>> = Vec::new();
    for one in jobs {
        match groups.iter_mut().find(|group| group[0].job.name == one.job.name) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// A row for the jobs of a name: the sums, and from the least to the most of a job.
fn groups_table(groups: &[Vec<&RankedJob<'_>>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.sortable {
                thead { tr {
                    @for head in ["jobs", "number", "IOPS, all", "IOPS of a job", "bandwidth, all", "latency of",
                        "p50", "p99", "max", "moved"] {
                        th scope="col" { (head) }
                    }
                } }
                tbody { @for group in groups { (group_row(group)) } }
            }
        }
    }
}

fn group_row(group: &[&RankedJob<'_>]) -> Markup {
    let all: Vec<&LatencyReport> = group.iter().map(|one| &one.latency).collect();
    let latency = merged(&all);
    let at = |percent: f64| latency.at(percent).map_or("-".to_owned(), duration);
    let iops: Vec<f64> = group.iter().map(|one| one.iops()).collect();
    let (least, most) =
        (iops.iter().copied().fold(f64::MAX, f64::min), iops.iter().copied().fold(0.0, f64::max));
    let (least, most) = (count(least), count(most));
    html! {
        tr {
            th scope="row" { (group[0].job.name) }
            td { (group.len()) }
            td { (count(iops.iter().sum())) }
            td { @if least == most { (least) } @else { (least) " to " (most) } }
            td { (rate(group.iter().map(|one| one.bytes_per_s()).sum::<u64>() as f64)) }
            td { @if group[0].is_of_syncs() { "sync" } @else { "I/O" } }
            td { (at(50.0)) }
            td { (at(99.0)) }
            td { @if latency.n > 0 { (duration(latency.max_ns)) } @else { "-" } }
            td { (bytes(group.iter().map(|one| one.moved()).sum())) }
        }
    }
}

/// Bytes of its windows of one length.
fn whole(series: &JobSeries) -> &[u64] {
    let cut = usize::from(series.last_ns.is_some());
    &series.bytes[..series.bytes.len().saturating_sub(cut)]
}

/// The jobs, the highest p99 first.
fn ranked(report: &Report) -> Vec<RankedJob<'_>> {
    let series = ledger(report).map_or(&[][..], |ledger| &ledger.series.jobs);
    // Entries of merged clones have no series of their own.
    let alone = series.len() == report.jobs.len();
    let named = report.jobs.iter().zip(report.job_names()).enumerate();
    let mut jobs: Vec<RankedJob<'_>> = named
        .map(|(index, (job, name))| {
            let dirs = job.shown();
            let all: Vec<&LatencyReport> =
                dirs.iter().map(|(_, dir)| dir.shown_latency()).collect();
            let latency = if job.sync.total_ios > 0 { job.sync.lat.clone() } else { merged(&all) };
            RankedJob { name, job, latency, series: series.get(index).filter(|_| alone) }
        })
        .collect();
    iosonde_base::sort_by_key(&mut jobs, |one| std::cmp::Reverse(one.p99()));
    jobs
}
