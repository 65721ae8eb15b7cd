//! Random numbers from a seed: the same on every machine, in any order.

/// A generator whose whole state is one number (SplitMix64, Steele et al., OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers that belong to this seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Those of one request: they depend on what it is and not on when it comes,
    /// so that requests in flight together may come in any order.
    pub fn of(seed: u64, parts: &[u64]) -> Dice {
        parts.iter().fold(Dice::new(seed), |mut dice, part| Dice(dice.number() ^ part))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, or 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.number() % limit.max(1)
    }

    /// Whether something that happens in `per_mille` of 1000 cases does.
    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of several values.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.below(values.len() as u64)).expect("below the length")]
    }

    /// Bytes that no block of a job has.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.number().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_same_numbers_whenever_it_comes() {
        let first = Dice::of(7, &[1, 4096, 0]).number();
        assert_ne!(Dice::of(7, &[1, 8192, 0]).number(), first);
        assert_eq!(Dice::of(7, &[1, 4096, 0]).number(), first);
        assert_ne!(Dice::of(8, &[1, 4096, 0]).number(), first);
    }
}
