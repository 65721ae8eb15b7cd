//! A linear feedback shift register as a permutation: each block once, in an
//! order that looks random, with no memory but its own state.
//!
//! Galois form, shifting right, with the sense of its bits reversed (XNOR), so
//! that zero is an ordinary state and all ones is the one never reached.

/// A register that visits each number below `n` once.
#[derive(Clone, Debug)]
pub struct Lfsr {
    state: u64,
    /// What the state is mixed with when its lowest bit is clear.
    taps: u64,
    /// The highest bit.
    top: u64,
    n: u64,
    left: u64,
}

/// Taps of a register of maximal length for each width from 3 on, as bit
/// numbers from 1 (Xilinx application note XAPP052, table 3).
const TAPS: [&[u32]; 46] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 22, 2, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
];

/// The narrowest register.
const NARROWEST: u32 = 3;

impl Lfsr {
    /// The most numbers a register can visit.
    pub const MOST: u64 = (1 << (NARROWEST + TAPS.len() as u32 - 1)) - 1;

    /// A register that visits each number below `n`; none for zero or for more
    /// than [`Lfsr::MOST`].
    pub fn new(n: u64, seed: u64) -> Option<Lfsr> {
        if n == 0 || n > Lfsr::MOST {
            return None;
        }
        // A width of w has 2^w - 1 states, zero among them.
        let width = (u64::BITS - n.leading_zeros()).max(NARROWEST);
        let width = if n == (1 << width) { width + 1 } else { width };
        let taps =
            TAPS[(width - NARROWEST) as usize].iter().fold(0, |mask, bit| mask | 1 << (bit - 1));
        let mut lfsr = Lfsr { state: 0, taps, top: 1 << (width - 1), n, left: 0 };
        lfsr.restart(seed);
        // The first draw of a job takes two steps, as in fio.
        lfsr.step();
        Some(lfsr)
    }

    /// A new pass from `seed`.
    pub fn restart(&mut self, seed: u64) {
        let ones = (self.top << 1) - 1;
        self.state = seed & ones;
        if self.state == ones {
            // The register would stay there for ever.
            self.state = 0;
        }
        self.left = self.n;
    }

    /// The next number of this pass; none once each has come.
    #[inline]
    pub fn draw(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        // At most half of the states lie above `n`, and not many in a row.
        loop {
            self.step();
            if self.state < self.n {
                return Some(self.state);
            }
        }
    }

    /// The next numbers of this pass, as many as there are places for: how many, fewer at its end.
    #[inline(never)]
    pub(crate) fn draw_many(&mut self, numbers: &mut [u64]) -> usize {
        let count = numbers.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        // So that its state stays in registers.
        let mut lfsr = self.clone();
        for number in &mut numbers[..count] {
            loop {
                lfsr.step();
                if lfsr.state < lfsr.n {
                    break;
                }
            }
            *number = lfsr.state;
        }
        lfsr.left -= count as u64;
        *self = lfsr;
        count
    }

    #[inline(always)]
    fn step(&mut self) {
        let mixed = if self.state & 1 == 0 { self.taps } else { 0 };
        self.state = (self.state >> 1 | self.top) ^ mixed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_comes_once_per_pass() {
        for n in (1..300).chain([511, 512, 513, 4095, 4096, 16383, 16384, 65535, 100_000, 1 << 20])
        {
            let mut lfsr = Lfsr::new(n, n ^ 0x5a5a_1234).unwrap();
            for _ in 0..2 {
                let mut seen = vec![false; n as usize];
                while let Some(number) = lfsr.draw() {
                    assert!(
                        !std::mem::replace(&mut seen[number as usize], true),
                        "{n}: {number} twice"
                    );
                }
                assert!(seen.iter().all(|&seen| seen), "{n}");
                lfsr.restart(n);
            }
        }
    }

    /// Every width has maximal length: x is a generator of the field, which is
    /// to say its order is not a proper divisor of 2^w - 1.
    #[test]
    fn every_width_has_maximal_length() {
        for (width, taps) in (NARROWEST..).zip(TAPS) {
            let polynomial = taps.iter().fold(1u128, |p, bit| p | 1 << bit);
            let times = |a: u64, b: u64| {
                let mut product = 0u128;
                for bit in 0..width {
                    if b >> bit & 1 == 1 {
                        product ^= u128::from(a) << bit;
                    }
                }
                for bit in (width..2 * width).rev() {
                    if product >> bit & 1 == 1 {
                        product ^= polynomial << (bit - width);
                    }
                }
                product as u64
            };
            let power = |mut exponent: u64| {
                let (mut base, mut result) = (2, 1);
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        result = times(result, base);
                    }
                    base = times(base, base);
                    exponent >>= 1;
                }
                result
            };
            let order = (1u64 << width) - 1;
            assert_eq!(power(order), 1, "{width}");
            let (mut rest, mut prime) = (order, 3);
            while rest > 1 {
                if prime * prime > rest {
                    prime = rest;
                }
                if rest % prime == 0 {
                    assert_ne!(power(order / prime), 1, "{width}: order divides by {prime}");
                    while rest % prime == 0 {
                        rest /= prime;
                    }
                }
                prime += 2;
            }
        }
    }

    #[test]
    fn what_it_cannot_count_it_refuses() {
        assert!(Lfsr::new(0, 1).is_none());
        assert!(Lfsr::new(Lfsr::MOST, 1).is_some());
        assert!(Lfsr::new(Lfsr::MOST + 1, 1).is_none());
    }
}
