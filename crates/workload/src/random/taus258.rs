//! The combined Tausworthe generator of 64 bits, period 2^258.
//!
//! L'Ecuyer, "Tables of Maximally Equidistributed Combined LFSR Generators",
//! Mathematics of Computation 68, 1999.

/// State of a taus258.
#[derive(Clone, Debug)]
pub struct Taus258 {
    s: [u64; 5],
}

/// As in taus88: exclusive-or, not powers.
const FIRST: u64 = (2 ^ 31) + (2 ^ 17) + (2 ^ 7);

impl Taus258 {
    /// Started from a seed as fio does.
    pub fn new(seed: u64) -> Taus258 {
        let mut x = FIRST;
        let s = [1, 7, 15, 33, 49].map(|least| {
            x = x.wrapping_mul(6_906_969_069) ^ seed;
            if x < least {
                x += least;
            }
            x
        });
        let mut taus = Taus258 { s };
        for _ in 0..6 {
            taus.draw();
        }
        taus
    }

    /// The next 64 bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let [s1, s2, s3, s4, s5] = self.s;
        self.s = [
            ((s1 & !1) << 10) ^ (((s1 << 1) ^ s1) >> 53),
            ((s2 & !511) << 5) ^ (((s2 << 24) ^ s2) >> 50),
            ((s3 & !4095) << 29) ^ (((s3 << 3) ^ s3) >> 23),
            ((s4 & !131_071) << 23) ^ (((s4 << 5) ^ s4) >> 24),
            ((s5 & !8_388_607) << 8) ^ (((s5 << 3) ^ s5) >> 33),
        ];
        self.s[0] ^ self.s[1] ^ self.s[2] ^ self.s[3] ^ self.s[4]
    }

    /// Evenly in `0..n`: `n * (draw / 2^64)` in double precision, cut.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        let unit = self.draw() as f64 * (1.0 / 18_446_744_073_709_551_616.0);
        // A draw near 2^64 rounds up to one: keep the promise.
        ((n as f64 * unit) as u64).min(n.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_fio_shows() {
        // fio --rw=randread --random_generator=tausworthe64 --debug=random (3.33, as is the seed).
        let mut taus = Taus258::new(0xb189_9bed);
        let draws: Vec<u64> = (0..4).map(|_| taus.draw()).collect();
        assert_eq!(
            draws,
            [
                17_311_067_694_306_724_737,
                485_009_114_434_689_783,
                1_488_059_811_897_507_987,
                1_834_679_167_304_946_105
            ]
        );
    }

    #[test]
    fn no_draw_reaches_n() {
        let mut taus = Taus258::new(1);
        for n in [1, 2, 1000, u64::MAX] {
            assert!((0..1000).all(|_| taus.below(n) < n));
        }
    }
}
