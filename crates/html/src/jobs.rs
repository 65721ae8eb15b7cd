//! Several jobs: a table, the worst tail first, and the full charts of some.

use crate::charts::{percentiles, spark};
use crate::figures::{latencies, ledger, merged};
use iosonde_base::text::{bytes, count, duration, rate};
use iosonde_report::series::JobSeries;
use iosonde_report::{JobReport, LatencyReport, Report};
use maud::{Markup, html};

/// Jobs that have a chart of their own.
const CHARTED_MOST: usize = 12;
/// Jobs with small drawings in their rows.
const DRAWN_MOST: usize = 128;

/// A job with the latency of all its directions.
struct RankedJob<'a> {
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
}

/// The table and the charts.
pub(crate) fn section(report: &Report) -> Markup {
    let jobs = ranked(report);
    let low = jobs.iter().map(|one| one.latency.min_ns).filter(|&ns| ns > 0).min().unwrap_or(1);
    let high = jobs.iter().map(|one| one.latency.max_ns).max().unwrap_or(2);
    let rates = jobs.iter().filter_map(|one| one.series).flat_map(whole);
    let most = rates.copied().max().unwrap_or(0);
    let has_series = jobs.iter().any(|one| one.series.is_some());
    html! {
        h2 { "Jobs" }
        p.finding {
            (jobs.len()) " jobs, the highest p99 first. Small drawings have one scale: the rate over time "
            "from 0, and the latency from p0 to p99.9 (logarithmic)."
        }
        div.scroll tabindex="0" {
            table.sortable.jobs {
                thead { tr {
                    @for head in ["job", "IOPS", "bandwidth", "p50", "p99", "max", "moved"] {
                        th scope="col" { (head) }
                    }
                    @if has_series { th scope="col" { "rate" } }
                    th scope="col" { "tail" }
                } }
                tbody {
                    @for (index, one) in jobs.iter().enumerate() {
                        tr {
                            th scope="row" { (one.job.name) @if one.job.clones > 1 { " x" (one.job.clones) } }
                            td { (count(one.iops())) }
                            td { (rate(one.bytes_per_s() as f64)) }
                            td { (one.latency.at(50.0).map_or("-".to_owned(), duration)) }
                            td { (one.latency.at(99.0).map_or("-".to_owned(), duration)) }
                            td { @if one.latency.n > 0 { (duration(one.latency.max_ns)) } @else { "-" } }
                            td { (bytes(one.job.shown().iter().map(|(_, dir)| dir.io_bytes).sum())) }
                            @if has_series { td { @if let Some(series) = one.series {
                                @if index < DRAWN_MOST { (spark::rate(whole(series), most)) }
                            } } }
                            td { @if index < DRAWN_MOST { (spark::tail(&one.latency, (low, high))) } }
                        }
                    }
                }
            }
        }
        @for (index, one) in jobs.iter().take(CHARTED_MOST).enumerate() {
            details.job {
                summary { (one.job.name) ": latency by percentile" }
                (percentiles::chart(&format!("job-{}", index + 1), &latencies(report, &[one.job]))
                    .unwrap_or_default())
            }
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
    let mut jobs: Vec<RankedJob<'_>> = report
        .jobs
        .iter()
        .enumerate()
        .map(|(index, job)| {
            let dirs = job.shown();
            let all: Vec<&LatencyReport> =
                dirs.iter().map(|(_, dir)| dir.shown_latency()).collect();
            RankedJob { job, latency: merged(&all), series: series.get(index).filter(|_| alone) }
        })
        .collect();
    jobs.sort_by_key(|one| std::cmp::Reverse(one.p99()));
    jobs
}
