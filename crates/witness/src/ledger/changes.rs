//! Where the rate of a run changed.

use iosonde_report::ledger::Ledger;
use iosonde_report::series::RateChange;
use iosonde_stats::mean_changes;

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
    mean_changes(&rates).into_iter().map(rate_change).collect()
}

/// Larger than this it says no more: two levels without any scatter.
const STAT_MOST: f64 = 1e9;
