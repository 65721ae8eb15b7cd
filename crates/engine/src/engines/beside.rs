//! The loop of engines that do no I/O and run beside jobs that do: they burn
//! processor time, or run a program. What they count as I/Os are their turns,
//! as reads of no bytes, as in fio.

use crate::drive::Failure;
use crate::{Accounting, Drive, Ended, Loop, SliceControl};
use iosonde_base::{FileId, Op};
use iosonde_sys::clock::Clock;
use std::time::Duration;

/// No sleep is longer than this, so that a stop is seen.
const STEP: Duration = Duration::from_millis(10);

/// An engine that runs beside I/O.
pub(crate) trait Beside {
    /// Go on until a turn is over, or until `control` says that the slice is.
    fn turn(&mut self, clock: &Clock, control: &SliceControl) -> Result<BesideTurn, Failure>;

    /// The job is over: end what was begun.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// How far a turn went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BesideTurn {
    /// It is over, and took so many ticks.
    Whole(u64),
    /// The slice is over before it.
    Part,
    /// There is nothing left to do.
    Nothing,
}

/// Sleep until `until`, in ticks, or the end of the slice: whether `until` came.
pub(crate) fn sleep(clock: &Clock, control: &SliceControl, until: u64) -> bool {
    loop {
        let now = clock.now();
        if now >= until {
            return true;
        }
        let slice_ends = control.until();
        if now >= slice_ends {
            return false;
        }
        let left = clock.ticks_to_ns(until.min(slice_ends) - now);
        std::thread::sleep(Duration::from_nanos(left).min(STEP));
    }
}

/// Such an engine in its loop.
pub(crate) struct BesideLoop<B> {
    engine: B,
    stamped: bool,
}

impl<B: Beside + 'static> BesideLoop<B> {
    /// The loop around `engine`.
    pub(crate) fn boxed(engine: B, accounting: Accounting) -> Box<dyn Loop> {
        Box::new(BesideLoop { engine, stamped: accounting == Accounting::Full })
    }

    fn run_slice(&mut self, drive: &mut Drive) -> Ended {
        loop {
            match self.engine.turn(&drive.clock, &drive.control) {
                Ok(BesideTurn::Whole(ticks)) => self.count(drive, ticks),
                Ok(BesideTurn::Part) => return Ended::Time,
                Ok(BesideTurn::Nothing) => return Ended::Done,
                Err(failure) => return Ended::Failed(failure),
            }
            if drive.clock.now() >= drive.control.until() {
                return Ended::Time;
            }
        }
    }

    fn count(&self, drive: &Drive, ticks: u64) {
        let lane = &drive.writer.counters().lanes[Op::Read as usize];
        lane.ios.add(1);
        if self.stamped {
            let ns = drive.clock.ticks_to_ns(ticks);
            lane.clat.add(ns);
            if let Some(histogram) = &lane.clat_histogram {
                histogram.add_many(ns, 1);
            }
        }
    }
}

impl<B: Beside + 'static> Loop for BesideLoop<B> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        let ended = self.run_slice(drive);
        drive.settle_one_by_one();
        ended
    }

    fn drain(&mut self, _: &mut Drive) -> Result<(), Failure> {
        self.engine.end()
    }

    fn open(&mut self, _: &mut Drive, _: FileId) -> Result<(), Failure> {
        Ok(())
    }

    fn close(&mut self, _: &mut Drive, _: FileId) -> Result<(), Failure> {
        Ok(())
    }
}
