//! What the loop of queues does that is not plain I/O: syncs, zones, files, and I/Os
//! that are issued by themselves.

use super::{AnyQueueLoop, Filling, PATIENCE, Tag};
use crate::drive::{Failure, io};
use crate::{Drive, Ended, Files, Memory, Wanted};
use iosonde_base::{FileId, Op, Planned, Slot};
use iosonde_stats::Counters;

impl<const STAMPED: bool> AnyQueueLoop<STAMPED> {
    /// Whether an entry takes more than a slot and a push.
    #[inline(always)]
    pub(super) fn is_special(&mut self, drive: &Drive, entry: &Planned) -> bool {
        if entry.op as u8 > Op::Trim as u8 {
            return !(entry.op.is_sync() && self.engine.queues_syncs());
        }
        drive.window.serialize_overlap && self.overlaps(entry)
    }

    /// As [`super::QueueLoop::push_run`], one by one.
    pub(super) fn push_each(
        &mut self,
        memory: &Memory,
        files: &Files,
        entries: &[Planned],
        tag: Tag,
    ) {
        for (entry, &slot) in entries.iter().zip(self.slots.free()) {
            self.flights[slot as usize].begin(entry, tag);
            self.engine.push(Slot(slot), &io(memory, files, entry, slot));
        }
        self.slots.take(entries.len());
    }

    /// As [`super::QueueLoop::submit_filling`]; a queue that fails is abandoned.
    pub(super) fn submit_watched(
        &mut self,
        drive: &Drive,
        filling: &Filling,
    ) -> Result<(), Failure> {
        let submitted = self.submit_filling(drive, filling);
        submitted.map_err(|errno| self.abandon("submit", errno))
    }

    #[inline(never)]
    pub(super) fn count_mixed(counters: &Counters, counts: &[u32], slat: u64) {
        for (lane, &ios) in counters.lanes.iter().zip(counts) {
            if ios > 0 {
                Self::count_issued(lane, ios, slat);
            }
        }
    }

    /// Whether an I/O in flight touches a byte of this one.
    #[cold]
    fn overlaps(&mut self, entry: &Planned) -> bool {
        self.idle.fill(false);
        for &slot in self.slots.free() {
            self.idle[slot as usize] = true;
        }
        let end = |entry: &Planned| entry.offset + u64::from(entry.len);
        self.flights.iter().zip(&self.idle).any(|(other, idle)| {
            !idle
                && other.tag.kind() <= Op::Trim as usize
                && other.file == entry.file
                && other.offset < end(entry)
                && entry.offset < end(&other.entry())
        })
    }

    /// Do what waits, unless it has to wait on: whether it was done.
    #[cold]
    #[inline(never)]
    pub(super) fn do_waiting(&mut self, drive: &mut Drive) -> Result<bool, Failure> {
        let Some(entry) = self.waiting else { return Ok(true) };
        if entry.op.is_zone_command() {
            return self.zone_command(drive, &entry);
        }
        if entry.op.dir().is_some() {
            if self.overlaps(&entry) {
                return Ok(false);
            }
            self.waiting = None;
            self.issue_alone(drive, entry)?;
            return Ok(true);
        }
        // A sync made by the loop covers the writes that came back before it,
        // as in fio; opening and closing need quiet.
        let needs_quiet = matches!(entry.op, Op::Open | Op::Close);
        if needs_quiet && self.in_flight() > 0 {
            return Ok(false);
        }
        self.waiting = None;
        match entry.op {
            Op::Open => self.open(drive, entry.file)?,
            Op::Close => self.close(drive, entry.file)?,
            Op::Invalidate => drive.files.invalidate(entry.file)?,
            _ => drive.sync_now(&entry)?,
        }
        Ok(true)
    }

    /// Execute a command to a zone once the queue is empty: whether it was done.
    #[cold]
    fn zone_command(&mut self, drive: &mut Drive, entry: &Planned) -> Result<bool, Failure> {
        if self.in_flight() > 0 {
            return Ok(false);
        }
        self.waiting = None;
        if entry.op != Op::ZoneTrim {
            return drive.zone_command(entry).map(|()| true);
        }
        drive.tap(*entry, self.slots.next());
        let [begin, end] = drive.zone_trim(entry)?;
        if let Drive { tape: Some(tape), clock, .. } = drive
            && STAMPED
        {
            let took = clock.ticks_to_ns(end.wrapping_sub(begin));
            tape.add(end, entry.offset, entry.len, Op::Trim as u32, [0, took]);
        }
        drive.trace_completed(entry);
        Ok(true)
    }

    /// Issue the entry that waited, in the slot that was kept for it.
    fn issue_alone(&mut self, drive: &mut Drive, entry: Planned) -> Result<(), Failure> {
        let mut filling = self.begin(drive);
        // Filling stopped with a slot in hand.
        let slot = self.slots.next();
        if drive.has_taps() {
            drive.tap(entry, slot);
        }
        if let Some(due) = self.dues.get_mut(slot as usize) {
            *due = self.due;
        }
        self.slots.take(1);
        let tag = Tag::new(filling.batch, entry.op);
        self.flights[slot as usize].begin(&entry, tag);
        self.engine.push(Slot(slot), &drive.io(&entry, slot));
        filling.note(entry.op, 1);
        self.submit_watched(drive, &filling)
    }

    /// The slice is over: because of the time, unless nothing is in flight and there
    /// is no more.
    pub(super) fn end_slice(&mut self) -> Ended {
        let ended = if self.in_flight() == 0 { self.out.take() } else { None };
        ended.unwrap_or(Ended::Time)
    }

    /// The job fails.
    #[cold]
    pub(super) fn fail(&mut self, drive: &mut Drive, failure: Failure) -> Ended {
        // The first failure is the one to report.
        let _ = self.drain(drive);
        // A job that goes on all the same begins something else.
        (self.waiting, self.out) = (None, None);
        Ended::Failed(failure)
    }

    pub(super) fn drain(&mut self, drive: &mut Drive) -> Result<(), Failure> {
        while self.in_flight() > 0 {
            let (min, max) = (self.in_flight(), self.in_flight());
            self.collect_within(drive, Wanted { min, max, patience: PATIENCE })?;
        }
        self.full = false;
        self.failed.take().map_or(Ok(()), Err)
    }

    pub(super) fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        drive.open(file, |opened| self.engine.opened(opened))
    }

    pub(super) fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.engine.closing(file);
        drive.close(file)
    }
}
