//! Random bytes, fast. Not for secrets.

use iosonde_sys::processor::Carries;

/// Fills memory with random bytes. Not for secrets.
#[derive(Clone, Debug)]
pub struct Noise {
    carries: Carries,
}

/// Odd, near 2^64 divided by the golden ratio: each multiple is far from the
/// ones before it.
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bits that a seed may change in the first state of a generator: the word stays odd, so not 0, and
/// the carry below the multiplier.
const SEEDED: u64 = u64::MAX >> 1 & !1;

/// The first states for a seed of 0.
const STATES: [u64; Carries::COUNT] = {
    let mut states = [0; Carries::COUNT];
    let mut at = 0;
    while at < Carries::COUNT {
        states[at] = mix(GOLDEN.wrapping_mul(at as u64 + 1)) & SEEDED | 1;
        at += 1;
    }
    states
};

impl Noise {
    /// Noise that is the same for the same seed.
    #[inline]
    pub fn new(seed: u64) -> Noise {
        let seed = mix(seed.wrapping_add(GOLDEN)) & SEEDED;
        let mut noise = Noise { carries: Carries::new(STATES.map(|state| state ^ seed)) };
        // Until every bit may be either.
        noise.carries.fill(&mut [[0; Carries::STEP]; 2]);
        noise
    }

    /// Fill `buffer` with random bytes: no two words of a block alike, nothing
    /// that compresses.
    #[inline]
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let (steps, rest) = buffer.as_chunks_mut();
        self.carries.fill(steps);
        if !rest.is_empty() {
            let mut last = [[0; Carries::STEP]];
            self.carries.fill(&mut last);
            rest.copy_from_slice(&last[0][..rest.len()]);
        }
    }
}

/// A word with all its bits mixed (the finalizer of splitmix64).
#[inline]
pub(super) const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn noise_replays_and_does_not_repeat() {
        let (mut a, mut b) = (vec![0; 1 << 20], vec![1; 1 << 20]);
        let mut noise = Noise::new(42);
        noise.fill(&mut a);
        Noise::new(42).fill(&mut b);
        assert_eq!(a, b);
        noise.fill(&mut b);
        assert_ne!(a, b);
        let words: HashSet<&[u8]> = a.chunks(8).chain(b.chunks(8)).collect();
        assert_eq!(words.len(), 2 * a.len() / 8);
    }

    #[test]
    fn blocks_of_neighbouring_seeds_have_no_four_bytes_in_common_places() {
        let block = |seed| {
            let mut block = vec![0; 4096];
            Noise::new(seed).fill(&mut block);
            block
        };
        for seed in 0..200u64 {
            let (a, b) = (block(seed), block(seed + 1));
            let alike = a.chunks(4).zip(b.chunks(4)).filter(|(a, b)| a == b).count();
            assert_eq!(alike, 0, "{seed}");
        }
    }

    #[test]
    fn noise_uses_every_byte_value_alike() {
        let mut buffer = vec![0; 1 << 20];
        Noise::new(1).fill(&mut buffer);
        for lane in 0..64 {
            let mut counts = [0u32; 256];
            for word in buffer.chunks(64) {
                counts[usize::from(word[lane])] += 1;
            }
            // 64 expected, six deviations of 8 allowed.
            assert!(
                counts.iter().all(|count| (16..=112).contains(count)),
                "byte {lane}: {counts:?}"
            );
        }
    }

    #[test]
    fn no_distance_makes_bytes_alike() {
        let mut buffer = vec![0; 1 << 20];
        Noise::new(3).fill(&mut buffer);
        for distance in 1..300 {
            let pairs = buffer.iter().zip(&buffer[distance..]);
            let alike = pairs.filter(|(a, b)| a == b).count();
            // 4096 expected, six deviations of 64 allowed.
            assert!((3712..=4480).contains(&alike), "{distance}: {alike}");
        }
    }

    #[test]
    fn any_length_is_filled_to_its_end() {
        for len in 0..200 {
            let mut buffer = vec![0; len];
            let mut noise = Noise::new(len as u64);
            let mut seen = vec![false; len];
            // A byte may be drawn zero, not each time.
            for _ in 0..10 {
                noise.fill(&mut buffer);
                seen.iter_mut().zip(&buffer).for_each(|(seen, byte)| *seen |= *byte != 0);
            }
            assert!(seen.iter().all(|seen| *seen), "{len}");
        }
    }
}
