//! Instructions that not every processor has: CRC-32C of SSE 4.2, and
//! multiplication of four words at a time by AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64, _mm256_add_epi64, _mm256_loadu_si256,
    _mm256_mul_epu32, _mm256_permute2x128_si256, _mm256_set1_epi64x, _mm256_slli_epi64,
    _mm256_storeu_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
};

/// Bytes of each of three streams that are summed side by side: an instruction
/// takes three cycles, and one can begin in each. Three of the longer make up
/// a block of 4 KiB without its header, nearly.
const LONG: usize = 1344;
const SHORT: usize = 128;

/// CRC-32C of `bytes`, from all ones, not inverted at the end; `None` if the
/// processor has no instruction for it.
pub(crate) fn crc32c(bytes: &[u8]) -> Option<u32> {
    // SAFETY: the processor has the instructions of SSE 4.2.
    std::is_x86_feature_detected!("sse4.2").then(|| unsafe { crc32c_sse(bytes) })
}

#[target_feature(enable = "sse4.2")]
fn crc32c_sse(bytes: &[u8]) -> u32 {
    static LATER: [LaterBytes; 2] = [later_bytes(LONG), later_bytes(SHORT)];
    let (mut crc, mut rest) = (0xffff_ffff, bytes);
    while let Some((part, after)) = rest.split_at_checked(3 * LONG) {
        (crc, rest) = (three_streams::<LONG>(crc, part, &LATER[0]), after);
    }
    while let Some((part, after)) = rest.split_at_checked(3 * SHORT) {
        (crc, rest) = (three_streams::<SHORT>(crc, part, &LATER[1]), after);
    }
    let (words, mut rest) = rest.as_chunks::<8>();
    for word in words {
        crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
    }
    // The upper half is zero.
    let mut crc = crc as u32;
    if let Some((half, after)) = rest.split_first_chunk::<4>() {
        (crc, rest) = (_mm_crc32_u32(crc, u32::from_le_bytes(*half)), after);
    }
    rest.iter().fold(crc, |crc, byte| _mm_crc32_u8(crc, *byte))
}

/// The sum of three parts of `BYTES` each, one after the other.
#[inline]
#[target_feature(enable = "sse4.2")]
fn three_streams<const BYTES: usize>(crc: u64, part: &[u8], later: &LaterBytes) -> u64 {
    const { assert!(BYTES.is_multiple_of(64)) };
    let (first, rest) = part.split_at(BYTES);
    let (second, third) = rest.split_at(BYTES);
    let (first, second) = (first.as_chunks::<64>().0, second.as_chunks::<64>().0);
    let third = third.as_chunks::<64>().0;
    let mut crcs = [crc, 0, 0];
    for ((first, second), third) in first.iter().zip(second).zip(third) {
        for at in 0..8 {
            crcs[0] = _mm_crc32_u64(crcs[0], word(first, at));
            crcs[1] = _mm_crc32_u64(crcs[1], word(second, at));
            crcs[2] = _mm_crc32_u64(crcs[2], word(third, at));
        }
    }
    let two = later.shift(crcs[0] as u32) ^ crcs[1] as u32;
    u64::from(later.shift(two)) ^ crcs[2]
}

#[inline(always)]
fn word(line: &[u8; 64], at: usize) -> u64 {
    u64::from_le_bytes(line.as_chunks::<8>().0[at])
}

/// What becomes of a sum when so many zero bytes follow: it is the exclusive
/// or of what becomes of its four bytes.
struct LaterBytes([[u32; 256]; 4]);

impl LaterBytes {
    #[inline(always)]
    fn shift(&self, crc: u32) -> u32 {
        let [a, b, c, d] = crc.to_le_bytes();
        let table = &self.0;
        table[0][a as usize] ^ table[1][b as usize] ^ table[2][c as usize] ^ table[3][d as usize]
    }
}

/// The polynomial of CRC-32C (Castagnoli), bits reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The table for `bytes` zero bytes: a linear map of 32 bits, squared and
/// multiplied.
const fn later_bytes(bytes: usize) -> LaterBytes {
    let mut map = [0u32; 32];
    let mut bit = 0;
    while bit < 32 {
        map[bit] = 1 << bit;
        bit += 1;
    }
    // One zero bit.
    let mut square = [0u32; 32];
    square[0] = POLYNOMIAL;
    let mut bit = 1;
    while bit < 32 {
        square[bit] = 1 << (bit - 1);
        bit += 1;
    }
    let mut bits = bytes * 8;
    while bits > 0 {
        if bits & 1 == 1 {
            map = composed(&square, &map);
        }
        square = composed(&square, &square);
        bits >>= 1;
    }
    let mut tables = [[0u32; 256]; 4];
    let mut at = 0;
    while at < 4 * 256 {
        tables[at / 256][at % 256] = image(&map, (at as u32 % 256) << (8 * (at / 256)));
        at += 1;
    }
    LaterBytes(tables)
}

const fn image(map: &[u32; 32], of: u32) -> u32 {
    let (mut sum, mut bit) = (0, 0);
    while bit < 32 {
        if of >> bit & 1 == 1 {
            sum ^= map[bit];
        }
        bit += 1;
    }
    sum
}

const fn composed(outer: &[u32; 32], inner: &[u32; 32]) -> [u32; 32] {
    let mut both = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        both[bit] = image(outer, inner[bit]);
        bit += 1;
    }
    both
}

/// Lines of 32 bytes: for each `x` of `seed * powers`, `x`, `2x`, `3x` and
/// `5x` modulo 2^64, little-endian. Whether it was done: it is not where the
/// processor has no AVX2.
pub(crate) fn multiples(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) -> bool {
    let can = std::is_x86_feature_detected!("avx2");
    if can {
        // SAFETY: the processor has the instructions of AVX2.
        unsafe { multiples_avx2(lines, seed, powers) };
    }
    can
}

/// How many powers a table holds.
pub(crate) const POWERS: usize = 128;

/// Numbers, and their upper halves, four by four.
pub(crate) struct Powers {
    whole: [[u64; 4]; POWERS / 4],
    upper: [[u64; 4]; POWERS / 4],
}

impl Powers {
    /// Of 1, `step`, `step` squared ...
    pub(crate) const fn of(step: u64) -> Powers {
        let (whole, upper) = ([[0; 4]; POWERS / 4], [[0; 4]; POWERS / 4]);
        let mut powers = Powers { whole, upper };
        let (mut power, mut at) = (1u64, 0);
        while at < POWERS {
            powers.whole[at / 4][at % 4] = power;
            powers.upper[at / 4][at % 4] = power >> 32;
            power = power.wrapping_mul(step);
            at += 1;
        }
        powers
    }
}

#[target_feature(enable = "avx2")]
fn multiples_avx2(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) {
    let low = _mm256_set1_epi64x(seed as i64);
    let high = _mm256_set1_epi64x((seed >> 32) as i64);
    let (fours, _) = lines.as_chunks_mut::<4>();
    for (four, (whole, upper)) in fours.iter_mut().zip(powers.whole.iter().zip(&powers.upper)) {
        let (whole, upper) = (load(whole), load(upper));
        // Modulo 2^64: the low halves' product, and the lower half of the mixed ones above it.
        let mixed = _mm256_add_epi64(_mm256_mul_epu32(high, whole), _mm256_mul_epu32(low, upper));
        let x = _mm256_add_epi64(_mm256_mul_epu32(low, whole), _mm256_slli_epi64::<32>(mixed));
        let x2 = _mm256_add_epi64(x, x);
        let x3 = _mm256_add_epi64(x2, x);
        let x5 = _mm256_add_epi64(x3, x2);
        let (even, odd) = (_mm256_unpacklo_epi64(x, x2), _mm256_unpackhi_epi64(x, x2));
        let (even2, odd2) = (_mm256_unpacklo_epi64(x3, x5), _mm256_unpackhi_epi64(x3, x5));
        store(&mut four[0], _mm256_permute2x128_si256::<0x20>(even, even2));
        store(&mut four[1], _mm256_permute2x128_si256::<0x20>(odd, odd2));
        store(&mut four[2], _mm256_permute2x128_si256::<0x31>(even, even2));
        store(&mut four[3], _mm256_permute2x128_si256::<0x31>(odd, odd2));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u64; 4]) -> __m256i {
    // SAFETY: 32 bytes that may be read, at any alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(line: &mut [u8; 32], words: __m256i) {
    // SAFETY: 32 bytes that may be written, at any alignment.
    unsafe { _mm256_storeu_si256(line.as_mut_ptr().cast(), words) }
}
