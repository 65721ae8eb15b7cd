//! `thinktime`: pauses between I/Os, as a program that works on its data.

use iosonde_base::Nanos;
use iosonde_sys::clock::Clock;

/// Which I/Os are counted from one pause to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseEvery {
    /// So many that came back (`thinktime_blocks_type=complete`).
    Completed(u64),
    /// So many that were started (`issue`).
    Issued(u64),
    /// I/Os do not count, only time.
    Never,
}

/// Pauses of one length.
#[derive(Clone, Debug)]
pub struct Pause {
    /// How long, spinning included.
    pub length: Nanos,
    /// How much of it is spun rather than slept.
    pub spin: Nanos,
    /// Turns of an empty loop before that (`thinkcycles`).
    pub cycles: u32,
    /// After how many I/Os.
    pub every: PauseEvery,
    /// After how many ticks of I/O, if time counts at all (`thinktime_iotime`).
    pub after_ticks: Option<u64>,
    /// The schedule of the job's pace waits as well (`rate_ignore_thinktime`);
    /// else the job catches up.
    pub shifts_pace: bool,
    started: u64,
    ended: u64,
    /// When the last pause ended, in ticks.
    since: u64,
}

impl Pause {
    /// A pause of `length` after every I/O.
    pub fn new(length: Nanos) -> Pause {
        Pause {
            length,
            spin: Nanos(0),
            cycles: 0,
            every: PauseEvery::Completed(1),
            after_ticks: None,
            shifts_pace: false,
            started: 0,
            ended: 0,
            since: 0,
        }
    }

    /// Whether one is due.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let by_count = match self.every {
            PauseEvery::Completed(n) => self.ended >= n,
            PauseEvery::Issued(n) => self.started >= n,
            PauseEvery::Never => false,
        };
        by_count || self.after_ticks.is_some_and(|ticks| now.saturating_sub(self.since) >= ticks)
    }

    pub(super) fn started(&mut self) {
        self.started += 1;
    }

    pub(super) fn ended(&mut self, count: u64) {
        self.ended += count;
    }

    /// Count anew from `now`.
    pub(super) fn resume(&mut self, now: u64) {
        (self.started, self.ended, self.since) = (0, 0, now);
    }

    /// Turn the empty loop. The time then.
    pub(super) fn burn(&self, clock: &Clock, now: u64) -> u64 {
        if self.cycles == 0 {
            return now;
        }
        for turn in 0..self.cycles {
            std::hint::black_box(turn);
        }
        clock.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(every: PauseEvery, after_ticks: Option<u64>) -> Pause {
        let mut pause = Pause { every, after_ticks, ..Pause::new(Nanos(1000)) };
        pause.resume(100);
        pause
    }

    #[test]
    fn a_pause_is_due_after_so_many_ios_of_its_kind() {
        let (mut issued, mut completed) =
            (pause(PauseEvery::Issued(2), None), pause(PauseEvery::Completed(2), None));
        for pause in [&mut issued, &mut completed] {
            pause.started();
            pause.ended(1);
            assert!(!pause.is_due(u64::MAX), "{:?}", pause.every);
        }
        issued.started();
        assert!(issued.is_due(101) && !completed.is_due(101));
        completed.ended(5);
        assert!(completed.is_due(101));
        completed.resume(200);
        assert!(!completed.is_due(201), "counted anew");
        let never = pause(PauseEvery::Never, None);
        assert!(!never.is_due(u64::MAX));
    }

    #[test]
    fn time_counts_from_the_end_of_the_last_pause() {
        let timed = pause(PauseEvery::Never, Some(50));
        assert!(!timed.is_due(149) && timed.is_due(150));
        assert!(!timed.is_due(0), "before it began");
    }

    #[test]
    fn a_loop_without_turns_takes_no_time() {
        let clock = Clock::monotonic();
        let pause = Pause::new(Nanos(1000));
        assert_eq!(pause.burn(&clock, 7), 7);
        let turning = Pause { cycles: 10, ..pause };
        let before = clock.now();
        assert!(turning.burn(&clock, 7) >= before, "the time after it");
    }
}
