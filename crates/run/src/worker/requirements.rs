//! Requirements that are checked between slices: rates it must keep up, and the
//! search for the depth at which latencies stay low.

use crate::job::{FloorPlan, PacePlan, TargetPlan};
use iosonde_base::{DIRS, Dir, Errno, Nanos, PerDir};
use iosonde_engine::{Drive, Failure, Tried};
use iosonde_stats::CountersWriter;
use iosonde_sys::clock::Clock;

/// Requirements of a job.
#[derive(Debug)]
pub struct Requirements {
    floors: Floors,
    search: Option<Search>,
}

/// What follows from judging.
#[derive(Debug)]
pub enum Judged {
    /// Go on.
    Fine,
    /// Go on, and count anew.
    CountAnew,
    /// What the job was for has been found out.
    Done,
    /// A requirement was missed.
    Missed(Missed),
}

impl Requirements {
    /// The requirements of a job that may have `depth` in flight.
    pub fn new(plan: &PacePlan, depth: u32) -> Requirements {
        let search = plan.target.map(|target| Search::new(target, depth));
        Requirements { floors: Floors::new(plan), search }
    }

    /// Counting has begun.
    pub fn start(&mut self, began: u64, drive: &mut Drive) {
        self.floors.start(began, &drive.clock);
        if let (Some(search), Some(pacing)) = (&mut self.search, &mut drive.pacing) {
            search.start(began, &drive.clock);
            pacing.take_tried();
        }
    }

    /// When there is something to judge next, in ticks.
    pub fn next(&self) -> u64 {
        self.search.as_ref().map_or(u64::MAX, |search| search.next).min(self.floors.next)
    }

    /// The depth to run at, where one is searched for.
    pub fn depth(&self) -> Option<u32> {
        self.search.as_ref().map(|search| search.depth)
    }

    /// Judge what is due, and set the depth to try next.
    pub fn judge(&mut self, now: u64, drive: &mut Drive) -> Judged {
        if let Err(missed) = self.floors.judge(now, &drive.clock, &drive.writer) {
            return Judged::Missed(missed);
        }
        let (Some(search), Some(pacing)) = (&mut self.search, &mut drive.pacing) else {
            return Judged::Fine;
        };
        if !search.is_over(now, pacing.tried()) {
            return Judged::Fine;
        }
        let next = search.judge(pacing.take_tried());
        search.start(now, &drive.clock);
        match next {
            Next::Depth(depth) => drive.window.depth = depth,
            Next::CountAnew => return Judged::CountAnew,
            Next::Done => return Judged::Done,
            Next::TooSlow => return Judged::Missed(Missed::target(&search.plan)),
        }
        Judged::Fine
    }
}

/// Why a job must end, and fio's words for it.
#[derive(Clone, Debug)]
pub struct Missed {
    /// For the result.
    pub failure: Failure,
    /// For the user.
    pub words: String,
}

/// Rates below which the job fails. They are first judged when it has run for
/// two seconds and a cycle, as in fio.
#[derive(Debug)]
pub struct Floors {
    plan: FloorPlan,
    /// When they are judged next, in ticks; never without a floor.
    pub next: u64,
    /// When the cycle began, and what had been counted then.
    began: Option<(u64, PerDir<[u64; 2]>)>,
}

impl Floors {
    /// Nothing is judged before [`Floors::start`].
    pub fn new(plan: &PacePlan) -> Floors {
        Floors { plan: plan.floors, next: u64::MAX, began: None }
    }

    /// Counting has begun.
    pub fn start(&mut self, began: u64, clock: &Clock) {
        const GRACE_NS: u64 = 2_000_000_000;
        let FloorPlan { bytes, ios, .. } = self.plan;
        let any = DIRS.into_iter().any(|dir| bytes[dir] > 0 || ios[dir] > 0);
        self.next = if any { clock.after(began, GRACE_NS) } else { u64::MAX };
    }

    /// Judge what is due.
    ///
    /// # Errors
    /// The floor that was not kept.
    pub fn judge(
        &mut self,
        now: u64,
        clock: &Clock,
        writer: &CountersWriter,
    ) -> Result<(), Missed> {
        if now < self.next {
            return Ok(());
        }
        let counts = |dir: Dir| {
            let lane = writer.counters().lane(dir);
            [lane.bytes.get(), lane.ios.get()]
        };
        let counted = PerDir(DIRS.map(counts));
        let before = self.began.replace((now, counted));
        self.next = clock.after(now, self.plan.cycle.0.max(1_000_000));
        let Some((began, before)) = before else { return Ok(()) };
        let ns = u128::from(clock.ns_between(began, now).max(1));
        for dir in DIRS {
            let rate = |at: usize| {
                let count = counted[dir][at].saturating_sub(before[dir][at]);
                (u128::from(count) * 1_000_000_000 / ns) as u64
            };
            let (bytes, ios) = (self.plan.bytes[dir], self.plan.ios[dir]);
            if rate(0) < bytes {
                return Err(missed(format!("rate_min={bytes}B/s not met, got {}B/s", rate(0))));
            }
            if rate(1) < ios.into() {
                return Err(missed(format!("rate_iops_min={ios} not met, got {} IOPS", rate(1))));
            }
        }
        Ok(())
    }
}

fn missed(words: String) -> Missed {
    Missed { failure: Failure::engine("check_min_rate", Errno::EIO), words }
}

/// What follows from a window of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on at this depth.
    Depth(u32),
    /// The depth is found: count anew, for a last window.
    CountAnew,
    /// The last window has passed too: the job is done.
    Done,
    /// Even one at a time is too slow.
    TooSlow,
}

/// The search for the greatest depth at which enough I/Os stay below a
/// latency: from 1 by doubling until it is too much, then by halves.
#[derive(Clone, Debug)]
pub struct Search {
    plan: TargetPlan,
    /// The depth now.
    pub depth: u32,
    /// The greatest depth known to be good; at least 1.
    good: u32,
    /// The least depth known to be bad, or one more than may be tried.
    bad: u32,
    /// The greatest that may be tried (`iodepth`).
    most: u32,
    /// Windows in a row that passed without a change.
    stable: u32,
    last_window: bool,
    /// When the window ends, in ticks.
    pub next: u64,
}

impl Search {
    /// A search up to `most`.
    pub fn new(plan: TargetPlan, most: u32) -> Search {
        let (good, bad) = (1, most + 1);
        let (stable, last_window) = (0, false);
        Search { plan, depth: 1, good, bad, most, stable, last_window, next: u64::MAX }
    }

    /// A window begins.
    pub fn start(&mut self, now: u64, clock: &Clock) {
        // No window is named: a second, which has I/Os on any device.
        let window =
            if self.plan.window.0 == 0 { Nanos::from_millis(1000) } else { self.plan.window };
        self.next = clock.after(now, window.0);
    }

    /// Whether a window has come to an end: by time, or because a slow I/O
    /// settles it.
    pub fn is_over(&self, now: u64, tried: Tried) -> bool {
        now >= self.next || (self.plan.percentile >= 100.0 && tried.slow > 0)
    }

    /// Judge a window.
    pub fn judge(&mut self, tried: Tried) -> Next {
        if tried.ios == 0 {
            return Next::Depth(self.depth);
        }
        let within = (tried.ios - tried.slow) as f64 / tried.ios as f64 * 100.0;
        let before = self.depth;
        if within >= self.plan.percentile {
            self.good = self.depth;
            // Past what was bad once: the device has become faster.
            self.bad = self.bad.max(self.depth + 1);
            self.raise();
        } else if self.depth == 1 {
            return Next::TooSlow;
        } else {
            self.lower();
        }
        match (self.depth == before, self.plan.goes_on) {
            (false, _) => {
                (self.stable, self.last_window) = (0, false);
                Next::Depth(self.depth)
            }
            (true, false) if self.last_window => Next::Done,
            (true, false) => {
                self.last_window = true;
                Next::CountAnew
            }
            (true, true) => {
                self.probe();
                Next::Depth(self.depth)
            }
        }
    }

    fn raise(&mut self) {
        let unbounded = self.bad > self.most;
        let up = if unbounded { self.depth * 2 } else { self.depth.midpoint(self.bad) };
        self.depth = up.min(self.most).max(self.depth);
    }

    fn lower(&mut self) {
        self.bad = self.depth;
        if self.good >= self.bad {
            // Good once, bad now: begin again below.
            self.good = (self.bad / 2).max(1);
        }
        self.depth = self.good.midpoint(self.bad).min(self.bad - 1);
    }

    /// Three windows in a row were good: try one more at a time.
    fn probe(&mut self) {
        self.stable += 1;
        if self.stable >= 3 && self.depth < self.most {
            self.stable = 0;
            self.depth += 1;
        }
    }
}

impl Missed {
    /// Even one at a time took too long. Where none may, one did: fio has the
    /// words of `max_latency` for that.
    pub fn target(plan: &TargetPlan) -> Missed {
        let TargetPlan { target, percentile, .. } = plan;
        let (doing, exceeds) = if *percentile >= 100.0 {
            ("max latency exceeded", format!("latency exceeds specified max ({} nsec): ", target.0))
        } else {
            ("latency target not met", String::new())
        };
        let words = format!(
            "{exceeds}latency_target of {} nsec is not met at depth 1 by {percentile} % of the I/Os",
            target.0
        );
        Missed { failure: Failure::engine(doing, Errno::ETIMEDOUT), words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Op;
    use iosonde_stats::WhichLatencies;
    use iosonde_sys::clock::Still;

    fn plan(percentile: f64, goes_on: bool) -> TargetPlan {
        let (target, window) = (Nanos::from_millis(1), Nanos::from_millis(100));
        TargetPlan { target, window, percentile, goes_on }
    }

    /// A device on which one I/O in 20 is slow up to `most`, and half above.
    fn window(depth: u32, most: u32) -> Tried {
        Tried { ios: 1000, slow: if depth <= most { 50 } else { 500 } }
    }

    #[test]
    fn the_greatest_good_depth_is_found_whatever_it_is() {
        for most in 1..=64 {
            let mut search = Search::new(plan(90.0, false), 64);
            let mut steps = 0;
            loop {
                match search.judge(window(search.depth, most)) {
                    Next::Depth(depth) => assert!((1..=64).contains(&depth)),
                    Next::CountAnew => assert_eq!(search.depth, most),
                    Next::Done => break,
                    Next::TooSlow => panic!("{most}"),
                }
                steps += 1;
                assert!(steps < 20, "{most}");
            }
            assert_eq!(search.depth, most);
        }
    }

    #[test]
    fn a_device_too_slow_at_one_ends_the_search() {
        let mut search = Search::new(plan(99.0, false), 64);
        assert_eq!(search.judge(window(1, 64)), Next::TooSlow);
    }

    #[test]
    fn one_slow_io_ends_a_window_only_where_all_must_be_fast() {
        let slow = Tried { ios: 10, slow: 1 };
        assert!(Search::new(plan(100.0, false), 4).is_over(0, slow));
        assert!(!Search::new(plan(99.0, false), 4).is_over(0, slow));
    }

    #[test]
    fn a_search_that_goes_on_follows_the_device_up_and_down() {
        let mut search = Search::new(plan(90.0, true), 64);
        for most in [20, 5, 40] {
            for _ in 0..400 {
                assert!(matches!(search.judge(window(search.depth, most)), Next::Depth(_)));
            }
            let near = search.depth.abs_diff(most) <= 1;
            assert!(near, "{} instead of {most}", search.depth);
        }
    }

    fn floors(ios: u32, bytes: u64) -> Floors {
        let floors = FloorPlan {
            bytes: PerDir::all(bytes),
            ios: PerDir([ios, 0, 0]),
            cycle: Nanos::from_millis(500),
        };
        Floors::new(&PacePlan { floors, ..PacePlan::default() })
    }

    #[test]
    fn a_floor_is_judged_after_two_seconds_and_over_each_cycle() {
        let clock = Clock::still(Still::at(0));
        let dirs = PerDir::all(false);
        let which = WhichLatencies {
            syncs: true,
            slat: false,
            clat: false,
            lat: false,
            response: dirs,
            dirs,
        };
        let (writer, counters) = CountersWriter::new(&which);
        let mut floors = floors(1000, 0);
        floors.start(0, &clock);
        let ms = |n: u64| n * 1_000_000;
        assert_eq!(floors.next, ms(2000));
        floors.judge(ms(2000), &clock, &writer).unwrap();
        counters.lanes[Op::Read as usize].ios.add(500);
        floors.judge(ms(2500), &clock, &writer).expect("just enough");
        counters.lanes[Op::Read as usize].ios.add(499);
        floors.judge(ms(2900), &clock, &writer).expect("the cycle is not over");
        let missed = floors.judge(ms(3000), &clock, &writer).unwrap_err();
        assert_eq!(missed.words, "rate_iops_min=1000 not met, got 998 IOPS");
        assert_eq!(missed.failure.errno, Errno::EIO);
    }

    #[test]
    fn without_a_floor_nothing_is_judged() {
        let clock = Clock::still(Still::at(0));
        let mut floors = floors(0, 0);
        floors.start(0, &clock);
        assert_eq!(floors.next, u64::MAX);
    }
}
