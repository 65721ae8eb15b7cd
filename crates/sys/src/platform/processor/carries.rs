//! Generators of random numbers side by side: multiplication with carry of four words of 32 bits at
//! a time by AVX2, of eight by AVX-512.
#![allow(unsafe_code)]

use super::instructions::Instructions;
use crate::processor::Carries;
use std::arch::x86_64::{
    _mm256_add_epi64, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_set1_epi64x, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256, _mm512_add_epi64, _mm512_loadu_si512,
    _mm512_mul_epu32, _mm512_set1_epi64, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512,
    _mm512_xor_si512,
};

/// The states of all generators, and the bytes of a step.
type States = [u64; Carries::COUNT];
type Step = [u8; Carries::STEP];

/// Vectors of all generators.
const NARROW: usize = Carries::COUNT / 4;
const WIDE: usize = Carries::COUNT / 8;

/// See [`Carries::fill`]. Whether it was done: it is not where the processor has neither.
#[inline]
pub(crate) fn carries(states: &mut States, steps: &mut [Step]) -> bool {
    wide(states, steps) || narrow(states, steps)
}

#[inline]
pub(super) fn wide(states: &mut States, steps: &mut [Step]) -> bool {
    let can = Instructions::AVX512F.are_here();
    if can {
        // SAFETY: the processor has these instructions of AVX-512.
        unsafe { fill_avx512(states, steps) };
    }
    can
}

#[inline]
pub(super) fn narrow(states: &mut States, steps: &mut [Step]) -> bool {
    let can = Instructions::AVX2.are_here();
    if can {
        // SAFETY: the processor has the instructions of AVX2.
        unsafe { fill_avx2(states, steps) };
    }
    can
}

#[inline]
#[target_feature(enable = "avx512f")]
fn fill_avx512(states: &mut States, steps: &mut [Step]) {
    let multiplier = _mm512_set1_epi64(Carries::MULTIPLIER as i64);
    let (states, _) = states.as_chunks_mut::<8>();
    // SAFETY: 64 bytes each that may be read, at any alignment.
    let mut all: [_; WIDE] =
        std::array::from_fn(|at| unsafe { _mm512_loadu_si512(states[at].as_ptr().cast()) });
    for step in steps {
        let (out, _) = step.as_chunks_mut::<64>();
        for (at, out) in out.iter_mut().enumerate() {
            let mixed = _mm512_slli_epi64::<32>(all[(at + 1) % WIDE]);
            let mixed = _mm512_xor_si512(all[at], mixed);
            // SAFETY: 64 bytes that may be written, at any alignment.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), mixed) };
        }
        for state in &mut all {
            let product = _mm512_mul_epu32(*state, multiplier);
            *state = _mm512_add_epi64(product, _mm512_srli_epi64::<32>(*state));
        }
    }
    for (state, out) in all.iter().zip(states) {
        // SAFETY: 64 bytes that may be written, at any alignment.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), *state) };
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn fill_avx2(states: &mut States, steps: &mut [Step]) {
    let multiplier = _mm256_set1_epi64x(Carries::MULTIPLIER as i64);
    let (states, _) = states.as_chunks_mut::<4>();
    // SAFETY: 32 bytes each that may be read, at any alignment.
    let mut all: [_; NARROW] =
        std::array::from_fn(|at| unsafe { _mm256_loadu_si256(states[at].as_ptr().cast()) });
    for step in steps {
        let (out, _) = step.as_chunks_mut::<32>();
        for (at, out) in out.iter_mut().enumerate() {
            let mixed = _mm256_slli_epi64::<32>(all[(at + 2) % NARROW]);
            let mixed = _mm256_xor_si256(all[at], mixed);
            // SAFETY: 32 bytes that may be written, at any alignment.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), mixed) };
        }
        for state in &mut all {
            let product = _mm256_mul_epu32(*state, multiplier);
            *state = _mm256_add_epi64(product, _mm256_srli_epi64::<32>(*state));
        }
    }
    for (state, out) in all.iter().zip(states) {
        // SAFETY: 32 bytes that may be written, at any alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), *state) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What the processor of the test has no instructions for is left out.
        #[test]
        fn both_widths_give_the_same(states: States, steps in 0usize..20) {
            let states = states.map(|state| (state | 1) & (u64::MAX >> 1));
            let (mut of_narrow, mut of_wide) = (states, states);
            let (mut first, mut second) = (vec![[0; Carries::STEP]; steps], vec![[1; Carries::STEP]; steps]);
            if narrow(&mut of_narrow, &mut first) && wide(&mut of_wide, &mut second) {
                prop_assert_eq!(first, second);
                prop_assert_eq!(of_narrow, of_wide);
            }
        }
    }
}
