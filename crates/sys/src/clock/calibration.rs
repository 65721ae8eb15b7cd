//! How long a tick is: the scale of ticks to nanoseconds, and how it is found.

use std::sync::OnceLock;
use std::time::Duration;

use super::{ClockError, counter};
use crate::platform::monotonic_ns;

/// Between the two brackets of a calibration, in nanoseconds. A bracket is
/// about 50 ns wide and its middle is taken, so the error is 50 / 4e6, which
/// is about 12 millionths, as much as a cheap crystal is off.
const SPAN_NS: u64 = 4_000_000;

/// Between the brackets that only check a frequency the processor states.
const CHECK_SPAN_NS: u64 = 400_000;

/// How far a check may be from the stated frequency, in millionths: what two
/// brackets this close can tell, and less than any wrong crystal is off.
const CHECK_PPM: u64 = 400;

/// How often a bracket is tried; the tightest counts. An interrupt or a
/// preemption disturbs a few of them, not all.
const TRIES: u32 = 64;

/// Nanoseconds per tick, as a fraction of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TickScale {
    multiplier: u64,
}

impl TickScale {
    const SHIFT: u32 = 32;

    /// A tick is a nanosecond.
    pub(super) const NANOSECONDS: TickScale = TickScale { multiplier: 1 << TickScale::SHIFT };

    /// The scale on which `ticks` last `ns` nanoseconds; `None` when either is
    /// zero, or a tick would last for seconds.
    pub(super) fn from_measure(ticks: u64, ns: u64) -> Option<TickScale> {
        if ticks == 0 {
            return None;
        }
        let (ticks, ns) = (u128::from(ticks), u128::from(ns));
        let rounded = ((ns << TickScale::SHIFT) + ticks / 2) / ticks;
        match u64::try_from(rounded) {
            Ok(multiplier) if multiplier > 0 => Some(TickScale { multiplier }),
            _ => None,
        }
    }

    /// Nanoseconds in `ticks`: one multiplication and one shift.
    #[inline(always)]
    pub(super) fn ns(self, ticks: u64) -> u64 {
        // Keeps 64 bits: 290 years and more for ticks of up to a nanosecond.
        ((u128::from(ticks) * u128::from(self.multiplier)) >> TickScale::SHIFT) as u64
    }

    /// Nanoseconds in each of `ticks`, if no such number has more than 24 bits: whether
    /// that is so. A loop that the compiler makes vectors of.
    #[inline]
    pub(super) fn brief_ns(self, ticks: &[u64], ns: &mut [u32]) -> bool {
        let Ok(multiplier) = u32::try_from(self.multiplier) else { return false };
        let any = ticks.iter().fold(0, |any, ticks| any | ticks);
        if any > u32::MAX.into() || any * u64::from(multiplier) >= 1 << (TickScale::SHIFT + 24) {
            return false;
        }
        // That it is of 32 bits is forgotten otherwise, and the product is of 64 bits by 64.
        let multiplier = std::hint::black_box(multiplier);
        for (ns, ticks) in ns.iter_mut().zip(ticks) {
            let product = u64::from(*ticks as u32) * u64::from(multiplier);
            *ns = (product >> TickScale::SHIFT) as u32;
        }
        true
    }

    /// The fewest ticks that make `ns`, or `u64::MAX`.
    pub(super) fn ticks(self, ns: u64) -> u64 {
        let ticks = (u128::from(ns) << TickScale::SHIFT).div_ceil(u128::from(self.multiplier));
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// A counter's value and the clock's, at about the same moment.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    ticks: u64,
    ns: u64,
}

/// The input of a calibration: this machine's, or a made-up one in tests.
trait Instruments {
    fn ticks(&mut self) -> u64;
    fn clock_ns(&mut self) -> u64;
    fn sleep_ns(&mut self, ns: u64);
}

/// The counter's scale, found the first time it is requested.
pub(super) fn of_this_machine() -> Result<TickScale, ClockError> {
    static SCALE: OnceLock<Result<TickScale, ClockError>> = OnceLock::new();
    if !counter::EXISTS {
        return Err(ClockError::NoCounter);
    }
    *SCALE.get_or_init(|| {
        calibrate(&mut RealInstruments, counter::frequency()).ok_or(ClockError::CounterStands)
    })
}

/// The scale of the counter that `instruments` show. `stated_hz` is believed
/// if a quick measurement does not contradict it.
fn calibrate(instruments: &mut impl Instruments, stated_hz: Option<u64>) -> Option<TickScale> {
    let start = bracket(instruments);
    if let Some(stated) = stated_hz.and_then(|hz| TickScale::from_measure(hz, 1_000_000_000)) {
        instruments.sleep_ns(CHECK_SPAN_NS);
        let measured = between(start, bracket(instruments))?;
        let apart = stated.multiplier.abs_diff(measured.multiplier);
        if u128::from(apart) * 1_000_000 <= u128::from(stated.multiplier) * u128::from(CHECK_PPM) {
            return Some(stated);
        }
    }
    instruments.sleep_ns(SPAN_NS);
    between(start, bracket(instruments))
}

fn between(start: Bracket, end: Bracket) -> Option<TickScale> {
    TickScale::from_measure(end.ticks.checked_sub(start.ticks)?, end.ns.checked_sub(start.ns)?)
}

/// The tightest of several brackets: the counter read before and after the
/// clock, and the middle taken.
fn bracket(instruments: &mut impl Instruments) -> Bracket {
    let mut best = Bracket { ticks: 0, ns: 0 };
    let mut tightest = u64::MAX;
    for _ in 0..TRIES {
        let before = instruments.ticks();
        let ns = instruments.clock_ns();
        let width = instruments.ticks().saturating_sub(before);
        if width < tightest {
            tightest = width;
            best = Bracket { ticks: before + width / 2, ns };
        }
    }
    best
}

struct RealInstruments;

impl Instruments for RealInstruments {
    fn ticks(&mut self) -> u64 {
        counter::read()
    }

    fn clock_ns(&mut self) -> u64 {
        monotonic_ns()
    }

    fn sleep_ns(&mut self, ns: u64) {
        std::thread::sleep(Duration::from_nanos(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A made-up machine: a counter of `hz`, readings that take a while, and
    /// interruptions in one reading of `interrupted_each`.
    #[derive(Clone, Debug)]
    struct MadeUp {
        hz: u64,
        now_ps: u128,
        reading_ps: u64,
        interrupted_each: u64,
        readings: u64,
    }

    impl MadeUp {
        fn pass(&mut self) {
            self.readings += 1;
            self.now_ps += u128::from(self.reading_ps);
            if self.readings.is_multiple_of(self.interrupted_each) {
                self.now_ps += 30_000_000; // An interrupt: 30 us.
            }
        }
    }

    impl Instruments for MadeUp {
        fn ticks(&mut self) -> u64 {
            self.pass();
            (self.now_ps * u128::from(self.hz) / 1_000_000_000_000) as u64
        }

        fn clock_ns(&mut self) -> u64 {
            self.pass();
            (self.now_ps / 1000) as u64
        }

        fn sleep_ns(&mut self, ns: u64) {
            self.now_ps += u128::from(ns) * 1000 + 55_000_000; // Sleeps end late.
        }
    }

    fn machines() -> impl Strategy<Value = MadeUp> {
        (400_000_000u64..6_000_000_000, 0u64..1 << 50, 5_000u64..60_000, 5u64..50).prop_map(
            |(hz, start_ns, reading_ps, interrupted_each)| MadeUp {
                hz,
                now_ps: u128::from(start_ns) * 1000,
                reading_ps,
                interrupted_each,
                readings: 0,
            },
        )
    }

    fn ppm_apart(scale: TickScale, hz: u64) -> f64 {
        let truth = 1e9 / hz as f64 * TickScale::NANOSECONDS.multiplier as f64;
        (scale.multiplier as f64 / truth - 1.0).abs() * 1e6
    }

    proptest! {
        #[test]
        fn a_calibration_is_within_twenty_millionths(mut machine in machines()) {
            let hz = machine.hz;
            let scale = calibrate(&mut machine, None).unwrap();
            prop_assert!(ppm_apart(scale, hz) < 20.0, "{}", ppm_apart(scale, hz));
        }

        #[test]
        fn a_true_statement_is_taken_as_it_is(mut machine in machines()) {
            let hz = machine.hz;
            let scale = calibrate(&mut machine, Some(hz)).unwrap();
            prop_assert!(ppm_apart(scale, hz) < 0.01);
        }

        #[test]
        fn a_false_statement_is_measured_over(mut machine in machines(), off in 2u64..1000) {
            let hz = machine.hz;
            let scale = calibrate(&mut machine, Some(hz + hz * off / 1000)).unwrap();
            prop_assert!(ppm_apart(scale, hz) < 20.0);
        }

        #[test]
        fn nanoseconds_never_decrease_with_ticks(
            hz in 400_000_000u64..6_000_000_000, ticks in 0u64..1 << 60, more in 0u64..1 << 40,
        ) {
            let scale = TickScale::from_measure(hz, 1_000_000_000).unwrap();
            prop_assert!(scale.ns(ticks) <= scale.ns(ticks + more));
        }

        #[test]
        fn the_ticks_for_a_span_are_the_fewest_that_last_it(
            hz in 1_000_000u64..6_000_000_000, ns in 1u64..1 << 60,
        ) {
            let scale = TickScale::from_measure(hz, 1_000_000_000).unwrap();
            let ticks = scale.ticks(ns);
            prop_assert!(scale.ns(ticks) >= ns);
            prop_assert!(scale.ns(ticks - 1) < ns);
        }
    }

    #[test]
    fn many_short_spans_last_as_long_as_each_of_them() {
        let scale = TickScale::from_measure(2_904_003_817, 1_000_000_000).unwrap();
        let mut ns = [0; 64];
        let ticks: Vec<u64> = (0..64).map(|n| n * n * n * 91).collect();
        assert!(scale.brief_ns(&ticks, &mut ns));
        assert_eq!(
            ns.map(u64::from).to_vec(),
            ticks.iter().map(|&t| scale.ns(t)).collect::<Vec<_>>()
        );
        for long in [scale.ticks(1 << 25), 1 << 32, u64::MAX] {
            assert!(!scale.brief_ns(&[1, long, 2], &mut ns), "{long}");
        }
        assert!(
            !TickScale::from_measure(1_000_000, 1_000_000_000).unwrap().brief_ns(&[1], &mut ns)
        );
    }

    #[test]
    fn a_counter_that_stands_has_no_scale() {
        assert_eq!(TickScale::from_measure(0, 4_000_000), None);
        assert_eq!(TickScale::from_measure(1000, 0), None);
    }

    #[test]
    fn a_tick_of_a_nanosecond_converts_exactly() {
        let scale = TickScale::NANOSECONDS;
        for ns in [0, 1, 999, u64::MAX] {
            assert_eq!(scale.ns(ns), ns);
            assert_eq!(scale.ticks(ns), ns);
        }
    }

    #[test]
    fn more_ticks_than_fit_saturate() {
        let fast = TickScale::from_measure(6_000_000_000, 1_000_000_000).unwrap();
        assert_eq!(fast.ticks(u64::MAX), u64::MAX);
    }

    #[test]
    fn this_machine_is_calibrated_once() {
        assert_eq!(of_this_machine(), of_this_machine());
    }
}
