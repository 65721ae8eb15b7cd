//! What several options come to together, for those who plan a job.

use iosonde_base::Dir;
use iosonde_options::Bytes;

use crate::JobSpec;

/// The sizes of one direction's I/Os.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// Always this many bytes.
    Fixed(u64),
    /// Between these two, inclusive.
    Range {
        /// The least, and the step unless `bs_unaligned`.
        min: u64,
        /// The most.
        max: u64,
    },
    /// Each with its share in percent; the last one also gets what is missing to 100.
    Split(Vec<(u64, u32)>),
}

impl JobSpec {
    /// Whether the job moves data in this direction.
    pub fn moves(&self, dir: Dir) -> bool {
        let word = self.order.rw.get().word;
        match dir {
            Dir::Read => word.reads(),
            Dir::Write => word.writes(),
            Dir::Trim => word.trims(),
        }
    }

    /// Whether the job writes.
    pub fn writes(&self) -> bool {
        self.moves(Dir::Write)
    }

    /// The sizes of a direction's I/Os: `bssplit` before `bsrange` before `bs`.
    pub fn block_sizes(&self, dir: Dir) -> BlockSizes {
        let shares = self.block.bssplit.get().shares(dir);
        if !shares.is_empty() {
            return BlockSizes::Split(
                shares.iter().map(|(size, share)| (size.0, *share)).collect(),
            );
        }
        match self.block.bsrange.get().of(dir) {
            Some(range) if range.min != range.max => {
                BlockSizes::Range { min: range.min.0, max: range.max.0 }
            }
            Some(range) => BlockSizes::Fixed(range.min.0),
            None => BlockSizes::Fixed(self.block.bs.get().of(dir).0),
        }
    }

    /// The smallest I/O of a direction, in bytes.
    pub fn min_bs(&self, dir: Dir) -> u64 {
        match self.block_sizes(dir) {
            BlockSizes::Fixed(size) => size,
            BlockSizes::Range { min, .. } => min,
            BlockSizes::Split(shares) => shares.iter().map(|share| share.0).min().unwrap_or(0),
        }
    }

    /// The largest I/O of a direction, in bytes.
    pub fn max_bs(&self, dir: Dir) -> u64 {
        match self.block_sizes(dir) {
            BlockSizes::Fixed(size) => size,
            BlockSizes::Range { max, .. } => max,
            BlockSizes::Split(shares) => shares.iter().map(|share| share.0).max().unwrap_or(0),
        }
    }

    /// What places of a direction are multiples of, in bytes.
    pub fn alignment(&self, dir: Dir) -> u64 {
        let Bytes(ba) = self.block.ba.get().of(dir).unwrap_or(Bytes(self.min_bs(dir)));
        ba
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::job;

    #[test]
    fn sizes_come_from_the_most_detailed_option_of_each_direction() {
        let spec = job(&["bs=4k,8k,16k", "bsrange=,1k-2k,", "bssplit=1k/50:2k/50,,"]);
        assert_eq!(spec.block_sizes(Dir::Read), BlockSizes::Split(vec![(1024, 50), (2048, 50)]));
        assert_eq!(spec.block_sizes(Dir::Write), BlockSizes::Range { min: 1024, max: 2048 });
        assert_eq!(spec.block_sizes(Dir::Trim), BlockSizes::Fixed(16384));
        assert_eq!((spec.min_bs(Dir::Read), spec.max_bs(Dir::Read)), (1024, 2048));
    }

    #[test]
    fn places_align_to_the_smallest_size_unless_told() {
        assert_eq!(job(&["bsrange=1k-4k"]).alignment(Dir::Read), 1024);
        assert_eq!(job(&["bs=4k", "ba=512"]).alignment(Dir::Read), 512);
    }
}
