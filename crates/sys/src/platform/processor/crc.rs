//! CRC-32C by the instruction of SSE 4.2, three sums side by side.
#![allow(unsafe_code)]

use super::instructions::Instructions;
use super::polynomial::power_of_x;
use std::arch::x86_64::{
    _mm_clmulepi64_si128, _mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64, _mm_cvtsi64_si128,
    _mm_cvtsi128_si64, _mm_xor_si128,
};

/// Bytes of each of three streams that are summed side by side: an instruction
/// takes three cycles, and one can begin in each. Three of the longer make up
/// a block of 4 KiB without its header, nearly.
const LONG: usize = 1344;
const SHORT: usize = 192;

/// CRC-32C of `bytes`, from all ones, not inverted at the end; `None` if the
/// processor has no instruction for it.
#[inline]
pub(super) fn crc32c(bytes: &[u8]) -> Option<u32> {
    let can = const { Instructions::SSE42.and(Instructions::PCLMULQDQ) };
    // SAFETY: the processor has the instructions of SSE 4.2 and PCLMULQDQ.
    can.are_here().then(|| unsafe { crc32c_sse(bytes) })
}

/// The same of few bytes, a number that the compiler knows: without any loop.
#[inline]
pub(crate) fn crc32c_of_few<const BYTES: usize>(bytes: &[u8; BYTES]) -> Option<u32> {
    // SAFETY: the processor has the instructions of SSE 4.2.
    Instructions::SSE42.are_here().then(|| unsafe { few_sse(bytes) })
}

#[inline]
#[target_feature(enable = "sse4.2")]
fn few_sse<const BYTES: usize>(bytes: &[u8; BYTES]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut crc = 0xffff_ffff;
    for word in words {
        crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
    }
    // The upper half is zero.
    rest_sse(crc as u32, rest)
}

#[inline]
#[target_feature(enable = "sse4.2,pclmulqdq")]
fn crc32c_sse(bytes: &[u8]) -> u32 {
    let (mut crc, mut rest) = (0xffff_ffff, bytes);
    while let Some((part, after)) = rest.split_first_chunk::<{ 3 * LONG }>() {
        (crc, rest) = (three_streams::<LONG, { 3 * LONG }>(crc, part), after);
    }
    while let Some((part, after)) = rest.split_first_chunk::<{ 3 * SHORT }>() {
        (crc, rest) = (three_streams::<SHORT, { 3 * SHORT }>(crc, part), after);
    }
    words_sse(crc, rest)
}

/// The sum of any number of bytes more.
#[inline]
#[target_feature(enable = "sse4.2")]
pub(super) fn words_sse(mut crc: u64, bytes: &[u8]) -> u32 {
    let mut rest = bytes;
    // Mostly there are one or two words: a loop over chunks would be unrolled.
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        (crc, rest) = (_mm_crc32_u64(crc, u64::from_le_bytes(*word)), after);
    }
    // The upper half is zero.
    rest_sse(crc as u32, rest)
}

/// The sum of fewer than eight bytes more.
#[inline]
#[target_feature(enable = "sse4.2")]
fn rest_sse(mut crc: u32, mut rest: &[u8]) -> u32 {
    if let Some((half, after)) = rest.split_first_chunk::<4>() {
        (crc, rest) = (_mm_crc32_u32(crc, u32::from_le_bytes(*half)), after);
    }
    rest.iter().fold(crc, |crc, byte| _mm_crc32_u8(crc, *byte))
}

/// Bytes of each stream that a turn of the loop sums: more are not unrolled.
const TURN: usize = 192;

/// The sum of three parts of `BYTES` each, one after the other: `ALL` in all.
#[inline]
#[target_feature(enable = "sse4.2,pclmulqdq")]
fn three_streams<const BYTES: usize, const ALL: usize>(crc: u64, part: &[u8; ALL]) -> u64 {
    const { assert!(BYTES.is_multiple_of(TURN) && ALL == 3 * BYTES) };
    let mut crcs = [crc, 0, 0];
    // One index for the three: with an iterator for each a turn takes twice as many
    // instructions besides the sums.
    for turn in 0..BYTES / TURN {
        for word in 0..TURN / 8 {
            let at = turn * TURN + word * 8;
            crcs[0] = _mm_crc32_u64(crcs[0], word_at(part, at));
            crcs[1] = _mm_crc32_u64(crcs[1], word_at(part, BYTES + at));
            crcs[2] = _mm_crc32_u64(crcs[2], word_at(part, 2 * BYTES + at));
        }
    }
    // The sums of the first two as if so many zero bytes had followed as bytes do follow: the
    // instruction multiplies by the 32nd power of x, and a product without carry is one of x more.
    let (two, one) = const { (power_of_x(16 * BYTES - 33), power_of_x(8 * BYTES - 33)) };
    let later = |crc: u64, by: u32| {
        _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(crc as i64), _mm_cvtsi64_si128(by.into()))
    };
    let earlier = _mm_cvtsi128_si64(_mm_xor_si128(later(crcs[0], two), later(crcs[1], one)));
    _mm_crc32_u64(0, earlier as u64) ^ crcs[2]
}

#[inline(always)]
fn word_at<const ALL: usize>(bytes: &[u8; ALL], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}
