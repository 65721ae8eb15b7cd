//! Verify within one job: between the source that decides the job's I/Os and
//! the loop that does them.

mod next;
mod open_files;
mod redrawn;
mod roles;
mod spec;

pub use spec::{Checks, VerifySpec};

use crate::block::{BlockFormat, BlockIdentity, Expected};
use crate::check::BlockCheck;
use crate::history::{CheckOrder, Written};
use crate::schedule::{Backlogs, LastDone, VerifySchedule};
use crate::seeds::SeedsAgain;
use iosonde_base::{Op, Planned, RING, Ring};
use iosonde_report::VerifyCounts;
use iosonde_workload::{Refill, Source};
use open_files::OpenFiles;
use redrawn::Redrawn;
use roles::Roles;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VerifyPhase {
    /// The job's own I/Os, and what the backlogs put among them.
    Job,
    /// Reading what was written.
    Check,
}

/// What an I/O is to verify.
#[derive(Clone, Copy, Debug, Default)]
enum Role {
    /// Nothing: a read of a job that writes too, a trim of the workload.
    #[default]
    Plain,
    /// Nothing, but verify needs it: a file is opened or closed.
    Control,
    /// A sync: it makes all writes below this number durable.
    Sync { below: u64 },
    /// A write of the job, by its number. `mark`: it was drawn to be trimmed later.
    Write { number: u64, seed: u64, mark: bool },
    /// A read of a job that only reads.
    JobRead { seed: Option<u64> },
    /// A read of a block that the job wrote.
    Check { number: u64, seed: Option<u64>, trimmed: bool },
    /// A block that was drawn to be trimmed.
    Trim,
}

/// Verify within one job.
#[derive(Debug)]
pub struct VerifyJob {
    spec: VerifySpec,
    schedule: VerifySchedule,
    roles: Roles,
    /// Draws the seeds of the pass again, in the order of the checks.
    again: SeedsAgain,
    /// The number of this pass's first.
    first_of_pass: u64,
    /// Those below this number were issued, and are remembered.
    issued: u64,
    /// Those below this number were made durable by a sync.
    synced: u64,
    phase: VerifyPhase,
    last: LastDone,
    /// What the source decided, not handed on yet.
    planned: Ring,
    /// What verify decided, not handed on yet.
    pending: VecDeque<(Planned, Role)>,
    /// How the source ended this pass.
    ended: Option<Refill>,
    /// I/Os that may still be handed on.
    ios_left: u64,
    /// Bytes that may still be handed on in this pass.
    pass_left: u64,
    /// Whether what comes next depends on what completes, so that entries are handed on one
    /// by one.
    one_by_one: bool,
    /// What the entries handed on last are, in their order, how many, and how many were issued.
    handed: Box<[Role; RING]>,
    handed_count: usize,
    handed_issued: usize,
    /// Where among the source's last entries the first of them is.
    place: usize,
    in_flight: Vec<Role>,
    /// Numbers of the writes that failed.
    failed: BTreeSet<u64>,
    redrawn: Option<Redrawn>,
    open: Option<OpenFiles>,
    /// Why a state file ended the checks, if it did.
    stopped: Option<String>,
    counts: VerifyCounts,
}

impl VerifyJob {
    /// Verify as `spec` says. Where that draws writes again, `source` draws
    /// what the job's own does.
    pub fn new(spec: VerifySpec, source: Option<Source>) -> VerifyJob {
        let roles = Roles::new(&spec);
        let open = OpenFiles::new(spec.files);
        VerifyJob {
            schedule: VerifySchedule::new(spec.backlogs, spec.order),
            again: roles.seeds_again(),
            first_of_pass: 0,
            issued: 0,
            synced: 0,
            phase: VerifyPhase::Job,
            last: LastDone::Other,
            planned: Ring::default(),
            pending: VecDeque::new(),
            ended: None,
            ios_left: spec.ios_most,
            pass_left: spec.pass_bytes_most,
            one_by_one: depends_on_completions(&spec) || open.is_some(),
            handed: Box::new([Role::Plain; RING]),
            handed_count: 0,
            handed_issued: 0,
            place: 0,
            in_flight: vec![Role::Plain; spec.slots.max(1)],
            failed: BTreeSet::new(),
            redrawn: source.map(Redrawn::new),
            open,
            stopped: None,
            counts: VerifyCounts::default(),
            roles,
            spec,
        }
    }

    /// What was written and checked so far.
    pub fn counts(&self) -> &VerifyCounts {
        &self.counts
    }

    /// How the job's blocks are made.
    pub fn format(&self) -> &BlockFormat {
        &self.spec.format
    }

    /// Whether the I/Os handed on last are verify's own, which no pace holds
    /// back.
    #[inline]
    pub fn next_is_own(&self) -> bool {
        let next = &self.handed[self.handed_issued % RING];
        matches!(next, Role::Check { .. } | Role::Trim | Role::Control)
            && self.handed_issued < self.handed_count
    }

    /// Where among the source's last entries the first of those handed on last is.
    #[inline]
    pub fn place(&self) -> usize {
        self.place
    }

    /// Blocks that were marked and never trimmed in this pass.
    pub fn untrimmed(&self) -> u64 {
        self.schedule.untrimmed()
    }

    /// Why a state file ended the checks, in fio's words, if it did.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Writes chosen so far, over all passes; of a job that only reads, its
    /// reads.
    pub fn chosen(&self) -> u64 {
        self.roles.number()
    }

    /// Numbers of the writes in flight, one place for each slot.
    pub fn writes_in_flight(&self) -> Vec<Option<u64>> {
        let number = |role: &Role| match role {
            Role::Write { number, .. } => Some(*number),
            _ => None,
        };
        self.in_flight.iter().map(number).collect()
    }

    /// For a state file: how many writes a later run may expect to find, and
    /// the numbers of those that failed.
    pub fn writes(&self) -> (u64, Vec<u64>) {
        let writes = if self.spec.only_synced { self.synced } else { self.issued };
        (writes, self.failed.iter().copied().collect())
    }

    /// The first of the entries handed on is about to be issued from the buffer of
    /// `slot`: of a write, what its block is to be made of. `time` is the job's
    /// clock, seconds and nanoseconds.
    #[inline]
    pub fn issue(
        &mut self,
        slot: usize,
        entry: &Planned,
        time: impl FnOnce() -> (u32, u32),
    ) -> Option<BlockIdentity> {
        let place = self.in_flight.get_mut(slot)?;
        if self.handed_issued >= self.handed_count {
            *place = Role::Plain;
            return None;
        }
        *place = self.handed[self.handed_issued % RING];
        self.handed_issued += 1;
        let (number, seed, mark) = match *place {
            Role::Write { number, seed, mark } => (number, seed, mark),
            Role::Sync { .. } => {
                self.in_flight[slot] = Role::Sync { below: self.durable_after_sync() };
                return None;
            }
            _ => return None,
        };
        self.issued = number + 1;
        self.remember(written(entry, number), mark);
        let time = if self.spec.moves_data { time() } else { return None };
        Some(BlockIdentity {
            seed,
            offset: entry.offset,
            number,
            // fio keeps the low half too.
            thread: self.spec.thread as u16,
            time_sec: time.0,
            time_nsec: time.1,
        })
    }

    /// The I/O of `slot` has completed wholly: note it if it is a write of the job, of which there
    /// is nothing to check. Whether it is.
    #[inline(always)]
    pub fn note_written(&mut self, slot: usize) -> bool {
        let Some(place @ Role::Write { .. }) = self.in_flight.get_mut(slot) else { return false };
        *place = Role::Plain;
        self.last = LastDone::Other;
        self.counts.written += 1;
        true
    }

    /// The I/O of `slot` has completed, wholly (`done`) or with an error. Of
    /// what was read, how it is to be checked: the caller does so, and says how
    /// that ended by [`VerifyJob::count_checked`].
    #[inline]
    pub fn complete(&mut self, slot: usize, entry: &Planned, done: bool) -> Option<BlockCheck> {
        self.last = match entry.op {
            Op::Read => LastDone::Read,
            Op::Trim => LastDone::Trim,
            Op::Write => LastDone::Other,
            _ => self.last,
        };
        if done && self.note_written(slot) {
            return None;
        }
        let role = std::mem::take(self.in_flight.get_mut(slot)?);
        let offset = entry.offset;
        let (seed, number, trimmed) = match role {
            Role::Plain | Role::Trim | Role::Control => return None,
            Role::Sync { below } => {
                if done {
                    self.note_synced(below);
                }
                return None;
            }
            Role::Write { number, .. } => {
                self.note_failed(&written(entry, number));
                return None;
            }
            _ if !self.spec.moves_data => return None,
            _ if !done => {
                self.counts.unreadable += 1;
                return None;
            }
            Role::JobRead { seed } => (seed, None, false),
            Role::Check { number, seed, trimmed } => {
                (seed, self.spec.compare_number.then_some(number), trimmed)
            }
        };
        // Zeroes after a trim are looked at whatever the type.
        (trimmed || self.spec.compares())
            .then_some(BlockCheck { expected: Expected { offset, seed, number }, trimmed })
    }

    #[cold]
    fn note_failed(&mut self, write: &Written) {
        self.schedule.failed(write);
        self.failed.insert(write.number);
        self.counts.failed += 1;
    }

    /// Blocks were checked, and so many of them are wrong.
    #[inline]
    pub fn count_checked(&mut self, checked: u64, wrong: u64) {
        self.counts.checked += checked;
        self.counts.wrong += wrong;
    }

    /// The writes below this number are durable after a sync that begins now:
    /// those that completed before it.
    pub fn durable_after_sync(&self) -> u64 {
        let in_flight = self.in_flight.iter().filter_map(|role| match role {
            Role::Write { number, .. } => Some(*number),
            _ => None,
        });
        in_flight.min().unwrap_or(self.issued)
    }

    /// A sync has made the writes below this number durable.
    pub fn note_synced(&mut self, below: u64) {
        self.synced = self.synced.max(below);
    }

    /// Nothing more can be written: the pass ends here, and the job with it.
    pub fn stop_writing(&mut self) {
        // What was handed on and not issued is not issued any more.
        self.handed_issued = self.handed_count;
        self.pending.clear();
        self.end_job();
    }

    /// The job's own I/Os end here.
    fn end_job(&mut self) {
        self.planned.forget();
        self.ended = Some(Refill::Done);
    }

    /// The job's own I/Os of this pass end here: what was planned beyond is planned again in the
    /// next.
    fn end_pass(&mut self) {
        self.planned.forget();
        self.ended = Some(Refill::PassDone);
    }

    /// Begin to check what this pass wrote; everything in flight has come
    /// back, and all files were closed.
    pub fn begin_check(&mut self) {
        self.phase = VerifyPhase::Check;
        self.all_closed();
    }

    /// Begin the next pass of the job; all files were closed.
    pub fn next_pass(&mut self) {
        self.phase = VerifyPhase::Job;
        self.ended = None;
        self.pass_left = self.spec.pass_bytes_most;
        self.schedule.clear();
        self.all_closed();
        if self.spec.repeat {
            self.roles.repeat(&self.spec);
        }
        self.again = self.roles.seeds_again();
        self.first_of_pass = self.roles.number();
        if let Some(redrawn) = &mut self.redrawn {
            redrawn.next_pass(self.roles.number());
        }
    }

    fn all_closed(&mut self) {
        if let Some(open) = &mut self.open {
            open.all_closed();
        }
    }
}

/// Whether each next I/O of a job may depend on what has completed, or on how much it has done.
fn depends_on_completions(spec: &VerifySpec) -> bool {
    let Backlogs { verify_after, trim_after, .. } = spec.backlogs;
    // How many writes are remembered, where one may replace others, decides what is due.
    let replaced = spec.order == CheckOrder::Offset && (verify_after > 0 || trim_after > 0);
    let read_back = verify_after > 0 && spec.pass_bytes_most < u64::MAX;
    replaced || read_back || spec.ios_most < u64::MAX || spec.until.is_some()
}

/// A write of the job, as an entry.
#[inline(always)]
fn written(entry: &Planned, number: u64) -> Written {
    Written { file: entry.file.0, offset: entry.offset, len: entry.len, number }
}
