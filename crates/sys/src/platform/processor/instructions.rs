//! Which instructions the processor has, looked up once: what is asked for each block is one word.

use std::sync::atomic::{AtomicU32, Ordering};

/// Sets of instructions.
#[derive(Clone, Copy)]
pub(super) struct Instructions(u32);

/// Those that the processor has; zero before anybody asked.
static HERE: AtomicU32 = AtomicU32::new(0);

/// Somebody asked.
const KNOWN: u32 = 1;

impl Instructions {
    pub(super) const SSSE3: Instructions = Instructions(1 << 1);
    pub(super) const SSE42: Instructions = Instructions(1 << 2);
    pub(super) const PCLMULQDQ: Instructions = Instructions(1 << 3);
    pub(super) const AVX2: Instructions = Instructions(1 << 4);
    pub(super) const AVX512F: Instructions = Instructions(1 << 5);
    pub(super) const AVX512DQ: Instructions = Instructions(1 << 6);
    pub(super) const VPCLMULQDQ: Instructions = Instructions(1 << 7);

    /// These and the others.
    pub(super) const fn and(self, others: Instructions) -> Instructions {
        Instructions(self.0 | others.0)
    }

    /// Whether the processor has all of these.
    #[inline(always)]
    pub(super) fn are_here(self) -> bool {
        let here = HERE.load(Ordering::Relaxed);
        here & self.0 == self.0 || here == 0 && look() & self.0 == self.0
    }
}

#[cold]
#[inline(never)]
fn look() -> u32 {
    let found = [
        (Instructions::SSSE3, std::is_x86_feature_detected!("ssse3")),
        (Instructions::SSE42, std::is_x86_feature_detected!("sse4.2")),
        (Instructions::PCLMULQDQ, std::is_x86_feature_detected!("pclmulqdq")),
        (Instructions::AVX2, std::is_x86_feature_detected!("avx2")),
        (Instructions::AVX512F, std::is_x86_feature_detected!("avx512f")),
        (Instructions::AVX512DQ, std::is_x86_feature_detected!("avx512dq")),
        (Instructions::VPCLMULQDQ, std::is_x86_feature_detected!("vpclmulqdq")),
    ];
    let here = found.iter().filter(|(_, found)| *found).fold(KNOWN, |all, (one, _)| all | one.0);
    HERE.store(here, Ordering::Relaxed);
    here
}
