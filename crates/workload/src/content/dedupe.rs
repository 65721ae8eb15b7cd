//! Which blocks repeat others.

use super::noise::{GOLDEN, mix};

/// How much of what is written repeats other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dedupe {
    /// Repeats in a hundred blocks, 0 to 100 (`dedupe_percentage`).
    pub percentage: u32,
    /// Repeats are of these; `None`: each is of the block before it
    /// (`dedupe_mode`).
    pub set: Option<WorkingSet>,
    /// Bytes of a block; a write is made of as many as it has room for, the
    /// last of them shorter if need be. So the share holds for sizes that vary.
    pub block: u32,
}

/// Blocks that are written once before any repeat, and then repeated at random.
///
/// A set may be shared by several jobs (`dedupe_global`): each writes a part
/// of it, all repeat any of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkingSet {
    /// Sets of the same key have the same blocks.
    pub key: u64,
    /// The first block of the set that this job writes.
    pub first: u64,
    /// How many of the set this job writes.
    pub own: u64,
    /// How many blocks the set has.
    pub all: u64,
    /// How many blocks one pass of the job writes.
    pub pass: u64,
}

/// Blocks among which exactly the share of repeats falls, at random places:
/// few, so that a short file is right too; more than one, so that blocks and
/// repeats do not simply alternate.
const GROUP: u32 = 10;

/// One repeat, in the fixed point in which repeats are owed.
const ONE: u64 = 1 << 32;

/// Draws the seeds of blocks.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    kind: Kind,
    /// Repeats due for each block, in parts of [`ONE`].
    rate: u64,
    /// Repeats due that the groups so far have not given, in parts of [`ONE`].
    owed: u64,
    /// Blocks left of the group, and repeats among them.
    left: u32,
    due: u32,
    draws: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Of the block before; `None` before the first.
    Previous { seed: Option<u64> },
    /// Of the set; how many of the job's own part are written, how many
    /// blocks of the first pass are left, and the rate after it.
    Set { set: WorkingSet, written: u64, pass_left: u64, later: u64 },
}

impl Chooser {
    /// `None` if nothing repeats.
    pub(super) fn new(seed: u64, dedupe: &Dedupe) -> Option<Chooser> {
        let share = f64::from(dedupe.percentage.min(100)) / 100.0;
        if share == 0.0 {
            return None;
        }
        let (kind, rate) = match dedupe.set {
            Some(set) if set.all > 0 => {
                let part = set.own as f64 / set.pass.max(1) as f64;
                let kind = Kind::Set {
                    set,
                    written: 0,
                    pass_left: set.pass,
                    later: fixed(later_rate(share, part)),
                };
                // The set is part of the pass and has no repeats.
                (kind, if part < 1.0 { share / (1.0 - part) } else { 1.0 })
            }
            _ => (Kind::Previous { seed: None }, share),
        };
        Some(Chooser { kind, rate: fixed(rate), owed: 0, left: 0, due: 0, draws: seed })
    }

    /// The seed of the next block; `fresh` gives one that no block had.
    #[inline]
    pub(super) fn next(&mut self, fresh: impl FnOnce() -> u64) -> u64 {
        if let Kind::Set { set, written, pass_left, later } = &mut self.kind {
            if *pass_left > 0 {
                *pass_left -= 1;
            } else {
                self.rate = *later;
            }
            if *written < set.own {
                *written += 1;
                return member(set, set.first + *written - 1);
            }
        }
        let repeat = self.is_repeat();
        match &mut self.kind {
            Kind::Previous { seed: Some(seed) } if repeat => *seed,
            Kind::Previous { seed } => {
                // Nothing to repeat: the repeat that was drawn is due later.
                self.due += u32::from(repeat);
                *seed.insert(fresh())
            }
            Kind::Set { set, .. } if repeat => {
                let set = *set;
                let index = self.below(set.all);
                member(&set, index)
            }
            Kind::Set { .. } => fresh(),
        }
    }

    /// Drawn without replacement among the blocks of a group.
    #[inline]
    fn is_repeat(&mut self) -> bool {
        if self.left == 0 {
            self.owed += u64::from(self.due) * ONE + u64::from(GROUP) * self.rate;
            self.left = GROUP;
            // At most GROUP, so it fits.
            self.due = (self.owed / ONE).min(u64::from(GROUP)) as u32;
            self.owed -= u64::from(self.due) * ONE;
        }
        let repeat = self.below(u64::from(self.left)) < u64::from(self.due);
        self.left -= 1;
        self.due -= u32::from(repeat);
        repeat
    }

    /// Evenly in `0..n`.
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        self.draws = self.draws.wrapping_add(GOLDEN);
        // The high half of a product of 64 bits by 64 is below `n`.
        ((u128::from(mix(self.draws)) * u128::from(n)) >> 64) as u64
    }
}

/// The seed of a block of the set.
#[inline]
fn member(set: &WorkingSet, index: u64) -> u64 {
    mix(set.key ^ mix(index.wrapping_add(GOLDEN)))
}

/// A rate of at most 1 in parts of [`ONE`].
fn fixed(rate: f64) -> u64 {
    // Between 0 and 2^32, so it fits.
    (rate.clamp(0.0, 1.0) * ONE as f64).round() as u64
}

/// The share of blocks to draw from a set that is `part` of a pass, so that
/// `share` of a pass repeats others, once the set itself is overwritten: the
/// first time that a block of the set comes up in a pass, it is no repeat.
fn later_rate(share: f64, part: f64) -> f64 {
    if part <= 0.0 {
        return share;
    }
    // Of `part` blocks, `drawn` draws leave `part * exp(-drawn / part)` out.
    let repeats = |drawn: f64| drawn - part * (1.0 - (-drawn / part).exp());
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if repeats(middle) < share { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn seeds(dedupe: &Dedupe, blocks: u64) -> Vec<u64> {
        let mut chooser = Chooser::new(1, dedupe).unwrap();
        let mut last = 0;
        let mut fresh = || {
            last += 1;
            last
        };
        (0..blocks).map(|_| chooser.next(&mut fresh)).collect()
    }

    /// Repeats in a hundred.
    fn share(seeds: &[u64]) -> f64 {
        let distinct = seeds.iter().collect::<HashSet<_>>().len();
        100.0 * (1.0 - distinct as f64 / seeds.len() as f64)
    }

    fn set(own: u64, pass: u64) -> Option<WorkingSet> {
        Some(WorkingSet { key: 9, first: 0, own, all: own, pass })
    }

    proptest! {
        #[test]
        fn any_number_of_blocks_has_its_share_of_repeats(
            percentage in 1u32..=100,
            blocks in 1u64..3000,
        ) {
            let seeds = seeds(&Dedupe { percentage, set: None, block: 4096 }, blocks);
            let distinct = seeds.iter().collect::<HashSet<_>>().len() as f64;
            let expected = blocks as f64 * f64::from(100 - percentage) / 100.0;
            // Half a group, and the first block, which cannot repeat.
            prop_assert!((distinct - expected).abs() <= f64::from(GROUP / 2) + 1.0);
        }

        #[test]
        fn a_pass_with_a_set_has_its_share_of_repeats(
            percentage in 1u32..=90,
            set_percentage in 1u64..=10,
            pass in 500u64..4000,
        ) {
            let own = pass * set_percentage / 100;
            let seeds = seeds(&Dedupe { percentage, set: set(own, pass), block: 4096 }, pass);
            prop_assert!((share(&seeds) - f64::from(percentage)).abs() < 1.5);
            let first: HashSet<_> = seeds[..own as usize].iter().collect();
            prop_assert_eq!(first.len() as u64, own);
        }
    }

    #[test]
    fn later_passes_have_the_same_share() {
        for percentage in [1, 10, 50, 75, 90] {
            let pass = 10_000;
            let seeds =
                seeds(&Dedupe { percentage, set: set(pass / 20, pass), block: 4096 }, 3 * pass);
            for written in seeds.chunks(pass as usize) {
                let share = share(written);
                assert!((share - f64::from(percentage)).abs() < 1.0, "{percentage}: {share}");
            }
        }
    }

    #[test]
    fn a_repeat_is_of_the_block_before() {
        let seeds = seeds(&Dedupe { percentage: 60, set: None, block: 4096 }, 1000);
        let mut runs = seeds.clone();
        runs.dedup();
        assert_eq!(runs.len(), runs.iter().collect::<HashSet<_>>().len());
    }

    #[test]
    fn repeats_fall_at_random_places() {
        let seeds = seeds(&Dedupe { percentage: 50, set: None, block: 4096 }, 10_000);
        let repeats: Vec<bool> = seeds.windows(2).map(|pair| pair[0] == pair[1]).collect();
        let pairs = |a, b| repeats.windows(2).filter(|pair| *pair == [a, b]).count();
        // Within a group of ten, equal neighbours come 4 times in 9.
        for equal in [pairs(true, true), pairs(false, false)] {
            assert!((2000..2500).contains(&equal), "{equal}");
        }
    }

    #[test]
    fn jobs_that_share_a_set_repeat_what_the_others_wrote() {
        let part = |first| {
            let set = WorkingSet { key: 4, first, own: 50, all: 200, pass: 1000 };
            seeds(&Dedupe { percentage: 50, set: Some(set), block: 4096 }, 1000)
        };
        let jobs: Vec<Vec<u64>> = (0..4).map(|job| part(job * 50)).collect();
        let own: HashSet<u64> = jobs.iter().flat_map(|job| job[..50].to_vec()).collect();
        assert_eq!(own.len(), 200);
        for job in &jobs {
            let repeated: HashSet<u64> = job[50..].iter().copied().collect();
            assert!(own.intersection(&repeated).count() > 150);
        }
    }

    #[test]
    fn nothing_repeats_at_nought_percent_and_a_set_of_nothing_is_no_set() {
        assert!(Chooser::new(1, &Dedupe { percentage: 0, set: None, block: 4096 }).is_none());
        let empty = WorkingSet { key: 0, first: 0, own: 0, all: 0, pass: 0 };
        let seeds = seeds(&Dedupe { percentage: 50, set: Some(empty), block: 4096 }, 100);
        assert_eq!(share(&seeds), 50.0);
    }
}
