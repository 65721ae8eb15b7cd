//! Work that some processors have instructions for, and how it is done without
//! them. The results are the same.

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
    #[inline(never)]
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
