//! What comes between stretches of plain I/Os: syncs, zones, files, and I/Os that moved
//! less than asked, or failed.

use super::account::{count_whole, tape_whole};
use super::{AnyLoop, StretchEnd};
use crate::drive::Failure;
use crate::retries::{GIVEN_UP, Retries};
use crate::tape::Tape;
use crate::{Drive, Ended, Io};
use iosonde_base::{Errno, FileId, Op, Planned};
use iosonde_sys::clock::Clock;

impl<const STAMPED: bool> AnyLoop<STAMPED> {
    /// Take `count` entries that are done from the ring, and do what comes after
    /// them. How the slice ends, if it does.
    #[inline(never)]
    pub(super) fn end_stretch(
        &mut self,
        drive: &mut Drive,
        count: usize,
        stop: StretchEnd,
        tape: &mut Option<Tape>,
    ) -> Option<Ended> {
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
            (StretchEnd::Incomplete(result, issue), Some(entry)) => {
                drive.ring.advance(1);
                let over = self.incomplete(drive, entry, result, issue, tape);
                over.and_then(|over| drive.verdict().map_or(Ok(over), Err))
            }
            (StretchEnd::Time, _) => drive.verdict().map_or(Ok(true), Err),
            (StretchEnd::Wrong(failure), _) => Err(*failure),
            _ => Ok(false),
        };
        match over {
            Ok(false) => None,
            Ok(true) => Some(Ended::Time),
            Err(failure) => Some(Ended::Failed(failure)),
        }
    }

    /// Finish an I/O that moved less than asked, or failed. Whether the slice
    /// is over: errors that are tolerated must not keep it from ending.
    #[cold]
    fn incomplete(
        &mut self,
        drive: &mut Drive,
        entry: Planned,
        result: Result<u32, Errno>,
        issue: u64,
        tape: &mut Option<Tape>,
    ) -> Result<bool, Failure> {
        let finished = self.finish(drive, entry, result);
        let checked = drive.check(&entry, 0, matches!(finished, Ok(true)));
        let whole = finished?;
        checked?;
        let end = drive.clock.now();
        self.respond(drive, &entry, whole, [issue, end]);
        if whole {
            let lane = &drive.writer.counters().lanes[entry.op as usize];
            if STAMPED {
                count_whole(lane, &drive.clock, entry.len, end.wrapping_sub(issue));
                tape_one(tape, &drive.clock, &entry, [issue, end]);
            } else {
                lane.ios.add(1);
                lane.bytes.add(u64::from(entry.len));
            }
        }
        Ok(end >= drive.control.until())
    }

    /// Trim a zone. Whether the slice is over.
    #[cold]
    fn zone_trim(
        &self,
        drive: &mut Drive,
        entry: &Planned,
        tape: &mut Option<Tape>,
    ) -> Result<bool, Failure> {
        let [begin, end] = drive.zone_trim(entry)?;
        if STAMPED {
            let trim = Planned { op: Op::Trim, ..*entry };
            tape_one(tape, &drive.clock, &trim, [begin, end]);
        }
        drive.trace_completed(entry);
        Ok(end >= drive.control.until())
    }

    pub(super) fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        drive.open(file, |opened| self.engine.opened(opened))
    }

    pub(super) fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.engine.closing(file);
        drive.close(file)
    }

    /// What is not plain data I/O: syncs, and what the loop does to files.
    #[cold]
    fn special(&mut self, drive: &mut Drive, entry: Planned) -> Result<(), Failure> {
        match entry.op {
            Op::Open => self.open(drive, entry.file),
            Op::Close => self.close(drive, entry.file),
            Op::Invalidate => drive.files.invalidate(entry.file),
            op if op.is_zone_command() => drive.zone_command(&entry),
            _ if self.engine.syncs() => {
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
                    drive.writer.counters().lanes[entry.op as usize].short.add(1);
                    retries.moved();
                }
                // Interrupted before anything was done.
                Err(Errno::EINTR) if retries.again(drive.control.stop_asked()) => {}
                Err(errno) => {
                    let given_up = (errno == Errno::EINTR).then_some(GIVEN_UP);
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
        drive.writer.counters().lanes[entry.op as usize].errors.add(1);
        let offset = Some(io.offset + u64::from(moved));
        drive.tolerate(&entry, Failure { offset, ..failure }).map(|()| false)
    }
}

/// As [`tape_whole`], where there is a tape.
fn tape_one(tape: &mut Option<Tape>, clock: &Clock, entry: &Planned, stamps: [u64; 2]) {
    if let Some(tape) = tape {
        tape_whole(tape, clock, entry, stamps);
    }
}
