//! Work that some processors have instructions for, and how it is done without
//! them. The results are the same.

mod carries;

pub use carries::Carries;

#[cfg(target_arch = "x86_64")]
use crate::platform::processor as fast;

/// CRC-32C of `bytes`, from all ones, not inverted at the end: the complement
/// of the usual value.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = fast::crc32c(bytes) {
        return crc;
    }
    !::crc32c::crc32c(bytes)
}

/// The same of few bytes, a number that the compiler knows.
#[inline]
pub fn crc32c_of_few<const BYTES: usize>(bytes: &[u8; BYTES]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = fast::crc32c_of_few(bytes) {
        return crc;
    }
    crc32c(bytes)
}

/// A polynomial by which long bytes are divided: a CRC's, of up to 64 bits.
pub struct Divisor {
    #[cfg(target_arch = "x86_64")]
    factors: fast::Factors,
}

impl Divisor {
    /// The polynomial without its highest term, as catalogues of CRCs write it (not reflected), and
    /// its degree, 1 to 64; whether a byte's lowest bit comes first.
    pub const fn of(width: u32, polynomial: u64, reflected: bool) -> Divisor {
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (width, polynomial, reflected);
        Divisor {
            #[cfg(target_arch = "x86_64")]
            factors: fast::Factors::of(width, polynomial, reflected),
        }
    }

    /// 16 bytes that leave, with the bytes returned behind them, the same remainder as `bytes`.
    /// `None` if these are few, or if the processor has no instructions for it.
    #[inline]
    pub fn fold<'a>(&self, bytes: &'a [u8]) -> Option<([u8; 16], &'a [u8])> {
        #[cfg(target_arch = "x86_64")]
        return fast::fold(bytes, &self.factors);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = bytes;
            None
        }
    }
}

/// Fills lines of 32 bytes with small multiples of the terms of a sequence.
pub struct Multiples {
    step: u64,
    #[cfg(target_arch = "x86_64")]
    powers: fast::Powers,
    /// What `x` is multiplied by from one table of powers to the next.
    #[cfg(target_arch = "x86_64")]
    next: u64,
}

impl Multiples {
    /// Of the sequences in which each term is the one before times `step`.
    pub const fn of(step: u64) -> Multiples {
        Multiples {
            step,
            #[cfg(target_arch = "x86_64")]
            powers: fast::Powers::of(step),
            #[cfg(target_arch = "x86_64")]
            next: step.wrapping_pow(fast::POWERS as u32),
        }
    }

    /// Line by line `x`, `2x`, `3x` and `5x` modulo 2^64, little-endian; `x` is
    /// `first` in the first line, and `step` times as much in each next one.
    /// Returns the `x` that would come after the last line.
    #[inline]
    pub fn fill(&self, lines: &mut [[u8; 32]], first: u64) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return self.fill_parts(lines, first);
        #[cfg(not(target_arch = "x86_64"))]
        self.fill_plainly(lines, first)
    }

    /// The same for a block of 4 KiB, in few instructions besides those that fill it. Whether it
    /// was filled: it is not where the processor has no instructions for it.
    #[inline]
    pub fn fill_block(&self, lines: &mut [[u8; 32]; 128], first: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        return fast::multiples(lines, first, &self.powers);
        #[cfg(not(target_arch = "x86_64"))]
        {
            self.fill_plainly(lines, first);
            true
        }
    }

    /// Any number of lines.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn fill_parts(&self, lines: &mut [[u8; 32]], first: u64) -> u64 {
        let mut x = first;
        let (parts, rest) = lines.as_chunks_mut::<{ fast::POWERS }>();
        for part in parts {
            if !fast::multiples(part, x, &self.powers) {
                self.fill_plainly(part, x);
            }
            x = x.wrapping_mul(self.next);
        }
        let (strides, rest) = rest.split_at_mut(rest.len() / fast::STRIDE * fast::STRIDE);
        if !fast::multiples(strides, x, &self.powers) {
            self.fill_plainly(strides, x);
        }
        self.fill_plainly(rest, x.wrapping_mul(self.powers.nth(strides.len())))
    }

    fn fill_plainly(&self, lines: &mut [[u8; 32]], first: u64) -> u64 {
        let mut x = first;
        for line in lines {
            let (words, _) = line.as_chunks_mut::<8>();
            for (word, factor) in words.iter_mut().zip([1, 2, 3, 5]) {
                *word = x.wrapping_mul(factor).to_le_bytes();
            }
            x = x.wrapping_mul(self.step);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEP: u64 = 0x61c8_8646_80b5_83eb;

    #[test]
    fn the_checksum_of_the_catalogue_string_is_the_catalogues() {
        assert_eq!(!crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(!crc32c(b""), 0);
    }

    /// Bit by bit, as one divides on paper.
    fn remainder(bytes: &[u8], width: u32, polynomial: u64, reflected: bool) -> u64 {
        let highest = 1 << (width - 1);
        bytes.iter().flat_map(|byte| (0..8).map(move |bit| (byte, bit))).fold(
            0,
            |rest, (byte, bit)| {
                let one = byte >> if reflected { bit } else { 7 - bit } & 1 == 1;
                let over = (rest & highest != 0) != one;
                (rest & !highest) << 1 ^ if over { polynomial } else { 0 }
            },
        )
    }

    proptest! {
        #[test]
        fn checksums_are_those_of_a_bit_by_bit_division(
            bytes in prop::collection::vec(any::<u8>(), 0..9000),
        ) {
            let mut crc = u32::MAX;
            for byte in &bytes {
                crc ^= u32::from(*byte);
                for _ in 0..8 {
                    crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
                }
            }
            prop_assert_eq!(crc32c(&bytes), crc);
        }

        #[test]
        fn few_bytes_have_the_checksum_of_many(bytes: [u8; 44]) {
            prop_assert_eq!(crc32c_of_few(&bytes), crc32c(&bytes));
            let [first @ .., _, _, _] = bytes;
            prop_assert_eq!(crc32c_of_few(&first), crc32c(&first));
            let [eight, ..] = bytes.as_chunks::<8>().0 else { unreachable!() };
            prop_assert_eq!(crc32c_of_few(eight), crc32c(eight));
        }

        #[test]
        fn folded_bytes_leave_the_same_remainder(
            bytes in prop::collection::vec(any::<u8>(), 0..3000), width in 1u32..65, any: u64, reflected: bool,
        ) {
            let polynomial = (any | 1) & u64::MAX >> (64 - width);
            let divisor = Divisor::of(width, polynomial, reflected);
            if let Some((head, rest)) = divisor.fold(&bytes) {
                let folded = [head.as_slice(), rest].concat();
                prop_assert!(folded.len() < 32);
                prop_assert_eq!(remainder(&folded, width, polynomial, reflected), remainder(&bytes, width, polynomial, reflected));
            }
        }

        #[test]
        fn lines_are_the_same_with_and_without_instructions(first: u64, lines in 0usize..600) {
            let multiples = Multiples::of(STEP);
            let (mut fast, mut plain) = (vec![[0; 32]; lines], vec![[1; 32]; lines]);
            prop_assert_eq!(multiples.fill(&mut fast, first), multiples.fill_plainly(&mut plain, first));
            prop_assert_eq!(fast, plain);
            let mut blocks = [[[0; 32]; 128]; 2];
            multiples.fill_plainly(&mut blocks[0], first);
            if multiples.fill_block(&mut blocks[1], first) {
                prop_assert_eq!(blocks[0], blocks[1]);
            }
        }
    }
}
