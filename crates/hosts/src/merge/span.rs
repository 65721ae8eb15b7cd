//! When a host's groups ran, by the clock of rank 0 where offsets are known.
//!
//! Only clocks of the day are compared: a monotonic clock counts from its own host's
//! start.

use super::MergedHost;
use iosonde_report::hosts::{GroupSpan, HostStamp};
use iosonde_report::{JobReport, Report};
use std::collections::BTreeMap;

/// A group's time on one host, in nanoseconds of Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockSpan {
    pub group: u32,
    pub began_ns: u64,
    pub first_done_ns: u64,
    pub ended_ns: u64,
}

impl ClockSpan {
    /// The time of jobs that ran for `run_ms`, which is cut off to whole milliseconds: the
    /// span's own where the two are the same time.
    pub fn run_seconds(&self, run_ms: u64) -> f64 {
        let (run_ns, span_ns) =
            (run_ms.saturating_mul(MS), self.ended_ns.saturating_sub(self.began_ns));
        let ns = if span_ns.abs_diff(run_ns) <= 2 * MS { span_ns } else { run_ns };
        ns.max(1) as f64 / 1e9
    }
}

/// A millisecond.
const MS: u64 = 1_000_000;

/// Unix times in milliseconds are larger than this since 2001; clocks that count from a
/// machine's start are smaller for 30 years.
const UNIX_MS_LEAST: u64 = 1_000_000_000_000;

/// The spans of a result's groups that did any I/O.
pub(super) fn of(report: &Report, stamp: Option<&HostStamp>) -> Result<Vec<ClockSpan>, String> {
    let ran = |job: &&JobReport| job.issued_ios() > 0;
    let mut groups: BTreeMap<u32, Vec<&JobReport>> = BTreeMap::new();
    for job in report.jobs.iter().filter(ran) {
        groups.entry(job.group).or_default().push(job);
    }
    let offset_ns = stamp.and_then(|stamp| stamp.clock).map_or(0, |clock| clock.offset_ns);
    groups
        .into_iter()
        .map(|(group, jobs)| {
            let stamped = stamp.and_then(|stamp| stamp.groups.iter().find(|s| s.group == group));
            match stamped {
                Some(span) => Ok(corrected(span, offset_ns)),
                None => of_jobs(group, &jobs),
            }
        })
        .collect()
}

fn corrected(span: &GroupSpan, offset_ns: i64) -> ClockSpan {
    let by_first = |ns: u64| ns.saturating_add_signed(offset_ns.saturating_neg());
    ClockSpan {
        group: span.group,
        began_ns: by_first(span.began_unix_ns),
        first_done_ns: by_first(span.first_done_unix_ns),
        ended_ns: by_first(span.ended_unix_ns),
    }
}

/// By the jobs' starts and run times, in whole milliseconds.
fn of_jobs(group: u32, jobs: &[&JobReport]) -> Result<ClockSpan, String> {
    let mut span = ClockSpan { group, began_ns: u64::MAX, first_done_ns: u64::MAX, ended_ns: 0 };
    for job in jobs {
        if job.start_unix_ms < UNIX_MS_LEAST {
            return Err(format!(
                "its job {} has no start by the clock of the day (job_start is {}): \
                 when it ran with the others is not known",
                job.name, job.start_unix_ms
            ));
        }
        let run_ms = job.shown().iter().map(|(_, dir)| dir.runtime_ms).max().unwrap_or(0);
        let ns = |ms: u64| ms.saturating_mul(MS);
        let (began, ended) = (ns(job.start_unix_ms), ns(job.start_unix_ms + run_ms));
        span.began_ns = span.began_ns.min(began);
        span.first_done_ns = span.first_done_ns.min(ended);
        span.ended_ns = span.ended_ns.max(ended);
    }
    Ok(span)
}

/// From the first start to the last end of a group on any host.
pub(super) fn union_ms(hosts: &[MergedHost], group: u32) -> u64 {
    let spans = || {
        let groups = hosts.iter().flat_map(|host| &host.groups);
        groups.filter(|own| own.group == group).map(|own| own.span)
    };
    let began = spans().map(|span| span.began_ns).min().unwrap_or(0);
    let ended = spans().map(|span| span.ended_ns).max().unwrap_or(0);
    (ended.saturating_sub(began) + 500_000) / 1_000_000
}
