//! How a recording is changed on its way: scaled, aligned, thinned out,
//! stretched.

use iosonde_base::{Op, Planned};

/// Kinds of I/O that are left out (`replay_skip`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Skip {
    /// Reads.
    pub reads: bool,
    /// Writes.
    pub writes: bool,
    /// Trims.
    pub trims: bool,
    /// Syncs of all kinds.
    pub syncs: bool,
}

/// What becomes of the I/Os of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Offsets are divided by this; at least 1 (`replay_scale`).
    pub scale: u32,
    /// Offsets are rounded down to a multiple of this, a power of two; 1
    /// leaves them (`replay_align`).
    pub align: u64,
    /// How fast time goes, in percent of the recording's; at least 1
    /// (`replay_time_scale`).
    pub speed_percent: u32,
    /// What is left out.
    pub skip: Skip,
    /// All files are one (`replay_redirect`).
    pub one_file: bool,
}

impl Default for Shape {
    /// The recording as it is.
    fn default() -> Shape {
        Shape { scale: 1, align: 1, speed_percent: 100, skip: Skip::default(), one_file: false }
    }
}

impl Shape {
    /// Whether I/Os of this kind are done.
    pub(super) fn keeps(&self, op: Op) -> bool {
        !match op {
            Op::Read => self.skip.reads,
            Op::Write => self.skip.writes,
            Op::Trim => self.skip.trims,
            Op::Sync | Op::DataSync | Op::SyncRange => self.skip.syncs,
            // Nothing else is recorded.
            _ => false,
        }
    }

    /// Where an I/O at `offset` goes.
    pub(super) fn place(&self, entry: Planned) -> Planned {
        let scaled = entry.offset / u64::from(self.scale.max(1));
        Planned { offset: scaled & !(self.align.max(1) - 1), ..entry }
    }

    /// A length in whole multiples of the alignment, as fio has it for traces
    /// of block devices, with I/Os of whole sectors.
    pub(super) fn whole(&self, len: u32) -> u32 {
        let whole = u64::from(len).checked_next_multiple_of(self.align.max(1));
        whole.and_then(|whole| u32::try_from(whole).ok()).unwrap_or(len)
    }

    /// A moment of the recording, in nanoseconds, as a moment of the replay.
    pub(super) fn moment(&self, ns: u64) -> u64 {
        let stretched = u128::from(ns) * 100 / u128::from(self.speed_percent.max(1));
        u64::try_from(stretched).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_divided_then_rounded_down() {
        let shape = Shape { scale: 3, align: 4096, ..Shape::default() };
        let place = |offset| shape.place(Planned { offset, ..Planned::default() }).offset;
        // 12287 / 3 = 4095.67, one short of a page; recorded so from fio 3.33.
        assert_eq!([0, 4096, 12287, 12288, 36864].map(place), [0, 0, 0, 4096, 12288]);
        assert_eq!([1, 512, 4096, 4097].map(|len| shape.whole(len)), [4096, 4096, 4096, 8192]);
    }

    #[test]
    fn half_the_speed_is_twice_the_time() {
        let at = |speed_percent| Shape { speed_percent, ..Shape::default() }.moment(1000);
        assert_eq!([50, 100, 200, 1].map(at), [2000, 1000, 500, 100_000]);
        let slowest = Shape { speed_percent: 1, ..Shape::default() };
        assert_eq!(slowest.moment(u64::MAX), u64::MAX);
    }
}
