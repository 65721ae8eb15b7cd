//! Generators of random numbers, each with the seeding that fio gives it.

mod ahead;
mod lfsr;
mod taus258;
mod taus88;
mod taus88_many;

pub(crate) use ahead::Ahead;
pub use lfsr::Lfsr;
pub use taus88::Taus88;
use taus88::below;
pub(crate) use taus88::{SCALE_MOST, scale};
pub use taus258::Taus258;

/// A generator that is not a permutation: 32 or 64 bits at a time.
#[derive(Clone, Debug)]
pub(crate) enum Draws {
    /// 32 bits.
    Narrow(Taus88),
    /// 32 bits, drawn many at once.
    Ahead(Ahead),
    /// 64 bits.
    Wide(Taus258),
}

impl Draws {
    /// The generator of the width asked for, started from `seed`.
    pub fn new(wide: bool, seed: u64) -> Draws {
        // The narrow one takes the low half of the seed, as fio's does.
        if wide { Draws::Wide(Taus258::new(seed)) } else { Draws::Narrow(Taus88::new(seed as u32)) }
    }

    /// Draw many at once from now on, where a draw is of 32 bits.
    pub(crate) fn make_ahead(&mut self) {
        if let Draws::Narrow(taus) = self {
            *self = Draws::Ahead(Ahead::new(taus.clone()));
        }
    }

    /// Evenly in `0..n`; the product is rounded in double precision as fio's is.
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        match self {
            Draws::Narrow(taus) => taus.below(n),
            Draws::Ahead(ahead) => below(n, ahead.draw()),
            Draws::Wide(taus) => taus.below(n),
        }
    }

    /// A percentage, 1 to 100.
    #[inline(always)]
    pub fn percent(&mut self) -> u32 {
        // Below 100 by construction, so it fits.
        1 + self.below(100) as u32
    }
}

/// Numbers drawn by any of the generators.
pub(crate) trait Draw: Clone {
    /// Evenly in `0..n`.
    fn below(&mut self, n: u64) -> u64;

    /// Evenly in `0..100`, by a division of the draw: fio picks the shares of
    /// `bssplit` this way.
    fn hundredth(&mut self) -> usize;
}

impl Draw for Taus88 {
    #[inline(always)]
    fn below(&mut self, n: u64) -> u64 {
        Taus88::below(self, n)
    }

    #[inline(always)]
    fn hundredth(&mut self) -> usize {
        hundredth(self.draw())
    }
}

#[inline(always)]
fn hundredth(draw: u32) -> usize {
    (draw / (u32::MAX / 100 + 1)) as usize
}

/// A number of 32 bits that was drawn.
#[derive(Clone)]
pub(crate) struct OneDraw(pub u32);

impl Draw for OneDraw {
    #[inline(always)]
    fn below(&mut self, n: u64) -> u64 {
        below(n, self.0)
    }

    #[inline(always)]
    fn hundredth(&mut self) -> usize {
        hundredth(self.0)
    }
}

impl Draw for Draws {
    #[inline(always)]
    fn below(&mut self, n: u64) -> u64 {
        Draws::below(self, n)
    }

    #[inline(always)]
    fn hundredth(&mut self) -> usize {
        match self {
            Draws::Narrow(taus) => taus.hundredth(),
            Draws::Ahead(ahead) => hundredth(ahead.draw()),
            Draws::Wide(taus) => (taus.draw() / (u64::MAX / 100 + 1)) as usize,
        }
    }
}
