//! Where the rate of a run changed.

use iosonde_report::ledger::Ledger;
use iosonde_report::series::{RateChange, SeriesWindow};
use iosonde_stats::{MeanChange, mean_changes};

/// The changes of the rate; none are looked for where a pace sets the rate, or
/// where jobs ran one after the other.
pub(crate) fn changes(ledger: &Ledger) -> Vec<RateChange> {
    let several = ledger.jobs.iter().any(|job| job.runtime_ns * 2 < ledger.machine.wall_ns);
    let paced = ledger.jobs.iter().any(|job| job.options.paced);
    // Reading back what was written is another load, with a rate of its own.
    let phases = ledger.verify_reads.is_some() && ledger.writes.is_some();
    if several || paced || phases {
        return Vec::new();
    }
    let series = &ledger.series;
    // The last whole window may be of a time in which jobs were ending; a shorter one is.
    let last = 1 + usize::from(series.last_ns.is_some());
    let windows = &series.windows[..series.windows.len().saturating_sub(last)];
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
        let second = (OUTAGE_NS / series.interval_ns.max(1)).max(3) as usize;
        found = outage(&rates, second);
        if found.is_empty() {
            let ios: Vec<u64> = places.iter().map(|&at| ios(&windows[at])).collect();
            found.extend(step_near_an_end(&rates, &ios, second));
        }
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

fn ios(window: &SeriesWindow) -> u64 {
    window.dirs.0.iter().map(|dir| dir.ios).sum()
}

/// Means of a second on one side of a clear step are so many times those on the other.
const CLEAR_STEP: f64 = 4.0;
/// Fewer I/Os in a second scatter by as much.
const IOS_LEAST: u64 = 20;

/// A step that leaves one side short, where the scatter of the other hides it: each mean
/// of `second` samples on one side is far below each on the other. Nothing at all is a late
/// start or a long end.
fn step_near_an_end(rates: &[f64], ios: &[u64], second: usize) -> Option<MeanChange> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let extremes = |part: &[f64]| {
        part.windows(second)
            .map(mean)
            .fold((f64::MAX, 0.0f64), |(low, high), mean| (low.min(mean), high.max(mean)))
    };
    let enough =
        |range: &[u64]| range.windows(second).all(|part| part.iter().sum::<u64>() >= IOS_LEAST);
    let ratio = |at: &usize| {
        let (before, after) = rates.split_at(*at);
        let (before, after) = (extremes(before), extremes(after));
        let rises = after.0 / before.1.max(f64::MIN_POSITIVE);
        let falls = before.0 / after.1.max(f64::MIN_POSITIVE);
        let is_some = before.0.max(0.0) > 0.0 && after.0 > 0.0;
        let high = if rises > falls { &ios[*at..] } else { &ios[..*at] };
        if is_some && enough(high) { rises.max(falls) } else { 0.0 }
    };
    let last = rates.len().checked_sub(second)?;
    let found = (second..=last).map(|at| (at, ratio(&at))).max_by(|a, b| a.1.total_cmp(&b.1));
    let (at, _) = found.filter(|(_, ratio)| *ratio >= CLEAR_STEP)?;
    let (before, after) = (mean(&rates[..at]), mean(&rates[at..]));
    Some(MeanChange { at, before, after, stat: STAT_MOST })
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
    fn a_clear_step_near_an_end_is_found_however_the_rest_scatters() {
        let noise = |count: usize| (0..count).map(|at| [5.0, 60.0, 2.0, 31.0, 52.0][at % 5]);
        let low = || [1.0, 1.0, 3.0, 2.0, 3.0, 2.0, 3.0].into_iter();
        let ios = |rates: &[f64]| rates.iter().map(|&rate| rate as u64).collect::<Vec<_>>();
        let place = |rates: Vec<f64>| {
            let change = step_near_an_end(&rates, &ios(&rates), 5)?;
            Some((change.at, change.before < change.after))
        };
        assert_eq!(place(low().chain(noise(33)).collect()), Some((7, true)));
        assert_eq!(place(noise(33).chain(low()).collect()).map(|found| found.1), Some(false));
        assert_eq!(place(noise(40).collect()), None);
        assert_eq!(place(noise(4).collect()), None);
        let zeroes = || std::iter::repeat_n(0.0, 7);
        assert_eq!(place(zeroes().chain(noise(33)).collect()), None, "a late start");
        assert_eq!(place(noise(33).chain(zeroes()).collect()), None, "a long end");
        let few = |rates: Vec<f64>| step_near_an_end(&rates, &vec![1; rates.len()], 5);
        assert_eq!(few(low().chain(noise(33)).collect()), None, "a few I/Os scatter as much");
    }

    #[test]
    fn a_late_start_and_a_long_end_are_none() {
        let rates: Vec<f64> = [vec![0.0; 9], vec![10.0; 20], vec![0.0; 9]].concat();
        assert_eq!(outage(&rates, 5), []);
        assert_eq!(outage(&[], 5), []);
    }
}
