//! Values that several options determine together.

use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_options::Bytes;
use iosonde_workload::{Share, Sizes};

use crate::JobSpec;

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

    /// Which directions the job moves data in.
    pub fn dirs(&self) -> PerDir<bool> {
        PerDir(DIRS.map(|dir| self.moves(dir)))
    }

    /// The sizes of a direction's I/Os: `bssplit` before `bsrange` before `bs`.
    pub fn block_sizes(&self, dir: Dir) -> Sizes {
        // One I/O has at most 32 bits of bytes.
        let bytes = |size: Bytes| u32::try_from(size.0).unwrap_or(u32::MAX);
        let shares = self.block.bssplit.get().shares(dir);
        if !shares.is_empty() {
            let share = |(size, percent)| Share { bytes: bytes(size), percent };
            return Sizes::Split(shares.into_iter().map(share).collect());
        }
        match self.block.bsrange.get().of(dir) {
            Some(range) if range.min != range.max => {
                Sizes::Range { min: bytes(range.min), max: bytes(range.max) }
            }
            Some(range) => Sizes::Fixed(bytes(range.min)),
            None => Sizes::Fixed(bytes(*self.block.bs.get().of(dir))),
        }
    }

    /// The smallest I/O of a direction, in bytes.
    pub fn min_bs(&self, dir: Dir) -> u64 {
        u64::from(self.block_sizes(dir).min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::job;

    #[test]
    fn sizes_come_from_the_most_detailed_option_of_each_direction() {
        let spec = job(&["bs=4k,8k,16k", "bsrange=,1k-2k,", "bssplit=1k/50:2k/50,,"]);
        let share = |bytes, percent| Share { bytes, percent };
        let split = Sizes::Split(vec![share(1024, 50), share(2048, 50)]);
        assert_eq!(spec.block_sizes(Dir::Read), split);
        assert_eq!(spec.block_sizes(Dir::Write), Sizes::Range { min: 1024, max: 2048 });
        assert_eq!(spec.block_sizes(Dir::Trim), Sizes::Fixed(16384));
        assert_eq!(spec.min_bs(Dir::Read), 1024);
    }
}
