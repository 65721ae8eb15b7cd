//! What holds a job back or ends it by what it measures: its pace, its pauses,
//! its share of a flow, bounds on its latency.
//!
//! A job without any of these has no [`Pacing`], and its loop does not ask.
//! Where there is one, the loop waits for each I/O until it may start, and the
//! queue is never drained for that: what flies goes on flying.

mod flow;
mod latency;
mod pause;
mod recorded;

pub use flow::{FlowGroup, FlowShare};
pub use latency::{LatencyBounds, Tried};
pub use pause::{Pause, PauseEvery};
pub use recorded::Lateness;

use crate::Pulse;
use crate::drive::Failure;
use iosonde_base::{Dir, Errno, PerDir, Planned};
use iosonde_sys::clock::Clock;
use iosonde_workload::Pace;
use recorded::Recorded;

/// What holds a job back or ends it.
#[derive(Debug)]
pub struct Pacing {
    /// When each I/O is due.
    schedule: Schedule,
    /// The schedule's beginning, in ticks.
    origin: u64,
    /// Nothing starts before this moment, in ticks: the end of a pause.
    held_until: u64,
    /// The part of a pause that is spun away ends here.
    spin_until: u64,
    pause: Option<Pause>,
    flow: Option<FlowShare>,
    bounds: Option<LatencyBounds>,
    /// Whether any of the three is there, for one question an I/O.
    more: bool,
    /// Why the job must end.
    failed: Option<Failure>,
}

/// When each I/O is due. (Not boxed again: [`Pacing`] is, and one step less
/// lies between the loop and a pace.)
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
enum Schedule {
    /// By its direction's rate, or at once.
    Pace(Pace),
    /// As it was recorded; so is all that is no I/O.
    Recorded(Box<Recorded>),
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
        Pacing::by(Schedule::Pace(pace.unwrap_or_else(Pace::free)))
    }

    /// Do everything at the moments that were recorded.
    pub fn recorded(clock: Clock) -> Pacing {
        Pacing::by(Schedule::Recorded(Box::new(Recorded::new(clock))))
    }

    fn by(schedule: Schedule) -> Pacing {
        Pacing {
            schedule,
            origin: 0,
            held_until: 0,
            spin_until: 0,
            pause: None,
            flow: None,
            bounds: None,
            more: false,
            failed: None,
        }
    }

    /// Pause now and then.
    pub fn pausing(mut self, pause: Pause) -> Pacing {
        (self.pause, self.more) = (Some(pause), true);
        self
    }

    /// Keep to a share of a flow.
    pub fn sharing(mut self, share: FlowShare) -> Pacing {
        (self.flow, self.more) = (Some(share), true);
        self
    }

    /// Watch latencies.
    pub fn bounded(mut self, bounds: LatencyBounds) -> Pacing {
        (self.bounds, self.more) = (Some(bounds), true);
        self
    }

    /// The job starts: the schedule begins at `now`.
    pub fn begin(&mut self, now: u64) {
        self.origin = now;
        if let Some(pause) = &mut self.pause {
            pause.resume(now);
        }
        if let Some(flow) = &mut self.flow {
            flow.join();
        }
    }

    /// Ticks since the schedule began.
    pub(crate) fn elapsed(&self, now: u64) -> u64 {
        now.saturating_sub(self.origin)
    }

    /// What was counted of latencies since it was last taken.
    pub fn tried(&self) -> Tried {
        self.bounds.as_ref().map(LatencyBounds::tried).unwrap_or_default()
    }

    /// What was counted of latencies since it was last taken; count anew.
    pub fn take_tried(&mut self) -> Tried {
        self.bounds.as_mut().map(LatencyBounds::take_tried).unwrap_or_default()
    }

    /// How long the I/O took that was too long, and the bound, in nanoseconds,
    /// if that is why the job failed.
    pub fn too_long(&self) -> Option<(u64, u64)> {
        self.bounds.as_ref().and_then(LatencyBounds::too_long)
    }

    /// How late entries were started, if their moments were recorded.
    pub fn lateness(&self) -> Option<Lateness> {
        match &self.schedule {
            Schedule::Recorded(recorded) => Some(recorded.lateness()),
            _ => None,
        }
    }

    /// Count from now on, as at the end of a ramp.
    pub fn count_anew(&mut self) {
        if let Schedule::Recorded(recorded) = &self.schedule {
            recorded.clear();
        }
    }

    /// The ring was filled with entries due at these moments, in nanoseconds.
    pub(crate) fn plan(&mut self, dues_ns: &[u64]) {
        if let Schedule::Recorded(recorded) = &mut self.schedule {
            recorded.plan(dues_ns);
        }
    }

    /// Whether what is no I/O has its moment too, and must wait for it.
    #[inline]
    pub(crate) fn times_all(&self) -> bool {
        matches!(self.schedule, Schedule::Recorded(_))
    }

    /// Something that is no I/O was begun at `now`.
    pub(crate) fn passed(&mut self, now: u64) {
        if let Schedule::Recorded(recorded) = &mut self.schedule {
            let due = self.origin.saturating_add(recorded.due());
            recorded.went(now.saturating_sub(due));
        }
    }

    /// Why the job must end, if it must.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Whether the next I/O in this direction may start at `now`.
    #[inline(always)]
    pub(crate) fn may_start(&mut self, clock: &Clock, dir: Dir, now: u64) -> Start {
        let due = match &self.schedule {
            Schedule::Pace(pace) => self.origin.saturating_add(pace.due(dir)),
            Schedule::Recorded(recorded) => self.origin.saturating_add(recorded.due()),
        };
        if self.more
            && let Some(start) = self.held(clock, now)
        {
            return start;
        }
        if now < due { Start::At(due) } else { Start::Now(due) }
    }

    /// What else holds the next I/O back.
    #[inline(never)]
    fn held(&mut self, clock: &Clock, now: u64) -> Option<Start> {
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

    /// Nothing is in flight, and a pause is due: it begins.
    #[cold]
    pub(crate) fn pause(&mut self, clock: &Clock, now: u64) {
        let Some(pause) = &mut self.pause else { return };
        let now = pause.burn(clock, now);
        self.spin_until = clock.after(now, pause.spin.0);
        self.held_until = clock.after(now, pause.length.0.max(pause.spin.0));
        pause.resume(self.held_until);
        if pause.shifts_pace {
            self.origin = self.origin.saturating_add(self.held_until - now);
        }
    }

    /// Wait until `moment`, or until the slice ends. The time then.
    #[inline(never)]
    pub(crate) fn wait(&self, clock: &Clock, pulse: &Pulse, moment: u64) -> u64 {
        let mut now = clock.now();
        while now < self.spin_until.min(moment).min(pulse.until()) {
            std::hint::spin_loop();
            now = clock.now();
        }
        // A bell that rings comes with a slice that has ended: asked right after.
        let _ = clock.sleep_until(moment.min(pulse.until()), Some(pulse.bell()));
        clock.now()
    }

    /// An I/O was started, at `now`.
    #[inline(always)]
    pub(crate) fn went(&mut self, dir: Dir, len: u32, now: u64) {
        match &mut self.schedule {
            Schedule::Pace(pace) => pace.went(dir, len),
            Schedule::Recorded(_) => self.passed(now),
        }
        if self.more {
            self.count_start();
        }
    }

    #[inline(never)]
    fn count_start(&mut self) {
        if let Some(pause) = &mut self.pause {
            pause.started();
        }
        if let Some(flow) = &mut self.flow {
            flow.went();
        }
    }

    /// `count` I/Os came back, each after `ticks`. Whether the slice must end
    /// now.
    #[inline(always)]
    pub(crate) fn came(&mut self, clock: &Clock, entry: &Planned, ticks: u64, count: u64) -> bool {
        self.more && self.count_end(clock, entry, ticks, count)
    }

    #[inline(never)]
    fn count_end(&mut self, clock: &Clock, entry: &Planned, ticks: u64, count: u64) -> bool {
        if let Some(pause) = &mut self.pause {
            pause.ended(count);
        }
        let Some(bounds) = &mut self.bounds else { return false };
        let Some(dir) = entry.op.dir() else { return false };
        if bounds.came(dir, clock.ticks_to_ns(ticks), count) {
            self.failed.get_or_insert(Failure {
                detail: None,
                doing: "max latency exceeded",
                ..Failure::of(entry, Errno(libc::ETIMEDOUT))
            });
            return true;
        }
        bounds.cut_short()
    }
}

/// The largest latency of each direction, in nanoseconds; `u64::MAX` for none.
pub(crate) type Most = PerDir<u64>;
