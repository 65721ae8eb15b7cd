//! When a comparison is looked at while it runs, and what each look costs.

/// At most so many looks: a difference that is there is found soon, and more
/// looks would make each of them stricter.
const LOOKS_MOST: usize = 5;

/// The two-sided level of each look that keeps 5 % over 1 to 5 looks.
/// Pocock 1977; Jennison and Turnbull, Group Sequential Methods, table 2.1.
const POCOCK: [f64; LOOKS_MOST] = [0.05, 0.0294, 0.0221, 0.0182, 0.0158];

/// The numbers of pairs after which a comparison is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookSchedule {
    pairs: Vec<usize>,
}

impl LookSchedule {
    /// From `least` to `most` pairs, at even distances: 5, 8, 12, 16 and 20 of
    /// 5 to 20. One look where both are the same.
    pub fn between(least: usize, most: usize) -> LookSchedule {
        let (least, most) = (least.min(most), most.max(least));
        let steps = LOOKS_MOST - 1;
        let mut pairs: Vec<usize> =
            (0..=steps).map(|step| least + (most - least) * step / steps).collect();
        pairs.dedup();
        LookSchedule { pairs }
    }

    /// The numbers of pairs, ascending.
    pub fn pairs(&self) -> &[usize] {
        &self.pairs
    }

    /// The most pairs.
    pub fn most(&self) -> usize {
        self.pairs.last().copied().unwrap_or(0)
    }

    /// The level at which each look is judged.
    pub fn alpha(&self) -> f64 {
        POCOCK[self.pairs.len().clamp(1, LOOKS_MOST) - 1]
    }

    /// Whether a comparison is judged after so many pairs.
    pub fn is_look(&self, pairs: usize) -> bool {
        self.pairs.contains(&pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_spread_evenly_and_each_is_stricter_where_there_are_more() {
        assert_eq!(LookSchedule::between(5, 20).pairs(), [5, 8, 12, 16, 20]);
        assert_eq!(LookSchedule::between(7, 7).pairs(), [7]);
        assert_eq!(LookSchedule::between(5, 7).pairs(), [5, 6, 7]);
        assert_eq!(LookSchedule::between(7, 5).pairs(), [5, 6, 7]);
        let alphas = [(7, 7), (5, 6), (5, 7), (5, 8), (5, 20)];
        let alphas = alphas.map(|(least, most)| LookSchedule::between(least, most).alpha());
        assert_eq!(alphas, POCOCK);
    }
}
