//! What written blocks hold: random bytes, zeroes, a pattern, a mix that
//! compresses as asked, repeats of other blocks; and the cheap change that
//! keeps blocks from being alike.
//!
//! A block is a function of its seed, so that a repeat is made anew in place:
//! nothing that was written is kept or copied.

mod compress;
mod dedupe;
mod noise;
mod pattern;
mod scramble;

pub use compress::Compress;
pub use dedupe::{Dedupe, WorkingSet};
pub use noise::Noise;
pub use pattern::{Pattern, repeat, zero};
pub use scramble::scramble;

use dedupe::Chooser;
use noise::{GOLDEN, mix};

/// The content of a block before anything is changed in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Random bytes.
    #[default]
    Random,
    /// Zeroes.
    Zero,
    /// These bytes, over and over, anew in each block.
    Pattern(Pattern),
    /// Random bytes and others by turns, so that it compresses by a share.
    Mixed(Compress),
}

impl Base {
    /// Make the block of `seed`, which goes to `offset` of its file. Only
    /// patterns look at the offset, and they do not look at the seed.
    #[inline]
    pub fn fill(&self, bytes: &mut [u8], seed: u64, offset: u64) {
        match self {
            Base::Random => Noise::new(seed).fill(bytes),
            Base::Zero => zero(bytes),
            Base::Pattern(pattern) => pattern.fill(bytes, 0, offset),
            Base::Mixed(compress) => compress.fill(bytes, seed, offset),
        }
    }

    /// Whether two blocks differ: by their seeds, or by where they are.
    fn varies(&self) -> bool {
        match self {
            Base::Random | Base::Mixed(_) => true,
            Base::Zero => false,
            Base::Pattern(pattern) => pattern.has_offset(),
        }
    }
}

/// What happens to a buffer before each write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EachWrite {
    /// It is written as it is.
    Nothing,
    /// A few bytes of each sector change (`scramble_buffers`).
    #[default]
    Scramble,
    /// It is made anew (`refill_buffers`).
    Refill,
}

/// The blocks of a job, one after another. The same seed gives the same blocks.
#[derive(Clone, Debug)]
pub struct Content {
    base: Base,
    each_write: EachWrite,
    repeats: Option<Chooser>,
    /// Bytes that repeat together.
    block: usize,
    seeds: BlockSeeds,
    stamp: u64,
}

/// BlockSeeds of blocks that are like no others.
#[derive(Clone, Debug)]
struct BlockSeeds {
    key: u64,
    drawn: u64,
}

impl BlockSeeds {
    #[inline]
    fn next(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.key.wrapping_add(self.drawn.wrapping_mul(GOLDEN)))
    }
}

impl Content {
    /// Blocks from `seed`. Repeats need each block made anew: with `dedupe`,
    /// `each_write` counts for nothing.
    pub fn new(seed: u64, base: Base, each_write: EachWrite, dedupe: Option<&Dedupe>) -> Content {
        Content {
            base,
            each_write: if dedupe.is_some() { EachWrite::Refill } else { each_write },
            repeats: dedupe.and_then(|dedupe| Chooser::new(mix(!seed), dedupe)),
            block: dedupe.map_or(1, |dedupe| dedupe.block as usize).max(1),
            seeds: BlockSeeds { key: mix(seed), drawn: 0 },
            stamp: seed,
        }
    }

    /// What files are laid out with: blocks of the same kind that are like
    /// none of `seed`, each made anew where two can differ.
    pub fn for_layout(seed: u64, base: Base, dedupe: Option<&Dedupe>) -> Content {
        let each_write = if base.varies() { EachWrite::Refill } else { EachWrite::Nothing };
        // Any constant keeps the two apart; these are digits of pi.
        Content::new(seed ^ 0x3141_5926_5358_9793, base, each_write, dedupe)
    }

    /// Fill a buffer for the first time.
    pub fn prepare(&mut self, bytes: &mut [u8]) {
        let seed = self.seeds.next();
        self.base.fill(bytes, seed, 0);
    }

    /// Whether writes need anything done to their buffers.
    pub fn is_active(&self) -> bool {
        self.each_write != EachWrite::Nothing
    }

    /// Whether buffers are made anew for each write, so that what they hold
    /// before is of no account.
    pub fn refills(&self) -> bool {
        self.each_write == EachWrite::Refill
    }

    /// Make a buffer ready to be written at `offset`.
    #[inline]
    pub fn apply(&mut self, bytes: &mut [u8], offset: u64) {
        match self.each_write {
            EachWrite::Nothing => {}
            EachWrite::Scramble => {
                self.stamp = self.stamp.wrapping_add(1);
                scramble(bytes, offset, self.stamp);
            }
            EachWrite::Refill => {
                let (base, seeds) = (&self.base, &mut self.seeds);
                match &mut self.repeats {
                    None => base.fill(bytes, seeds.next(), offset),
                    Some(repeats) => {
                        let mut offset = offset;
                        for block in bytes.chunks_mut(self.block) {
                            base.fill(block, repeats.next(|| seeds.next()), offset);
                            offset += block.len() as u64;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn write(content: &mut Content, blocks: usize) -> Vec<Vec<u8>> {
        let mut buffer = vec![0; 4096];
        content.prepare(&mut buffer);
        let write = |i| {
            content.apply(&mut buffer, i as u64 * 4096);
            buffer.clone()
        };
        (0..blocks).map(write).collect()
    }

    fn distinct(blocks: &[Vec<u8>]) -> usize {
        blocks.iter().collect::<HashSet<_>>().len()
    }

    #[test]
    fn each_kind_of_change_gives_as_many_different_blocks_as_it_says() {
        for (each_write, expected) in
            [(EachWrite::Nothing, 1), (EachWrite::Scramble, 100), (EachWrite::Refill, 100)]
        {
            let blocks = write(&mut Content::new(7, Base::Random, each_write, None), 100);
            assert_eq!(distinct(&blocks), expected, "{each_write:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_blocks_and_another_gives_others() {
        let dedupe = Dedupe { percentage: 30, set: None, block: 4096 };
        let blocks = |seed| {
            let content = Content::new(seed, Base::Random, EachWrite::Refill, Some(&dedupe));
            write(&mut content.clone(), 50)
        };
        assert_eq!(blocks(1), blocks(1));
        assert!(blocks(1).iter().all(|block| !blocks(2).contains(block)));
    }

    #[test]
    fn writes_of_several_sizes_repeat_block_by_block() {
        let dedupe = Dedupe { percentage: 50, set: None, block: 512 };
        let mut content = Content::new(3, Base::Random, EachWrite::Refill, Some(&dedupe));
        let mut all = Vec::new();
        for len in [512, 1536, 4096, 2048].into_iter().cycle().take(1000) {
            let mut buffer = vec![0; len];
            content.apply(&mut buffer, 0);
            all.extend(buffer.chunks_exact(512).map(<[u8]>::to_vec));
        }
        let share = 1.0 - distinct(&all) as f64 / all.len() as f64;
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }

    #[test]
    fn a_layout_shares_no_block_with_the_writes_after_it() {
        let mut all = write(&mut Content::for_layout(1, Base::Random, None), 50);
        all.extend(write(&mut Content::new(1, Base::Random, EachWrite::Refill, None), 50));
        assert_eq!(distinct(&all), 100);
    }

    #[test]
    fn a_layout_repeats_only_what_cannot_differ() {
        let offsets = Pattern::new(vec![0; 8], vec![0]);
        let cases = [
            (Base::Random, 20),
            (Base::Zero, 1),
            (Base::Pattern(Pattern::from(b"ab".to_vec())), 1),
            (Base::Pattern(offsets), 20),
            (Base::Mixed(Compress::new(50, 512, Pattern::default())), 20),
        ];
        for (base, expected) in cases {
            let blocks = write(&mut Content::for_layout(1, base.clone(), None), 20);
            assert_eq!(distinct(&blocks), expected, "{base:?}");
        }
    }

    #[test]
    fn a_shorter_repeat_is_the_beginning_of_the_longer_block() {
        let compress = Compress::new(40, 512, Pattern::default());
        for base in [Base::Random, Base::Mixed(compress)] {
            let (mut long, mut short) = (vec![0; 8192], vec![0; 4096]);
            base.fill(&mut long, 5, 0);
            base.fill(&mut short, 5, 0);
            assert_eq!(short, long[..4096]);
        }
    }

    #[test]
    fn what_is_done_before_a_write_is_known_beforehand() {
        let of = |each_write| Content::new(7, Base::Random, each_write, None);
        let known = |content: &Content| (content.is_active(), content.refills());
        assert_eq!(known(&of(EachWrite::Nothing)), (false, false));
        assert_eq!(known(&of(EachWrite::Scramble)), (true, false));
        assert_eq!(known(&of(EachWrite::Refill)), (true, true));
        // A layout has blocks that differ, where they can.
        assert_eq!(known(&Content::for_layout(7, Base::Random, None)), (true, true));
        assert_eq!(known(&Content::for_layout(7, Base::Zero, None)), (false, false));
    }

    #[test]
    fn a_layout_is_like_no_block_of_the_job() {
        let mut buffers = [[0; 512], [0; 512], [0; 512]];
        for seed in 0..50 {
            Content::new(seed, Base::Random, EachWrite::Nothing, None).prepare(&mut buffers[0]);
            Content::for_layout(seed, Base::Random, None).prepare(&mut buffers[1]);
            Content::new(seed + 50, Base::Random, EachWrite::Nothing, None)
                .prepare(&mut buffers[2]);
            assert!(buffers[0] != [0; 512] && buffers[0] != buffers[1] && buffers[0] != buffers[2]);
        }
    }
}
