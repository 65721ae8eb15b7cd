//! Remainders of long bytes by multiplication without carry, for any polynomial of up to 64 bits.
//!
//! What 128 bits stand for, `bits` bits further on in the message, is congruent to the product of
//! each of their halves with the remainder of a power of x; so a block is folded onto its last 16
//! bytes, and a table does the rest (Gopal et al., "Fast CRC Computation for Generic Polynomials
//! Using PCLMULQDQ Instruction", Intel 2009).
#![allow(unsafe_code)]

use super::instructions::Instructions;
use std::arch::x86_64::{
    __m128i, _mm_clmulepi64_si128, _mm_loadu_si128, _mm_set_epi8, _mm_set_epi64x, _mm_shuffle_epi8,
    _mm_storeu_si128, _mm_xor_si128,
};

/// Bytes that are folded side by side: a multiplication takes several cycles, and one can begin in each.
const STRIDE: usize = 64;

/// Fewer bytes are left to the table.
const SHORTEST: usize = 2 * STRIDE;

/// The factors of one polynomial.
pub(crate) struct Factors {
    /// Whether the first bit of the message is the lowest of its byte.
    reflected: bool,
    /// For what is folded onto the next [`STRIDE`].
    stride: [u64; 2],
    /// For what is folded onto the next 16 bytes.
    lane: [u64; 2],
}

impl Factors {
    /// Of the polynomial without its highest term, not reflected; `width` is its degree, 1 to 64.
    pub(crate) const fn of(width: u32, polynomial: u64, reflected: bool) -> Factors {
        Factors {
            reflected,
            stride: pair(width, polynomial, reflected, 8 * STRIDE),
            lane: pair(width, polynomial, reflected, 128),
        }
    }
}

/// The factors for the lower and the upper half of 128 bits which `bits` more bits follow.
const fn pair(width: u32, polynomial: u64, reflected: bool, bits: usize) -> [u64; 2] {
    if reflected {
        // The lower half comes first. A product of two reflected words is that of their
        // polynomials times x, so a power less is enough.
        [
            power_of_x(width, polynomial, bits + 63).reverse_bits(),
            power_of_x(width, polynomial, bits - 1).reverse_bits(),
        ]
    } else {
        [power_of_x(width, polynomial, bits), power_of_x(width, polynomial, bits + 64)]
    }
}

/// The remainder of x to the power of `exponent`.
const fn power_of_x(width: u32, polynomial: u64, exponent: usize) -> u64 {
    let (highest, mut power, mut left) = (1 << (width - 1), 1_u64, exponent);
    while left > 0 {
        let over = power & highest != 0;
        power = (power & !highest) << 1 ^ if over { polynomial } else { 0 };
        left -= 1;
    }
    power
}

/// 16 bytes that leave, with the bytes returned behind them, the same remainder as `bytes`; `None`
/// if these are few, or if the processor cannot multiply without carry.
#[inline]
pub(crate) fn fold<'a>(bytes: &'a [u8], factors: &Factors) -> Option<([u8; 16], &'a [u8])> {
    let can = bytes.len() >= SHORTEST
        && const { Instructions::PCLMULQDQ.and(Instructions::SSSE3) }.are_here();
    // SAFETY: the processor has PCLMULQDQ and SSSE3.
    can.then(|| unsafe { fold_sse(bytes, factors) })
}

#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn fold_sse<'a>(bytes: &'a [u8], factors: &Factors) -> ([u8; 16], &'a [u8]) {
    if factors.reflected {
        strides::<true>(bytes, factors)
    } else {
        strides::<false>(bytes, factors)
    }
}

#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn strides<'a, const REFLECTED: bool>(bytes: &'a [u8], factors: &Factors) -> ([u8; 16], &'a [u8]) {
    let halves = |[lower, upper]: [u64; 2]| _mm_set_epi64x(upper as i64, lower as i64);
    let (stride, lane) = (halves(factors.stride), halves(factors.lane));
    let (parts, rest) = bytes.as_chunks::<STRIDE>();
    let mut sums = [halves([0, 0]); STRIDE / 16];
    for part in parts {
        let (words, _) = part.as_chunks::<16>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = _mm_xor_si128(times(*sum, stride), load::<REFLECTED>(word));
        }
    }
    let [mut sum, others @ ..] = sums;
    for other in others {
        sum = _mm_xor_si128(times(sum, lane), other);
    }
    let (words, rest) = rest.as_chunks::<16>();
    for word in words {
        sum = _mm_xor_si128(times(sum, lane), load::<REFLECTED>(word));
    }
    (store::<REFLECTED>(sum), rest)
}

/// Both halves times their factors.
#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn times(sum: __m128i, factors: __m128i) -> __m128i {
    _mm_xor_si128(
        _mm_clmulepi64_si128::<0x00>(sum, factors),
        _mm_clmulepi64_si128::<0x11>(sum, factors),
    )
}

/// The bytes in the order in which their polynomial is multiplied.
#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn ordered<const REFLECTED: bool>(word: __m128i) -> __m128i {
    if REFLECTED {
        word
    } else {
        let backwards = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        _mm_shuffle_epi8(word, backwards)
    }
}

#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn load<const REFLECTED: bool>(word: &[u8; 16]) -> __m128i {
    // SAFETY: there are 16 bytes, of any alignment.
    ordered::<REFLECTED>(unsafe { _mm_loadu_si128(word.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn store<const REFLECTED: bool>(sum: __m128i) -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: there is room for 16 bytes, of any alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), ordered::<REFLECTED>(sum)) };
    bytes
}
