//! The state of a job's loop, and why a slice of it ends.

use crate::verifying::Verifying;
use crate::{
    FileSetup, Files, Fill, Io, IoLog, Memory, Opened, Pacing, SyncRangeFlags, Tape, Tolerance,
    ZoneDevices, sync_call,
};
use iosonde_base::{Errno, FileId, Nanos, Op, Planned, Ring};
use iosonde_stats::CountersWriter;
use iosonde_sys::clock::{Bell, Clock};
use iosonde_workload::{Refill, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The error of data that is not what was written, as fio has it.
pub(crate) const WRONG_DATA: Errno = Errno::EILSEQ;

/// No I/O waits longer than this to be counted, so that a report of a job that
/// runs is that of a moment ago. Of 5000 I/Os a second a ring of them is counted at once.
pub(crate) const UNCOUNTED: Nanos = Nanos::from_millis(20);

/// How many may be in flight, and how many to start and collect at a time.
/// fio's `iodepth`, `iodepth_batch`, `iodepth_batch_complete_min`,
/// `iodepth_batch_complete_max` and `iodepth_low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// In flight at most.
    pub depth: u32,
    /// Handed down together.
    pub batch: u32,
    /// Waited for when the queue is full; 0 only polls until then.
    pub reap_min: u32,
    /// Collected together at most.
    pub reap_max: u32,
    /// Once full, the queue is filled again at this many in flight.
    pub low: u32,
    /// No I/O is issued that overlaps one in flight.
    pub serialize_overlap: bool,
}

impl Window {
    /// One at a time.
    pub const ONE: Window =
        Window { depth: 1, batch: 1, reap_min: 1, reap_max: 1, low: 1, serialize_overlap: false };
}

/// When the present slice ends, and whether the job shall stop: the one thing
/// that others write and the loop reads. The loop compares the time it has
/// anyway with `until`, and so sees both.
#[derive(Debug, Default)]
pub struct SliceControl {
    until: AtomicU64,
    stop: AtomicBool,
    bell: Bell,
}

impl SliceControl {
    /// Let the next slice end at `until`, in ticks; at once if a stop was
    /// asked.
    pub fn arm(&self, until: u64) {
        self.until.store(until, Ordering::SeqCst);
        // A stop that was stored before `until` would be lost without this look.
        if self.stop_asked() {
            self.until.store(0, Ordering::SeqCst);
        }
    }

    /// Ask the job to stop: no new I/O; what is in flight completes.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.until.store(0, Ordering::SeqCst);
        self.bell.ring();
    }

    /// Rung when a stop is asked, for a loop that sleeps until an I/O is due.
    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Whether a stop was asked.
    pub fn stop_asked(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// End of the present slice, in ticks.
    #[inline(always)]
    pub fn until(&self) -> u64 {
        self.until.load(Ordering::Relaxed)
    }
}

/// Which stamps are taken for each I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounting {
    /// All that the engine can tell apart.
    Full,
    /// None: I/Os and bytes are counted (`gtod_reduce`).
    CountsOnly,
}

/// Why a slice ended.
#[derive(Debug)]
pub enum Ended {
    /// Its moment came, or a stop was asked. I/O may be in flight; run again
    /// to go on.
    Time,
    /// The source has come to the end of a pass, there is another, and
    /// everything in flight has come back.
    Pass,
    /// The source has nothing more, and everything in flight has come back.
    Done,
    /// An error that the job does not tolerate; everything in flight has come back.
    Failed(Failure),
}

/// What failed, where, and why.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The act: `read`, `write`, `open`, `fsync`, `submit`...
    pub doing: &'static str,
    /// On which file.
    pub file: Option<FileId>,
    /// At which byte.
    pub offset: Option<u64>,
    /// How many bytes.
    pub len: u32,
    /// Why.
    pub errno: Errno,
    /// More words, where the number alone would not say enough.
    pub detail: Option<&'static str>,
}

impl Failure {
    /// Of one planned entry.
    pub fn of(entry: &Planned, errno: Errno) -> Failure {
        Failure {
            doing: act(entry.op),
            file: Some(entry.file),
            offset: Some(entry.offset),
            len: entry.len,
            errno,
            detail: None,
        }
    }

    /// Of an entry that found nothing more in its file.
    pub(crate) fn end_of_file(entry: &Planned) -> Failure {
        Failure {
            detail: Some("end of file: the file is shorter than the job's range"),
            ..Failure::of(entry, Errno::EIO)
        }
    }

    /// Of the engine as a whole.
    pub fn engine(doing: &'static str, errno: Errno) -> Failure {
        Failure { doing, file: None, offset: None, len: 0, errno, detail: None }
    }
}

/// A recording that was sound when the job was planned is not so any more.
fn broken_recording() -> Failure {
    let detail = "it could not be read, or was changed meanwhile";
    Failure { detail: Some(detail), ..Failure::engine("read on in read_iolog", Errno::EIO) }
}

/// The name of what an entry does.
pub(crate) fn act(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim | Op::ZoneTrim => "trim",
        Op::Sync => "fsync",
        Op::DataSync => "fdatasync",
        Op::SyncRange => "sync_file_range",
        Op::Open => "open",
        Op::Close => "close",
        Op::Invalidate => "invalidate",
        Op::ZoneReset => "reset zone",
        Op::ZoneFinish => "finish zone",
        Op::ZoneRecover => "recover zone",
        Op::ZoneWait => "wait for zone",
    }
}

/// Called with how long each sync among the writes took, in nanoseconds.
pub type SyncTap = Box<dyn FnMut(u64) + Send>;

/// The state of a job's loop. Built once, before the clock starts.
pub struct Drive {
    /// Every moment comes from it.
    pub clock: Clock,
    /// What decides the next I/O.
    pub source: Source,
    /// What it has decided already.
    pub ring: Ring,
    /// The job's files, open and closed.
    pub files: Files,
    /// One buffer for each slot.
    pub memory: Memory,
    /// What happens to a buffer before it is written.
    pub fill: Fill,
    /// The account.
    pub writer: CountersWriter,
    /// When to end.
    pub control: Arc<SliceControl>,
    /// How many at a time.
    pub window: Window,
    /// Which errors the job tolerates.
    pub tolerance: Tolerance,
    /// `write_iolog`, where asked.
    pub log: Option<IoLog>,
    /// Where each I/O is recorded as it completes, where logs ask for that.
    pub tape: Option<Tape>,
    /// Called after each sync among the writes, where it is needed.
    pub sync_tap: Option<SyncTap>,
    /// For `sync_file_range`.
    pub sync_range: SyncRangeFlags,
    /// What holds the job back; nothing where there is nothing to keep to.
    pub pacing: Option<Box<Pacing>>,
    /// What was written is checked; nothing where that was not asked.
    pub verify: Option<Box<Verifying>>,
    /// The zones of the job's files, with `zonemode=zbd`.
    pub zones: Option<ZoneDevices>,
}

/// An engine together with the loop that suits it.
pub trait Loop {
    /// Called when the job starts: after its delay, before anything counts. When
    /// that was, in ticks, if the engine had to wait for somebody else.
    fn connect(&mut self, _: &mut Drive) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    /// Run one slice.
    fn run(&mut self, drive: &mut Drive) -> Ended;

    /// Let everything in flight come back; issue nothing new.
    fn drain(&mut self, drive: &mut Drive) -> Result<(), Failure>;

    /// Open a file and tell the engine.
    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure>;

    /// Close a file, after telling the engine.
    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure>;
}

impl Drive {
    /// The I/Os of `source` on `files`, as many at a time as `window` has, and nothing besides:
    /// no error is tolerated, nothing is filled, logged, paced or checked.
    pub fn new(
        clock: Clock,
        source: Source,
        files: Vec<FileSetup>,
        memory: Memory,
        writer: CountersWriter,
        window: Window,
    ) -> Drive {
        Drive {
            clock,
            source,
            ring: Ring::default(),
            files: Files::new(files),
            memory,
            fill: Fill::new(1, false),
            writer,
            control: Arc::new(SliceControl::default()),
            window,
            tolerance: Tolerance::default(),
            log: None,
            tape: None,
            sync_tap: None,
            sync_range: SyncRangeFlags::default(),
            pacing: None,
            verify: None,
            zones: None,
        }
    }

    /// Plan more, as the ring is empty. How the slice ends if there is no more.
    ///
    /// The loops take from the ring themselves and only come here when that
    /// fails, so that an entry goes from the ring to registers on no detour.
    #[cold]
    #[inline(never)]
    pub(crate) fn refill(&mut self) -> Option<Ended> {
        self.set_elapsed();
        loop {
            let (refill, own, place) = match &mut self.verify {
                None => (self.source.refill(&mut self.ring), false, 0),
                Some(verify) => {
                    let refill = verify.job.refill(&mut self.source, &mut self.ring);
                    (refill, verify.job.next_is_own(), verify.job.place())
                }
            };
            if self.ring.waiting() > 0 {
                match &mut self.pacing {
                    Some(pacing) if own => pacing.plan_at(self.clock.now()),
                    Some(pacing) => {
                        let dues = self.source.dues();
                        pacing.plan(&self.ring, dues.get(place..).unwrap_or(dues));
                    }
                    None => {}
                }
                return None;
            }
            match refill {
                Refill::Planned => {}
                Refill::PassDone => return Some(Ended::Pass),
                Refill::Done => return Some(Ended::Done),
                Refill::Broken => return Some(Ended::Failed(broken_recording())),
            }
        }
    }

    /// Why what holds the job back ends it, if it does.
    #[inline]
    pub(crate) fn verdict(&mut self) -> Option<Failure> {
        self.pacing.as_mut().and_then(|pacing| pacing.take_failure())
    }

    /// Pass on how much time has passed to a source that depends on it.
    fn set_elapsed(&mut self) {
        if let (true, Some(pacing)) = (self.source.depends_on_time(), &self.pacing) {
            let elapsed = pacing.elapsed(self.clock.now());
            self.source.set_elapsed(self.clock.ticks_to_ns(elapsed));
        }
    }

    /// An entry as an engine sees it, with the buffer of `slot`.
    #[inline(always)]
    pub(crate) fn io(&self, entry: &Planned, slot: u32) -> Io {
        io(&self.memory, &self.files, entry, slot)
    }

    /// Whether anything must be done for each I/O besides issuing it.
    #[inline]
    pub(crate) fn has_taps(&self) -> bool {
        self.log.is_some() || self.fill.is_active() || self.verify.is_some() || self.zones.is_some()
    }

    /// Do for one I/O what was asked to be done for each: fill, log.
    #[inline(never)]
    pub(crate) fn tap(&mut self, entry: Planned, slot: u32) {
        if entry.op == Op::Write && self.fill.is_active() {
            let fill = &mut self.fill;
            self.memory.change(slot, entry.len, |bytes| fill.apply(bytes, entry.offset));
        }
        if let Some(verify) = &mut self.verify {
            verify.issue(&mut self.memory, &self.clock, &entry, slot);
        }
        self.log(&entry);
    }

    /// Whether anything must be done for each I/O that completes besides
    /// counting it.
    pub(crate) fn watches_completions(&self) -> bool {
        self.verify.is_some()
            || self.zones.is_some()
            || self.log.as_ref().is_some_and(IoLog::is_traced)
    }

    /// Print that an I/O has completed, with `--debug=io`.
    pub(crate) fn trace_completed(&self, entry: &Planned) {
        if let Some(log) = &self.log {
            log.completed(entry);
        }
    }

    /// An I/O has completed, wholly (`done`) or with an error: check what it
    /// read, where that is to be checked.
    ///
    /// # Errors
    /// If that is not what was written, and the job does not tolerate it.
    #[inline(always)]
    pub(crate) fn check(&mut self, entry: &Planned, slot: u32, done: bool) -> Result<(), Failure> {
        let only_verifies = done && self.log.is_none() && self.zones.is_none();
        if only_verifies
            && let Some(verify) = &mut self.verify
            && verify.job.note_written(slot as usize)
        {
            return Ok(());
        }
        self.check_any(entry, slot, done)
    }

    #[inline(never)]
    fn check_any(&mut self, entry: &Planned, slot: u32, done: bool) -> Result<(), Failure> {
        self.trace_completed(entry);
        if self.zones.is_some() && entry.op == Op::Write {
            self.source.zone_write_ended(entry, done);
        }
        let Some(verify) = &mut self.verify else { return Ok(()) };
        verify.complete(&mut self.memory, &self.clock, entry, slot, done);
        if verify.is_quiet() { Ok(()) } else { self.judge_wrong() }
    }

    /// Wait until everything that was read is checked.
    ///
    /// # Errors
    /// As of a single check: the first that the job does not tolerate.
    pub fn finish_checks(&mut self) -> Result<(), Failure> {
        let Some(verify) = &mut self.verify else { return Ok(()) };
        verify.finish();
        self.judge_wrong()
    }

    /// Tolerate the wrong blocks that are known by now, if the job does.
    #[cold]
    fn judge_wrong(&mut self) -> Result<(), Failure> {
        let mut result = Ok(());
        while let Some(verify) = &mut self.verify {
            let Some(entry) = verify.next_wrong() else {
                return verify.take_broken().map_or(result, Err);
            };
            let failure = Failure { doing: "verify", ..Failure::of(&entry, WRONG_DATA) };
            result = result.and(self.tolerate(&entry, failure));
        }
        result
    }

    /// What the counts of one-at-a-time I/O follow from; reckoned once a slice,
    /// so that the loops need not.
    pub(crate) fn settle_one_by_one(&self) {
        let counters = self.writer.counters();
        let mut total = 0;
        for lane in &counters.lanes {
            let issued = lane.ios.get() + lane.errors.get();
            lane.issued.set(issued);
            total += issued;
        }
        let depth = &counters.depth;
        depth.level[0].set(total);
        for (map, count) in [(&depth.submit, &depth.submits), (&depth.complete, &depth.completes)] {
            map[1].set(total);
            count.set(total);
        }
    }

    /// Make durable what was written, by the system call of the entry, and
    /// account for it.
    #[cold]
    pub(crate) fn sync_now(&mut self, entry: &Planned) -> Result<(), Failure> {
        let (fd, flags) = (self.files.fd(entry.file), self.sync_range);
        // An engine without files has nothing to make durable.
        self.sync_by(entry, || if fd < 0 { Ok(()) } else { sync_call::sync(entry, fd, flags) })
    }

    /// Make durable what was written, by `act`, and account for it.
    #[cold]
    pub(crate) fn sync_by(
        &mut self,
        entry: &Planned,
        act: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Failure> {
        self.log(entry);
        let below = self.verify.as_ref().map(|verify| verify.job.durable_after_sync());
        let start = self.clock.now();
        let done = act();
        let took = self.clock.ticks_to_ns(self.clock.now().wrapping_sub(start));
        self.count_sync(took);
        self.trace_completed(entry);
        if let (Ok(()), Some(verify), Some(below)) = (done, &mut self.verify, below)
            && entry.op != Op::SyncRange
        {
            verify.job.note_synced(below);
        }
        done.or_else(|errno| self.tolerate_sync(entry, errno))
    }

    /// Count a sync that failed, and tolerate it if the job does.
    #[cold]
    pub(crate) fn tolerate_sync(&mut self, entry: &Planned, errno: Errno) -> Result<(), Failure> {
        self.writer.counters().sync.errors.add(1);
        self.tolerate(entry, Failure::of(entry, errno))
    }

    /// Nothing, if the job tolerates this.
    #[cold]
    pub(crate) fn tolerate(&mut self, entry: &Planned, failure: Failure) -> Result<(), Failure> {
        if !self.tolerance.tolerates(entry.op, failure.errno) {
            return Err(failure);
        }
        if let Some(tell) = &self.tolerance.tell {
            tell.tell(&failure);
        }
        Ok(())
    }

    fn log(&mut self, entry: &Planned) {
        if let Some(log) = &mut self.log {
            let elapsed = self.clock.ticks_to_ns(self.clock.now().wrapping_sub(log.epoch));
            log.add(elapsed, entry);
        }
    }

    /// fsync(2) every file, and log that. Not counted: fio counts only the
    /// syncs among the writes.
    pub fn sync_all(&mut self) -> Result<(), Failure> {
        self.log_all(Op::Sync);
        self.source.note_sync();
        self.files.sync_all()?;
        self.note_all_synced();
        Ok(())
    }

    /// fdatasync(2) every file, and log that. Not counted either.
    pub fn sync_all_data(&mut self) -> Result<(), Failure> {
        self.log_all(Op::DataSync);
        self.files.sync_all_data()?;
        self.note_all_synced();
        Ok(())
    }

    /// syncfs(2) the file system of every file, and log that. Not counted either.
    pub fn sync_file_systems(&mut self) -> Result<(), Failure> {
        let ns = self.clock.now();
        if let Some(log) = &mut self.log {
            let ns = self.clock.ns_between(log.epoch, ns);
            (0..self.files.len() as u32).for_each(|file| log.add_syncfs(ns, FileId(file)));
        }
        self.files.sync_file_systems()
    }

    /// What completed so far is durable.
    fn note_all_synced(&mut self) {
        if let Some(verify) = &mut self.verify {
            let below = verify.job.durable_after_sync();
            verify.job.note_synced(below);
        }
    }

    /// A sync that went through the queue has completed.
    #[cold]
    pub(crate) fn synced(&mut self, entry: &Planned, slot: u32, done: bool) {
        if let Some(verify) = &mut self.verify {
            let check = verify.job.complete(slot as usize, entry, done);
            debug_assert!(check.is_none(), "a sync reads nothing");
        }
    }

    fn log_all(&mut self, op: Op) {
        for file in (0..self.files.len() as u32).map(FileId) {
            self.log(&Planned { offset: 0, len: 0, file, op });
        }
    }

    /// Open a file, and show it to the engine.
    pub(crate) fn open(
        &mut self,
        file: FileId,
        shown: impl FnOnce(&Opened) -> Result<(), Errno>,
    ) -> Result<(), Failure> {
        let opened = self.files.open(file)?;
        shown(&opened)
            .map_err(|errno| Failure { file: Some(file), ..Failure::engine("open", errno) })
    }

    /// Close a file, and log that.
    pub(crate) fn close(&mut self, file: FileId) -> Result<(), Failure> {
        if let Some(log) = &mut self.log {
            let elapsed = self.clock.ticks_to_ns(self.clock.now().wrapping_sub(log.epoch));
            log.close(elapsed, file);
        }
        // What was planned last has been done only if nothing is left of it.
        let synced = self.ring.waiting() == 0 && self.source.last_was_sync();
        self.files.close(file, synced)
    }

    pub(crate) fn count_sync(&mut self, ns: u64) {
        let sync = &self.writer.counters().sync;
        sync.ios.add(1);
        sync.lat.add(ns);
        if let Some(histogram) = &sync.lat_histogram {
            histogram.add_many(ns, 1);
        }
        if let Some(tap) = &mut self.sync_tap {
            tap(ns);
        }
    }
}

/// An entry as an engine sees it, with the buffer of `slot`.
#[inline(always)]
pub(crate) fn io(memory: &Memory, files: &Files, entry: &Planned, slot: u32) -> Io {
    let (offset, len, op, file) = (entry.offset, entry.len, entry.op, entry.file);
    Io { offset, buffer: memory.buffer(slot), len, op, file, fd: files.fd(file) }
}
