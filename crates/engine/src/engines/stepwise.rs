//! The loop of engines for which an I/O is more, or less, than one call: each
//! entry is handed to the engine, which says what is to be counted. Slower
//! than the loop of one-shot engines, and free of its assumptions.

use crate::drive::Failure;
use crate::one_shot::{count_response, wait};
use crate::{Accounting, Drive, Ended, Loop};
use iosonde_base::{FileId, Op, Planned};

/// An engine that takes the job's entries one by one.
pub(crate) trait Stepwise {
    /// Called when the job starts, after any delay. When that was, in ticks, if
    /// it took a while that is not the job's.
    fn connect(&mut self, _: &mut Drive) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    /// Do a data entry.
    fn step(&mut self, drive: &mut Drive, entry: &Planned) -> Result<EngineStep, Failure>;

    /// Called when a file is done.
    fn close(&mut self, file: FileId);
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "some systems have no engine that needs them all")]
pub(crate) enum EngineStep {
    /// It is done; count it, and its latency from issue to completion where
    /// it has one, in ticks.
    Done(Option<u64>),
    /// It failed, and the job tolerates that.
    Tolerated,
    /// There is nothing more to come, for this entry and all others.
    Over,
    /// The slice ended before it was done: the same entry comes again.
    Later,
}

/// A stepwise engine in its loop.
pub(crate) struct StepwiseLoop<S> {
    engine: S,
    stamped: bool,
    /// The entry at hand was begun in an earlier slice.
    begun: bool,
    /// When it was due, and when it began, in ticks; of paced jobs.
    moments: (u64, u64),
}

impl<S: Stepwise + 'static> StepwiseLoop<S> {
    /// The loop around `engine`.
    pub(crate) fn boxed(engine: S, accounting: Accounting) -> Box<dyn Loop> {
        let stamped = accounting == Accounting::Full;
        Box::new(StepwiseLoop { engine, stamped, begun: false, moments: (0, 0) })
    }

    fn run_slice(&mut self, drive: &mut Drive) -> Ended {
        loop {
            let Some(&entry) = drive.ring.peek() else {
                match drive.refill() {
                    None => continue,
                    Some(ended) => return ended,
                }
            };
            if !self.begun && !self.may_start(drive, &entry) {
                return Ended::Time;
            }
            let step = self.entry(drive, &entry);
            self.begun = matches!(step, Ok(EngineStep::Later));
            if !self.begun {
                drive.ring.advance(1);
            }
            match step {
                Ok(EngineStep::Over) => return Ended::Done,
                Ok(EngineStep::Later) => return Ended::Time,
                Ok(_) => {}
                Err(failure) => return Ended::Failed(failure),
            }
            if let Some(failure) = drive.verdict() {
                return Ended::Failed(failure);
            }
            if drive.clock.now() >= drive.control.until() {
                return Ended::Time;
            }
        }
    }

    /// Wait until the job's pace lets an entry start: whether it may, or the
    /// slice is over.
    fn may_start(&mut self, drive: &mut Drive, entry: &Planned) -> bool {
        let (Some(_), Some(pacing)) = (entry.op.dir(), &mut drive.pacing) else { return true };
        let place = drive.ring.place();
        let Some(moments) = wait(pacing, &drive.clock, &drive.control, place) else { return false };
        self.moments = moments;
        pacing.started(place, moments.1);
        true
    }

    /// Tell a paced job of an entry that is done, and count from when it was
    /// due.
    fn respond(&self, drive: &mut Drive, entry: &Planned) {
        let Some(pacing) = &mut drive.pacing else { return };
        let (due, start) = self.moments;
        let end = drive.clock.now();
        let lane = &drive.writer.counters().lanes[entry.op as usize];
        count_response(lane, &drive.clock, due, end);
        // If it ends the slice, the caller looks for the reason.
        let _ = pacing.completed(entry, drive.clock.ticks_to_ns(end.wrapping_sub(start)), 1);
    }

    /// Do one entry, and count it.
    fn entry(&mut self, drive: &mut Drive, entry: &Planned) -> Result<EngineStep, Failure> {
        match entry.op {
            // Opening is the engine's own affair: it sees to it when an I/O comes.
            Op::Open | Op::Invalidate => return Ok(EngineStep::Done(None)),
            Op::Close => {
                self.engine.close(entry.file);
                return Ok(EngineStep::Done(None));
            }
            op if op.is_sync() => return drive.sync_now(entry).map(|()| EngineStep::Done(None)),
            _ => {}
        }
        if drive.has_taps() && !self.begun {
            drive.tap(*entry, 0);
        }
        let step = self.engine.step(drive, entry)?;
        if drive.has_taps() && matches!(step, EngineStep::Done(_) | EngineStep::Tolerated) {
            drive.trace_completed(entry);
        }
        let lane = &drive.writer.counters().lanes[entry.op as usize];
        match step {
            EngineStep::Over | EngineStep::Later => {}
            EngineStep::Tolerated => lane.errors.add(1),
            EngineStep::Done(took) => {
                lane.ios.add(1);
                lane.bytes.add(entry.len.into());
                if let (Some(ticks), true) = (took, self.stamped) {
                    let ns = drive.clock.ticks_to_ns(ticks);
                    lane.clat.add(ns);
                    if let Some(histogram) = &lane.clat_histogram {
                        histogram.add_many(ns, 1);
                    }
                    if let Some(tape) = &mut drive.tape {
                        let end = drive.clock.now();
                        tape.add(end, entry.offset, entry.len, entry.op as u32, [0, ns]);
                    }
                }
                self.respond(drive, entry);
            }
        }
        Ok(step)
    }
}

impl<S: Stepwise + 'static> Loop for StepwiseLoop<S> {
    fn connect(&mut self, drive: &mut Drive) -> Result<Option<u64>, Failure> {
        self.engine.connect(drive)
    }

    fn run(&mut self, drive: &mut Drive) -> Ended {
        let ended = self.run_slice(drive);
        drive.settle_one_by_one();
        ended
    }

    fn drain(&mut self, _: &mut Drive) -> Result<(), Failure> {
        Ok(())
    }

    fn open(&mut self, _: &mut Drive, _: FileId) -> Result<(), Failure> {
        Ok(())
    }

    fn close(&mut self, _: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.engine.close(file);
        Ok(())
    }
}
