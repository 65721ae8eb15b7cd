//! Which blocks have been visited: a bit each, and summaries to find the next
//! free one in a few steps.
//!
//! Level 0 has a bit for each block. A bit of a level above says that a whole
//! word of the level below is full. Memory comes zeroed from the system and is
//! touched only where blocks are visited, so a huge map costs nothing to make.

/// A map of blocks visited.
#[derive(Debug)]
pub struct RandomMap {
    /// A bit for each block.
    words: Vec<u64>,
    /// A bit for each full word below, level upon level, up to a single word.
    above: Vec<Vec<u64>>,
    blocks: u64,
    /// Blocks not visited yet.
    free: u64,
}

/// Bits in a word.
const BITS: u64 = 64;

/// Maps larger than this are thrown away and taken anew instead of cleared:
/// fresh pages from the system are zero without being touched.
const CLEAR_WORDS: usize = 1 << 14;

impl RandomMap {
    /// A map of `blocks` blocks, none visited; none if memory does not suffice.
    pub fn new(blocks: u64) -> Option<RandomMap> {
        let words = zeroed(blocks.div_ceil(BITS).max(1))?;
        let mut above = Vec::new();
        let mut below = words.len() as u64;
        while below > 1 {
            below = below.div_ceil(BITS);
            above.push(zeroed(below)?);
        }
        let mut map = RandomMap { words, above, blocks, free: blocks };
        map.close_tails();
        Some(map)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How many of them have not been visited.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Forget all visits.
    pub fn clear(&mut self) {
        self.free = self.blocks;
        for level in self.levels_mut() {
            if level.len() <= CLEAR_WORDS {
                level.fill(0);
                continue;
            }
            let words = level.len();
            // Give the old memory back first: there may not be room for both.
            *level = Vec::new();
            *level = vec![0; words];
        }
        self.close_tails();
    }

    /// The words of the blocks, to be read before visits: so the
    /// cache misses of many overlap instead of following one another. Over
    /// 100 GiB this halves the time.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Which word `block` is in.
    #[inline(always)]
    pub(crate) fn word_of(block: u64) -> usize {
        (block / BITS) as usize
    }

    /// Visit each of `blocks`, or the next one that is free from there on, going
    /// round at the end, and put what was visited in its place.
    ///
    /// # Panics
    /// If fewer than that are free, or one is past the end.
    pub(crate) fn visit_all(&mut self, blocks: &mut [u64]) {
        assert!(blocks.len() as u64 <= self.free, "more visits than free blocks");
        let mut at = 0;
        while at < blocks.len() {
            at += self.visit_nearby(&mut blocks[at..]);
            // Stopped at one with nothing free in its word from there on.
            if let Some(block) = blocks.get_mut(at) {
                *block = self.visit_later(*block).expect("enough are free");
                at += 1;
            }
        }
    }

    /// Visit `blocks`, or the next free ones within their words, up to the
    /// first that has none: how many. Whether a block was free itself is
    /// never asked: half way through a pass nobody could foretell the answer.
    #[inline]
    fn visit_nearby(&mut self, blocks: &mut [u64]) -> usize {
        let words = &mut self.words[..];
        let mut visited = 0;
        let mut filled = None;
        for block in blocks.iter_mut() {
            let at = (*block / BITS) as usize;
            let word = &mut words[at];
            let free = !*word & u64::MAX << (*block % BITS);
            if free == 0 {
                break;
            }
            *block = at as u64 * BITS + u64::from(free.trailing_zeros());
            // The lowest bit of `free` and no other.
            *word |= free & free.wrapping_neg();
            visited += 1;
            if *word == u64::MAX {
                filled = Some(at);
                break;
            }
        }
        self.free -= visited as u64;
        if let Some(at) = filled {
            self.full(at);
            return visited + self.visit_nearby(&mut blocks[visited..]);
        }
        visited
    }

    /// Visit `block`, or the next one that is free from there on, going round
    /// at the end; none if all have been visited.
    #[inline]
    pub(crate) fn visit_from(&mut self, block: u64) -> Option<u64> {
        if block < self.blocks && self.try_visit(block) {
            Some(block)
        } else {
            self.visit_later(block)
        }
    }

    /// Visit `block` itself: whether it was free.
    #[inline(always)]
    fn try_visit(&mut self, block: u64) -> bool {
        let at = (block / BITS) as usize;
        let word = &mut self.words[at];
        let bit = 1 << (block % BITS);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.free -= 1;
        if *word == u64::MAX {
            self.full(at);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn visit_later(&mut self, block: u64) -> Option<u64> {
        let block = self.free_from(block)?;
        self.try_visit(block).then_some(block)
    }

    /// The first free block from `block` on, going round at the end.
    #[inline]
    pub(crate) fn free_from(&self, block: u64) -> Option<u64> {
        let word = if block < self.blocks { self.words[(block / BITS) as usize] } else { u64::MAX };
        if word >> (block % BITS) & 1 == 0 { Some(block) } else { self.free_later(block) }
    }

    #[cold]
    #[inline(never)]
    fn free_later(&self, block: u64) -> Option<u64> {
        self.free_upwards(block).or_else(|| if block == 0 { None } else { self.free_upwards(0) })
    }

    /// Visit the blocks of an I/O of `len` bytes from `block` on, which is free; blocks have `unit`
    /// bytes. How many bytes there are before one that has been visited.
    #[inline(always)]
    pub(crate) fn note(&mut self, block: u64, len: u32, unit: u64) -> u32 {
        if u64::from(len) == unit {
            self.try_visit(block);
            return len;
        }
        let wanted = u64::from(len).div_ceil(unit);
        let visited = self.visit_run(block, wanted);
        // Fewer blocks than `len` holds, so it fits.
        if visited < wanted { (visited * unit) as u32 } else { len }
    }

    /// Visit as many blocks from `block` on as are free in a row, `most` at
    /// most: how many. Past the end of the map all are free as far as its last
    /// word goes, as in fio.
    pub(crate) fn visit_run(&mut self, block: u64, most: u64) -> u64 {
        let within = most.min(self.blocks.saturating_sub(block));
        let mut visited = 0;
        while visited < within {
            let (at, first) = Self::place_of(block + visited);
            let wanted = (within - visited).min(BITS - first);
            // Up to the first that was visited.
            let free = u64::from((self.words[at] >> first).trailing_zeros()).min(wanted);
            if free > 0 {
                self.words[at] |= u64::MAX >> (BITS - free) << first;
                self.free -= free;
                if self.words[at] == u64::MAX {
                    self.full(at);
                }
            }
            visited += free;
            if free < wanted {
                return visited;
            }
        }
        most.min(self.blocks.next_multiple_of(BITS).saturating_sub(block))
    }

    /// In which word the bit of `block` is, and which bit.
    #[inline(always)]
    fn place_of(block: u64) -> (usize, u64) {
        ((block / BITS) as usize, block % BITS)
    }

    /// Word `at` of level 0 has become full: note it in the levels above.
    #[cold]
    #[inline(never)]
    fn full(&mut self, mut at: usize) {
        for level in &mut self.above {
            let word = &mut level[at / BITS as usize];
            *word |= 1 << (at as u64 % BITS);
            if *word != u64::MAX {
                break;
            }
            at /= BITS as usize;
        }
    }

    /// The first free block from `block` on, up to the end.
    fn free_upwards(&self, block: u64) -> Option<u64> {
        if block >= self.blocks {
            return None;
        }
        // Climb until a word shows something free at or after our place ...
        let mut place = block;
        for (height, level) in self.levels().enumerate() {
            let at = (place / BITS) as usize;
            let free = level.get(at).map_or(0, |word| !word & u64::MAX << (place % BITS));
            if free != 0 {
                let place = at as u64 * BITS + u64::from(free.trailing_zeros());
                return Some(self.descend(height, place));
            }
            place = at as u64 + 1;
        }
        None
    }

    /// ... then go down to its first free block.
    fn descend(&self, height: usize, mut place: u64) -> u64 {
        for below in (0..height).rev() {
            let level = if below == 0 { &self.words } else { &self.above[below - 1] };
            let word = level[place as usize];
            place = place * BITS + u64::from((!word).trailing_zeros());
        }
        place
    }

    /// All levels from the lowest up.
    fn levels(&self) -> impl Iterator<Item = &Vec<u64>> {
        std::iter::once(&self.words).chain(&self.above)
    }

    fn levels_mut(&mut self) -> impl Iterator<Item = &mut Vec<u64>> {
        std::iter::once(&mut self.words).chain(&mut self.above)
    }

    /// Mark what lies past the end in the last word of each level, so that it
    /// is never found free and the word can become full.
    fn close_tails(&mut self) {
        let mut used = self.blocks;
        for level in self.levels_mut() {
            let words = used.div_ceil(BITS);
            if !used.is_multiple_of(BITS) {
                level[words as usize - 1] |= u64::MAX << (used % BITS);
            } else if used == 0 {
                level[0] = u64::MAX;
            }
            used = words;
        }
        // One word may be full from the start: of a map without blocks only.
    }
}

/// Words of zeroes, or none if memory does not suffice.
fn zeroed(words: u64) -> Option<Vec<u64>> {
    let words = usize::try_from(words).ok()?;
    // Asked for first: `vec!` ends the process when it cannot be had, but it is
    // the one way to get pages that nobody has touched.
    Vec::<u64>::new().try_reserve_exact(words).ok()?;
    Some(vec![0; words])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_map_of_four_billion_blocks_costs_only_what_is_touched() {
        let before = resident_kib();
        let mut map = RandomMap::new(1 << 32).expect("512 MiB of address space");
        for i in 0..1000u64 {
            let block = i * 4_294_967;
            assert_eq!(map.visit_from(block), Some(block));
        }
        map.clear();
        assert_eq!(map.visit_from((1 << 32) - 1), Some((1 << 32) - 1));
        assert_eq!(map.visit_from((1 << 32) - 1), Some(0));
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 64 * 1024, "{grown} KiB");
    }

    /// Pages of this process in memory; 0 where there is no procfs.
    fn resident_kib() -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4
    }

    #[test]
    fn a_map_too_large_for_memory_is_refused() {
        assert!(RandomMap::new(u64::MAX).is_none());
    }

    proptest! {
        #[test]
        fn every_block_is_visited_once(blocks in 1u64..20_000, seed in any::<u64>()) {
            let mut map = RandomMap::new(blocks).unwrap();
            for _ in 0..2 {
                let mut seen = vec![false; blocks as usize];
                let mut x = seed | 1;
                for _ in 0..blocks {
                    x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let asked = (x >> 33) % blocks;
                    let got = map.visit_from(asked).unwrap();
                    prop_assert!(!std::mem::replace(&mut seen[got as usize], true));
                    // Nothing free lies between what was asked and what was got.
                    let between = if got >= asked { got - asked } else { got + blocks - asked };
                    prop_assert!((0..between.min(100)).all(|i| seen[((asked + i) % blocks) as usize]));
                }
                prop_assert_eq!(map.free_from(seed % blocks), None);
                prop_assert_eq!(map.visit_from(seed % blocks), None);
                map.clear();
            }
        }

        #[test]
        fn a_run_stops_at_what_is_visited(blocks in 1u64..5000, at in 0u64..5000, most in 1u64..200, wall in 0u64..5000) {
            let (at, wall) = (at % blocks, wall % blocks);
            let mut map = RandomMap::new(blocks).unwrap();
            map.visit_from(wall);
            let room = if wall >= at { wall - at } else { blocks.next_multiple_of(BITS) - at };
            prop_assert_eq!(map.visit_run(at, most), room.min(most));
        }
    }
}
