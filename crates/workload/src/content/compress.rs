//! Blocks that compress by a share: random bytes, then bytes that repeat.

use super::{Noise, Pattern};

/// A mix that compresses by a share: each chunk begins with random bytes, and
/// what repeats fills the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compress {
    percentage: u32,
    chunk: u32,
    rest: Pattern,
}

/// Random bytes that a block has at least, so that no two are alike: as few as
/// do not collide.
const LEAST: usize = 8;

impl Compress {
    /// Blocks of which `percentage` percent, 0 to 100, are `rest` (zeroes if
    /// that is empty), in each `chunk` bytes; a chunk of 0 bytes is the whole
    /// block.
    pub fn new(percentage: u32, chunk: u32, rest: Pattern) -> Compress {
        Compress { percentage: percentage.min(100), chunk, rest }
    }

    /// Make the block of `seed`, which goes to `offset` of its file.
    pub(super) fn fill(&self, bytes: &mut [u8], seed: u64, offset: u64) {
        let mut noise = Noise::new(seed);
        let chunk = match self.chunk as usize {
            0 => bytes.len().max(1),
            chunk => chunk,
        };
        let mut phase = 0;
        for chunk in bytes.chunks_mut(chunk) {
            let len = chunk.len();
            let random = self.random(len).max(if phase == 0 { LEAST.min(len) } else { 0 });
            let (random, rest) = chunk.split_at_mut(random);
            noise.fill(random);
            self.rest.fill(rest, phase + random.len(), offset);
            phase += len;
        }
    }

    /// Random bytes of a chunk of `len`, to the nearest.
    #[inline]
    fn random(&self, len: usize) -> usize {
        // A block is at most 4 GiB and a percentage is at most 100.
        ((len as u64 * u64::from(100 - self.percentage) + 50) / 100) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(len: usize, compress: &Compress) -> Vec<u8> {
        let mut block = vec![0xff; len];
        compress.fill(&mut block, 1, 0);
        block
    }

    #[test]
    fn the_share_of_zeroes_is_the_percentage() {
        for len in [4096, 8192, 65536, 131_072] {
            for chunk in [0, 512, 4096, 1000, 1 << 20] {
                for percentage in [0, 1, 25, 50, 75, 99, 100] {
                    let compress = Compress::new(percentage, chunk, Pattern::default());
                    let block = block(len, &compress);
                    let zeroes = block.iter().filter(|byte| **byte == 0).count() as f64;
                    // One in 256 random bytes is zero too.
                    let random = f64::from(100 - percentage) / 100.0;
                    let expected = len as f64 * (1.0 - random * 255.0 / 256.0);
                    let points = (zeroes - expected).abs() / len as f64 * 100.0;
                    assert!(points < 0.6, "{len} {chunk} {percentage}: {points}");
                }
            }
        }
    }

    #[test]
    fn each_chunk_begins_random_and_ends_with_the_rest() {
        let compress = Compress::new(50, 1024, Pattern::from(b"xyz".to_vec()));
        let block = block(4096, &compress);
        for (index, chunk) in block.chunks(1024).enumerate() {
            let xyz = |at: usize| b"xyz"[at % 3];
            let like = |range: std::ops::Range<usize>| {
                range.filter(|&at| chunk[at] == xyz(index * 1024 + at)).count()
            };
            assert_eq!(like(512..1024), 512);
            assert!(like(0..512) < 20);
        }
    }

    #[test]
    fn blocks_that_compress_to_nothing_still_differ() {
        let compress = Compress::new(100, 512, Pattern::default());
        let (mut a, mut b) = (vec![0; 512], vec![0; 512]);
        compress.fill(&mut a, 1, 0);
        compress.fill(&mut b, 2, 0);
        assert_ne!(a, b);
        assert!(a[8..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn no_length_is_too_short() {
        for len in 0..20 {
            for chunk in [0, 1, 3, 512] {
                block(len, &Compress::new(50, chunk, Pattern::default()));
            }
        }
    }
}
