//! What holds a job back or ends it by what it measures: its pace, its pauses,
//! its share of a flow, bounds on its latency.
//!
//! A job without any of these has no [`Pacing`], and its loop does not ask.
//! Where there is one, the loop waits for each I/O until it may start, and the
//! queue is never drained for that: what is in flight stays so.

mod flow;
mod latency;
mod pause;
mod recorded;
mod waiter;

pub use flow::{FlowGroup, FlowShare};
pub use latency::{LatencyBounds, Tried};
pub use pause::{Pause, PauseEvery};
pub use recorded::Lateness;

use crate::SliceControl;
use crate::drive::Failure;
use iosonde_base::{Errno, PerDir, Planned, RING, Ring};
use iosonde_sys::clock::Clock;
use iosonde_workload::Pace;
use recorded::Recorded;
pub(crate) use waiter::Waiter;

/// What holds a job back or ends it.
#[derive(Debug)]
pub struct Pacing {
    pace: Pace,
    /// When each entry of the ring is due, by its place there, in ticks.
    dues: [u64; RING],
    /// The schedule's beginning, in ticks.
    origin: u64,
    waiter: Waiter,
    /// What there is besides a pace, for one question an I/O.
    throttle: Option<Box<Throttle>>,
}

/// What holds back or ends a job besides its pace.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    /// Nothing starts before this moment, in ticks: the end of a pause.
    held_until: u64,
    /// The part of a pause that is spun away ends here.
    spin_until: u64,
    pause: Option<Pause>,
    flow: Option<FlowShare>,
    bounds: Option<LatencyBounds>,
    /// What is due is what was recorded, not what a pace says.
    recorded: Option<Recorded>,
    /// Why the job must end.
    failed: Option<Failure>,
}

/// Whether the next I/O may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Now; it was due at this moment.
    Now(u64),
    /// Not before this moment.
    At(u64),
    /// Once nothing is in flight: a pause follows.
    Idle,
}

impl Pacing {
    /// Holds nothing back until something is added.
    pub fn new(pace: Option<Pace>) -> Pacing {
        let pace = pace.unwrap_or_else(Pace::free);
        Pacing { pace, dues: [0; RING], origin: 0, waiter: Waiter::default(), throttle: None }
    }

    /// Do everything at the moments that were recorded.
    pub fn recorded(clock: Clock) -> Pacing {
        let mut pacing = Pacing::new(None);
        pacing.more().recorded = Some(Recorded::new(clock));
        pacing
    }

    fn more(&mut self) -> &mut Throttle {
        self.throttle.get_or_insert_default()
    }

    /// Pause now and then.
    pub fn pausing(mut self, pause: Pause) -> Pacing {
        self.more().pause = Some(pause);
        self
    }

    /// Keep to a share of a flow.
    pub fn sharing(mut self, share: FlowShare) -> Pacing {
        self.more().flow = Some(share);
        self
    }

    /// Watch latencies.
    pub fn bounded(mut self, bounds: LatencyBounds) -> Pacing {
        self.more().bounds = Some(bounds);
        self
    }

    /// The job starts: the schedule begins at `now`.
    pub fn begin(&mut self, now: u64) {
        self.shift(now.saturating_sub(self.origin));
        let Some(throttle) = &mut self.throttle else { return };
        if let Some(pause) = &mut throttle.pause {
            pause.resume(now);
        }
        if let Some(flow) = &mut throttle.flow {
            flow.join();
        }
    }

    /// What waits in the ring is due so much later, and so is all after it.
    fn shift(&mut self, ticks: u64) {
        self.origin = self.origin.saturating_add(ticks);
        self.pace.put_off(ticks);
        self.dues.iter_mut().for_each(|due| *due = due.saturating_add(ticks));
    }

    /// Ticks since the schedule began.
    pub(crate) fn elapsed(&self, now: u64) -> u64 {
        now.saturating_sub(self.origin)
    }

    fn bounds(&self) -> Option<&LatencyBounds> {
        self.throttle.as_ref()?.bounds.as_ref()
    }

    /// What was counted of latencies since it was last taken.
    pub fn tried(&self) -> Tried {
        self.bounds().map(LatencyBounds::tried).unwrap_or_default()
    }

    /// What was counted of latencies since it was last taken; count anew.
    pub fn take_tried(&mut self) -> Tried {
        let bounds = self.throttle.as_mut().and_then(|throttle| throttle.bounds.as_mut());
        bounds.map(LatencyBounds::take_tried).unwrap_or_default()
    }

    /// How long the I/O took that was too long, and the bound, in nanoseconds,
    /// if that is why the job failed.
    pub fn too_long(&self) -> Option<(u64, u64)> {
        self.bounds().and_then(LatencyBounds::too_long)
    }

    fn recording(&self) -> Option<&Recorded> {
        self.throttle.as_ref()?.recorded.as_ref()
    }

    /// How late entries were started, if their moments were recorded.
    pub fn lateness(&self) -> Option<Lateness> {
        self.recording().map(Recorded::lateness)
    }

    /// Count from now on, as at the end of a ramp.
    pub fn count_anew(&mut self) {
        if let Some(recorded) = self.recording() {
            recorded.clear();
        }
    }

    /// The ring was filled with these; if they were recorded, they are due at
    /// `dues_ns`, in nanoseconds.
    pub(crate) fn plan(&mut self, ring: &Ring, dues_ns: &[u64]) {
        match self.throttle.as_ref().and_then(|throttle| throttle.recorded.as_ref()) {
            None => self.pace.plan(ring, &mut self.dues),
            Some(recorded) => recorded.plan(self.origin, dues_ns, &mut self.dues),
        }
    }

    /// The entry in the ring is not of the job's pace: it may start at `now`.
    pub(crate) fn plan_at(&mut self, now: u64) {
        self.dues[0] = now;
    }

    /// When each of the entries from `place` on is due, in ticks, and what else
    /// holds them back. Once an entry is done its due is of no use to anybody.
    #[inline(always)]
    pub(crate) fn dues(&mut self, place: usize) -> (&mut [u64], Option<&mut Throttle>) {
        (&mut self.dues[place.min(RING)..], self.throttle.as_deref_mut())
    }

    /// The same where there is a pace and nothing else, and what waits for them.
    #[inline(always)]
    pub(crate) fn plain_dues(&mut self, place: usize) -> (&mut [u64], &mut Waiter) {
        (&mut self.dues[place.min(RING)..], &mut self.waiter)
    }

    /// Whether there is a pace and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        self.throttle.is_none()
    }

    /// Whether what is no I/O has its moment too, and must wait for it.
    #[inline]
    pub(crate) fn times_all(&self) -> bool {
        self.recording().is_some()
    }

    /// Why the job must end, if it must.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.throttle.as_mut()?.failed.take()
    }

    /// Whether the entry at `place` in the ring may start at `now`.
    #[inline(always)]
    pub(crate) fn may_start(&mut self, clock: &Clock, place: usize, now: u64) -> Start {
        let due = self.dues[place % RING];
        if let Some(throttle) = &mut self.throttle
            && let Some(start) = throttle.hold(clock, now)
        {
            return start;
        }
        if now < due { Start::At(due) } else { Start::Now(due) }
    }

    /// Nothing is in flight, and a pause is due: it begins.
    #[cold]
    pub(crate) fn pause(&mut self, clock: &Clock, now: u64) {
        let Some(throttle) = &mut self.throttle else { return };
        let Some(pause) = &mut throttle.pause else { return };
        let now = pause.burn(clock, now);
        throttle.spin_until = clock.after(now, pause.spin.0);
        throttle.held_until = clock.after(now, pause.length.0.max(pause.spin.0));
        pause.resume(throttle.held_until);
        if pause.shifts_pace {
            let length = throttle.held_until - now;
            self.shift(length);
        }
    }

    /// Wait until `moment`, or until the slice ends. The time then.
    pub(crate) fn wait(&mut self, clock: &Clock, control: &SliceControl, moment: u64) -> u64 {
        let mut now = clock.now();
        let spin_until = self.throttle.as_ref().map_or(0, |throttle| throttle.spin_until);
        while now < spin_until.min(moment).min(control.until()) {
            std::hint::spin_loop();
            now = clock.now();
        }
        self.waiter.wait(*clock, control, now, moment)
    }

    /// As [`Waiter::nap_ns`].
    pub(crate) fn nap_ns(&self, clock: &Clock, control: &SliceControl, moment: u64) -> u64 {
        self.waiter.nap_ns(*clock, control, clock.now(), moment)
    }

    /// As [`Waiter::timed_out`].
    pub(crate) fn timed_out(&mut self, moment: u64, late_ns: u64) {
        self.waiter.timed_out(moment, late_ns);
    }

    /// The entry at `place` was started, at `now`.
    #[inline(always)]
    pub(crate) fn started(&mut self, place: usize, now: u64) {
        if let Some(throttle) = &mut self.throttle {
            throttle.started(self.dues[place % RING], now);
        }
    }

    /// Something that is no I/O, at `place`, was begun at `now`.
    pub(crate) fn passed(&mut self, place: usize, now: u64) {
        if let Some(recorded) =
            self.throttle.as_ref().and_then(|throttle| throttle.recorded.as_ref())
        {
            recorded.started(now.saturating_sub(self.dues[place % RING]));
        }
    }

    /// `count` I/Os completed, each after `ticks`. Whether the slice must end
    /// now.
    #[inline(always)]
    pub(crate) fn completed(&mut self, entry: &Planned, ns: u64, count: u64) -> bool {
        self.throttle.as_mut().is_some_and(|throttle| throttle.completed(entry, ns, count))
    }
}

impl Throttle {
    /// What holds the next I/O back, its pace aside.
    #[inline(never)]
    pub fn hold(&mut self, clock: &Clock, now: u64) -> Option<Start> {
        if self.pause.as_mut().is_some_and(|pause| pause.is_due(now)) {
            return Some(Start::Idle);
        }
        if now < self.held_until {
            return Some(Start::At(self.held_until));
        }
        let sleep = self.flow.as_ref().and_then(FlowShare::must_wait)?;
        if sleep.0 == 0 {
            // Asked again at once, but not at the cost of the job waited for:
            // on a busy processor that one would wait out each of our slices.
            std::thread::yield_now();
        }
        Some(Start::At(clock.after(now, sleep.0.max(1))))
    }

    /// An I/O that was due at `due` was started, at `now`.
    #[inline(never)]
    pub fn started(&mut self, due: u64, now: u64) {
        if let Some(recorded) = &self.recorded {
            recorded.started(now.saturating_sub(due));
        }
        if let Some(pause) = &mut self.pause {
            pause.started();
        }
        if let Some(flow) = &mut self.flow {
            flow.started();
        }
    }

    /// As [`Pacing::completed`].
    #[inline(never)]
    pub fn completed(&mut self, entry: &Planned, ns: u64, count: u64) -> bool {
        if let Some(pause) = &mut self.pause {
            pause.ended(count);
        }
        let Some(bounds) = &mut self.bounds else { return false };
        let Some(dir) = entry.op.dir() else { return false };
        if bounds.completed(dir, ns, count) {
            self.failed.get_or_insert(Failure {
                detail: None,
                doing: "max latency exceeded",
                ..Failure::of(entry, Errno::ETIMEDOUT)
            });
            return true;
        }
        bounds.cut_short()
    }
}

/// The largest latency of each direction, in nanoseconds; `u64::MAX` for none.
pub(crate) type Most = PerDir<u64>;

#[cfg(test)]
mod tests {
    use super::*;

    use iosonde_base::Op;

    const CLOCK_NOW: u64 = 1 << 40;

    #[test]
    fn what_is_watched_is_reported_and_what_is_not_is_empty() {
        let mut free = Pacing::new(None);
        assert!(free.is_plain() && !free.times_all());
        assert_eq!((free.tried(), free.take_tried()), (Tried::default(), Tried::default()));
        assert!(free.too_long().is_none() && free.lateness().is_none());
        assert!(free.take_failure().is_none());
        free.begin(CLOCK_NOW);
        assert_eq!((free.elapsed(CLOCK_NOW + 7), free.elapsed(0)), (7, 0));

        let most = PerDir([1000, u64::MAX, u64::MAX]);
        let mut bounded = Pacing::new(None).bounded(LatencyBounds::new(most).counting(10, false));
        assert!(!bounded.is_plain() && !bounded.times_all());
        let entry = Planned { offset: 512, len: 512, file: iosonde_base::FileId(0), op: Op::Read };
        assert!(!bounded.completed(&entry, 1000, 2));
        assert!(bounded.completed(&entry, 1001, 1));
        assert_eq!(bounded.tried(), Tried { ios: 3, slow: 3 });
        assert_eq!(bounded.too_long(), Some((1001, 1000)));
        let failure = bounded.take_failure().unwrap();
        assert_eq!((failure.doing, failure.offset), ("max latency exceeded", Some(512)));
        assert!(bounded.take_failure().is_none(), "once");
        // A sync has no direction, and no bound.
        let sync = Planned { op: Op::Sync, ..entry };
        assert!(!bounded.completed(&sync, u64::MAX, 1));
    }

    #[test]
    fn recorded_moments_are_kept_and_lateness_is_counted_from_them() {
        let clock = Clock::monotonic();
        let mut recorded = Pacing::recorded(clock);
        assert!(recorded.times_all());
        let start = clock.now();
        recorded.begin(start);
        recorded.plan(&Ring::default(), &[0, 1_000_000]);
        let due = clock.after(start, 1_000_000);
        assert_eq!(recorded.may_start(&clock, 0, start), Start::Now(start));
        assert_eq!(recorded.may_start(&clock, 1, start), Start::At(due));
        recorded.started(0, start);
        recorded.passed(1, clock.after(due, 5000));
        let late = recorded.lateness().unwrap();
        assert_eq!(late.moments.n, 2, "{late:?}");
        assert!(late.moments.max.abs_diff(5000) < 10, "{late:?}");
        recorded.count_anew();
        assert_eq!(recorded.lateness().unwrap().moments.n, 0);
        recorded.plan_at(due);
        assert_eq!(recorded.may_start(&clock, 0, start), Start::At(due));
    }
}
