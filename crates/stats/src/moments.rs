//! Count, extremes, mean and deviation, kept as exact integers.
//!
//! Sums of squares in 128 bits make merging an addition, so that a group of
//! jobs has the same mean and deviation in whatever order it is added up, and
//! cost a third of Welford's running mean (one division an I/O).

use crate::Tally;

/// Sums over values that one thread adds and any thread reads.
#[derive(Debug)]
pub struct Moments {
    n: Tally,
    sum: Tally,
    min: Tally,
    max: Tally,
    squares_low: Tally,
    squares_high: Tally,
    /// The largest before [`Moments::take_max`] was called last.
    max_before: Tally,
}

impl Default for Moments {
    fn default() -> Moments {
        Moments {
            n: Tally::default(),
            sum: Tally::default(),
            min: Tally::new(u64::MAX),
            max: Tally::default(),
            squares_low: Tally::default(),
            squares_high: Tally::default(),
            max_before: Tally::default(),
        }
    }
}

impl Moments {
    /// Add `value` once.
    #[inline(always)]
    pub fn add(&self, value: u64) {
        self.add_many(value, 1);
    }

    /// Add `value` `times` times. Exact: the same as adding it one by one.
    #[inline(always)]
    pub fn add_many(&self, value: u64, times: u64) {
        self.n.add(times);
        let total = value.wrapping_mul(times);
        self.sum.add(total);
        self.min.lower(value);
        self.max.raise(value);
        let squares = u128::from(total) * u128::from(value);
        let (low, carry) = self.squares_low.get().overflowing_add(squares as u64);
        self.squares_low.set(low);
        self.squares_high.add((squares >> 64) as u64 + u64::from(carry));
    }

    /// Add each of `values` once. The sums stay in registers meanwhile.
    #[inline(always)]
    pub fn add_all(&self, values: impl Iterator<Item = u64>) {
        let (mut n, mut sum, mut squares) = (0, 0u64, 0u128);
        let (mut min, mut max) = (u64::MAX, 0);
        for value in values {
            n += 1;
            sum = sum.wrapping_add(value);
            squares = squares.wrapping_add(u128::from(value) * u128::from(value));
            (min, max) = (value.min(min), value.max(max));
        }
        self.n.add(n);
        self.sum.add(sum);
        self.min.lower(min);
        self.max.raise(max);
        let (low, carry) = self.squares_low.get().overflowing_add(squares as u64);
        self.squares_low.set(low);
        self.squares_high.add((squares >> 64) as u64 + u64::from(carry));
    }

    /// Add each of `values` once, which are at most 64 of 24 bits each.
    #[inline(always)]
    pub(crate) fn add_brief(&self, values: &[u32]) {
        // Extremes change seldom: whether one of the values lies beyond them is asked first.
        let [least, greatest] = [&self.min, &self.max].map(|most| most.get().min(1 << 24) as i32);
        let (mut sum, mut beyond) = (0u32, false);
        for &value in values {
            sum += value;
            beyond |= (value as i32) < least || (value as i32) > greatest;
        }
        // 54 bits at most.
        let square = |value: &u32| u64::from(*value) * u64::from(*value);
        let squares: u64 = values.iter().map(square).sum();
        self.n.add(values.len() as u64);
        self.sum.add(sum.into());
        let (low, carry) = self.squares_low.get().overflowing_add(squares);
        self.squares_low.set(low);
        self.squares_high.add(carry.into());
        if beyond {
            self.reach(values);
        }
    }

    #[inline(never)]
    fn reach(&self, values: &[u32]) {
        for &value in values {
            self.min.lower(value.into());
            self.max.raise(value.into());
        }
    }

    /// Forget everything, as at the end of a ramp.
    pub fn clear(&self) {
        self.n.set(0);
        self.sum.set(0);
        self.min.set(u64::MAX);
        self.max.set(0);
        self.squares_low.set(0);
        self.squares_high.set(0);
        self.max_before.set(0);
    }

    /// The largest value since this was called last, for windows of a log:
    /// the largest of all is kept. Only for the thread that adds.
    pub fn take_max(&self) -> u64 {
        let max = self.max.get();
        self.max_before.raise(max);
        self.max.set(0);
        max
    }

    /// The largest value since [`Moments::take_max`], left where it is.
    pub fn recent_max(&self) -> u64 {
        self.max.get()
    }

    /// The sums as plain data.
    pub fn snapshot(&self) -> MomentsSnapshot {
        MomentsSnapshot {
            n: self.n.get(),
            sum: self.sum.get().into(),
            min: self.min.get(),
            max: self.max.get().max(self.max_before.get()),
            squares: u128::from(self.squares_high.get()) << 64 | u128::from(self.squares_low.get()),
        }
    }
}

/// [`Moments`] at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentsSnapshot {
    /// How many values.
    pub n: u64,
    /// Their sum.
    pub sum: u128,
    /// The smallest; `u64::MAX` without values.
    pub min: u64,
    /// The largest; zero without values.
    pub max: u64,
    /// The sum of their squares.
    pub squares: u128,
}

impl Default for MomentsSnapshot {
    fn default() -> MomentsSnapshot {
        MomentsSnapshot { n: 0, sum: 0, min: u64::MAX, max: 0, squares: 0 }
    }
}

impl MomentsSnapshot {
    /// The smallest value, zero without values.
    pub fn least(&self) -> u64 {
        if self.n == 0 { 0 } else { self.min }
    }

    /// The mean, zero when there is no value.
    pub fn mean(&self) -> f64 {
        if self.n == 0 { 0.0 } else { self.sum as f64 / self.n as f64 }
    }

    /// The sample's standard deviation (over n - 1, as fio's), zero for fewer
    /// than two values.
    pub fn deviation(&self) -> f64 {
        if self.n < 2 {
            return 0.0;
        }
        // n*squares - sum^2 in integers while they fit: subtracting two large
        // nearly equal floats would lose the small deviations that matter.
        let n = u128::from(self.n);
        let exact = n
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(a, b)| a.saturating_sub(b) as f64 / n as f64);
        let spread = exact.unwrap_or_else(|| {
            let mean = self.mean();
            (self.squares as f64 - mean * self.sum as f64).max(0.0)
        });
        (spread / (self.n - 1) as f64).sqrt()
    }

    /// Add the values of another.
    pub fn merge(&mut self, other: &MomentsSnapshot) {
        self.n += other.n;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The values added since `earlier`. The extremes are those of the whole
    /// time: they cannot be subtracted.
    pub fn since(&self, earlier: &MomentsSnapshot) -> MomentsSnapshot {
        MomentsSnapshot {
            n: self.n.saturating_sub(earlier.n),
            sum: self.sum.saturating_sub(earlier.sum),
            min: self.min,
            max: self.max,
            squares: self.squares.saturating_sub(earlier.squares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_many_is_adding_one_by_one() {
        let (one, many) = (Moments::default(), Moments::default());
        for _ in 0..1000 {
            one.add(u64::from(u32::MAX) + 7);
        }
        many.add_many(u64::from(u32::MAX) + 7, 1000);
        assert_eq!(one.snapshot(), many.snapshot());
        for value in [3, 1 << 50, 0] {
            one.add(value);
        }
        many.add_all([3, 1 << 50, 0].into_iter());
        many.add_all(std::iter::empty());
        assert_eq!(one.snapshot(), many.snapshot());
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_values() {
        let moments = Moments::default();
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            moments.add(value);
        }
        let snapshot = moments.snapshot();
        assert_eq!((snapshot.least(), snapshot.max, snapshot.mean()), (2, 9, 5.0));
        assert!((snapshot.deviation() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn taking_the_largest_of_a_window_leaves_the_largest_of_all() {
        let moments = Moments::default();
        moments.add(9);
        assert_eq!((moments.recent_max(), moments.take_max()), (9, 9));
        moments.add(4);
        assert_eq!((moments.take_max(), moments.take_max()), (4, 0));
        assert_eq!(moments.snapshot().max, 9);
        moments.clear();
        assert_eq!(moments.snapshot().max, 0);
    }

    #[test]
    fn hours_of_latency_do_not_overflow() {
        let moments = Moments::default();
        moments.add_many(1 << 44, 1000);
        assert_eq!(moments.snapshot().deviation(), 0.0);
        assert_eq!(moments.snapshot().mean(), (1u64 << 44) as f64);
    }
}
