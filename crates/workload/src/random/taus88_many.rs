//! Many draws of a taus88 at once, in a third of the instructions.
//!
//! A step of each component is linear over the field of two elements, and so are
//! sixteen of them: four states that are sixteen steps apart follow from one by
//! tables, and then step side by side, which the compiler makes vectors of.

use super::Taus88;
use super::taus88::{step1, step2, step3};

/// States side by side.
const LANES: usize = 4;

/// Steps of each of them.
const STEPS: usize = 16;

/// How many are drawn at once.
const MANY: usize = LANES * STEPS;

/// One state of a component for each lane, each [`STEPS`] after the one before.
type Lanes = [u32; LANES];

/// What each half byte of a component's state adds to its [`Lanes`].
struct LanesOf([[Lanes; 16]; 8]);

static LANES_1: LanesOf = LanesOf::component(1);
static LANES_2: LanesOf = LanesOf::component(2);
static LANES_3: LanesOf = LanesOf::component(3);

impl LanesOf {
    const fn component(number: u32) -> LanesOf {
        let mut table = [[[0; LANES]; 16]; 8];
        let mut at = 0;
        while at < 8 * 16 {
            let mut state = (at as u32 % 16) << (at / 16 * 4);
            let mut step = 0;
            while step < MANY {
                if step % STEPS == 0 {
                    table[at / 16][at % 16][step / STEPS] = state;
                }
                state = match number {
                    1 => step1(state),
                    2 => step2(state),
                    _ => step3(state),
                };
                step += 1;
            }
            at += 1;
        }
        LanesOf(table)
    }

    #[inline(always)]
    fn from(&self, state: u32) -> Lanes {
        let mut lanes = [0; LANES];
        for (half, table) in self.0.iter().enumerate() {
            let added = table[(state >> (4 * half)) as usize % 16];
            lanes.iter_mut().zip(added).for_each(|(lane, added)| *lane ^= added);
        }
        lanes
    }
}

impl Taus88 {
    /// The next numbers, as by [`Taus88::draw`].
    #[inline]
    pub fn draw_many(&mut self, numbers: &mut [u32]) {
        let (many, rest) = numbers.as_chunks_mut::<MANY>();
        many.iter_mut().for_each(|many| self.draw_lanes(many));
        rest.iter_mut().for_each(|number| *number = self.draw());
    }

    #[inline(never)]
    fn draw_lanes(&mut self, numbers: &mut [u32; MANY]) {
        let mut s1 = LANES_1.from(self.s1);
        let mut s2 = LANES_2.from(self.s2);
        let mut s3 = LANES_3.from(self.s3);
        // Four by four, so that a square of them is turned and stored by lanes.
        for fourth in 0..STEPS / 4 {
            let mut square = [[0; LANES]; 4];
            for row in &mut square {
                (s1, s2, s3) = (s1.map(step1), s2.map(step2), s3.map(step3));
                for (lane, number) in row.iter_mut().enumerate() {
                    *number = s1[lane] ^ s2[lane] ^ s3[lane];
                }
            }
            for lane in 0..LANES {
                let first = lane * STEPS + fourth * 4;
                for (row, numbers) in square.iter().zip(&mut numbers[first..first + 4]) {
                    *numbers = row[lane];
                }
            }
        }
        // The last lane has come to the last number.
        [self.s1, self.s2, self.s3] = [s1, s2, s3].map(|lanes| lanes[LANES - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_draws_are_those_of_one_by_one(seed: u32, counts in prop::collection::vec(0usize..200, 1..5)) {
            let (mut one, mut all) = (Taus88::new(seed), Taus88::new(seed));
            for count in counts {
                let mut numbers = vec![0; count];
                all.draw_many(&mut numbers);
                prop_assert_eq!(numbers, (0..count).map(|_| one.draw()).collect::<Vec<_>>());
            }
        }
    }
}
