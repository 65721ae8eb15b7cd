//! The combined Tausworthe generator taus88: 32 bits, period 2^88.
//!
//! L'Ecuyer, "Maximally Equidistributed Combined Tausworthe Generators",
//! Mathematics of Computation 65, 1996.

/// State of a taus88.
#[derive(Clone, Debug)]
pub struct Taus88 {
    pub(super) s1: u32,
    pub(super) s2: u32,
    pub(super) s3: u32,
}

/// How a component goes from a state to the next.
pub(super) struct Component {
    /// Bits that stay.
    pub(super) kept: u32,
    /// How far those go to the left.
    pub(super) up: u32,
    /// How far the state is moved to the left, to be joined with itself,
    pub(super) folded: u32,
    /// and then to the right.
    pub(super) down: u32,
}

/// The three components.
pub(super) const FIRST_PART: Component = Component { kept: !1, up: 12, folded: 13, down: 19 };
pub(super) const SECOND_PART: Component = Component { kept: !7, up: 4, folded: 2, down: 25 };
pub(super) const THIRD_PART: Component = Component { kept: !15, up: 17, folded: 3, down: 11 };

impl Component {
    /// The next state.
    #[inline(always)]
    pub(super) const fn step(&self, s: u32) -> u32 {
        ((s & self.kept) << self.up) ^ (((s << self.folded) ^ s) >> self.down)
    }
}

/// Where the congruential generator that fills the state begins: fio writes
/// `(2^31) + (2^17) + (2^7)`, where `^` is exclusive-or.
const FIRST: u32 = (2 ^ 31) + (2 ^ 17) + (2 ^ 7);

impl Taus88 {
    /// Started from a seed as fio does: the state is filled by a congruential
    /// generator, lifted over the values the paper forbids, and warmed up.
    pub fn new(seed: u32) -> Taus88 {
        let fill = |x: u32, least: u32| {
            let x = x.wrapping_mul(69069) ^ seed;
            if x < least { x + least } else { x }
        };
        let s1 = fill(FIRST, 1);
        let s2 = fill(s1, 7);
        let s3 = fill(s2, 15);
        let mut taus = Taus88 { s1, s2, s3 };
        for _ in 0..6 {
            taus.draw();
        }
        taus
    }

    /// The next 32 bits.
    #[inline(always)]
    pub fn draw(&mut self) -> u32 {
        self.s1 = FIRST_PART.step(self.s1);
        self.s2 = SECOND_PART.step(self.s2);
        self.s3 = THIRD_PART.step(self.s3);
        self.s1 ^ self.s2 ^ self.s3
    }

    /// Evenly in `0..n`: `n * (draw / 2^32)` in double precision, cut.
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        below(n, self.draw())
    }
}

/// See [`Taus88::below`].
#[inline(always)]
pub(super) fn below(n: u64, r: u32) -> u64 {
    if n <= SCALE_MOST { scale(n, r) } else { scale_in_doubles(n, r) }
}

/// The largest `n` that [`scale`] takes.
pub(crate) const SCALE_MOST: u64 = 1 << 32;

/// `n * (r / 2^32)` as double precision gives it, cut to an integer; `n` is at
/// most [`SCALE_MOST`].
///
/// The product in integers is the same unless its fraction is so near to one
/// that a double rounds it up: a double drops the last 11 of 64 bits.
#[inline(always)]
pub(crate) fn scale(n: u64, r: u32) -> u64 {
    debug_assert!(n <= SCALE_MOST);
    let product = n.wrapping_mul(u64::from(r));
    if (product as u32) < u32::MAX - (1 << 11) { product >> 32 } else { scale_in_doubles(n, r) }
}

#[cold]
#[inline(never)]
fn scale_in_doubles(n: u64, r: u32) -> u64 {
    let product = n as f64 * (f64::from(r) * (1.0 / 4_294_967_296.0));
    // Rounding can reach `n` itself.
    (product as u64).min(n.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_in_integers_is_scaling_in_doubles() {
        let mut taus = Taus88::new(7);
        let in_doubles = |n: u64, r: u32| (n as f64 * (f64::from(r) / 4_294_967_296.0)) as u64;
        for n in
            [1, 2, 3, 64, 100, 16384, 26_214_400, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff, SCALE_MOST]
        {
            for _ in 0..100_000 {
                let r = taus.draw();
                assert_eq!(scale(n, r), in_doubles(n, r), "{n} {r}");
            }
            for r in [0, 1, u32::MAX - 1, u32::MAX] {
                assert_eq!(scale(n, r), in_doubles(n, r).min(n - 1), "{n} {r}");
            }
        }
    }

    #[test]
    fn draws_are_those_fio_shows() {
        // fio --rw=randread --debug=random (3.33, as is the seed).
        let mut taus = Taus88::new(0xb189_9bed);
        assert_eq!(
            [taus.draw(), taus.draw(), taus.draw()],
            [259_043_585, 3_179_521_932, 3_621_444_214]
        );
    }

    #[test]
    fn forbidden_states_are_lifted() {
        // Whatever the seed, the state is one the paper allows.
        for seed in 0..10_000 {
            let taus = Taus88::new(seed);
            assert!(taus.s1 >= 2 && taus.s2 >= 8 && taus.s3 >= 16, "{seed}: {taus:?}");
        }
    }
}
