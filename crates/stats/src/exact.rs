//! Latencies counted one by one, to the nanosecond, without a record of each.
//!
//! Short latencies come in millions and have a counter each; long ones are so
//! far apart that few come, and are kept as sorted values with their counts.

/// Latencies below this, in nanoseconds, have a counter each: 128 KiB of them.
/// Longer ones come at most 61,000 times a second from one thread.
const DENSE: usize = 16_384;

/// So many long latencies are gathered before they are sorted in: 128 KiB.
const GATHERED: usize = 16_384;

/// More distinct long latencies than this, 64 MiB, are not reported separately to the
/// nanosecond any more.
const DISTINCT_MOST: usize = 4 << 20;

/// Bits of a long latency that are kept then: 0.006 %.
const COARSE_BITS: u32 = 14;

/// How often each latency occurred.
#[derive(Clone, Debug, Default)]
pub struct ExactCounts {
    dense: Vec<u64>,
    gathered: Vec<u64>,
    /// Long latencies in order, with how often each occurred.
    long: Vec<(u64, u64)>,
    n: u64,
    coarse: bool,
}

impl ExactCounts {
    /// Count one.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.n += 1;
        if ns < DENSE as u64 {
            if self.dense.is_empty() {
                self.dense = vec![0; DENSE];
            }
            self.dense[ns as usize] += 1;
        } else {
            self.gathered.push(ns);
            if self.gathered.len() >= GATHERED {
                self.sort_in();
            }
        }
    }

    /// How many were counted.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Whether long latencies were too many to be distinguished to the nanosecond.
    pub fn is_coarse(&self) -> bool {
        self.coarse
    }

    /// Add what another has counted.
    pub fn merge(&mut self, mut other: ExactCounts) {
        other.sort_in();
        self.sort_in();
        self.n += other.n;
        self.coarse |= other.coarse;
        if self.dense.is_empty() {
            self.dense = other.dense;
        } else {
            self.dense.iter_mut().zip(&other.dense).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.merge_long(other.long);
    }

    fn sort_in(&mut self) {
        if self.gathered.is_empty() {
            return;
        }
        self.gathered.sort_unstable();
        let mut sorted: Vec<(u64, u64)> = Vec::new();
        for &ns in &self.gathered {
            push(&mut sorted, (ns, 1));
        }
        self.gathered.clear();
        self.merge_long(sorted);
    }

    fn merge_long(&mut self, other: Vec<(u64, u64)>) {
        if other.is_empty() {
            return;
        }
        let mine = std::mem::take(&mut self.long);
        let mut merged = Vec::with_capacity(mine.len() + other.len());
        let (mut mine, mut other) = (mine.into_iter().peekable(), other.into_iter().peekable());
        loop {
            let take_mine = match (mine.peek(), other.peek()) {
                (Some(a), Some(b)) => a.0 <= b.0,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let next = if take_mine { mine.next() } else { other.next() };
            next.into_iter().for_each(|pair| push(&mut merged, pair));
        }
        self.long = merged;
        if self.long.len() > DISTINCT_MOST {
            self.coarsen();
        }
        self.long.shrink_to(self.long.len() * 2);
    }

    fn coarsen(&mut self) {
        self.coarse = true;
        let mut coarse: Vec<(u64, u64)> = Vec::new();
        for (ns, times) in std::mem::take(&mut self.long) {
            let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(COARSE_BITS);
            push(&mut coarse, (ns >> shift << shift, times));
        }
        self.long = coarse;
    }

    /// The latencies at these 0-based ranks, which ascend and are below
    /// [`ExactCounts::n`], each with how many of `unit` nanoseconds' width came
    /// where it is.
    pub fn at_ranks(&mut self, ranks: &[u64], unit: u64) -> Vec<(u64, u64)> {
        self.sort_in();
        let dense = self.dense.iter().enumerate().filter(|(_, times)| **times > 0);
        let all = dense.map(|(ns, &times)| (ns as u64, times)).chain(self.long.iter().copied());
        let mut in_units = all.map(|(ns, times)| (ns / unit, ns, times)).peekable();
        let mut found = Vec::with_capacity(ranks.len());
        let mut ranks = ranks.iter().copied().peekable();
        let mut passed = 0;
        while let Some((cell, mut ns, mut times)) = in_units.next() {
            // Every latency of one unit is one latency to those who think in it.
            let start = found.len();
            let mut in_cell = 0;
            loop {
                while ranks.next_if(|&rank| rank < passed + times).is_some() {
                    found.push((ns, 0));
                }
                passed += times;
                in_cell += times;
                match in_units.next_if(|next| next.0 == cell) {
                    Some(next) => (ns, times) = (next.1, next.2),
                    None => break,
                }
            }
            found[start..].iter_mut().for_each(|found| found.1 = in_cell);
        }
        found
    }
}

fn push(sorted: &mut Vec<(u64, u64)>, (ns, times): (u64, u64)) {
    match sorted.last_mut() {
        Some(last) if last.0 == ns => last.1 += times,
        _ => sorted.push((ns, times)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(values: &[u64]) -> ExactCounts {
        let mut counts = ExactCounts::default();
        values.iter().for_each(|&ns| counts.add(ns));
        counts
    }

    #[test]
    fn ranks_are_those_of_the_sorted_values_to_the_nanosecond() {
        // 48271 is a full-period multiplier modulo 2^31 - 1 (Park and Miller).
        let values: Vec<u64> = (0..70_000u64)
            .scan(7, |x, _| {
                *x = *x * 48_271 % 0x7fff_ffff;
                Some(*x % 40_000)
            })
            .collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let ranks: Vec<u64> = (0..700).map(|n| n * 100).collect();
        let (first, second) = values.split_at(30_000);
        let mut counts = counted(first);
        counts.merge(counted(second));
        assert_eq!(counts.n(), 70_000);
        let found = counts.at_ranks(&ranks, 1);
        for (rank, (ns, times)) in ranks.iter().zip(&found) {
            assert_eq!(*ns, sorted[*rank as usize]);
            assert_eq!(*times, sorted.iter().filter(|&value| value == ns).count() as u64);
        }
    }

    #[test]
    fn counts_at_a_latency_are_those_of_its_unit() {
        let mut counts = counted(&[100, 900, 1_100, 1_200, 1_900, 50_000, 50_999]);
        let found = counts.at_ranks(&[0, 1, 2, 4, 6], 1000);
        assert_eq!(found, [(100, 2), (900, 2), (1_100, 3), (1_900, 3), (50_999, 2)]);
    }

    #[test]
    fn too_many_distinct_latencies_are_told_a_little_coarser_and_say_so() {
        let mut counts = ExactCounts::default();
        let many = (0..DISTINCT_MOST as u64 + 2).map(|n| (1 << 30 | n << 4, 1)).collect();
        counts.merge_long(many);
        counts.n = DISTINCT_MOST as u64 + 2;
        assert!(counts.is_coarse() && counts.long.len() < 100_000);
        let (ns, _) = counts.at_ranks(&[1000], 1)[0];
        assert!(ns.abs_diff(1 << 30 | 1000 << 4) < 1 << 17);
    }
}
