//! The highest rate, or number of jobs, that keeps a promise (a service level
//! objective).
//!
//! Grow until it is broken, halve the gap, then confirm with fresh runs. A
//! search without the last step ends where a run keeps the promise about every
//! second time: its answer is a coin flip.

/// Which part of the search a probe belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SloPhase {
    /// Doubling the rate; or lowering it while even the first is too high.
    Grow,
    /// Between a rate that passed and one that failed.
    Halve,
    /// A fresh run at the answer.
    Confirm,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SloStep {
    /// Run at this rate and record whether it kept the promise.
    Probe {
        /// The rate.
        rate: f64,
        /// What for.
        phase: SloPhase,
    },
    /// The search has ended.
    Done(SloOutcome),
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SloOutcome {
    /// All confirming runs at this rate kept the promise.
    Met {
        /// The rate.
        rate: f64,
        /// The lowest rate that failed; `None` if none did, up to the highest
        /// that was allowed.
        fails_at: Option<f64>,
    },
    /// Even this rate, the lowest tried, does not keep it.
    Impossible {
        /// The rate.
        rate: f64,
    },
}

/// A search under way: a state without any I/O.
#[derive(Clone, Debug)]
pub struct SloSearch {
    /// The lowest and the highest rate that may be tried.
    range: (f64, f64),
    confirm: u32,
    /// Only whole numbers are tried.
    is_whole: bool,
    rate: f64,
    passed: Option<f64>,
    failed: Option<f64>,
    /// How often a confirming run has failed.
    steps_down: u32,
    state: SloState,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SloState {
    Grow,
    Halve,
    Confirm { good: u32 },
    Done(SloOutcome),
}

/// The gap between pass and fail that ends the halving; the step down after a
/// confirming run that failed.
const STEP: f64 = 1.03;
/// After so many steps down each is twice as long as the one before: where runs
/// scatter much, 3 % at a time takes dozens of runs.
const SHORT_STEPS: u32 = 3;
/// No step is longer than this many doublings of the first.
const DOUBLINGS_MOST: u32 = 5;
/// Down from a first rate that fails.
const SHRINK: f64 = 4.0;
/// The lowest rate tried, as a part of the first, where no range is given.
const SHRINK_MOST: f64 = 256.0;

impl SloSearch {
    /// A search that begins at `start`. Without a range it goes down to a
    /// 256th of it, and up without end. `confirm` fresh runs decide.
    pub fn new(start: f64, range: Option<(f64, f64)>, confirm: u32) -> SloSearch {
        let range = range.unwrap_or((start / SHRINK_MOST, f64::INFINITY));
        let rate = start.clamp(range.0, range.1);
        let (passed, failed, steps_down) = (None, None, 0);
        let (is_whole, state) = (false, SloState::Grow);
        SloSearch { range, confirm, is_whole, rate, passed, failed, steps_down, state }
    }

    /// The same for what only comes in whole numbers, such as jobs; the range must be of
    /// them.
    pub fn of_whole_numbers(start: u32, range: (u32, u32), confirm: u32) -> SloSearch {
        let range = (f64::from(range.0), f64::from(range.1));
        SloSearch { is_whole: true, ..SloSearch::new(f64::from(start), Some(range), confirm) }
    }

    /// What to do next; the same until a result is recorded.
    pub fn step(&self) -> SloStep {
        let phase = match self.state {
            SloState::Grow => SloPhase::Grow,
            SloState::Halve => SloPhase::Halve,
            SloState::Confirm { .. } => SloPhase::Confirm,
            SloState::Done(outcome) => return SloStep::Done(outcome),
        };
        SloStep::Probe { rate: self.rate, phase }
    }

    /// Whether the run at the rate of [`SloSearch::step`] kept the promise.
    pub fn record(&mut self, kept: bool) {
        match self.state {
            SloState::Grow | SloState::Halve => {
                if kept {
                    self.passed = Some(self.rate)
                } else {
                    self.failed = Some(self.rate)
                }
                self.aim();
            }
            SloState::Confirm { good } if kept && good + 1 >= self.confirm => {
                self.state =
                    SloState::Done(SloOutcome::Met { rate: self.rate, fails_at: self.failed });
            }
            SloState::Confirm { good } if kept => {
                self.state = SloState::Confirm { good: good + 1 };
            }
            SloState::Confirm { .. } => self.step_down(),
            SloState::Done(_) => {}
        }
    }

    /// The next rate of the first two phases.
    fn aim(&mut self) {
        match (self.passed, self.failed) {
            (Some(passed), Some(failed)) if self.is_apart(passed, failed) => {
                let between = (passed * failed).sqrt();
                self.state = SloState::Halve;
                self.rate = if self.is_whole {
                    between.round().clamp(passed + 1.0, failed - 1.0)
                } else {
                    between
                };
            }
            (Some(passed), None) if passed < self.range.1 => {
                self.rate = (passed * 2.0).min(self.range.1);
            }
            (Some(passed), _) => self.confirm_at(passed),
            (None, Some(failed)) if failed > self.range.0 => {
                self.rate = self.lowered(failed / SHRINK);
            }
            (None, _) => self.state = SloState::Done(SloOutcome::Impossible { rate: self.rate }),
        }
    }

    /// Whether there is something to try between a rate that passed and one that failed.
    fn is_apart(&self, passed: f64, failed: f64) -> bool {
        failed / passed > STEP && (!self.is_whole || failed - passed > 1.0)
    }

    /// A lower rate that may be tried.
    fn lowered(&self, rate: f64) -> f64 {
        (if self.is_whole { rate.floor() } else { rate }).max(self.range.0)
    }

    fn confirm_at(&mut self, rate: f64) {
        self.rate = rate;
        self.state = match self.confirm {
            0 => SloState::Done(SloOutcome::Met { rate, fails_at: self.failed }),
            _ => SloState::Confirm { good: 0 },
        };
    }

    fn step_down(&mut self) {
        self.failed = Some(self.failed.map_or(self.rate, |failed| failed.min(self.rate)));
        self.steps_down += 1;
        let doublings = self.steps_down.saturating_sub(SHORT_STEPS).min(DOUBLINGS_MOST);
        let lower = self.rate / STEP.powi(1 << doublings);
        if self.rate > self.range.0 {
            self.confirm_at(self.lowered(lower))
        } else {
            self.state = SloState::Done(SloOutcome::Impossible { rate: self.rate })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of a search where rates up to `limit` keep the promise, and
    /// the probes it took.
    fn search(mut search: SloSearch, limit: f64) -> (SloOutcome, u32) {
        for probes in 0..1000 {
            match search.step() {
                SloStep::Probe { rate, .. } => search.record(rate <= limit),
                SloStep::Done(outcome) => return (outcome, probes),
            }
        }
        panic!("it does not end: {search:?}");
    }

    #[test]
    fn a_clear_limit_is_found_from_below() {
        let (outcome, probes) = search(SloSearch::new(200.0, None, 3), 17_697.0);
        let SloOutcome::Met { rate, fails_at: Some(fails) } = outcome else {
            panic!("{outcome:?}");
        };
        assert!(rate <= 17_697.0 && fails > 17_697.0 && fails / rate <= STEP, "{outcome:?}");
        assert!(probes <= 17, "{probes}");
    }

    #[test]
    fn whole_numbers_are_found_exactly() {
        for limit in [1.0, 2.0, 7.0, 8.0, 9.0, 63.0, 64.0] {
            let (outcome, probes) = search(SloSearch::of_whole_numbers(1, (1, 64), 2), limit);
            let fails_at = (limit < 64.0).then_some(limit + 1.0);
            assert_eq!(outcome, SloOutcome::Met { rate: limit, fails_at });
            assert!(probes <= 15, "{limit}: {probes}");
        }
        let (outcome, _) = search(SloSearch::of_whole_numbers(5, (3, 64), 2), 0.0);
        assert_eq!(outcome, SloOutcome::Impossible { rate: 3.0 });
    }

    #[test]
    fn a_confirming_run_of_whole_numbers_lowers_them_by_one_at_least() {
        let mut search = SloSearch::of_whole_numbers(1, (1, 4), 2);
        (0..3).for_each(|_| search.record(true));
        assert_eq!(search.step(), SloStep::Probe { rate: 4.0, phase: SloPhase::Confirm });
        search.record(false);
        assert_eq!(search.step(), SloStep::Probe { rate: 3.0, phase: SloPhase::Confirm });
    }

    #[test]
    fn an_impossible_promise_is_given_up_soon() {
        let (outcome, probes) = search(SloSearch::new(200.0, None, 3), 0.0);
        assert_eq!(outcome, SloOutcome::Impossible { rate: 200.0 / 256.0 });
        assert!(probes <= 8, "{probes}");
        let (outcome, probes) = search(SloSearch::new(10.0, Some((10.0, 99.0)), 3), 9.0);
        assert_eq!((outcome, probes), (SloOutcome::Impossible { rate: 10.0 }, 1));
    }

    #[test]
    fn a_range_ends_the_search() {
        let (outcome, _) = search(SloSearch::new(10.0, Some((10.0, 100.0)), 3), 1e9);
        assert_eq!(outcome, SloOutcome::Met { rate: 100.0, fails_at: None });
        let (outcome, _) = search(SloSearch::new(10.0, Some((10.0, 100.0)), 0), 1e9);
        assert_eq!(outcome, SloOutcome::Met { rate: 100.0, fails_at: None });
    }

    #[test]
    fn a_first_rate_that_is_too_high_is_lowered() {
        let (outcome, _) = search(SloSearch::new(1000.0, None, 3), 40.0);
        let SloOutcome::Met { rate, .. } = outcome else { panic!("{outcome:?}") };
        assert!((38.0..=40.0).contains(&rate), "{rate}");
    }

    #[test]
    fn runs_that_fail_by_chance_do_not_make_the_search_long() {
        // What passed first was luck: fresh runs keep the promise at a quarter.
        let mut search = SloSearch::new(100.0, Some((1.0, 12_800.0)), 3);
        let mut probes = 0;
        let outcome = loop {
            match search.step() {
                SloStep::Probe { rate, phase: SloPhase::Confirm } => search.record(rate < 2500.0),
                SloStep::Probe { rate, .. } => search.record(rate < 10_000.0),
                SloStep::Done(outcome) => break outcome,
            }
            probes += 1;
        };
        assert!(matches!(outcome, SloOutcome::Met { rate, .. } if rate < 2500.0), "{outcome:?}");
        assert!(probes <= 25, "{probes}");
    }

    #[test]
    fn a_confirming_run_that_fails_lowers_the_answer() {
        let mut search = SloSearch::new(100.0, Some((10.0, 100.0)), 3);
        search.record(true);
        assert_eq!(search.step(), SloStep::Probe { rate: 100.0, phase: SloPhase::Confirm });
        search.record(true);
        search.record(false);
        let rate = 100.0 / STEP;
        assert_eq!(search.step(), SloStep::Probe { rate, phase: SloPhase::Confirm });
        (0..3).for_each(|_| search.record(true));
        let met = SloOutcome::Met { rate, fails_at: Some(100.0) };
        assert_eq!(search.step(), SloStep::Done(met));
    }
}
