//! The processor's own counter: reading it, and whether it can be trusted.
#![allow(unsafe_code)]

#[cfg(not(target_arch = "x86_64"))]
pub(super) use none::{frequency, is_steady, read};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{frequency, is_steady, read};

/// The processor has a counter that a program may read.
pub(super) const EXISTS: bool = cfg!(target_arch = "x86_64");

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use core::arch::x86_64::{__cpuid, _rdtsc, CpuidResult};

    /// Ticks since the machine started, more or less.
    #[inline(always)]
    pub(in super::super) fn read() -> u64 {
        // SAFETY: every x86_64 processor has RDTSC, and it touches no memory.
        // (Only prctl(PR_SET_TSC) could make it trap, which nothing here does.)
        unsafe { _rdtsc() }
    }

    /// Whether the counter runs at one rate in every power state ("invariant",
    /// which the kernel shows as `constant_tsc nonstop_tsc`), and the kernel
    /// has not found it unfit.
    pub(in super::super) fn is_steady() -> bool {
        let invariant = leaf(0x8000_0007).is_some_and(|leaf| leaf.edx & 1 << 8 != 0);
        invariant && crate::platform::clock_counter_is_trusted()
    }

    /// Ticks a second as the processor states it, where that is exact.
    pub(in super::super) fn frequency() -> Option<u64> {
        let in_virtual_machine = leaf(1).is_some_and(|leaf| leaf.ecx & 1 << 31 != 0);
        leaf(0x15).and_then(|leaf| stated(leaf.eax, leaf.ebx, leaf.ecx, in_virtual_machine))
    }

    /// CPUID leaf 15h: the counter runs at `crystal_hz * numerator /
    /// denominator`. A virtual machine may show its host's leaf while its
    /// counter is scaled, so there it says nothing.
    pub(super) fn stated(
        denominator: u32,
        numerator: u32,
        crystal_hz: u32,
        in_virtual_machine: bool,
    ) -> Option<u64> {
        if in_virtual_machine || denominator == 0 || numerator == 0 || crystal_hz == 0 {
            return None;
        }
        Some(u64::from(crystal_hz) * u64::from(numerator) / u64::from(denominator))
    }

    fn leaf(number: u32) -> Option<CpuidResult> {
        let highest = cpuid(number & 0x8000_0000).eax;
        (number <= highest).then(|| cpuid(number))
    }

    #[allow(unused_unsafe)] // Newer compilers know that this is safe.
    fn cpuid(number: u32) -> CpuidResult {
        // SAFETY: every x86_64 processor has CPUID; it only fills registers.
        unsafe { __cpuid(number) }
    }
}

/// Other processors: the kernel's clock is used. (On aarch64 its counter ticks
/// at 24 MHz to 1 GHz, too coarsely on many to gain anything.)
#[cfg(not(target_arch = "x86_64"))]
mod none {
    #[inline(always)]
    pub(in super::super) fn read() -> u64 {
        0
    }

    pub(in super::super) fn is_steady() -> bool {
        false
    }

    pub(in super::super) fn frequency() -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::x86_64::stated;

    #[test]
    fn the_stated_frequency_is_crystal_times_ratio() {
        // A Skylake client: 24 MHz, 216 / 2.
        assert_eq!(stated(2, 216, 24_000_000, false), Some(2_592_000_000));
    }

    #[test]
    fn an_incomplete_statement_or_a_virtual_machine_states_nothing() {
        assert_eq!(stated(0, 216, 24_000_000, false), None);
        assert_eq!(stated(2, 0, 24_000_000, false), None);
        assert_eq!(stated(2, 216, 0, false), None);
        assert_eq!(stated(2, 216, 24_000_000, true), None);
    }
}
