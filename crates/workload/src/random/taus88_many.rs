//! Many draws of a taus88 at once, in a third of the instructions.
//!
//! A step of each component is linear over the field of two elements, and so are
//! sixteen of them: four states that are sixteen steps apart follow from one by
//! tables, and then step side by side in a vector.

use super::Taus88;
use super::taus88::{Component, FIRST_PART, SECOND_PART, THIRD_PART};
use wide::u32x4;

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

static LANES_1: LanesOf = LanesOf::component(FIRST_PART);
static LANES_2: LanesOf = LanesOf::component(SECOND_PART);
static LANES_3: LanesOf = LanesOf::component(THIRD_PART);

impl LanesOf {
    const fn component(component: Component) -> LanesOf {
        let mut table = [[[0; LANES]; 16]; 8];
        let mut at = 0;
        while at < 8 * 16 {
            let mut state = (at as u32 % 16) << (at / 16 * 4);
            let mut step = 0;
            while step < MANY {
                if step % STEPS == 0 {
                    table[at / 16][at % 16][step / STEPS] = state;
                }
                state = component.step(state);
                step += 1;
            }
            at += 1;
        }
        LanesOf(table)
    }

    #[inline(always)]
    fn from(&self, state: u32) -> u32x4 {
        let halves = self.0.iter().enumerate();
        halves.fold(u32x4::ZERO, |lanes, (half, table)| {
            lanes ^ u32x4::new(table[(state >> (4 * half)) as usize % 16])
        })
    }
}

impl Component {
    /// [`Component::step`], lane by lane.
    #[inline(always)]
    fn step_all(&self, s: u32x4) -> u32x4 {
        ((s & u32x4::splat(self.kept)) << self.up) ^ (((s << self.folded) ^ s) >> self.down)
    }
}

/// The states of all lanes.
struct SideBySide(u32x4, u32x4, u32x4);

impl SideBySide {
    /// The next number of each lane.
    #[inline(always)]
    fn draw(&mut self) -> u32x4 {
        self.0 = FIRST_PART.step_all(self.0);
        self.1 = SECOND_PART.step_all(self.1);
        self.2 = THIRD_PART.step_all(self.2);
        self.0 ^ self.1 ^ self.2
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
        let mut state =
            SideBySide(LANES_1.from(self.s1), LANES_2.from(self.s2), LANES_3.from(self.s3));
        // Four by four, so that a square of them is turned and stored by lanes.
        for fourth in 0..STEPS / 4 {
            let square = [state.draw(), state.draw(), state.draw(), state.draw()];
            for (lane, four) in u32x4::transpose(square).into_iter().enumerate() {
                let first = lane * STEPS + fourth * 4;
                numbers[first..first + 4].copy_from_slice(four.as_array());
            }
        }
        // The last lane has come to the last number.
        let SideBySide(s1, s2, s3) = state;
        [self.s1, self.s2, self.s3] = [s1, s2, s3].map(|lanes| lanes.as_array()[LANES - 1]);
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
