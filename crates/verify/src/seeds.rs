//! The seeds of a job's writes, in the order in which they were chosen.

use iosonde_workload::{Taus88, Taus258, seeds};

/// Which of a job's numbered streams the seeds come from.
const VERIFY_STREAM: usize = 3;

/// So many seeds are drawn at once, which takes a third of the work.
const MANY: usize = 32;

#[derive(Clone, Debug)]
enum SeedGenerator {
    Bits32(Taus88),
    Bits64(Box<Taus258>),
}

impl SeedGenerator {
    /// The next seeds: two numbers each, multiplied.
    #[inline(never)]
    fn draw(&mut self) -> [u64; MANY] {
        match self {
            SeedGenerator::Bits32(taus) => {
                let mut numbers = [0; 2 * MANY];
                taus.draw_many(&mut numbers);
                let (pairs, _) = numbers.as_chunks::<2>();
                let product = |[first, second]: [u32; 2]| u64::from(first) * u64::from(second);
                std::array::from_fn(|i| product(pairs[i]))
            }
            SeedGenerator::Bits64(taus) => {
                std::array::from_fn(|_| taus.draw().wrapping_mul(taus.draw()))
            }
        }
    }
}

/// Draws the seed of each write: two numbers of a separate stream,
/// multiplied.
#[derive(Clone, Debug)]
pub struct WriteSeeds {
    generator: SeedGenerator,
    /// Seeds that were drawn ahead.
    ahead: [u64; MANY],
    /// How many of them were taken.
    taken: usize,
}

impl WriteSeeds {
    /// The seeds of the job that is number `thread`, from 1. `wide`: of a
    /// generator of 64 bits (`random_generator=tausworthe64`).
    pub fn new(randseed: u64, thread: u32, wide: bool) -> WriteSeeds {
        let seed = seeds(randseed, thread)[VERIFY_STREAM];
        let generator = if !wide {
            SeedGenerator::Bits32(Taus88::new(seed as u32))
        } else {
            SeedGenerator::Bits64(Box::new(Taus258::new(seed)))
        };
        WriteSeeds { generator, ahead: [0; MANY], taken: MANY }
    }

    /// The seed of the next write.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        if self.taken >= MANY {
            (self.ahead, self.taken) = (self.generator.draw(), 0);
        }
        let seed = self.ahead[self.taken];
        self.taken += 1;
        seed
    }
}

/// The seeds of a pass drawn again, for writes in ascending order of number: nothing
/// has to be remembered for each of them.
#[derive(Clone, Debug)]
pub struct SeedsAgain {
    seeds: WriteSeeds,
    /// Number of the write that gets the next seed.
    next: u64,
}

impl SeedsAgain {
    /// From the write with the number `first`, for which `seeds` draws next.
    pub fn new(seeds: WriteSeeds, first: u64) -> SeedsAgain {
        SeedsAgain { seeds, next: first }
    }

    /// The seed of the write with this number. None if that lies before one
    /// that was asked for already.
    pub fn of(&mut self, number: u64) -> Option<u64> {
        if number < self.next {
            return None;
        }
        while self.next < number {
            self.seeds.draw();
            self.next += 1;
        }
        self.next += 1;
        Some(self.seeds.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the image that fio 3.42 wrote with verify=md5.
    #[test]
    fn seeds_are_those_of_fio() {
        let mut seeds = WriteSeeds::new(0x89, 1, false);
        let drawn: Vec<u64> = (0..3).map(|_| seeds.draw()).collect();
        assert_eq!(drawn, [46386204153304124, 9852480210356360750, 4726550845720924880]);
    }

    #[test]
    fn each_seed_is_the_product_of_the_next_two_numbers() {
        let mut taus = Taus88::new(seeds(5, 3)[VERIFY_STREAM] as u32);
        let mut seeds = WriteSeeds::new(5, 3, false);
        for _ in 0..3 * MANY {
            let [first, second] = [taus.draw(), taus.draw()].map(u64::from);
            assert_eq!(seeds.draw(), first.wrapping_mul(second));
        }
    }

    #[test]
    fn seeds_drawn_again_skip_what_was_skipped() {
        let mut seeds = WriteSeeds::new(7, 2, true);
        let mut again = SeedsAgain::new(seeds.clone(), 10);
        let drawn: Vec<u64> = (0..6).map(|_| seeds.draw()).collect();
        assert_eq!(again.of(10), Some(drawn[0]));
        assert_eq!(again.of(13), Some(drawn[3]));
        assert_eq!(again.of(12), None, "the generator does not go back");
        assert_eq!(again.of(15), Some(drawn[5]));
    }
}
