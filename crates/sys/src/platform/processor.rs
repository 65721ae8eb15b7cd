//! Instructions that not every processor has: CRC-32C of SSE 4.2, and
//! multiplication of four words at a time by AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64, _mm256_add_epi64, _mm256_hadd_epi32,
    _mm256_loadu_si256, _mm256_mul_epu32, _mm256_mullo_epi32, _mm256_permute2x128_si256,
    _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

/// Bytes of each of three streams that are summed side by side: an instruction
/// takes three cycles, and one can begin in each. Three of the longer make up
/// a block of 4 KiB without its header, nearly.
const LONG: usize = 1344;
const SHORT: usize = 192;

/// CRC-32C of `bytes`, from all ones, not inverted at the end; `None` if the
/// processor has no instruction for it.
pub(crate) fn crc32c(bytes: &[u8]) -> Option<u32> {
    // SAFETY: the processor has the instructions of SSE 4.2.
    std::is_x86_feature_detected!("sse4.2").then(|| unsafe { crc32c_sse(bytes) })
}

/// The same of few bytes, a number that the compiler knows: without any loop.
#[inline]
pub(crate) fn crc32c_of_few<const BYTES: usize>(bytes: &[u8; BYTES]) -> Option<u32> {
    // SAFETY: the processor has the instructions of SSE 4.2.
    std::is_x86_feature_detected!("sse4.2").then(|| unsafe { few_sse(bytes) })
}

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

#[target_feature(enable = "sse4.2")]
fn crc32c_sse(bytes: &[u8]) -> u32 {
    static LATER: [LaterBytes; 2] = [later_bytes(LONG), later_bytes(SHORT)];
    let (mut crc, mut rest) = (0xffff_ffff, bytes);
    while let Some((part, after)) = rest.split_first_chunk::<{ 3 * LONG }>() {
        (crc, rest) = (three_streams::<LONG, { 3 * LONG }>(crc, part, &LATER[0]), after);
    }
    while let Some((part, after)) = rest.split_first_chunk::<{ 3 * SHORT }>() {
        (crc, rest) = (three_streams::<SHORT, { 3 * SHORT }>(crc, part, &LATER[1]), after);
    }
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
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

/// Bytes of each stream that a turn of the loop sums.
const TURN: usize = 192;

/// The sum of three parts of `BYTES` each, one after the other: `ALL` in all.
#[inline]
#[target_feature(enable = "sse4.2")]
fn three_streams<const BYTES: usize, const ALL: usize>(
    crc: u64,
    part: &[u8; ALL],
    later: &LaterBytes,
) -> u64 {
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
    let two = later.shift(crcs[0] as u32) ^ crcs[1] as u32;
    u64::from(later.shift(two)) ^ crcs[2]
}

#[inline(always)]
fn word_at<const ALL: usize>(bytes: &[u8; ALL], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
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
/// processor has no AVX2. Lines that make no [`STRIDE`] are left as they are.
#[inline]
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

/// So many lines are made at a time.
pub(crate) const STRIDE: usize = 8;

/// Numbers, four by four.
pub(crate) struct Powers([[u64; 4]; POWERS / 4]);

impl Powers {
    /// Of 1, `step`, `step` squared ...
    pub(crate) const fn of(step: u64) -> Powers {
        let mut powers = [[0; 4]; POWERS / 4];
        let (mut power, mut at) = (1u64, 0);
        while at < POWERS {
            powers[at / 4][at % 4] = power;
            power = power.wrapping_mul(step);
            at += 1;
        }
        Powers(powers)
    }

    /// `step` to the power of `number`, which is below [`POWERS`].
    #[inline(always)]
    pub(crate) fn nth(&self, number: usize) -> u64 {
        self.0[number / 4][number % 4]
    }
}

#[target_feature(enable = "avx2")]
fn multiples_avx2(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) {
    let low = _mm256_set1_epi64x(seed as i64);
    let swapped = _mm256_set1_epi64x(seed.rotate_left(32) as i64);
    let zero = _mm256_setzero_si256();
    let (strides, _) = lines.as_chunks_mut::<STRIDE>();
    let (pairs, _) = powers.0.as_chunks::<2>();
    for (stride, [first, second]) in strides.iter_mut().zip(pairs) {
        let (first, second) = (load(first), load(second));
        // Modulo 2^64: the product of the low halves, and above it the low half of the sum of
        // the two mixed products; `hadd` makes the sums of all eight numbers at once.
        let mixed = _mm256_hadd_epi32(
            _mm256_mullo_epi32(first, swapped),
            _mm256_mullo_epi32(second, swapped),
        );
        let above = [_mm256_unpacklo_epi32(zero, mixed), _mm256_unpackhi_epi32(zero, mixed)];
        let (fours, _) = stride.as_chunks_mut::<4>();
        for (four, (powers, above)) in fours.iter_mut().zip([first, second].into_iter().zip(above))
        {
            store_multiples(four, _mm256_add_epi64(_mm256_mul_epu32(low, powers), above));
        }
    }
}

/// A line for each of the four numbers in `x`.
#[inline]
#[target_feature(enable = "avx2")]
fn store_multiples(four: &mut [[u8; 32]; 4], x: __m256i) {
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
