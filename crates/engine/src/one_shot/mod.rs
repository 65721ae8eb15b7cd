//! The loop of engines that do one thing at a time.

mod account;
mod paced;
mod special;
mod tapped;

pub(crate) use paced::{count_response, wait};

use crate::drive::{Failure, UNCOUNTED};
use crate::tape::{Tape, Taping};
use crate::{Drive, Ended, Files, Io, Loop, OneShot, SliceControl};
use account::{count_all, tape_whole};
use iosonde_base::{Errno, FileId, Op, Planned, RING};
use iosonde_stats::{BriefLatencies, Counters};
use iosonde_sys::clock::{Clock, ClockSource};

/// A one-shot engine and its loop. `STAMPED` is whether latencies are kept.
///
/// The engine is the last field, so that the loop of each is that of any of them
/// too, an `OneShotLoop<dyn OneShot, STAMPED>`. Plain I/Os are done by code that
/// is compiled for the engine; all else is compiled once, for any engine.
pub struct OneShotLoop<E: ?Sized, const STAMPED: bool> {
    /// Without stamps: when the clock was looked at last,
    looked: u64,
    /// how many I/Os lie between two looks,
    stride: u32,
    /// and how many are left until the next.
    left: u32,
    /// When the I/O that is being finished was due.
    due: u64,
    /// How long the I/Os took that are not counted yet, in ticks.
    took: [u64; RING],
    /// Where those are counted.
    brief: BriefLatencies,
    /// [`UNCOUNTED`] in ticks.
    uncounted: u64,
    engine: E,
}

/// The loop of any engine.
type AnyLoop<const STAMPED: bool> = OneShotLoop<dyn OneShot, STAMPED>;

impl<E: OneShot + 'static, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// The loop around `engine`.
    pub fn new(engine: E) -> Self {
        OneShotLoop {
            looked: 0,
            stride: 1,
            left: 1,
            due: 0,
            took: [0; RING],
            brief: BriefLatencies::default(),
            uncounted: 0,
            engine,
        }
    }

    /// The same loop, by what does not depend on its engine.
    #[inline(always)]
    fn any(&mut self) -> &mut AnyLoop<STAMPED> {
        self
    }
}

impl<E: OneShot + 'static, const STAMPED: bool> Loop for OneShotLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        self.uncounted = drive.clock.ns_to_ticks(UNCOUNTED.0);
        let mut tape = drive.tape.take();
        let ended = self.run_slice(drive, &mut tape);
        drive.tape = tape;
        drive.settle_one_by_one();
        ended
    }

    fn drain(&mut self, _: &mut Drive) -> Result<(), Failure> {
        Ok(())
    }

    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.any().open(drive, file)
    }

    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.any().close(drive, file)
    }
}

/// The parts of the drive that a stretch of plain I/Os needs, in a form that stays in
/// registers: nothing in it is lent out for change.
#[derive(Clone, Copy)]
struct StretchContext<'a> {
    clock: Clock,
    counters: &'a Counters,
    control: &'a SliceControl,
    files: &'a Files,
    buffer: *mut u8,
    /// All entries of the ring are alike but for their offsets.
    alike: bool,
}

impl<'a> StretchContext<'a> {
    fn new(drive: &'a Drive) -> StretchContext<'a> {
        StretchContext {
            clock: drive.clock,
            counters: drive.writer.counters(),
            control: &drive.control,
            files: &drive.files,
            buffer: drive.memory.buffer(0),
            alike: drive.ring.is_alike(),
        }
    }

    #[inline(always)]
    fn io(&self, entry: &Planned) -> Io {
        let (offset, len, op, file) = (entry.offset, entry.len, entry.op, entry.file);
        Io { offset, buffer: self.buffer, len, op, file, fd: self.files.fd(file) }
    }
}

/// Why a stretch of plain I/Os stopped, after how many of them.
enum StretchEnd {
    /// All of them are done.
    All,
    /// The next is not a plain I/O.
    Special,
    /// The next was issued at this moment, and moved less than asked, or failed.
    Incomplete(Result<u32, Errno>, u64),
    /// The next may not start yet.
    Held,
    /// The slice is over.
    Time,
    /// The last read other data than was written.
    Wrong(Box<Failure>),
}

impl<E: OneShot + 'static, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    fn run_slice(&mut self, drive: &mut Drive, tape: &mut Option<Tape>) -> Ended {
        let plain = tape.is_none() && !drive.has_taps();
        let paced = drive.pacing.is_some();
        loop {
            if drive.ring.peek().is_none() {
                match drive.refill() {
                    None => continue,
                    Some(ended) => return ended,
                }
            }
            let (count, stop) = if !plain {
                self.any().stretch_watched(drive, tape)
            } else if !paced {
                self.stretch_plain(drive, usize::MAX, &mut ())
            } else if let Some(done) = self.paced_plainly(drive, usize::MAX, &mut ()) {
                done
            } else {
                self.any().stretch_watched(drive, tape)
            };
            if let StretchEnd::All = stop {
                drive.ring.advance(count);
            } else if let Some(ended) = self.any().end_stretch(drive, count, stop, tape) {
                return ended;
            }
        }
    }
}

impl<E: OneShot + ?Sized, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// Do plain I/Os from the ring, at most `most`.
    #[inline(always)]
    fn stretch_plain<T: Taping>(
        &mut self,
        drive: &Drive,
        most: usize,
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let context = StretchContext::new(drive);
        let entries = drive.ring.as_slice();
        let entries = &entries[..entries.len().min(most)];
        if !STAMPED {
            self.stretch_counting(context, entries)
        } else if context.clock.source() == ClockSource::Cpu {
            self.stretch::<true, T>(context, entries, tape)
        } else {
            self.stretch::<false, T>(context, entries, tape)
        }
    }

    /// Do plain I/Os, each stamped, and count them. `COUNTER` is whether the
    /// clock is the processor's counter: knowing that, the compiler keeps no
    /// register free for the call that other clocks take.
    #[inline(never)]
    fn stretch<const COUNTER: bool, T: Taping>(
        &mut self,
        context: StretchContext<'_>,
        entries: &[Planned],
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let clock = context.clock;
        assert_eq!(COUNTER, clock.source() == ClockSource::Cpu, "the caller looked");
        let (count, stop) = self.do_all(context, entries, tape);
        let (done, took) = (&entries[..count], &self.took[..count]);
        count_all(context.counters, &clock, done, context.alike, took, &mut self.brief);
        (count, stop)
    }

    /// Do plain I/Os and note how long each took: counting them afterwards, all
    /// at once, takes half the time and none of it between two system calls.
    #[inline(always)]
    fn do_all<T: Taping>(
        &mut self,
        context: StretchContext<'_>,
        entries: &[Planned],
        tape: &mut T,
    ) -> (usize, StretchEnd) {
        let clock = context.clock;
        // The time that a record takes is not the engine's.
        let chained = self.engine.is_chained() && !T::TAPES;
        let mut last = if chained || entries.len() > 1 { clock.now() } else { 0 };
        // What has been done by then is counted.
        let pause = context.control.until().min(last.saturating_add(self.uncounted));
        let mut rest = entries.iter().zip(&mut self.took);
        let all = rest.len();
        // How many were taken before the one at hand.
        let before = |left: usize| all - left - 1;
        while let Some((entry, took)) = rest.next() {
            if entry.op as u8 > Op::Trim as u8 {
                return (before(rest.len()), StretchEnd::Special);
            }
            // The first stamp comes after the buffer is filled, as fio's: our
            // own work is not counted as the engine's.
            let io = context.io(entry);
            let issue = if chained { last } else { clock.now() };
            let result = self.engine.perform(&io);
            if result != Ok(entry.len) {
                return (before(rest.len()), StretchEnd::Incomplete(result, issue));
            }
            last = clock.now();
            *took = last.wrapping_sub(issue);
            tape_whole(tape, &clock, entry, [issue, last]);
            if last >= pause {
                break;
            }
        }
        // A stop may have come since.
        let over = last >= context.control.until();
        (all - rest.len(), if over { StretchEnd::Time } else { StretchEnd::All })
    }

    /// Do plain I/Os without stamps: the clock is read once for every few of
    /// them, more seldom the faster they are.
    #[inline(never)]
    fn stretch_counting(
        &mut self,
        context: StretchContext<'_>,
        entries: &[Planned],
    ) -> (usize, StretchEnd) {
        let until_look = (self.left as usize).min(entries.len());
        for (count, entry) in entries[..until_look].iter().enumerate() {
            if entry.op as u8 > Op::Trim as u8 {
                self.left = 1;
                return (count, StretchEnd::Special);
            }
            let result = self.engine.perform(&context.io(entry));
            if result != Ok(entry.len) {
                self.left = 1;
                return (count, StretchEnd::Incomplete(result, 0));
            }
            let lane = &context.counters.lanes[entry.op as usize];
            lane.ios.add(1);
            lane.bytes.add(u64::from(entry.len));
        }
        self.left -= until_look as u32;
        let over = self.left == 0 && self.look(context);
        (until_look, if over { StretchEnd::Time } else { StretchEnd::All })
    }

    /// Look at the clock: whether the slice is over. If not, the next look is
    /// put off for as many I/Os as should take no longer than `LOOK_NS`.
    #[inline(never)]
    fn look(&mut self, context: StretchContext<'_>) -> bool {
        const LOOK_NS: u64 = 200_000;
        let now = context.clock.now();
        let fast = context.clock.ticks_to_ns(now.wrapping_sub(self.looked)) < LOOK_NS;
        self.stride = if fast { (self.stride * 2).min(64) } else { (self.stride / 2).max(1) };
        (self.looked, self.left) = (now, self.stride);
        now >= context.control.until()
    }
}
