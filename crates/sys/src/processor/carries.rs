//! Generators of random numbers side by side, as many as the widest processors step at once.

#[cfg(target_arch = "x86_64")]
use crate::platform::processor as fast;

/// Multiply-with-carry generators (Marsaglia, "Random number generators", Journal of Modern Applied
/// Statistical Methods 2, 2003), each of a word and a carry of 32 bits in the lower and the upper
/// half of a number.
#[derive(Clone, Debug)]
pub struct Carries([u64; Carries::COUNT]);

impl Carries {
    /// How many there are.
    pub const COUNT: usize = 32;

    /// Bytes that all of them give at once.
    pub const STEP: usize = Carries::COUNT * 8;

    /// `MULTIPLIER * 2^31 - 1` and `MULTIPLIER * 2^32 - 1` are both prime, which makes the first of
    /// them the period.
    pub const MULTIPLIER: u64 = 0xd6b5_4897;

    /// How far away the generator is whose word each carry is mixed with.
    const NEIGHBOUR: usize = 8;

    /// Generators in these states. Each word is above 0, and each carry below the multiplier: no
    /// other state comes again.
    pub fn new(states: [u64; Carries::COUNT]) -> Carries {
        Carries(states)
    }

    /// Fill `steps` with what the generators give, then with what they give next, and so on.
    #[inline]
    pub fn fill(&mut self, steps: &mut [[u8; Carries::STEP]]) {
        #[cfg(target_arch = "x86_64")]
        if fast::carries(&mut self.0, steps) {
            return;
        }
        self.fill_plainly(steps);
    }

    fn fill_plainly(&mut self, steps: &mut [[u8; Carries::STEP]]) {
        for step in steps {
            for (at, out) in step.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                // Carries are not even, as words are: they stay below the multiplier.
                let neighbour = self.0[(at + Carries::NEIGHBOUR) % Carries::COUNT];
                *out = (self.0[at] ^ neighbour << 32).to_le_bytes();
            }
            for state in &mut self.0 {
                // Below 2^64: both factors and the carry are below 2^32.
                *state = (*state & 0xffff_ffff) * Carries::MULTIPLIER + (*state >> 32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_the_same_with_and_without_instructions(
            states: [u64; Carries::COUNT], steps in 0usize..20,
        ) {
            let mut fast = Carries::new(states.map(|state| (state | 1) & (u64::MAX >> 1)));
            let mut plain = fast.clone();
            let mut filled = [[0; 2], [1; 2]].map(|[byte, _]| vec![[byte; Carries::STEP]; steps]);
            fast.fill(&mut filled[0]);
            plain.fill_plainly(&mut filled[1]);
            prop_assert_eq!(&filled[0], &filled[1]);
            prop_assert_eq!(fast.0, plain.0);
        }
    }
}
