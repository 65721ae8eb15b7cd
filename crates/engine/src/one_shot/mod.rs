//! The loop of engines that do one thing at a time.

mod account;
mod paced;
mod tapped;

pub(crate) use paced::{count_response, wait};

use crate::drive::{Failure, UNCOUNTED};
use crate::retries::{GIVEN_UP, Retries};
use crate::tape::Taping;
use crate::{Drive, Ended, Files, Io, Loop, OneShot, SliceControl};
use account::{count_all, count_whole, tape_whole};
use iosonde_base::{Errno, FileId, Op, Planned, RING};
use iosonde_stats::{BriefLatencies, Counters};
use iosonde_sys::clock::{Clock, ClockSource};

/// A one-shot engine and its loop. `STAMPED` is whether latencies are kept.
pub struct OneShotLoop<E, const STAMPED: bool> {
    engine: E,
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
}

impl<E: OneShot, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// The loop around `engine`.
    pub fn new(engine: E) -> Self {
        OneShotLoop {
            engine,
            looked: 0,
            stride: 1,
            left: 1,
            due: 0,
            took: [0; RING],
            brief: BriefLatencies::default(),
            uncounted: 0,
        }
    }

    /// What is not plain data I/O: syncs, and what the loop does to files.
    #[cold]
    fn special(&mut self, drive: &mut Drive, entry: Planned) -> Result<(), Failure> {
        match entry.op {
            Op::Open => self.open(drive, entry.file),
            Op::Close => self.close(drive, entry.file),
            Op::Invalidate => drive.files.invalidate(entry.file),
            op if op.is_zone_command() => drive.zone_command(&entry),
            _ if E::SYNCS => {
                let io = drive.io(&entry, 0);
                let synced = drive.sync_by(&entry, || self.engine.perform(&io).map(drop));
                synced.map_err(|failure| Failure {
                    detail: self.engine.explain(entry.op, failure.errno),
                    ..failure
                })
            }
            _ => drive.sync_now(&entry),
        }
    }

    /// An I/O moved less than asked, or failed. Go on with the rest until it
    /// is done: whether it is. An error or an end of file comes back as a
    /// failure, unless the job tolerates it.
    #[cold]
    #[inline(never)]
    fn finish(
        &mut self,
        drive: &mut Drive,
        entry: Planned,
        first: Result<u32, Errno>,
    ) -> Result<bool, Failure> {
        let io = drive.io(&entry, 0);
        let mut moved = 0;
        let mut result = first;
        let mut retries = Retries::default();
        let failure = loop {
            match result {
                // Engines may say of a trim that it is done without saying how far.
                Ok(0) if io.op == Op::Trim => return Ok(true),
                Ok(0) => break Failure::end_of_file(&entry),
                Ok(n) => {
                    moved += n;
                    if moved >= io.len {
                        return Ok(true);
                    }
                    drive.pen.counters().lanes[entry.op as usize].short.add(1);
                    retries.moved();
                }
                // Interrupted before anything was done.
                Err(Errno(libc::EINTR)) if retries.again(drive.control.stop_asked()) => {}
                Err(errno) => {
                    let given_up = (errno.0 == libc::EINTR).then_some(GIVEN_UP);
                    let detail = self.engine.explain(entry.op, errno).or(given_up);
                    let failure = Failure { detail, ..Failure::of(&entry, errno) };
                    if self.engine.broken().is_some() {
                        return Err(failure);
                    }
                    break failure;
                }
            }
            let rest = Io {
                offset: io.offset + u64::from(moved),
                buffer: io.buffer.wrapping_add(moved as usize),
                len: io.len - moved,
                ..io
            };
            result = self.engine.perform(&rest);
        };
        drive.pen.counters().lanes[entry.op as usize].errors.add(1);
        let offset = Some(io.offset + u64::from(moved));
        drive.tolerate(&entry, Failure { offset, ..failure }).map(|()| false)
    }
}

impl<E: OneShot, const STAMPED: bool> Loop for OneShotLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        self.uncounted = drive.clock.ns_to_ticks(UNCOUNTED.0);
        let mut tape = drive.tape.take();
        let ended = match &mut tape {
            None => self.run_slice(drive, &mut ()),
            Some(tape) => self.run_slice(drive, tape),
        };
        drive.tape = tape;
        drive.settle_one_by_one();
        ended
    }

    fn drain(&mut self, _: &mut Drive) -> Result<(), Failure> {
        Ok(())
    }

    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        let opened = drive.files.open(file)?;
        self.engine
            .opened(&opened)
            .map_err(|errno| Failure { file: Some(file), ..Failure::engine("open", errno) })
    }

    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.engine.closing(file);
        drive.close(file)
    }
}

/// The parts of the drive that a stretch of plain I/Os needs, in a form that stays in
/// registers: nothing in it is lent out for change.
#[derive(Clone, Copy)]
struct StretchContext<'a> {
    clock: Clock,
    ledger: &'a Counters,
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
            ledger: drive.pen.counters(),
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
    Odd(Result<u32, Errno>, u64),
    /// The next may not start yet.
    Held,
    /// The slice is over.
    Time,
    /// The last read other data than was written.
    Wrong(Box<Failure>),
}

impl<E: OneShot, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    fn run_slice<T: Taping>(&mut self, drive: &mut Drive, tape: &mut T) -> Ended {
        let (taps, paced) = (drive.has_taps(), drive.pacing.is_some());
        loop {
            let Some(&first) = drive.ring.peek() else {
                match drive.refill() {
                    None => continue,
                    Some(ended) => return ended,
                }
            };
            let (count, stop) = match taps {
                false if paced => self.paced(drive, usize::MAX, tape),
                false => self.stretch_plain(drive, usize::MAX, tape),
                true if STAMPED && !paced => self.stretch_tapped(drive, tape),
                // Nothing is filled or logged before it may start: were the
                // slice over first, it would be done twice.
                true if paced && !self.wait_for(drive, &first) => return Ended::Time,
                true => self.one_tapped(drive, &first, paced, tape),
            };
            let next = drive.ring.as_slice().get(count).copied();
            drive.ring.advance(count);
            let over = match (stop, next) {
                (StretchEnd::Special, Some(entry)) if entry.op == Op::ZoneTrim => {
                    drive.ring.advance(1);
                    self.zone_trim(drive, &entry, tape)
                }
                (StretchEnd::Special, Some(entry)) => {
                    drive.ring.advance(1);
                    self.special(drive, entry).map(|()| drive.clock.now() >= drive.control.until())
                }
                (StretchEnd::Odd(result, issue), Some(entry)) => {
                    drive.ring.advance(1);
                    let over = self.odd(drive, entry, result, issue, tape);
                    over.and_then(|over| drive.verdict().map_or(Ok(over), Err))
                }
                (StretchEnd::Time, _) => drive.verdict().map_or(Ok(true), Err),
                (StretchEnd::Wrong(failure), _) => Err(*failure),
                _ => Ok(false),
            };
            match over {
                Ok(false) => {}
                Ok(true) => return Ended::Time,
                Err(failure) => return Ended::Failed(failure),
            }
        }
    }

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
        match (STAMPED, context.clock.source()) {
            (true, ClockSource::Cpu) => self.stretch::<true, T>(context, entries, tape),
            (true, _) => self.stretch::<false, T>(context, entries, tape),
            (false, _) => self.stretch_counting(context, entries),
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
        if !E::THREE_STAMPS {
            let (done, took) = (&entries[..count], &self.took[..count]);
            let brief = &mut self.brief;
            count_all::<E>(context.ledger, &clock, done, context.alike, took, brief);
        }
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
        let chained = E::CHAINED && !T::TAPES;
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
            let start = if E::THREE_STAMPS { clock.now() } else { 0 };
            let io = context.io(entry);
            let issue = if chained { last } else { clock.now() };
            let result = self.engine.perform(&io);
            if result != Ok(entry.len) {
                return (before(rest.len()), StretchEnd::Odd(result, issue));
            }
            last = clock.now();
            *took = last.wrapping_sub(issue);
            let stamps = [start, issue, last];
            if E::THREE_STAMPS {
                let lane = &context.ledger.lanes[entry.op as usize];
                count_whole::<E>(lane, &clock, entry.len, stamps);
            }
            tape_whole::<E, T>(tape, &clock, entry, stamps);
            if last >= pause {
                break;
            }
        }
        // A stop may have come since.
        let over = last >= context.control.until();
        (all - rest.len(), if over { StretchEnd::Time } else { StretchEnd::All })
    }

    /// Finish an I/O that moved less than asked, or failed. Whether the slice
    /// is over: errors that are tolerated must not keep it from ending.
    #[cold]
    #[inline(never)]
    fn odd(
        &mut self,
        drive: &mut Drive,
        entry: Planned,
        result: Result<u32, Errno>,
        issue: u64,
        tape: &mut impl Taping,
    ) -> Result<bool, Failure> {
        let finished = self.finish(drive, entry, result);
        let checked = drive.check(&entry, 0, matches!(finished, Ok(true)));
        let whole = finished?;
        checked?;
        let end = drive.clock.now();
        self.respond(drive, &entry, whole, [issue, end]);
        if whole {
            let lane = &drive.pen.counters().lanes[entry.op as usize];
            if STAMPED {
                // What came between the first stamp and the second is lost, and
                // is nothing beside an I/O that took several calls.
                count_whole::<E>(lane, &drive.clock, entry.len, [issue, issue, end]);
                tape_whole::<E, _>(tape, &drive.clock, &entry, [issue, issue, end]);
            } else {
                lane.ios.add(1);
                lane.bytes.add(u64::from(entry.len));
            }
        }
        Ok(end >= drive.control.until())
    }

    /// Trim a zone. Whether the slice is over.
    #[cold]
    #[inline(never)]
    fn zone_trim<T: Taping>(
        &self,
        drive: &mut Drive,
        entry: &Planned,
        tape: &mut T,
    ) -> Result<bool, Failure> {
        let [begin, end] = drive.zone_trim(entry)?;
        if STAMPED {
            let trim = Planned { op: Op::Trim, ..*entry };
            tape_whole::<E, T>(tape, &drive.clock, &trim, [begin, begin, end]);
        }
        drive.trace_completed(entry);
        Ok(end >= drive.control.until())
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
                return (count, StretchEnd::Odd(result, 0));
            }
            let lane = &context.ledger.lanes[entry.op as usize];
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
