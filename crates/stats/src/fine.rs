//! Latencies of several histograms added up, and those of a window of them.

use crate::coarse::{COARSE_BUCKETS, CoarseCounts};
use crate::histogram::{BUCKETS, Histogram, bucket, middle};
use std::iter::zip;

/// Counts in the buckets of a [`Histogram`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FineCounts(Vec<u64>);

impl Default for FineCounts {
    fn default() -> FineCounts {
        FineCounts(vec![0; BUCKETS])
    }
}

impl FineCounts {
    /// Add the counts of a histogram between two latencies: the extremes of what
    /// was counted save looking at buckets that are empty.
    pub fn add(&mut self, histogram: &Histogram, least_ns: u64, most_ns: u64) {
        let buckets = bucket(least_ns)..=bucket(most_ns);
        for (at, count) in zip(buckets.clone(), &mut self.0[buckets]) {
            *count += histogram.count(at);
        }
    }

    /// The values added since `earlier`.
    pub fn since(&self, earlier: &FineCounts) -> FineCounts {
        FineCounts(zip(&self.0, &earlier.0).map(|(now, then)| now.saturating_sub(*then)).collect())
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The middle of the bucket in which `percent` of the values is reached;
    /// `None` without values.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let wanted = percent / 100.0 * self.total() as f64;
        let mut seen = 0;
        let mut reaches = |count: u64| {
            seen += count;
            count > 0 && seen as f64 >= wanted
        };
        self.0.iter().position(|&count| reaches(count)).map(middle)
    }

    /// The middle of the last bucket that is not empty.
    pub fn largest(&self) -> Option<u64> {
        self.0.iter().rposition(|&count| count > 0).map(middle)
    }

    /// The same in four buckets an octave.
    pub fn coarse(&self) -> CoarseCounts {
        let mut coarse = CoarseCounts::default();
        let together = BUCKETS / COARSE_BUCKETS;
        for (at, counts) in self.0.chunks(together).enumerate() {
            coarse.add(at, counts.iter().sum());
        }
        coarse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_two_histograms_has_its_own_percentiles() {
        let (one, other) = (Histogram::default(), Histogram::default());
        one.add_many(1_000_000, 1000);
        let mut before = FineCounts::default();
        before.add(&one, 1_000_000, 1_000_000);
        one.add_many(100_000, 98);
        other.add_many(9_000_000, 2);
        let mut after = FineCounts::default();
        after.add(&one, 100_000, 1_000_000);
        after.add(&other, 9_000_000, 9_000_000);
        let window = after.since(&before);
        assert_eq!(window.total(), 100);
        let near = |found: Option<u64>, ns: u64| found.unwrap().abs_diff(ns) <= ns / 128;
        assert!(near(window.percentile(50.0), 100_000) && near(window.percentile(98.0), 100_000));
        assert!(near(window.percentile(99.0), 9_000_000) && near(window.largest(), 9_000_000));
        assert_eq!(window.coarse().total(), 100);
        assert_eq!(before.since(&after).percentile(50.0), None);
    }
}
