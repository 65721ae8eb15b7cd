//! Preconditioning of an SSD in one pass (`sprandom`): the state that endless random
//! writes lead to, by writing no more than the drive's flash holds.
//!
//! A drive without a hint writes one block after another into its flash, and a block that
//! is written again leaves a stale copy where it was. After random writes without end the
//! copies that are valid have a known distribution: of what was written long ago little is
//! left, of what was written just now all. So a pass in random order over all blocks is
//! divided into regions, each as large as the others, and of each region as many blocks are
//! written again, soon after it, as have grown stale in that state. fio 3.41 introduced the
//! method (SanDisk, "SPRandom"); how many blocks of a region and which of them is computed
//! here, and differs from fio.

use std::collections::VecDeque;

use iosonde_base::{Dir, part_of};

use crate::random::Draws;
use crate::spec::{SourceSpec, SpecError, SprandomSpec};

/// With more regions the schedule itself would take much memory.
const REGIONS_MOST: u32 = 1 << 20;

/// The share of a region's blocks that are stale, for each of `regions`, the one written
/// first in front, after random writes without end to a drive that cleans its oldest region
/// first. `spare` is the flash beyond the capacity, as a part of that.
///
/// A copy stays valid while none of the writes after it hits its block. With an age x from 0
/// (just written) to 1 (cleaned next), `exp(-cx)` of the copies are valid, and the regions
/// hold the capacity together: `c = (1 + spare)(1 - exp(-c))`.
fn stale_shares(regions: u32, spare: f64) -> Vec<f64> {
    if spare <= 0.0 {
        return vec![0.0; regions as usize];
    }
    let (mut below, mut above) = (0.0, 1.0 + spare);
    for _ in 0..f64::MANTISSA_DIGITS {
        let c: f64 = (below + above) / 2.0;
        if c < (1.0 + spare) * (1.0 - (-c).exp()) { below = c } else { above = c }
    }
    let width = above / f64::from(regions);
    let valid = |age: u32| {
        let from = f64::from(age) * width;
        ((-from).exp() - (-(from + width)).exp()) / width
    };
    (0..regions).rev().map(|age| 1.0 - valid(age)).collect()
}

/// How many blocks are written again, and when.
#[derive(Debug)]
struct Schedule {
    /// After each region but the last ones, how many of its blocks.
    again: Vec<u64>,
    /// Regions between a write and its rewrite.
    lag: u32,
}

impl Schedule {
    /// # Errors
    /// There are too few blocks or regions for what is asked.
    fn new(spec: &SprandomSpec, blocks: u64, block_bytes: u64) -> Result<Schedule, SpecError> {
        let all_again = spec.again(blocks);
        let least = part_of(blocks + all_again, spec.regions, spec.regions - 1).1;
        let region_bytes = least.saturating_mul(block_bytes);
        let unsuited = || SpecError::UnsuitedRegions { regions: spec.regions, region_bytes };
        if blocks < u64::from(spec.regions) || spec.regions > REGIONS_MOST {
            return Err(unsuited());
        }
        // As fio has it, a region is more than the cache.
        if spec.cache_bytes >= region_bytes {
            return Err(unsuited());
        }
        let lag = u32::from(spec.cache_bytes > 0);
        if lag + 1 >= spec.regions {
            return Err(unsuited());
        }
        let shares = &stale_shares(spec.regions, spec.spare)[..(spec.regions - lag - 1) as usize];
        let all: f64 = shares.iter().sum();
        let (mut sum, mut noted) = (0.0, 0);
        let counts = shares.iter().enumerate().map(|(region, share)| {
            sum += share;
            let until = if region + 1 == shares.len() {
                all_again
            } else {
                ((all_again as f64 * sum / all) as u64).min(all_again)
            };
            let count = until - noted;
            noted = until;
            count
        });
        let again: Vec<u64> = counts.collect();
        if again.iter().all(|&count| count <= least) {
            Ok(Schedule { again, lag })
        } else {
            Err(unsuited())
        }
    }
}

impl SourceSpec {
    /// Whether `sprandom` can do what it is to, if the job has it.
    ///
    /// # Errors
    /// There is more than one file, or too few blocks or regions for what is asked.
    pub fn check_sprandom(&self) -> Result<(), SpecError> {
        let Some(asked) = &self.sprandom else { return Ok(()) };
        let [file] = &self.files[..] else { return Err(SpecError::SprandomOfOneFile) };
        let unit = self.unit(Dir::Write).max(1);
        Schedule::new(asked, file.size / unit, unit).map(drop)
    }
}

/// What is written again of one region.
#[derive(Debug, Default)]
struct Rewrites {
    /// All blocks of the region, in the order of their writes.
    blocks: Vec<u64>,
    /// How many of them have been looked at.
    seen: usize,
    /// How many of the rest are to be written.
    left: u64,
}

impl Rewrites {
    /// The next: each of the rest is as likely as any other, so that no part of the
    /// region grows more stale than another.
    fn next(&mut self, draws: &mut Draws) -> Option<u64> {
        while self.left > 0 {
            let rest = (self.blocks.len() - self.seen) as u64;
            let block = self.blocks[self.seen];
            self.seen += 1;
            if draws.below(rest) < self.left {
                self.left -= 1;
                return Some(block);
            }
        }
        None
    }
}

/// Where a pass is.
#[derive(Debug)]
pub(crate) struct Sprandom {
    regions: u32,
    /// Writes of a pass.
    writes: u64,
    schedule: Schedule,
    draws: Draws,
    /// The region at hand, and writes left in it.
    region: u32,
    left: u64,
    /// Blocks of the region at hand, and those of the regions before it.
    at_hand: Vec<u64>,
    before: VecDeque<Vec<u64>>,
    rewrites: Rewrites,
}

impl Sprandom {
    /// A pass over `blocks` of `block_bytes` each.
    ///
    /// # Errors
    /// There are too few blocks or regions for what is asked, or no memory for a region.
    pub fn new(
        spec: &SprandomSpec,
        blocks: u64,
        block_bytes: u64,
        seed: u64,
    ) -> Result<Sprandom, SpecError> {
        let writes = blocks + spec.again(blocks);
        let mut pass = Sprandom {
            regions: spec.regions,
            writes,
            schedule: Schedule::new(spec, blocks, block_bytes)?,
            draws: Draws::new(true, seed),
            region: 0,
            left: 0,
            at_hand: Vec::new(),
            before: VecDeque::new(),
            rewrites: Rewrites::default(),
        };
        pass.begin_pass();
        let most = pass.left as usize;
        let no_memory =
            |_| SpecError::NoMemoryForRegion { blocks: most as u64, regions: spec.regions };
        pass.at_hand.try_reserve_exact(most).map_err(no_memory)?;
        Ok(pass)
    }

    /// Begin anew.
    pub(crate) fn begin_pass(&mut self) {
        (self.region, self.left) = (0, part_of(self.writes, self.regions, 0).1);
        self.at_hand.clear();
        self.before.clear();
        self.rewrites = Rewrites::default();
    }

    /// The block to write again next; none if a new one is due, or the pass is done.
    pub fn rewrite(&mut self) -> Option<u64> {
        self.rewrites.next(&mut self.draws)
    }

    /// Every region has its writes.
    pub fn is_done(&self) -> bool {
        self.region == self.regions
    }

    /// A block was written.
    pub fn wrote(&mut self, block: u64) {
        self.at_hand.push(block);
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        self.region += 1;
        self.before.push_back(std::mem::take(&mut self.at_hand));
        let lag = self.schedule.lag as usize;
        if self.before.len() > lag {
            let number = self.region as usize - 1 - lag;
            let mut used = std::mem::take(&mut self.rewrites.blocks);
            used.clear();
            self.at_hand = used;
            self.rewrites = Rewrites {
                blocks: self.before.pop_front().unwrap_or_default(),
                seen: 0,
                left: self.schedule.again.get(number).copied().unwrap_or(0),
            };
        }
        self.left = if self.region < self.regions {
            part_of(self.writes, self.regions, self.region).1
        } else {
            0
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Refill, Source};
    use crate::spec::{Directions, Sizes, SourceFile};
    use iosonde_base::{PerDir, Ring};

    const SPEC: SprandomSpec = SprandomSpec { regions: 20, spare: 0.15, cache_bytes: 0 };

    /// The blocks that a job writes, in order.
    fn written(sprandom: SprandomSpec, blocks: u64) -> Vec<u64> {
        let size = blocks * 4096;
        let bytes = (blocks + sprandom.again(blocks)) * 4096;
        let spec = SourceSpec {
            directions: Directions { write: true, random: true, ..Directions::default() },
            files: vec![SourceFile { size, end: size, ..SourceFile::default() }],
            sizes: PerDir::all(Sizes::Fixed(4096)),
            size_bytes: bytes,
            total_bytes: bytes,
            sprandom: Some(sprandom),
            ..SourceSpec::default()
        };
        let mut source = Source::new(spec).unwrap();
        let (mut ring, mut blocks) = (Ring::default(), Vec::new());
        while source.refill(&mut ring) == Refill::Planned {
            blocks.extend(std::iter::from_fn(|| ring.pop()).map(|entry| entry.offset / 4096));
        }
        blocks
    }

    /// By region in the order of writes, the share of its writes that no later one replaced.
    fn valid(writes: &[u64], regions: u32) -> Vec<f64> {
        let mut last = std::collections::HashMap::new();
        for (at, block) in writes.iter().enumerate() {
            last.insert(block, at);
        }
        let one = |region| {
            let (first, count) = part_of(writes.len() as u64, regions, region);
            let all = first as usize..(first + count) as usize;
            let valid = all.clone().filter(|at| last[&writes[*at]] == *at).count();
            valid as f64 / all.len() as f64
        };
        (0..regions).map(one).collect()
    }

    #[test]
    fn all_blocks_are_written_and_as_many_again_as_the_flash_holds_more() {
        for (spare, blocks) in [(0.15, 20_000u64), (0.07, 10_000), (1.0, 5000), (0.3, 777)] {
            let writes = written(SprandomSpec { spare, ..SPEC }, blocks);
            assert_eq!(writes.len() as u64, blocks + SprandomSpec { spare, ..SPEC }.again(blocks));
            let mut once = writes.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len() as u64, blocks, "each block is written");
        }
    }

    /// What a drive does that cleans its oldest region first, after 60 times its capacity:
    /// the shares of valid copies, the oldest region in front.
    fn after_endless_writes(regions: usize, each: usize, capacity: usize) -> Vec<f64> {
        let mut draws = Draws::new(true, 1);
        let mut place: Vec<u64> = vec![u64::MAX; capacity];
        let mut flash: VecDeque<Vec<u64>> = VecDeque::new();
        let (mut now, mut open) = (0u64, Vec::new());
        let mut write = |block: u64, open: &mut Vec<u64>, place: &mut Vec<u64>| {
            place[block as usize] = now;
            open.push(now << 32 | block);
            now += 1;
        };
        let is_valid =
            |copy: &u64, place: &[u64]| place[(copy & 0xffff_ffff) as usize] == copy >> 32;
        for _ in 0..capacity * 60 {
            write(draws.below(capacity as u64), &mut open, &mut place);
            while open.len() >= each {
                flash.push_back(open.drain(..each).collect());
                if flash.len() >= regions {
                    for copy in flash.pop_front().unwrap() {
                        if is_valid(&copy, &place) {
                            write(copy & 0xffff_ffff, &mut open, &mut place);
                        }
                    }
                }
            }
        }
        let share = |region: &Vec<u64>| {
            region.iter().filter(|copy| is_valid(copy, &place)).count() as f64 / region.len() as f64
        };
        flash.iter().map(share).collect()
    }

    #[test]
    fn the_copies_left_are_those_that_endless_random_writes_leave() {
        let (regions, each) = (20, 2000);
        let capacity = ((regions * each) as f64 / 1.15) as usize;
        let endless = after_endless_writes(regions, each, capacity);
        let ours = valid(&written(SPEC, capacity as u64), SPEC.regions);
        // The model drive holds one region less while it fills the next.
        for (region, (ours, endless)) in ours[1..].iter().zip(&endless).enumerate() {
            assert!((ours - endless).abs() < 0.05, "region {region}: {ours} and {endless}");
        }
        assert!(ours[0] < 0.8 && ours[19] > 0.97, "{ours:?}");
    }

    #[test]
    fn no_block_is_written_again_while_it_may_be_in_the_drives_cache() {
        let cache_blocks = 1000;
        let spec = SprandomSpec { cache_bytes: cache_blocks * 4096, ..SPEC };
        let writes = written(spec, 20_000);
        let mut last = std::collections::HashMap::new();
        for (at, block) in (0u64..).zip(&writes) {
            if let Some(before) = last.insert(*block, at) {
                assert!(at - before >= cache_blocks, "block {block} after {}", at - before);
            }
        }
        assert_eq!(writes.len(), 23_000);
    }

    #[test]
    fn too_small_a_range_or_too_large_a_cache_is_refused() {
        let refused = |spec: SprandomSpec, blocks| Sprandom::new(&spec, blocks, 4096, 1).is_err();
        assert!(refused(SPEC, 19));
        assert!(!refused(SPEC, 20));
        assert!(refused(SprandomSpec { cache_bytes: 1 << 40, ..SPEC }, 20_000));
        assert!(refused(SprandomSpec { regions: 1, ..SPEC }, 20_000));
        assert!(refused(SprandomSpec { regions: u32::MAX, ..SPEC }, 1 << 40));
    }
}
