//! A latency as it is reported, and percentiles of several together.

use std::collections::BTreeMap;

/// A latency: extremes, mean, deviation, percentiles. In nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyReport {
    /// How many values.
    pub n: u64,
    /// The smallest, zero without any.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// The sample's standard deviation.
    pub stddev_ns: f64,
    /// Percent and nanoseconds, when percentiles were asked for and there are
    /// values. None is above `max_ns`.
    pub percentiles: Option<Vec<(f64, u64)>>,
    /// What our own report shows, when a histogram was kept and there are
    /// values.
    pub quick: Option<Quick>,
    /// Bucket middle in nanoseconds and count, when a histogram was kept.
    pub bins: Vec<(u64, u64)>,
}

/// The percentiles that our own report shows, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Quick {
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
}

impl LatencyReport {
    /// The latency that `percent` of the values do not exceed, in nanoseconds:
    /// of the bins where they are known, else as it was reported. `None` where
    /// neither is known.
    pub fn at(&self, percent: f64) -> Option<u64> {
        self.at_of_bins(percent).or_else(|| {
            let same = |&&(known, _): &&(f64, u64)| (known - percent).abs() < 1e-6;
            self.percentiles.as_ref()?.iter().find(same).map(|&(_, ns)| ns)
        })
    }
}

impl LatencyReport {
    /// The percentile of the bins, held to the extremes.
    fn at_of_bins(&self, percent: f64) -> Option<u64> {
        let wanted = percent / 100.0 * self.bins.iter().map(|bin| bin.1).sum::<u64>() as f64;
        let mut seen = 0;
        let reached = self.bins.iter().find(|bin| {
            seen += bin.1;
            seen as f64 >= wanted
        });
        reached.map(|bin| bin.0.clamp(self.min_ns, self.max_ns.max(self.min_ns)))
    }
}

/// A percentile over the values of several latencies, from the sum of their
/// bins: percentiles themselves cannot be averaged. Held to the extremes.
/// `None` without values, or where one of them has no bins.
pub fn percentile_of_all(latencies: &[&LatencyReport], percent: f64) -> Option<u64> {
    let mut bins = BTreeMap::new();
    let (mut min_ns, mut max_ns) = (u64::MAX, 0);
    for latency in latencies.iter().filter(|latency| latency.n > 0) {
        if latency.bins.is_empty() {
            return None;
        }
        (min_ns, max_ns) = (min_ns.min(latency.min_ns), max_ns.max(latency.max_ns));
        for (ns, count) in &latency.bins {
            *bins.entry(*ns).or_insert(0u64) += count;
        }
    }
    let wanted = percent / 100.0 * bins.values().sum::<u64>() as f64;
    let mut seen = 0;
    for (ns, count) in bins {
        seen += count;
        if seen as f64 >= wanted {
            return Some(ns.clamp(min_ns, max_ns.max(min_ns)));
        }
    }
    None
}

/// Latencies added up one by one: counts, moments and bins.
#[derive(Clone, Debug, Default)]
pub struct LatencyTotal {
    n: u64,
    min_ns: u64,
    max_ns: u64,
    mean_ns: f64,
    /// Sum of the squares of the distances from the mean.
    squares: f64,
    bins: BTreeMap<u64, u64>,
    /// One of them has values and no bins.
    lacks_bins: bool,
    /// Percentiles that were asked for.
    percents: Vec<f64>,
}

impl LatencyTotal {
    /// Add the values of a latency.
    pub fn add(&mut self, latency: &LatencyReport) {
        if latency.n == 0 {
            return;
        }
        if self.n == 0 {
            self.min_ns = latency.min_ns;
            let list = latency.percentiles.iter().flatten();
            self.percents = list.map(|&(percent, _)| percent).collect();
        }
        // Chan, Golub and LeVeque 1979: variance of two samples together.
        let (ours, theirs) = (self.n as f64, latency.n as f64);
        let (all, apart) = (ours + theirs, latency.mean_ns - self.mean_ns);
        self.squares += latency.stddev_ns.powi(2) * (theirs - 1.0).max(0.0)
            + apart * apart * ours * theirs / all;
        self.mean_ns += apart * theirs / all;
        self.n += latency.n;
        self.min_ns = self.min_ns.min(latency.min_ns);
        self.max_ns = self.max_ns.max(latency.max_ns);
        self.lacks_bins |= latency.bins.is_empty();
        for &(ns, count) in &latency.bins {
            *self.bins.entry(ns).or_default() += count;
        }
    }

    /// The sum as it is reported. Percentiles are those of the bins; there are none
    /// where a part has no bins.
    pub fn report(&self) -> LatencyReport {
        let mut report = LatencyReport {
            n: self.n,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            mean_ns: self.mean_ns,
            stddev_ns: (self.squares / (self.n.max(2) - 1) as f64).sqrt(),
            ..LatencyReport::default()
        };
        if self.n == 0 || self.lacks_bins {
            return report;
        }
        report.bins = self.bins.iter().map(|(&ns, &count)| (ns, count)).collect();
        let at = |percent: f64| report.at(percent).unwrap_or(0);
        let list: Vec<(f64, u64)> =
            self.percents.iter().map(|&percent| (percent, at(percent))).collect();
        let quick =
            Quick { p50_ns: at(50.0), p90_ns: at(90.0), p99_ns: at(99.0), p999_ns: at(99.9) };
        report.percentiles = (!list.is_empty()).then_some(list);
        report.quick = Some(quick);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bins: &[(u64, u64)]) -> LatencyReport {
        LatencyReport {
            n: bins.iter().map(|bin| bin.1).sum(),
            min_ns: bins[0].0,
            max_ns: bins[bins.len() - 1].0,
            bins: bins.to_vec(),
            ..LatencyReport::default()
        }
    }

    #[test]
    fn a_percentile_of_several_is_that_of_all_values_and_no_mean_of_percentiles() {
        let few = of(&[(100_000, 1000)]);
        let many = of(&[(1_000_000, 100_000)]);
        assert_eq!(percentile_of_all(&[&few, &many], 99.0), Some(1_000_000));
        assert_eq!(percentile_of_all(&[&few, &many], 0.5), Some(100_000));
        let unknown = LatencyReport { n: 7, ..LatencyReport::default() };
        assert_eq!(percentile_of_all(&[&few, &unknown], 50.0), None);
        assert_eq!(percentile_of_all(&[], 50.0), None);
    }

    #[test]
    fn a_total_is_as_if_all_values_had_been_counted_in_one_place() {
        let part = |values: &[u64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<u64>() as f64 / n;
            let squares: f64 = values.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum();
            LatencyReport {
                mean_ns: mean,
                stddev_ns: (squares / (n - 1.0)).sqrt(),
                ..of(&values.iter().map(|&ns| (ns, 1)).collect::<Vec<_>>())
            }
        };
        let all = part(&[10, 20, 30, 400, 500, 600, 700]);
        let mut total = LatencyTotal::default();
        for values in [&[10, 20, 30][..], &[400, 500], &[600, 700]] {
            total.add(&part(values));
        }
        let total_report = total.report();
        assert_eq!(total_report.bins, all.bins);
        assert_eq!((total_report.n, total_report.min_ns, total_report.max_ns), (7, 10, 700));
        assert!((total_report.mean_ns - all.mean_ns).abs() < 1e-9);
        assert!((total_report.stddev_ns - all.stddev_ns).abs() < 1e-6);
        assert_eq!(total_report.quick.unwrap().p50_ns, 400);
        total.add(&LatencyReport { n: 1, ..LatencyReport::default() });
        assert_eq!(total.report().quick, None);
    }

    #[test]
    fn a_percentile_without_bins_is_the_one_that_was_reported() {
        let report = LatencyReport {
            n: 9,
            percentiles: Some(vec![(50.0, 7), (99.0, 8)]),
            ..LatencyReport::default()
        };
        assert_eq!((report.at(99.0), report.at(99.9)), (Some(8), None));
        assert_eq!(of(&[(5, 1), (6, 1)]).at(100.0), Some(6));
    }
}
