//! Latencies in buckets: fio's bins, continued past its 17 seconds.

use crate::Tally;
use zerocopy::FromZeros;

/// Buckets to the octave: 64, so that a bucket's middle is within 1 part in
/// 128 of every value in it. The same geometry as fio's, so that bins agree.
const OCTAVE_BITS: u32 = 6;
const PER_OCTAVE: usize = 1 << OCTAVE_BITS;

/// How many buckets there are: fio's 29 groups and eleven more octaves, up to
/// 2^45 ns, nearly ten hours. fio's own end is at 17 s.
pub const BUCKETS: usize = 40 * PER_OCTAVE;

/// The bucket a latency falls in, in nanoseconds. Past the last, the last.
#[inline(always)]
pub fn bucket(ns: u64) -> usize {
    let shift = 63 - OCTAVE_BITS - (ns | PER_OCTAVE as u64).leading_zeros();
    (((shift as usize) << OCTAVE_BITS) + (ns >> shift) as usize).min(BUCKETS - 1)
}

/// Short latencies fall in the first of the buckets.
pub(crate) const BRIEF_BUCKETS: usize = 2048;

/// The same of a latency of at most 24 bits: single precision holds it exactly, and so
/// its exponent and the upper six bits of its fraction are the bucket, from where
/// buckets are wider than one on.
#[inline(always)]
pub(crate) fn brief_bucket(ns: u32) -> u32 {
    const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
    // The exponent of the first octave of buckets, as it lies in the bits, less its bucket.
    const FIRST: u32 = (127 + OCTAVE_BITS - 1) << OCTAVE_BITS;
    let bits = (ns as i32 as f32).to_bits() >> (FRACTION_BITS - OCTAVE_BITS);
    if ns < PER_OCTAVE as u32 { ns } else { bits.wrapping_sub(FIRST) }
}

/// The lowest value of a bucket, in nanoseconds.
pub(crate) const fn lowest(index: usize) -> u64 {
    let (group, within) = (index / PER_OCTAVE, (index % PER_OCTAVE) as u64);
    if group < 2 { index as u64 } else { (within + PER_OCTAVE as u64) << (group - 1) }
}

/// How many values a bucket holds.
const fn width(index: usize) -> u64 {
    let group = index / PER_OCTAVE;
    if group < 2 { 1 } else { 1 << (group - 1) }
}

/// The middle of a bucket, in nanoseconds: what fio prints for every value in
/// it.
pub const fn middle(index: usize) -> u64 {
    lowest(index) + width(index) / 2
}

/// The borders of fio's latency classes, in nanoseconds: the class before a
/// border holds what took less (fio(1), "lat (nsec/usec/msec)").
pub(crate) const CLASS_BORDERS: [u64; 31] = {
    const STEPS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    let mut borders = [0; 31];
    let mut i = 0;
    while i < 30 {
        borders[i] = STEPS[i % 10] * [1, 1_000, 1_000_000][i / 10];
        i += 1;
    }
    borders[30] = 2_000_000_000;
    borders
};

/// For a bucket that a class border cuts, the border; zero for the others.
/// Only there a second count is needed for the classes to be exact.
static CUTS: [u64; BUCKETS] = {
    let mut cuts = [0; BUCKETS];
    let mut i = 0;
    while i < CLASS_BORDERS.len() {
        let border = CLASS_BORDERS[i];
        let shift = 63 - OCTAVE_BITS - (border | PER_OCTAVE as u64).leading_zeros();
        let index = ((shift as usize) << OCTAVE_BITS) + (border >> shift) as usize;
        if lowest(index) != border {
            cuts[index] = border;
        }
        i += 1;
    }
    cuts
};

/// The same of short latencies.
static BRIEF_CUTS: [u32; BRIEF_BUCKETS] = {
    let mut cuts = [0; BRIEF_BUCKETS];
    let mut i = 0;
    // Those of longer ones do not fit, and are not needed.
    while i < BRIEF_BUCKETS && CUTS[i] <= u32::MAX as u64 {
        cuts[i] = CUTS[i] as u32;
        i += 1;
    }
    cuts
};

/// A histogram that one thread writes and any thread reads.
#[derive(Debug)]
pub struct Histogram {
    counts: Box<[Tally; BUCKETS]>,
    /// What fell below the border, in the bucket that the border cuts.
    below: [Tally; CLASS_BORDERS.len()],
}

impl Default for Histogram {
    fn default() -> Histogram {
        // Pages of buckets that nothing falls in are never touched: hundreds of jobs
        // keep several histograms each.
        let counts = FromZeros::new_box_zeroed().expect("20 KiB are there");
        Histogram { counts, below: Default::default() }
    }
}

impl Histogram {
    /// Count a latency in nanoseconds, `times` times.
    #[inline(always)]
    pub fn add_many(&self, ns: u64, times: u64) {
        let index = bucket(ns);
        self.counts[index].add(times);
        if ns < CUTS[index] {
            self.add_below(index, times);
        }
    }

    /// Counts latencies in nanoseconds, many in a row.
    #[inline(always)]
    pub fn counter(&self) -> impl Fn(u64) + '_ {
        let counts = &*self.counts;
        move |ns| {
            let index = bucket(ns);
            counts[index].add(1);
            if ns < CUTS[index] {
                self.add_below(index, 1);
            }
        }
    }

    /// Count each of some short latencies, whose buckets are known.
    #[inline(always)]
    pub(crate) fn add_brief(&self, latencies: &[u32], buckets: &[u32]) {
        let counts = self.counts.first_chunk::<BRIEF_BUCKETS>().expect("there are more");
        let add = |ns: u32, bucket: u32| {
            let bucket = bucket as usize % BRIEF_BUCKETS;
            counts[bucket].add(1);
            if ns < BRIEF_CUTS[bucket] {
                self.add_below(bucket, 1);
            }
        };
        // Four by four: half of the loop would be counting its turns.
        let (fours, rest) = latencies.as_chunks::<4>();
        let (fours_of_buckets, rest_of_buckets) = buckets.as_chunks::<4>();
        for (ns, buckets) in fours.iter().zip(fours_of_buckets) {
            (0..4).for_each(|i| add(ns[i], buckets[i]));
        }
        rest.iter().zip(rest_of_buckets).for_each(|(ns, bucket)| add(*ns, *bucket));
    }

    #[cold]
    fn add_below(&self, index: usize, times: u64) {
        let class = CLASS_BORDERS.partition_point(|&border| border < CUTS[index]);
        self.below[class].add(times);
    }

    /// How many values lie in a bucket.
    pub(crate) fn count(&self, index: usize) -> u64 {
        self.counts[index].get()
    }

    /// How many values lie in some buckets.
    pub(crate) fn range_total(&self, buckets: std::ops::Range<usize>) -> u64 {
        self.counts[buckets].iter().map(Tally::get).sum()
    }

    /// Forget everything.
    pub fn clear(&self) {
        // Only looking at a page that was never written to does not take it.
        let counts = self.counts.iter().chain(&self.below);
        counts.filter(|count| count.get() != 0).for_each(|count| count.set(0));
    }

    /// The counts as plain data.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let used = self.counts.iter().rposition(|count| count.get() != 0).map_or(0, |i| i + 1);
        HistogramSnapshot {
            counts: self.counts[..used].iter().map(Tally::get).collect(),
            below: self.below.each_ref().map(Tally::get),
        }
    }
}

/// [`Histogram`] at one moment. Trailing empty buckets are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistogramSnapshot {
    counts: Vec<u64>,
    below: [u64; CLASS_BORDERS.len()],
}

impl HistogramSnapshot {
    /// Counts by bucket index, up to the last that is not empty.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// A snapshot of bins as [`HistogramSnapshot::bins`] has them: each value goes to its bucket.
    /// [`HistogramSnapshot::classes`] is then right within a bucket only.
    pub fn of_bins(bins: impl Iterator<Item = (u64, u64)>) -> HistogramSnapshot {
        let mut snapshot = HistogramSnapshot::default();
        for (value, count) in bins {
            let index = bucket(value);
            if index >= snapshot.counts.len() {
                snapshot.counts.resize(index + 1, 0);
            }
            snapshot.counts[index] = snapshot.counts[index].saturating_add(count);
        }
        snapshot
    }

    /// How many values.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Buckets that are not empty: the middle in nanoseconds, and the count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate();
        counts.filter(|(_, count)| **count != 0).map(|(index, count)| (middle(index), *count))
    }

    /// The middle of the first bucket at which `percent` of all values is
    /// reached, as fio reckons it. Zero when there are none. The caller holds
    /// it to the largest value seen.
    pub fn percentile(&self, percent: f64) -> u64 {
        let wanted = percent / 100.0 * self.total() as f64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if *count != 0 && seen as f64 >= wanted {
                return middle(index);
            }
        }
        0
    }

    /// How many values lie in each of fio's latency classes; the last holds
    /// those of two seconds and more. Exact, although buckets are wide.
    pub fn classes(&self) -> [u64; CLASS_BORDERS.len() + 1] {
        let mut below = [0; CLASS_BORDERS.len()];
        let mut seen = 0;
        let mut border = 0;
        for (index, count) in self.counts.iter().enumerate() {
            while border < below.len() && CLASS_BORDERS[border] <= lowest(index) {
                below[border] = seen;
                border += 1;
            }
            if CUTS[index] != 0 {
                below[border] = seen + self.below[border];
                border += 1;
            }
            seen += count;
        }
        below[border..].fill(seen);
        let mut classes = [0; CLASS_BORDERS.len() + 1];
        let mut before = 0;
        for (class, upto) in classes.iter_mut().zip(below.into_iter().chain([seen])) {
            // A look while the writer writes may catch a bucket without its cut.
            *class = upto.saturating_sub(before);
            before = before.max(upto);
        }
        classes
    }

    /// Add the values of another.
    pub fn merge(&mut self, other: &HistogramSnapshot) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.below.iter_mut().zip(&other.below).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The values added since `earlier`.
    pub fn since(&self, earlier: &HistogramSnapshot) -> HistogramSnapshot {
        let mut window = self.clone();
        let pairs = window.counts.iter_mut().zip(&earlier.counts);
        pairs.for_each(|(now, then)| *now = now.saturating_sub(*then));
        let pairs = window.below.iter_mut().zip(&earlier.below);
        pairs.for_each(|(now, then)| *now = now.saturating_sub(*then));
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_rise_without_gaps_and_hold_their_middle() {
        assert_eq!([0, 1, 63, 64, 127].map(bucket), [0, 1, 63, 64, 127]);
        assert_eq!([128, 129, 130, 255, 256].map(bucket), [128, 128, 129, 191, 192]);
        for index in 0..BUCKETS {
            assert_eq!(bucket(lowest(index)), index);
            assert_eq!(bucket(middle(index)), index);
            assert_eq!(bucket(lowest(index) + width(index) - 1), index);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn classes_are_exact_at_and_around_every_border() {
        for &border in &CLASS_BORDERS {
            for ns in [border - 1, border, border + 1] {
                let histogram = Histogram::default();
                histogram.add_many(ns, 3);
                let class = CLASS_BORDERS.partition_point(|&b| b <= ns);
                let mut expected = [0; CLASS_BORDERS.len() + 1];
                expected[class] = 3;
                assert_eq!(histogram.snapshot().classes(), expected, "{ns} ns");
            }
        }
    }

    #[test]
    fn a_percentile_is_the_middle_of_its_bucket() {
        let histogram = Histogram::default();
        for ns in 1..=100 {
            histogram.add_many(ns, 1);
        }
        let snapshot = histogram.snapshot();
        assert_eq!(snapshot.percentile(50.0), 50);
        assert_eq!(snapshot.percentile(99.0), 99);
        assert_eq!(snapshot.percentile(100.0), 100);
    }
}
