//! Multiplication of four words of 64 bits at a time by AVX2, which has none
//! of more than 32 bits.
#![allow(unsafe_code)]

use super::instructions::Instructions;
use super::{POWERS, STRIDE};
use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_hadd_epi32, _mm256_loadu_si256, _mm256_mul_epu32,
    _mm256_mullo_epi32, _mm256_permute2x128_si256, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64,
};

/// The powers of a number, four by four.
pub(crate) struct Powers {
    /// 1, `step`, `step` squared ...
    pub(super) powers: [[u64; 4]; POWERS / 4],
    /// The same once more: where each is an operand from memory, neither takes an
    /// instruction to be loaded.
    again: [[u64; 4]; POWERS / 4],
    /// The first lines themselves for a seed of 1, two by two.
    pub(super) lines: [[u64; 8]; STRIDE / 2],
}

impl Powers {
    /// Of `step`.
    pub(crate) const fn of(step: u64) -> Powers {
        let mut powers = [[0; 4]; POWERS / 4];
        let mut lines = [[0; 8]; STRIDE / 2];
        let (mut power, mut at) = (1u64, 0);
        while at < POWERS {
            powers[at / 4][at % 4] = power;
            if at < STRIDE {
                let [line, first] = [at / 2, at % 2 * 4];
                lines[line][first] = power;
                lines[line][first + 1] = power.wrapping_mul(2);
                lines[line][first + 2] = power.wrapping_mul(3);
                lines[line][first + 3] = power.wrapping_mul(5);
            }
            power = power.wrapping_mul(step);
            at += 1;
        }
        Powers { powers, again: powers, lines }
    }

    /// `step` to the power of `number`, which is below [`POWERS`].
    #[inline(always)]
    pub(crate) fn nth(&self, number: usize) -> u64 {
        self.powers[number / 4][number % 4]
    }
}

/// See [`super::multiples`].
#[inline]
pub(super) fn fill(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) -> bool {
    let can = Instructions::AVX2.are_here();
    if can {
        // SAFETY: the processor has the instructions of AVX2.
        unsafe { fill_avx2(lines, seed, powers) };
    }
    can
}

/// Strides of a turn of the loop.
const TURN: usize = 4;

#[inline]
#[target_feature(enable = "avx2")]
fn fill_avx2(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) {
    let seed = Seed {
        low: _mm256_set1_epi64x(seed as i64),
        swapped: _mm256_set1_epi64x(seed.rotate_left(32) as i64),
    };
    let (strides, _) = lines.as_chunks_mut::<STRIDE>();
    let (turns, rest) = strides.as_chunks_mut::<TURN>();
    let (pairs, again) = (powers.powers.as_chunks::<2>().0, powers.again.as_chunks::<2>().0);
    let done = turns.len() * TURN;
    let powers_of_turns = pairs.as_chunks::<TURN>().0.iter().zip(again.as_chunks::<TURN>().0);
    for (turn, (pairs, again)) in turns.iter_mut().zip(powers_of_turns) {
        // Not a loop, which would not be unrolled.
        fill_stride(&mut turn[0], &seed, &pairs[0], &again[0]);
        fill_stride(&mut turn[1], &seed, &pairs[1], &again[1]);
        fill_stride(&mut turn[2], &seed, &pairs[2], &again[2]);
        fill_stride(&mut turn[3], &seed, &pairs[3], &again[3]);
    }
    let powers_of_rest = pairs.iter().zip(again).skip(done);
    for (stride, (pair, again)) in rest.iter_mut().zip(powers_of_rest) {
        fill_stride(stride, &seed, pair, again);
    }
}

/// The seed in each of four words, and with its halves exchanged.
struct Seed {
    low: __m256i,
    swapped: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn fill_stride(
    stride: &mut [[u8; 32]; STRIDE],
    seed: &Seed,
    [first, second]: &[[u64; 4]; 2],
    [first_again, second_again]: &[[u64; 4]; 2],
) {
    // Modulo 2^64: the product of the low halves, and above it the low half of the sum of
    // the two mixed products; `hadd` makes the sums of all eight numbers at once.
    let mixed = _mm256_hadd_epi32(
        _mm256_mullo_epi32(load(first), seed.swapped),
        _mm256_mullo_epi32(load(second), seed.swapped),
    );
    let zero = _mm256_setzero_si256();
    let above = [_mm256_unpacklo_epi32(zero, mixed), _mm256_unpackhi_epi32(zero, mixed)];
    let below = [
        _mm256_mul_epu32(seed.low, load(first_again)),
        _mm256_mul_epu32(seed.low, load(second_again)),
    ];
    let (fours, _) = stride.as_chunks_mut::<4>();
    store_multiples(&mut fours[0], _mm256_add_epi64(below[0], above[0]));
    store_multiples(&mut fours[1], _mm256_add_epi64(below[1], above[1]));
}

/// A line for each of the four numbers in `x`.
#[inline]
#[target_feature(enable = "avx2")]
fn store_multiples(four: &mut [[u8; 32]; 4], x: __m256i) {
    let x2 = _mm256_add_epi64(x, x);
    let x3 = _mm256_add_epi64(x2, x);
    let x5 = sum_as_written(x3, x2);
    let (even, odd) = (_mm256_unpacklo_epi64(x, x2), _mm256_unpackhi_epi64(x, x2));
    let (even2, odd2) = (_mm256_unpacklo_epi64(x3, x5), _mm256_unpackhi_epi64(x3, x5));
    store(&mut four[0], _mm256_permute2x128_si256::<0x20>(even, even2));
    store(&mut four[1], _mm256_permute2x128_si256::<0x20>(odd, odd2));
    store(&mut four[2], _mm256_permute2x128_si256::<0x31>(even, even2));
    store(&mut four[3], _mm256_permute2x128_si256::<0x31>(odd, odd2));
}

/// `a` + `b`. The compiler would take 2x + 3x for 4x + x, which is an instruction more.
#[inline]
#[target_feature(enable = "avx2")]
fn sum_as_written(a: __m256i, b: __m256i) -> __m256i {
    let sum;
    // SAFETY: an addition of registers that changes nothing else, which AVX2 has.
    unsafe {
        asm!(
            "vpaddq {sum}, {a}, {b}",
            sum = lateout(ymm_reg) sum,
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
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
