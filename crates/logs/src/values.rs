//! Values over time, in bins that grow with the log.

/// The rows of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueBin {
    /// How many rows.
    pub rows: u64,
    /// The sum of their values.
    pub sum: u128,
    /// The smallest value.
    pub least: u64,
    /// The largest, or the largest that a window had.
    pub most: u64,
    /// The sum of the rows' times since the origin, in milliseconds.
    pub time_sum_ms: u128,
}

impl ValueBin {
    const EMPTY: ValueBin = ValueBin { rows: 0, sum: 0, least: u64::MAX, most: 0, time_sum_ms: 0 };

    fn merge(self, other: ValueBin) -> ValueBin {
        ValueBin {
            rows: self.rows + other.rows,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            time_sum_ms: self.time_sum_ms + other.time_sum_ms,
        }
    }

    /// The mean of the values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.rows.max(1) as f64
    }

    /// The mean time of the rows since the origin, in milliseconds.
    pub fn time_ms(&self) -> f64 {
        self.time_sum_ms as f64 / self.rows.max(1) as f64
    }
}

/// Bins of one length; at most `most` of them.
#[derive(Clone, Debug)]
pub struct ValueBins {
    origin_ms: u64,
    width_ms: u64,
    most: usize,
    bins: Vec<ValueBin>,
}

impl ValueBins {
    /// Bins of `width_ms` at first, from `origin_ms` on.
    pub fn new(origin_ms: u64, width_ms: u64, most: usize) -> ValueBins {
        ValueBins { origin_ms, width_ms: width_ms.max(1), most: most.max(2), bins: Vec::new() }
    }

    /// Add a row.
    pub fn add(&mut self, time_ms: u64, value: u64, most: u64) {
        let since = time_ms.saturating_sub(self.origin_ms);
        while since / self.width_ms >= self.most as u64 {
            self.bins = self
                .bins
                .chunks(2)
                .map(|pair| pair.iter().fold(ValueBin::EMPTY, |bin, &next| bin.merge(next)))
                .collect();
            self.width_ms = self.width_ms.saturating_mul(2);
        }
        // Below `most`, which is a usize.
        let index = (since / self.width_ms) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, ValueBin::EMPTY);
        }
        let row =
            ValueBin { rows: 1, sum: value.into(), least: value, most, time_sum_ms: since.into() };
        self.bins[index] = self.bins[index].merge(row);
    }

    /// How long a bin is.
    pub fn width_ms(&self) -> u64 {
        self.width_ms
    }

    /// The bins that have rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &ValueBin> {
        self.bins.iter().filter(|bin| bin.rows > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_keep_each_row_however_often_they_are_merged() {
        let mut bins = ValueBins::new(100, 1, 8);
        (0..1000u64).for_each(|row| bins.add(100 + row * 3, row, row + 1));
        assert_eq!(bins.iter().map(|bin| bin.rows).sum::<u64>(), 1000);
        assert_eq!(bins.iter().map(|bin| bin.sum).sum::<u128>(), 999 * 500);
        assert!(bins.iter().count() <= 8);
        assert_eq!(bins.iter().map(|bin| bin.most).max(), Some(1000));
        let first = bins.iter().next().unwrap();
        assert_eq!(first.least, 0);
        assert!(first.time_ms() < bins.width_ms() as f64);
    }
}
