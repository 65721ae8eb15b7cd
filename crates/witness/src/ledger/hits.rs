//! Reads at random that found their pages in the page cache, although the device
//! delivered as many bytes or more: read-ahead that was not used hides them.
//!
//! Three signals answer, and have to agree: bytes that the device did not deliver (at
//! least so many hits), reads that sent no request (at most so many), and what was in
//! the page cache when the job began, while it ran and at its end.

use super::{of_disks_below, wave};
use crate::evidence::{Evidence, JobEvidence, ResidencySample};
use iosonde_base::Dir;
use iosonde_base::text::percent;
use iosonde_report::ledger::Fact;

/// Shares closer than this are the same.
const SLACK: f64 = 0.05;
/// A mean request larger than the job's blocks by more than this was read ahead.
const AHEAD: f64 = 1.05;

/// Bytes that `job` read from the page cache. At least `lowest` were, as no device delivered
/// them; `requests_per_read` says how many reads sent requests, where that is known.
pub(super) fn of_random(
    job: &JobEvidence,
    seen: &Evidence,
    lowest: u64,
    requests_per_read: &Fact<f64>,
) -> Fact<u64> {
    let asked = job.bytes[Dir::Read];
    let (least, most) = expected(job);
    if asked == 0 || most == 0.0 || reads_nothing_ahead(job, seen) {
        return Fact::Known(lowest);
    }
    let low = (lowest as f64 / asked as f64).min(1.0);
    let high = requests_per_read.get().map_or(1.0, |each| 1.0 - each / requests_of_miss(job, seen));
    let high = high.max(low);
    let bytes = |share: f64| Fact::Known((share * asked as f64) as u64);
    let range = |low: f64, high: f64| {
        Fact::unknown(format!(
            "between {} and {} of the reads found their data in the page cache",
            percent(low),
            percent(high)
        ))
    };
    match (least.max(low), most.min(high)) {
        _ if high - low <= SLACK => Fact::Known(lowest),
        // What is cached may be what such a job never reads.
        _ if !job.evenly => range(low, high),
        // They contradict each other: the file was dropped or brought back between two looks.
        (least, most) if least > most + SLACK => range(low, high),
        (least, most) if most - least <= 2.0 * SLACK => bytes(least.min(high)),
        (least, most) => range(least, most),
    }
}

/// The share of the reads that found their data in the page cache, by what was there: at
/// least, at most. What the job itself brought there explains none.
fn expected(job: &JobEvidence) -> (f64, f64) {
    if job.direct || !job.options.random || job.bytes[Dir::Write] > 0 {
        return (0.0, 0.0);
    }
    let range: u64 = job.inspected.iter().map(|file| file.bytes).sum();
    let share = |at: usize| {
        let cached = super::sum(job.inspected.iter().map(|file| &file.resident[at]));
        cached.get().map(|cached| (cached as f64 / range.max(1) as f64).min(1.0))
    };
    let Some(start) = share(0) else { return (0.0, 0.0) };
    let asked = job.bytes[Dir::Read];
    let end = ResidencySample { read_bytes: asked, share: share(1).unwrap_or(0.0) };
    let (mut at, mut there) = (0, start);
    let (mut least, mut most) = (0.0, 0.0);
    for sample in job.residency.iter().chain([&end]) {
        let read = sample.read_bytes.min(asked).saturating_sub(at) as f64;
        most += read * there;
        there = there.min(sample.share);
        least += read * there;
        at = at.max(sample.read_bytes.min(asked));
    }
    let asked = asked.max(1) as f64;
    (least / asked, most / asked)
}

/// Whether no request was larger than a block of the job, so that every byte that was
/// fetched was asked for: then what the device did not deliver is all there is.
fn reads_nothing_ahead(job: &JobEvidence, seen: &Evidence) -> bool {
    let mean = mean_request(job, seen);
    mean.is_some_and(|mean| mean <= job.options.block_bytes_min as f64 * AHEAD)
}

/// Requests of the device for one read that finds nothing in the page cache.
fn requests_of_miss(job: &JobEvidence, seen: &Evidence) -> f64 {
    let mean = mean_request(job, seen).unwrap_or(f64::MAX);
    (job.options.block_bytes_max as f64 / mean.max(1.0)).ceil().max(1.0)
}

/// Bytes of a read request of the disks right below while the job's wave ran.
fn mean_request(job: &JobEvidence, seen: &Evidence) -> Option<f64> {
    let wave = wave(job, seen)?;
    let requests = of_disks_below(job, wave, seen, |used| used.reads).get()?;
    let sectors = of_disks_below(job, wave, seen, |used| used.read_sectors).get()?;
    (requests > 0).then(|| sectors as f64 * 512.0 / requests as f64)
}
