//! Random bytes, fast. Not for secrets.

/// Fills memory with random bytes. Not for secrets.
///
/// Four multiply-with-carry generators side by side (Marsaglia, "Random number
/// generators", Journal of Modern Applied Statistical Methods 2, 2003), each of
/// a word and a carry of 64 bits: one multiplication gives 16 bytes.
#[derive(Clone, Debug)]
pub struct Noise {
    lanes: [NoiseLane; LANES],
}

#[derive(Clone, Copy, Debug)]
struct NoiseLane {
    word: u64,
    carry: u64,
}

/// Enough generators to keep the multiplier busy while each waits for its last
/// product.
const LANES: usize = 4;

/// Bytes of one step.
const STEP: usize = LANES * 16;

/// Odd, near 2^64 divided by the golden ratio: each multiple is far from the
/// ones before it.
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// `MULTIPLIER * 2^63 - 1` and `MULTIPLIER * 2^64 - 1` are both prime, which
/// makes the first of them the period.
const MULTIPLIER: u64 = 0xd6b5_4a2f_93c1_68a5;

impl Noise {
    /// Noise that is the same for the same seed.
    #[inline]
    pub fn new(seed: u64) -> Noise {
        let mut x = seed;
        let mut draw = || {
            x = x.wrapping_add(GOLDEN);
            mix(x)
        };
        // A carry is below the multiplier, and neither it nor the word is 0:
        // nothing else leads nowhere.
        let lanes =
            std::array::from_fn(|_| NoiseLane { word: draw() | 1, carry: (draw() >> 1) | 1 });
        let mut noise = Noise { lanes };
        // Until every bit may be either.
        noise.step();
        noise
    }

    /// Fill `buffer` with random bytes: no two words of a block alike, nothing
    /// that compresses.
    #[inline]
    pub fn fill(&mut self, buffer: &mut [u8]) {
        // Kept in registers: a copy that nobody else can see.
        let mut noise = self.clone();
        let mut chunks = buffer.chunks_exact_mut(STEP);
        for chunk in &mut chunks {
            noise.write(chunk);
        }
        let rest = chunks.into_remainder();
        if !rest.is_empty() {
            let mut last = [0; STEP];
            noise.write(&mut last);
            rest.copy_from_slice(&last[..rest.len()]);
        }
        *self = noise;
    }

    #[inline(always)]
    fn write(&mut self, chunk: &mut [u8]) {
        for (i, bytes) in (0..).zip(chunk.chunks_exact_mut(16)) {
            let lane = &self.lanes[i];
            // Words are even, carries stay below the multiplier: each is mixed
            // with the word of a neighbour.
            let carry = lane.carry ^ self.lanes[(i + 1) % LANES].word;
            bytes[..8].copy_from_slice(&lane.word.to_le_bytes());
            bytes[8..].copy_from_slice(&carry.to_le_bytes());
        }
        self.step();
    }

    #[inline(always)]
    fn step(&mut self) {
        for lane in &mut self.lanes {
            // Below 2^128: both factors and the carry are below 2^64.
            let product = u128::from(lane.word) * u128::from(MULTIPLIER) + u128::from(lane.carry);
            (lane.word, lane.carry) = (product as u64, (product >> 64) as u64);
        }
    }
}

/// A word with all its bits mixed (the finalizer of splitmix64).
#[inline]
pub(super) fn mix(x: u64) -> u64 {
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
