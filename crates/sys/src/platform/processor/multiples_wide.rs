//! Multiplication of eight words of 64 bits at a time, which AVX-512 has an
//! instruction for: two lines at once.
#![allow(unsafe_code)]

use super::instructions::Instructions;
use super::{Powers, STRIDE};
use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mullo_epi64, _mm512_set1_epi64, _mm512_storeu_si512,
};

/// See [`super::multiples`].
#[inline]
pub(super) fn fill(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) -> bool {
    let can = const { Instructions::AVX512F.and(Instructions::AVX512DQ) }.are_here();
    if can {
        // SAFETY: the processor has these instructions of AVX-512.
        unsafe { fill_avx512(lines, seed, powers) };
    }
    can
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_avx512(lines: &mut [[u8; 32]], seed: u64, powers: &Powers) {
    let seed = _mm512_set1_epi64(seed as i64);
    let mut pairs = [0, 1, 2, 3].map(|pair| _mm512_mullo_epi64(seed, load(&powers.lines[pair])));
    // From a line to that of the next stride.
    let step = _mm512_set1_epi64(powers.nth(STRIDE) as i64);
    let (strides, _) = lines.as_chunks_mut::<STRIDE>();
    for stride in strides {
        let (out, _) = stride.as_chunks_mut::<2>();
        for (out, pair) in out.iter_mut().zip(&mut pairs) {
            store(out, *pair);
            *pair = _mm512_mullo_epi64(*pair, step);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(lines: &mut [[u8; 32]; 2], words: __m512i) {
    // SAFETY: 64 bytes that may be written, at any alignment.
    unsafe { _mm512_storeu_si512(lines.as_mut_ptr().cast(), words) }
}
