//! The numbered seeds of a job: one stream of random numbers for each purpose,
//! so that one choice more in one place leaves all the others as they were.

use crate::random::Draws;

/// The purpose of a stream; the number is its place in fio's table of seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Stream {
    /// Sizes of reads; writes and trims have the next two.
    Size = 0,
    /// Direction of a mixed job.
    Mix = 4,
    /// Which file.
    File = 5,
    /// Where in the file.
    Offset = 6,
    /// Sizes of files drawn from a range.
    FileSize = 7,
    /// Whether an I/O is sequential or random.
    SequentialOrRandom = 10,
    /// How long a job waits before it starts.
    StartDelay = 13,
    /// Which zone.
    Zone = 16,
    /// Gaps between reads.
    GapOfReads = 15,
    /// Gaps between writes.
    GapOfWrites = 17,
    /// Gaps between trims.
    GapOfTrims = 18,
    /// Which I/Os have a priority of their own.
    Priority = 19,
    /// Which blocks of a region are written again (`sprandom`).
    Sprandom = 22,
}

/// How many seeds a job has.
const SEEDS: usize = 24;

/// All seeds of a job.
#[derive(Clone, Debug)]
pub(crate) struct Seeds([u64; SEEDS]);

/// What each seed is multiplied by to get the next.
const GOLDEN_RATIO: u64 = 0x9e37_0001;

impl Seeds {
    /// The seeds of the job that is number `thread_number`, from 1.
    pub fn new(randseed: u64, thread_number: u32) -> Seeds {
        let mut s = randseed;
        for _ in 0..4 {
            s = s.wrapping_mul(GOLDEN_RATIO);
        }
        let mut seeds = [0; SEEDS];
        for (i, seed) in (0..).zip(&mut seeds) {
            *seed = s.wrapping_mul(u64::from(thread_number)).wrapping_add(i);
            s = s.wrapping_mul(GOLDEN_RATIO);
        }
        Seeds(seeds)
    }

    /// The seed of one stream.
    pub fn of(&self, stream: Stream) -> u64 {
        self.0[stream as usize]
    }

    /// The seed of sizes for direction number `dir` (read, write, trim).
    pub(crate) fn of_sizes(&self, dir: usize) -> u64 {
        self.0[Stream::Size as usize + dir]
    }
}
/// All 24 seeds of the job that is number `thread_number`, in fio's order.
pub fn seeds(randseed: u64, thread_number: u32) -> [u64; SEEDS] {
    Seeds::new(randseed, thread_number).0
}

/// The seed of the draws of I/Os with a priority of their own (`cmdprio_*`),
/// for the job that is number `thread_number`.
pub fn priority_seed(randseed: u64, thread_number: u32) -> u64 {
    Seeds::new(randseed, thread_number).of(Stream::Priority)
}

/// Sizes drawn evenly from `min` to `max`, rounded down to multiples of `unit`
/// (`filesize=4k-64k`), for the files of one job, one after the other.
#[derive(Debug)]
pub struct FileSizes {
    draws: Draws,
    range: (u64, u64),
    unit: u64,
}

impl FileSizes {
    /// Of the job that is number `thread_number`; `wide` is whether it draws 64
    /// bits at a time (`random_generator=tausworthe64`).
    pub fn new(
        randseed: u64,
        thread_number: u32,
        range: (u64, u64),
        unit: u64,
        wide: bool,
    ) -> FileSizes {
        let seed = Seeds::new(randseed, thread_number).of(Stream::FileSize);
        FileSizes { draws: Draws::new(wide, seed), range, unit: unit.max(1) }
    }

    /// The size of the next file.
    pub fn draw(&mut self) -> u64 {
        let (min, max) = self.range;
        let size = min + self.draws.below(max.saturating_sub(min));
        size - size % self.unit
    }
}

/// A delay drawn evenly from `low_us` to `high_us`, in microseconds
/// (`startdelay=1-5`), for the job that is number `thread_number`; `wide` is as
/// for [`FileSizes`].
pub fn start_delay_us(
    randseed: u64,
    thread_number: u32,
    (low_us, high_us): (u64, u64),
    wide: bool,
) -> u64 {
    let seed = Seeds::new(randseed, thread_number).of(Stream::StartDelay);
    let span = high_us.saturating_sub(low_us);
    low_us + Draws::new(wide, seed).below(span.saturating_add(1)).min(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_draws_a_delay_of_its_own_within_the_range() {
        let draw = |job| start_delay_us(0x89, job, (1_000_000, 5_000_000), false);
        let drawn: Vec<u64> = (1..=100).map(draw).collect();
        assert!(drawn.iter().all(|delay| (1_000_000..=5_000_000).contains(delay)));
        assert_ne!(drawn[0], drawn[1]);
        assert_eq!(drawn[0], draw(1), "and the same one next time");
        assert!(drawn.iter().any(|&delay| delay < 2_000_000));
        assert!(drawn.iter().any(|&delay| delay > 4_000_000));
        assert_eq!(start_delay_us(1, 1, (7, 7), true), 7);
    }
}
