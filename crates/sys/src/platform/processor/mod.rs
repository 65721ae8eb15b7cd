//! Instructions that not every processor has: sums of CRC-32C, remainders of
//! other polynomials, and multiplication of several words at a time.
//!
//! All of it is `#[inline]`: so it is compiled in the crate that calls it, for speed. This one is
//! compiled for size, by which a sum of 4 KiB took ten times the instructions.

mod carries;
mod crc;
mod crc_wide;
mod folding;
mod instructions;
mod multiples;
mod multiples_wide;
mod polynomial;

pub(crate) use carries::carries;
pub(crate) use crc::crc32c_of_few;
pub(crate) use folding::{Factors, fold};
pub(crate) use multiples::Powers;

/// CRC-32C of `bytes`, from all ones, not inverted at the end; `None` if the
/// processor has no instructions for it.
#[inline]
pub(crate) fn crc32c(bytes: &[u8]) -> Option<u32> {
    // Most processors that have one of the wide instructions have all.
    if bytes.len() >= crc_wide::SHORTEST {
        crc_wide::crc32c(bytes).or_else(|| crc::crc32c(bytes))
    } else {
        crc::crc32c(bytes)
    }
}

/// How many powers a table holds.
pub(crate) const POWERS: usize = 128;

/// So many lines are made at a time.
pub(crate) const STRIDE: usize = 8;

/// Lines of 32 bytes: for each `x` of `seed * powers`, `x`, `2x`, `3x` and
/// `5x` modulo 2^64, little-endian. Whether it was done: it is not where the
/// processor has no instructions for it. Lines that make no [`STRIDE`] are left
/// as they are, and there are at most [`POWERS`].
#[inline]
pub(crate) fn multiples(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) -> bool {
    multiples_wide::fill(lines, seed, powers) || multiples::fill(lines, seed, powers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEP: u64 = 0x61c8_8646_80b5_83eb;

    #[test]
    fn code_for_some_processors_is_compiled_where_it_is_called() {
        let files = [
            include_str!("carries.rs"),
            include_str!("crc.rs"),
            include_str!("crc_wide.rs"),
            include_str!("folding.rs"),
            include_str!("multiples.rs"),
            include_str!("multiples_wide.rs"),
        ];
        for file in files {
            let lines: Vec<&str> = file.lines().collect();
            let of_some = |pair: &&[&str]| pair[1].starts_with("#[target_feature(");
            let functions: Vec<_> = lines.windows(2).filter(of_some).collect();
            assert!(!functions.is_empty());
            assert!(functions.iter().all(|pair| pair[0] == "#[inline]"), "{functions:?}");
        }
    }

    proptest! {
        /// What the processor of the test has no instructions for is left out.
        #[test]
        fn each_way_of_summing_gives_the_same(
            bytes in prop::collection::vec(any::<u8>(), crc_wide::SHORTEST..9000),
        ) {
            let plain = !::crc32c::crc32c(&bytes);
            prop_assert_eq!(crc::crc32c(&bytes).unwrap_or(plain), plain);
            prop_assert_eq!(crc_wide::crc32c(&bytes).unwrap_or(plain), plain);
        }

        #[test]
        fn each_way_of_multiplying_gives_the_same(seed: u64, strides in 0..=POWERS / STRIDE) {
            static POWERS_OF_STEP: Powers = Powers::of(STEP);
            let mut lines = [(); 2].map(|()| vec![[1; 32]; strides * STRIDE]);
            let [narrow, wide] = &mut lines;
            let done = [
                multiples::fill(narrow, seed, &POWERS_OF_STEP),
                multiples_wide::fill(wide, seed, &POWERS_OF_STEP),
            ];
            for (lines, _) in lines.iter().zip(done).filter(|(_, done)| *done) {
                let mut x = seed;
                for line in lines {
                    let words: Vec<u64> = line.as_chunks::<8>().0.iter()
                        .map(|word| u64::from_le_bytes(*word)).collect();
                    let expected = [1, 2, 3, 5].map(|factor| x.wrapping_mul(factor));
                    prop_assert_eq!(&words[..], expected);
                    x = x.wrapping_mul(STEP);
                }
            }
        }
    }
}
