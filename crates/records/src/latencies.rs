//! Results of a window or of the run: records, bytes, latencies.

use iosonde_stats::ExactCounts;

use crate::bench::{LatencyUnit, LineFormat};

/// Percentiles of today's SBK, in hundredths of a percent.
const TODAY: [u32; 28] = [
    500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500, 6000, 6500, 7000, 7500, 8000,
    8500, 9000, 9250, 9500, 9750, 9900, 9925, 9950, 9975, 9990, 9995, 9999,
];

/// Percentiles of SBK 0.77.
const OLD: [u32; 8] = [1000, 2500, 5000, 7500, 9500, 9900, 9990, 9999];

/// The percentiles of a format, in hundredths of a percent.
pub fn percentiles(format: LineFormat) -> &'static [u32] {
    match format {
        LineFormat::Old => &OLD,
        LineFormat::Today => &TODAY,
    }
}

/// A percentile's name: `5`, `92.5`, `99.99`.
pub fn name(hundredths: u32) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Latencies at or between these are kept for percentiles, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct PercentileBounds {
    least: u64,
    most: u64,
}

impl PercentileBounds {
    /// From bounds in a unit, both included, as SBK compares whole units.
    pub fn of((least, most): (u64, u64), unit: LatencyUnit) -> PercentileBounds {
        let ns = |units: u64| units.saturating_mul(unit.ns());
        PercentileBounds { least: ns(least), most: ns(most.saturating_add(1)).saturating_sub(1) }
    }
}

/// Records of a window or a run.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Records.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Below the bounds.
    pub lower: u64,
    /// Above the bounds.
    pub higher: u64,
    /// Sum of all latencies, in nanoseconds.
    pub sum: u128,
    /// The shortest; `u64::MAX` while there are none.
    pub min: u64,
    /// The longest.
    pub max: u64,
    counts: ExactCounts,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            records: 0,
            bytes: 0,
            lower: 0,
            higher: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            counts: ExactCounts::default(),
        }
    }
}

/// Percentiles of some records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Latencies, in whole units, and how many records had each.
    pub values: Vec<(u64, u64)>,
    /// Sliding latency coverage, below and above the median.
    pub slc: (u64, u64),
}

impl Latencies {
    /// Count a record.
    #[inline]
    pub fn add(&mut self, ns: u64, bytes: u32, keep: PercentileBounds) {
        self.records += 1;
        self.bytes += u64::from(bytes);
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        if ns < keep.least {
            self.lower += 1;
        } else if ns > keep.most {
            self.higher += 1;
        } else {
            self.counts.add(ns);
        }
    }

    /// Add what another has counted.
    pub fn merge(&mut self, other: Latencies) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.lower += other.lower;
        self.higher += other.higher;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.counts.merge(other.counts);
    }

    /// The shortest, zero when there are none.
    pub fn least(&self) -> u64 {
        if self.records == 0 { 0 } else { self.min }
    }

    /// The mean in a unit, zero when there is no record.
    pub fn mean(&self, unit: LatencyUnit) -> f64 {
        match self.records {
            0 => 0.0,
            n => self.sum as f64 / n as f64 / unit.ns() as f64,
        }
    }

    /// Whether percentiles are a little coarser than a nanosecond.
    pub fn is_coarse(&self) -> bool {
        self.counts.is_coarse()
    }

    /// SBK's percentiles: the latency at the 0-based rank `floor(N * p)` of
    /// the records within the bounds.
    pub fn ranked(&mut self, percentiles: &[u32], unit: LatencyUnit) -> Ranked {
        let n = u128::from(self.counts.n());
        if n == 0 {
            return Ranked { values: vec![(0, 0); percentiles.len()], slc: (0, 0) };
        }
        let mut ranks: Vec<u64> =
            percentiles.iter().map(|&p| (n * u128::from(p) / 10_000) as u64).collect();
        let middle = ranks.partition_point(|&rank| rank < (n >> 1) as u64);
        ranks.insert(middle, (n >> 1) as u64);
        let mut values: Vec<(u64, u64)> = self
            .counts
            .at_ranks(&ranks, unit.ns())
            .into_iter()
            .map(|(ns, times)| (ns / unit.ns(), times))
            .collect();
        let (median, _) = values.remove(middle);
        let latencies: Vec<u64> = values.iter().map(|&(value, _)| value).collect();
        Ranked { slc: slc(&latencies, median), values }
    }
}

/// SBK's sliding latency coverage (its docs/sbk-slc.pdf), of the percentiles'
/// values and the median: the mean relative distance of the lower ones from
/// the first, and of the upper ones from the median, as whole numbers.
fn slc(values: &[u64], median: u64) -> (u64, u64) {
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return (0, 0) };
    if last == 0 {
        return (0, 0);
    }
    let (mut lower, mut upper) = ((0.0, 0.0), (0.0, 0.0));
    for &value in &values[1..] {
        let distance = |from: u64| (value as f64 - from as f64) / from as f64;
        if value <= median && first > 0 {
            lower = (lower.0 + distance(first), lower.1 + 1.0);
        } else if median > 0 {
            upper = (upper.0 + distance(median), upper.1 + 1.0);
        }
    }
    // SBK's ceiling of a quotient of integers, carried over to fractions.
    let mean =
        |(sum, n): (f64, f64)| if n > 0.0 { ((sum + n - 1.0) / n).max(0.0) as u64 } else { 0 };
    (mean(lower), mean(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>, keep: (u64, u64), unit: LatencyUnit) -> Latencies {
        let mut latencies = Latencies::default();
        values.into_iter().for_each(|ns| latencies.add(ns, 10, PercentileBounds::of(keep, unit)));
        latencies
    }

    #[test]
    fn percentiles_are_at_rank_floor_of_n_times_p() {
        let mut hundred = of(0..100, (0, 1 << 40), LatencyUnit::Nanos);
        let ranked = hundred.ranked(percentiles(LineFormat::Old), LatencyUnit::Nanos);
        let values: Vec<u64> = ranked.values.iter().map(|pair| pair.0).collect();
        assert_eq!(values, [10, 25, 50, 75, 95, 99, 99, 99]);
        let mut one = of([7], (0, 1 << 40), LatencyUnit::Nanos);
        assert!(
            one.ranked(percentiles(LineFormat::Today), LatencyUnit::Nanos)
                .values
                .iter()
                .all(|v| *v == (7, 1))
        );
        assert_eq!(Latencies::default().ranked(&OLD, LatencyUnit::Nanos).values, [(0, 0); 8]);
    }

    #[test]
    fn latencies_outside_the_bounds_are_left_out_of_percentiles_alone() {
        let mut all = of([500, 1_999, 2_000, 5_999, 6_000], (1, 5), LatencyUnit::Micros);
        assert_eq!((all.lower, all.higher, all.records, all.bytes), (1, 1, 5, 50));
        assert_eq!((all.least(), all.max), (500, 6_000));
        let ranked = all.ranked(&[0, 5000, 9999], LatencyUnit::Micros);
        assert_eq!(ranked.values, [(1, 1), (2, 1), (5, 1)]);
    }

    #[test]
    fn slc_is_the_formula_of_sbk() {
        // Lower: (2-1)/1 + (3-1)/1 over two; upper: (6-3)/3 + (30-3)/3 over two.
        assert_eq!(slc(&[1, 2, 3, 6, 30], 3), (2, 5));
        // With a first value of zero, the lower ones count against the median.
        assert_eq!(slc(&[0, 0, 2, 4], 2), (0, 0));
        assert_eq!(slc(&[0, 0, 0], 0), (0, 0));
        assert_eq!(slc(&[5, 5, 5], 5), (0, 0));
    }

    #[test]
    fn percentiles_are_named_without_zeroes() {
        assert_eq!([500, 1000, 9250, 9990, 9999].map(name), ["5", "10", "92.5", "99.9", "99.99"]);
    }
}
