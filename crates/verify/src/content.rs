//! The content of verified blocks: bytes that follow from a seed, or a pattern.

use iosonde_sys::processor::Multiples;
use iosonde_workload::content::{Pattern, repeat};

/// Each of the four words is multiplied by this after it was stored.
const STEP: u64 = 0x61c8_8646_80b5_83eb;

/// Bytes of one round: four words.
pub(crate) const ROUND: usize = 32;

static MULTIPLES: Multiples = Multiples::of(STEP);

/// The endless bytes of one seed: four words of 64 bits, started with the seed
/// times 1, 2, 3 and 5, stored in turn in little-endian order and multiplied
/// by a constant.
#[derive(Clone, Copy, Debug)]
pub struct SeededBytes(u64);

impl SeededBytes {
    /// The bytes of `seed`.
    pub fn new(seed: u64) -> SeededBytes {
        SeededBytes(seed)
    }

    /// Fill an I/O. The bytes behind the last complete round of 32 bytes
    /// goes on with the first word alone, so the end of a buffer is not the
    /// beginning of a longer one.
    #[inline]
    pub fn fill(self, bytes: &mut [u8]) {
        let (rounds, rest) = bytes.as_chunks_mut::<ROUND>();
        // A block of 4 KiB.
        if let (Ok(block), []) = (rounds.try_into(), rest)
            && MULTIPLES.fill_block(block, self.0)
        {
            return;
        }
        self.fill_any(bytes);
    }

    /// The first word of a round of 32 bytes, as it is stored.
    pub(crate) fn first_word(self, round: usize) -> u64 {
        // A stream of 2^32 rounds is longer than any I/O.
        self.0.wrapping_mul(STEP.wrapping_pow(round as u32))
    }

    #[inline(never)]
    fn fill_any(self, bytes: &mut [u8]) {
        let (rounds, rest) = bytes.as_chunks_mut::<ROUND>();
        let word = MULTIPLES.fill(rounds, self.0);
        if !rest.is_empty() {
            fill_rest(rest, word);
        }
    }
}

/// Fewer bytes than a round: words that follow the first one alone.
#[inline(never)]
fn fill_rest(rest: &mut [u8], mut word: u64) {
    for out in rest.chunks_mut(8) {
        out.copy_from_slice(&word.to_le_bytes()[..out.len()]);
        word = word.wrapping_mul(STEP);
    }
}

/// The content of a verified block outside its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockContent {
    /// Bytes that follow from the seed of the I/O.
    Seeded,
    /// The first `100 - percent` of a hundred parts from the seed, the rest
    /// `filler` repeated; an empty filler is zeroes
    /// (`buffer_compress_percentage`, with `buffer_pattern`).
    Compressible {
        /// 1 to 99.
        percent: u8,
        /// `buffer_pattern`.
        filler: Vec<u8>,
    },
    /// `verify_pattern`, anew at each multiple of `interval` bytes of the I/O,
    /// or once if that is 0 (`verify_pattern_interval`). Offsets in it (`%o`)
    /// are that of the place where it begins anew.
    Pattern {
        /// The bytes.
        pattern: Pattern,
        /// Bytes; 0: the whole I/O.
        interval: usize,
    },
}

impl BlockContent {
    /// Whether a seed is drawn for each write: with a pattern none is, and the
    /// header's seed is 0.
    pub fn uses_seed(&self) -> bool {
        !matches!(self, BlockContent::Pattern { .. })
    }

    /// Fill an I/O of `seed` at `offset` of its file.
    #[inline]
    pub fn fill(&self, io: &mut [u8], seed: u64, offset: u64) {
        match self {
            BlockContent::Seeded => SeededBytes::new(seed).fill(io),
            BlockContent::Compressible { percent, filler } => {
                // Below the length of a slice, so it fits.
                let random =
                    (io.len() as u128 * u128::from(100 - percent.min(&100)) / 100) as usize;
                let (random, rest) = io.split_at_mut(random);
                SeededBytes::new(seed).fill(random);
                repeat(rest, filler, 0);
            }
            BlockContent::Pattern { pattern, interval } => {
                let step = pattern_step(*interval, io.len());
                let mut at = offset;
                for part in io.chunks_mut(step) {
                    pattern.fill(part, 0, at);
                    at += step as u64;
                }
            }
        }
    }

    /// Whether this is a pattern, and `io` what [`BlockContent::fill`] makes of it at `offset` of
    /// its file. `scratch` is memory.
    pub(crate) fn is_pattern_in(&self, io: &[u8], offset: u64, scratch: &mut Vec<u8>) -> bool {
        let BlockContent::Pattern { pattern, interval } = self else { return false };
        let step = pattern_step(*interval, io.len());
        let mut offsets = (offset..).step_by(step);
        io.chunks(step).zip(&mut offsets).all(|(part, at)| pattern.is_in(part, at, scratch))
    }
}

/// After how many bytes of an I/O of `len` bytes a pattern begins anew.
fn pattern_step(interval: usize, len: usize) -> usize {
    if interval == 0 { len.max(1) } else { interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_seed_times_small_primes() {
        let mut bytes = [0; 72];
        SeededBytes::new(7).fill(&mut bytes);
        let word = |i: usize| u64::from_le_bytes(bytes[i * 8..i * 8 + 8].try_into().unwrap());
        assert_eq!([word(0), word(1), word(2), word(3)], [7, 14, 21, 35]);
        assert_eq!(word(4), 7u64.wrapping_mul(STEP));
        assert_eq!(word(7), 35u64.wrapping_mul(STEP));
        // The ninth word is the first generator's third.
        assert_eq!(word(8), 7u64.wrapping_mul(STEP).wrapping_mul(STEP));
    }

    #[test]
    fn the_compressible_part_lies_at_the_end() {
        let content = BlockContent::Compressible { percent: 40, filler: b"ab".to_vec() };
        let mut io = vec![0; 1000];
        content.fill(&mut io, 99, 0);
        assert!(io[600..].chunks(2).all(|pair| pair == b"ab"));
        let mut random = vec![0; 600];
        SeededBytes::new(99).fill(&mut random);
        assert_eq!(io[..600], random);
    }

    #[test]
    fn a_pattern_begins_anew_at_each_interval_with_its_own_offset() {
        let pattern = Pattern::new(vec![0; 8], vec![0]);
        let content = BlockContent::Pattern { pattern, interval: 16 };
        let mut io = [0; 40];
        content.fill(&mut io, 0, 4096);
        let words: Vec<u64> =
            io.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [4096, 4096, 4112, 4112, 4128]);
        let mut scratch = Vec::new();
        assert!(content.is_pattern_in(&io, 4096, &mut scratch));
        assert!(!content.is_pattern_in(&io, 4112, &mut scratch));
        io[39] = 1;
        assert!(!content.is_pattern_in(&io, 4096, &mut scratch));
        assert!(!BlockContent::Seeded.is_pattern_in(&[], 4096, &mut scratch));
    }
}
