//! Time in which nothing completed, though I/Os were waited for.

use crate::ledger::Ledger;

/// Shorter ones are tail latencies.
const LEAST_NS: u64 = 500_000_000;
/// A smaller share of the run does not change what its figures mean.
const LEAST_SHARE: f64 = 0.1;
/// A stall stands out from what an I/O takes.
const TIMES_P50: u64 = 10;

/// The time in which nothing completed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stall {
    /// All of it.
    pub(super) ns: u64,
    /// Of how long.
    pub(super) of_ns: u64,
    /// Where the longest stretch began; `None` where that was not sampled.
    pub(super) from_ns: Option<u64>,
    /// The process itself was stopped.
    pub(super) of_process: bool,
}

impl Stall {
    pub(super) fn share(&self) -> f64 {
        (self.ns as f64 / self.of_ns.max(1) as f64).min(1.0)
    }
}

/// The stall of a run, if it is one that matters.
pub(super) fn of(ledger: &Ledger) -> Option<Stall> {
    let of_ns = ledger.jobs.iter().map(|job| job.runtime_ns).max()?;
    let stopped_ns = ledger.machine.stopped_ns;
    if stopped_ns >= LEAST_NS && stopped_ns as f64 >= LEAST_SHARE * of_ns as f64 {
        return Some(Stall { ns: stopped_ns.min(of_ns), of_ns, from_ns: None, of_process: true });
    }
    let longest_io =
        ledger.jobs.iter().map(|job| job.latency.max_ns.max(job.syncs.max_ns)).max()?;
    let usual = ledger.jobs.iter().map(|job| job.latency.p50_ns).max()?;
    let least = LEAST_NS.max(usual.saturating_mul(TIMES_P50));
    let (longest, sum) = gaps(ledger, of_ns, least);
    // Jobs of which each had an I/O in flight all the time: no window is needed to see that.
    let all_wait = ledger.jobs.iter().all(|job| {
        job.latency.max_ns >= least && job.latency.max_ns as f64 >= 0.1 * job.runtime_ns as f64
    });
    let stall = match longest {
        // Nothing is in flight between two I/Os of a job with a pace, and that is no stall.
        Some((from_ns, ns)) if longest_io.saturating_mul(5) >= ns.saturating_mul(3) => {
            Stall { ns: sum.min(of_ns), of_ns, from_ns: Some(from_ns), of_process: false }
        }
        _ if all_wait => {
            let ns = ledger.jobs.iter().map(|job| job.latency.max_ns).min()?;
            Stall { ns: ns.min(of_ns), of_ns, from_ns: None, of_process: false }
        }
        _ => return None,
    };
    (stall.share() >= LEAST_SHARE).then_some(stall)
}

/// The longest time of at least `least` in which no window counted anything, from when and
/// how long; and all such times together.
fn gaps(ledger: &Ledger, of_ns: u64, least: u64) -> (Option<(u64, u64)>, u64) {
    let series = &ledger.series;
    let (mut longest, mut sum): (Option<(u64, u64)>, u64) = (None, 0);
    let mut begun: Option<u64> = None;
    let ends = series.begin_ns(series.windows.len());
    let mut end = |begun: &mut Option<u64>, at: u64| {
        let Some(from) = begun.take() else { return };
        let ns = at.min(of_ns).saturating_sub(from);
        if ns >= least {
            sum += ns;
            if longest.is_none_or(|(_, known)| ns > known) {
                longest = Some((from, ns));
            }
        }
    };
    for (number, window) in series.windows.iter().enumerate() {
        let at = series.begin_ns(number);
        let is_still =
            window.sampled && window.dirs.0.iter().all(|dir| dir.ios == 0 && dir.bytes == 0);
        match (is_still, begun) {
            (true, None) => begun = Some(at),
            (false, Some(_)) => end(&mut begun, at),
            _ => {}
        }
    }
    // What is after the last window belongs to it, where it is shorter than one.
    end(&mut begun, if of_ns > ends { of_ns } else { ends });
    (longest, sum)
}
