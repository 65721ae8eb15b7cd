//! Where the rate of a run changed.

use iosonde_report::ledger::Ledger;
use iosonde_report::series::RateChange;
use iosonde_stats::{MeanChange, mean_changes};

/// The changes of the rate; none are looked for where a pace sets the rate, or
/// where jobs ran one after the other.
pub(crate) fn changes(ledger: &Ledger) -> Vec<RateChange> {
    let several = ledger.jobs.iter().any(|job| job.runtime_ns * 2 < ledger.machine.wall_ns);
    let paced = ledger.jobs.iter().any(|job| job.options.paced);
    if several || paced {
        return Vec::new();
    }
    let series = &ledger.series;
    // The last window may be of a time in which jobs were ending.
    let windows = series.windows.split_last().map_or(&[][..], |(_, all)| all);
    let sampled = windows.iter().enumerate().filter_map(|(at, window)| Some((at, window.bytes()?)));
    let (places, bytes): (Vec<usize>, Vec<u64>) = sampled.unzip();
    let per_s = 1e9 / series.interval_ns.max(1) as f64;
    let rates: Vec<f64> = bytes.iter().map(|&bytes| bytes as f64 * per_s).collect();
    let rate_change = |change: iosonde_stats::MeanChange| RateChange {
        at_ns: (places[change.at] as u64).saturating_mul(series.interval_ns),
        at_bytes: bytes[..change.at].iter().sum(),
        before_bytes_per_s: change.before,
        after_bytes_per_s: change.after,
        stat: change.stat.min(STAT_MOST),
    };
    let mut found = mean_changes(&rates);
    let syncs = ledger.jobs.iter().any(|job| job.syncs.requested > 0);
    // Between two syncs nothing moves, and that is the job.
    if found.is_empty() && !syncs {
        found = outage(&rates, (OUTAGE_NS / series.interval_ns.max(1)).max(3) as usize);
    }
    found.into_iter().map(rate_change).collect()
}

/// Next to nothing for so long is an outage, however much the rate scatters.
const OUTAGE_NS: u64 = 1_000_000_000;
/// Less than this share of the mean is next to nothing.
const OUTAGE_SHARE: f64 = 0.05;

/// The longest time in the middle of a run in which next to nothing moved: the
/// fall and the rise, if it is of `least` samples or more.
fn outage(rates: &[f64], least: usize) -> Vec<MeanChange> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let most = mean(rates) * OUTAGE_SHARE;
    let is_low = |at: &usize| rates[*at] < most;
    let mut longest = 0..0;
    let mut at = 0;
    while at < rates.len() {
        let ends = (at..rates.len()).find(|at| !is_low(at)).unwrap_or(rates.len());
        // A start or an end that takes long is no outage.
        if at > 0 && ends < rates.len() && ends - at > longest.len() {
            longest = at..ends;
        }
        at = ends.max(at) + 1;
    }
    if longest.len() < least {
        return Vec::new();
    }
    let (before, low, after) =
        (mean(&rates[..longest.start]), mean(&rates[longest.clone()]), mean(&rates[longest.end..]));
    let change = |at, before, after| MeanChange { at, before, after, stat: STAT_MOST };
    vec![change(longest.start, before, low), change(longest.end, low, after)]
}

/// Larger than this it says no more: two levels without any scatter.
const STAT_MOST: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_in_the_middle_is_found_however_the_rate_scatters() {
        let noise = |count: usize| (0..count).map(|at| [5.0, 40.0, 72.0, 11.0][at % 4]);
        let with = |zeroes: usize| -> Vec<f64> {
            noise(14).chain(std::iter::repeat_n(0.4, zeroes)).chain(noise(16)).collect()
        };
        let found = outage(&with(10), 5);
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [14, 24]);
        assert!(found[0].after < 1.0 && found[1].after > 20.0, "{found:?}");
        assert_eq!(outage(&with(4), 5), []);
    }

    #[test]
    fn a_late_start_and_a_long_end_are_none() {
        let rates: Vec<f64> = [vec![0.0; 9], vec![10.0; 20], vec![0.0; 9]].concat();
        assert_eq!(outage(&rates, 5), []);
        assert_eq!(outage(&[], 5), []);
    }
}
