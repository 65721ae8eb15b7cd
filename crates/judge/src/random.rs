//! Random numbers from a seed, the same in each version: who resumes a
//! comparison or a sweep gets the same order again.

/// SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom Number
/// Generators, OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct SeededRandom(u64);

impl SeededRandom {
    /// From a seed, and what distinguishes this use of it from others.
    pub fn new(seed: u64, purpose: u64) -> SeededRandom {
        let mut random = SeededRandom(seed);
        let mixed = random.word();
        SeededRandom(mixed ^ purpose.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The high word of the product: below `n`, which is a usize.
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// Shuffle in place (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The published test vector of seed 1234567.
        let mut random = SeededRandom(1_234_567);
        assert_eq!(random.word(), 6_457_827_717_110_365_317);
        assert_eq!(random.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn each_order_is_as_likely_as_the_others() {
        let mut counts = std::collections::BTreeMap::new();
        let mut random = SeededRandom::new(7, 0);
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five standard deviations of a binomial count.
        assert!(counts.values().all(|&count| (856..=1144).contains(&count)), "{counts:?}");
    }
}
