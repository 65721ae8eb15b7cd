//! CRC-32C by products without carry of 512 bits (VPCLMULQDQ with AVX-512):
//! half as many instructions as by that of SSE 4.2.
#![allow(unsafe_code)]

use super::crc::words_sse;
use super::instructions::Instructions;
use super::polynomial::factors;
use std::arch::x86_64::{
    __m512i, _mm_crc32_u64, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_xor_si128,
    _mm512_clmulepi64_epi128, _mm512_extracti32x4_epi32, _mm512_loadu_si512, _mm512_set_epi64,
    _mm512_ternarylogic_epi64, _mm512_xor_si512, _mm512_zextsi128_si512,
};

/// Bytes of a register.
const WIDE: usize = 64;

/// Four registers are summed side by side.
pub(super) const SHORTEST: usize = 4 * WIDE;

/// Exclusive or of three operands, as the table of its eight cases.
const XOR3: i32 = 0x96;

/// CRC-32C of `bytes`, which are at least [`SHORTEST`], from all ones, not
/// inverted at the end; `None` if the processor has no instructions for it.
#[inline]
pub(super) fn crc32c(bytes: &[u8]) -> Option<u32> {
    let can =
        const { Instructions::VPCLMULQDQ.and(Instructions::AVX512F).and(Instructions::SSE42) };
    // SAFETY: the processor has all these instructions.
    can.are_here().then(|| unsafe { crc32c_wide(bytes) }).flatten()
}

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq,sse4.2")]
fn crc32c_wide(bytes: &[u8]) -> Option<u32> {
    let (first, mut rest) = bytes.split_first_chunk::<SHORTEST>()?;
    let mut sums = load_four(first);
    // The sum begins with all ones, which is as if the first 32 bits were inverted.
    let ones = _mm512_zextsi128_si512(_mm_cvtsi32_si128(-1));
    sums[0] = _mm512_xor_si512(sums[0], ones);
    let by_four = in_each_lane(const { factors(8 * SHORTEST) });
    while let Some((part, after)) = rest.split_first_chunk::<SHORTEST>() {
        let next = load_four(part);
        for (sum, next) in sums.iter_mut().zip(next) {
            *sum = follow(*sum, by_four, next);
        }
        rest = after;
    }
    let by_one = in_each_lane(const { factors(8 * WIDE) });
    let [mut sum, others @ ..] = sums;
    for other in others {
        sum = follow(sum, by_one, other);
    }
    while let Some((part, after)) = rest.split_first_chunk::<WIDE>() {
        (sum, rest) = (follow(sum, by_one, load(part)), after);
    }
    Some(words_sse(sum_of_lanes(sum), rest))
}

/// The sum of what was summed so far and what follows it, so many bytes later
/// as `factors` are for.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn follow(sum: __m512i, factors: __m512i, next: __m512i) -> __m512i {
    let first = _mm512_clmulepi64_epi128::<0x00>(sum, factors);
    let second = _mm512_clmulepi64_epi128::<0x11>(sum, factors);
    _mm512_ternarylogic_epi64::<XOR3>(first, second, next)
}

/// The sum of the four lanes of 128 bits, one after the other in memory.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq,sse4.2")]
fn sum_of_lanes(sum: __m512i) -> u64 {
    let lanes = const { [factors(3 * 128), factors(2 * 128), factors(128)] };
    let [[a, b], [c, d], [e, f]] = lanes.map(|lane| lane.map(|half| half as i64));
    let by_place = _mm512_set_epi64(0, 0, f, e, d, c, b, a);
    let first = _mm512_clmulepi64_epi128::<0x00>(sum, by_place);
    let later = _mm512_xor_si512(first, _mm512_clmulepi64_epi128::<0x11>(sum, by_place));
    let [a, b] = [_mm512_extracti32x4_epi32::<0>(later), _mm512_extracti32x4_epi32::<1>(later)];
    let [c, d] = [_mm512_extracti32x4_epi32::<2>(later), _mm512_extracti32x4_epi32::<3>(sum)];
    let all = _mm_xor_si128(_mm_xor_si128(a, b), _mm_xor_si128(c, d));
    let half = _mm_crc32_u64(0, _mm_cvtsi128_si64(all) as u64);
    _mm_crc32_u64(half, _mm_extract_epi64::<1>(all) as u64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn in_each_lane([first, second]: [u64; 2]) -> __m512i {
    let [a, b] = [first as i64, second as i64];
    _mm512_set_epi64(b, a, b, a, b, a, b, a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_four(bytes: &[u8; SHORTEST]) -> [__m512i; 4] {
    let (parts, _) = bytes.as_chunks::<WIDE>();
    [load(&parts[0]), load(&parts[1]), load(&parts[2]), load(&parts[3])]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; WIDE]) -> __m512i {
    // SAFETY: 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
