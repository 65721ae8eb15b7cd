//! Verify in a job's thread: the phase in which blocks are read back, wrong
//! blocks on their way to whoever prints them, the state file at the end.

use super::result::VerifyResult;
use super::{Worker, verify_state, wrong_blocks};
use crate::control::{JobStage, Shared};
use crate::job::{JobError, JobPlan, VerifyPlan};
use iosonde_base::{Dir, Errno, FileId, Nanos};
use iosonde_direct::cache::drop_cached;
use iosonde_engine::{CheckerStart, Checkers, Failure, OnWrongBlock, Verifying, WrongBlock};
use iosonde_report::{VerifyCounts, WrongBlocks};
use iosonde_sys::clock::Clock;
use iosonde_sys::guard::{Guard, MountedWrite};
use iosonde_verify::{Checks, MismatchKind, VerifyJob};
use iosonde_workload::Source;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What fio prints as flags of a read that checks a job's writes, and of a
/// read of a job that only reads; then the same with `verify_async`.
const FLAGS: [[u32; 2]; 2] = [[0x88, 0x8], [0x84, 0x4]];

/// Verify as a job is to, if it is to.
///
/// # Errors
/// If its threads cannot be had.
pub(super) fn of_job(
    job: &JobPlan,
    shared: &Shared,
    clock: &Clock,
) -> Result<Option<Box<Verifying>>, JobError> {
    job.verify.as_ref().map(|plan| verifying(job, plan, shared, clock)).transpose()
}

/// Apart, for its frame is large: jobs that do not verify shall not have it.
#[inline(never)]
fn verifying(
    job: &JobPlan,
    plan: &VerifyPlan,
    shared: &Shared,
    clock: &Clock,
) -> Result<Box<Verifying>, JobError> {
    let checkers = checkers(plan).map_err(|failure| {
        let detail = failure.detail.map(str::to_owned);
        JobError { failure, path: None, detail }
    })?;
    let again = if plan.spec.draws_again {
        Some(Source::new(job.source.clone()).map_err(|error| {
            JobError::other("plan its I/O for experimental_verify", Errno::EINVAL, &error)
        })?)
    } else {
        None
    };
    let verify = VerifyJob::new(plan.spec.clone(), again);
    let on_wrong = on_wrong(job, plan, shared);
    Ok(Box::new(Verifying::new(verify, clock.now(), checkers, on_wrong)))
}

/// `verify_async`, `verify_async_cpus`.
fn checkers(plan: &VerifyPlan) -> Result<Option<Checkers>, Failure> {
    if plan.threads == 0 || !plan.spec.moves_data {
        return Ok(None);
    }
    let cpus = plan.cpus.clone();
    let start: CheckerStart = Arc::new(move || match &cpus {
        Some(cpus) => cpus.pin().map_err(Errno::from),
        None => Ok(()),
    });
    Checkers::start(plan.threads, &plan.spec.format, &start).map(Some)
}

fn on_wrong(job: &JobPlan, plan: &VerifyPlan, shared: &Shared) -> OnWrongBlock {
    let paths: Vec<PathBuf> = job.files.iter().map(|file| file.path.clone()).collect();
    let report = shared.with_others.wrong_blocks.clone();
    let reads = plan.spec.checks == iosonde_verify::Checks::Reads;
    let flags = FLAGS[usize::from(plan.threads > 0)][usize::from(reads)];
    let plan = plan.clone();
    let found = shared.wrong_blocks.clone();
    // For what is dumped, once there is something.
    let mut guard = None;
    Box::new(move |wrong| {
        let path = paths.get(wrong.file.0 as usize).cloned().unwrap_or_default();
        let requested = (wrong.offset, wrong.len as usize);
        let mut lines = wrong.mismatch.lines(&path.display().to_string(), requested, flags);
        wrong_blocks::note(&found, &plan, wrong, &path);
        if plan.dump {
            let guard = guard.get_or_insert_with(|| Guard::now(MountedWrite::Refuse));
            lines.extend(dump(&plan, wrong, &path, guard));
        }
        if let Some(report) = &report {
            report.send(lines);
        }
    })
}

/// `verify_dump`: what was read, and what was expected where that can be made
/// again. A line for each file.
fn dump(plan: &VerifyPlan, wrong: &WrongBlock, path: &Path, guard: &Guard) -> Vec<String> {
    let base = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let at = (wrong.mismatch.offset - wrong.offset) as usize;
    let Some(read) = wrong.read.get(at..at + wrong.mismatch.len) else { return Vec::new() };
    let write = |what: &str, kind: &str, bytes: &[u8]| {
        let name = plan.directory.join(format!("{base}.{}.{kind}", wrong.mismatch.offset));
        let shown = name.display();
        let created = guard.create_output(&name).map_err(io::Error::from);
        match created.and_then(|mut file| file.write_all(bytes)) {
            Ok(()) => format!("       {what} data dumped as {shown}"),
            Err(error) => format!("       cannot write {shown}: {error}"),
        }
    };
    if let MismatchKind::Header(_) = wrong.mismatch.kind {
        return vec![write("received", "hdr_fail", read)];
    }
    let mut lines = vec![write("received", "received", read)];
    if let Some(expected) = wrong_blocks::wanted(plan, wrong, read, at) {
        lines.push(write("expected", "expected", &expected));
    }
    lines
}

/// How long the checks of a job's passes took.
#[derive(Debug, Default)]
pub(super) struct CheckTimes {
    /// In ticks; 0 while the job's own I/O runs.
    writes_ended: u64,
    reads_began: u64,
    /// Of the passes before.
    after_writes: Nanos,
    reading: Nanos,
}

impl CheckTimes {
    /// The checks of a pass are over, if they began. The moment is now.
    pub fn end(&mut self, clock: &Clock) {
        let now = clock.now();
        if self.writes_ended > 0 {
            self.after_writes.0 += clock.ns_between(self.writes_ended, now);
        }
        if self.reads_began > 0 {
            self.reading.0 += clock.ns_between(self.reads_began, now);
        }
        (self.writes_ended, self.reads_began) = (0, 0);
    }

    fn result(&self, counts: VerifyCounts) -> VerifyResult {
        let (after_writes, reading) = (self.after_writes, self.reading);
        let (wrong_blocks, unchecked_reason) = (WrongBlocks::default(), None);
        VerifyResult { counts, after_writes, reading, wrong_blocks, unchecked_reason }
    }
}

impl Worker<'_> {
    /// Whether the job's own I/Os of this pass are done and blocks are to be
    /// read back.
    pub(super) fn must_check(&self) -> bool {
        self.drive.verify.as_ref().is_some_and(|verify| verify.job.has_blocks_to_check())
    }

    /// Read back what the pass wrote: no pace holds that up.
    pub(super) fn begin_check(&mut self) -> Result<(), Failure> {
        self.check.writes_ended = self.clock.now();
        self.make_durable()?;
        let from_device = self.job.verify.as_ref().is_some_and(|verify| verify.from_device);
        if from_device {
            self.shared.enter(JobStage::Syncing);
            self.drive.files.sync_all_data()?;
        }
        // A mapping that is still there would keep its pages.
        self.close_files()?;
        self.open_files()?;
        if from_device {
            self.drop_cached();
        }
        self.shared.enter(JobStage::Verifying);
        self.begin_check_readings();
        self.paced = self.drive.pacing.take();
        if let Some(verify) = &mut self.drive.verify {
            verify.job.begin_check();
        }
        self.check.reads_began = self.clock.now();
        Ok(())
    }

    /// A job that only checks begins once another job of the run may have written its files:
    /// what is not there now is its error.
    pub(super) fn require_written(&mut self) {
        if self.error.is_some() || self.shared.control.stop_asked() {
            return;
        }
        if let Some((path, words)) = self.job.unwritten_files().into_iter().next() {
            let error = JobError::other("verify", Errno::EILSEQ, &words);
            self.error = Some(JobError { path: Some(path), ..error });
        }
    }

    /// A job that checks as it reads begins with what the device holds, and
    /// not with what another job left in memory.
    pub(super) fn forget_cached(&mut self) -> Result<(), Failure> {
        let Some(plan) = &self.job.verify else { return Ok(()) };
        if plan.from_device && plan.spec.checks == Checks::Reads {
            self.drive.files.sync_all_data()?;
            self.drop_cached();
        }
        Ok(())
    }

    /// What can be dropped from the page cache; what cannot is read from it.
    fn drop_cached(&mut self) {
        for (index, file) in self.job.files.iter().enumerate() {
            // Fewer files than 4 Gi. A file that does not allow it is still checked.
            let id = FileId(index as u32);
            if self.drive.files.fd(id) >= 0 {
                let _ = self.drive.files.drop_cached(id);
            } else if self.job.engine.caps.has_descriptors() {
                // One of those that `openfiles` leaves closed.
                let _ = File::open(&file.path).and_then(|file| drop_cached(&file, 0, 0));
            }
        }
    }

    /// The next pass of a job that verifies begins.
    pub(super) fn end_check(&mut self) {
        self.end_check_readings();
        self.check.end(&self.clock);
        let Some(verify) = &mut self.drive.verify else { return };
        verify.job.next_pass();
        if let Some(pacing) = self.paced.take() {
            self.drive.pacing = Some(pacing);
        }
    }

    /// The counters of the reads that check are read, where anybody asked.
    fn begin_check_readings(&mut self) {
        let bytes = self.read_bytes();
        if let Some(readings) = &mut self.readings {
            readings.begin_verify(bytes);
        }
    }

    /// And again, once they are done.
    pub(super) fn end_check_readings(&mut self) {
        let bytes = self.read_bytes();
        if let Some(readings) = &mut self.readings {
            readings.end_verify(bytes);
        }
    }

    fn read_bytes(&self) -> u64 {
        self.shared.counters.snapshot().lanes[Dir::Read as usize].bytes
    }

    /// What was checked, at the end of the job; what was not becomes its error
    /// or a note.
    pub(super) fn finish_verify(&mut self) -> Option<VerifyResult> {
        let result = self.judge_verify()?;
        Some(VerifyResult { wrong_blocks: self.shared.wrong_blocks(), ..result })
    }

    fn judge_verify(&mut self) -> Option<VerifyResult> {
        let plan = self.job.verify.as_ref()?;
        let verify = &self.drive.verify.as_ref()?.job;
        let counts = verify.counts().clone();
        if (plan.save_state || self.shared.triggered())
            && let Err(error) = verify_state::save(self.job, verify)
        {
            if plan.strict && plan.spec.moves_data {
                self.error.get_or_insert(error);
            } else {
                self.notes.push(format!("{error}"))
            }
        }
        self.notes.extend(verify.stopped().map(str::to_owned));
        let untrimmed = verify.untrimmed();
        if plan.spec.moves_data && untrimmed > 0 {
            self.notes.push(format!("{untrimmed} trim entries leaked?"));
        }
        let unchecked_reason = if plan.spec.compares() {
            self.note_unchecked(plan, &counts)
        } else {
            self.note_nothing_compared(plan, &counts)
        };
        if plan.spec.moves_data {
            self.fail_unverified(plan, &counts);
        }
        Some(VerifyResult { unchecked_reason, ..self.check.result(counts) })
    }

    /// Say that nothing was looked at, where the job is so: it was asked for, and fails nothing.
    /// The reason, where there was something to check.
    fn note_nothing_compared(
        &mut self,
        plan: &VerifyPlan,
        counts: &VerifyCounts,
    ) -> Option<String> {
        let reads = plan.spec.checks == Checks::Reads;
        if !reads && (!plan.spec.backlogs.verify || counts.unchecked() == 0) {
            return (counts.unchecked() > 0).then(|| "do_verify=0".to_owned());
        }
        let why = if plan.spec.moves_data {
            "verify=null compares nothing".to_owned()
        } else {
            format!("ioengine={} moves no data", self.job.engine.name)
        };
        let of_job = format!("verify of job {}", self.job.name);
        let VerifyCounts { checked, written, .. } = *counts;
        self.notes.push(if reads {
            format!("{of_job}: none of its reads was checked: {why}")
        } else {
            format!("{of_job}: checked {checked} of {written} writes: {why}")
        });
        Some(why)
    }

    /// Say what was not checked, and why. The reasons, where writes were not.
    fn note_unchecked(&mut self, plan: &VerifyPlan, counts: &VerifyCounts) -> Option<String> {
        let of_job = format!("verify of job {}", self.job.name);
        let VerifyCounts { checked, written, unsynced, .. } = *counts;
        let mut reasons = Vec::new();
        let unchecked = plan.spec.backlogs.verify && counts.unchecked() > 0;
        if unchecked && checked > 0 && self.ended_by_time() {
            // What the runtime cut off of a job that reads back as it goes.
            return Some(self.why_unchecked().to_owned());
        }
        if unchecked {
            reasons.push(self.why_unchecked().to_owned());
        }
        if !plan.spec.backlogs.verify && counts.unchecked() > 0 {
            // Requested, so that there is nothing to note.
            return Some("do_verify=0".to_owned());
        }
        if unsynced > 0 {
            let words = format!("no sync followed the other {unsynced} (verify_policy=fsynced)");
            reasons.push(words);
        }
        for why in &reasons {
            let words = format!("{of_job}: checked {checked} of {written} writes: {why}");
            self.notes.push(words);
        }
        let chosen = self.drive.verify.as_ref().map_or(0, |verify| verify.job.chosen());
        if let Some(end) = &plan.spec.until
            && plan.spec.checks != Checks::Writes
            && chosen < end.writes
        {
            self.notes.push(format!(
                "{of_job}: checked {checked} of {} writes of the state file: this job has no more \
                 I/O; give it the size and bs of the job that wrote",
                end.writes
            ));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Whether it is to end by time, and did.
    fn ended_by_time(&self) -> bool {
        self.job.source.time_based && !self.shared.control.stop_asked() && self.error.is_none()
    }

    fn why_unchecked(&self) -> &'static str {
        match () {
            () if self.shared.control.stop_asked() => {
                "the job was stopped before the rest was read back"
            }
            () if self.error.is_some() => "the job failed before the rest was read back",
            () if self.job.verify.as_ref().is_some_and(VerifyPlan::reads_back_among) => {
                "the runtime was over before the rest was read back"
            }
            () => {
                "the runtime was over before the rest was read back; use a size that is written \
                 and read within it, or verify_backlog"
            }
        }
    }

    /// A job that was to verify and looked at nothing must not pass for one
    /// that found nothing, nor one whose wrong blocks were tolerated.
    fn fail_unverified(&mut self, plan: &VerifyPlan, counts: &VerifyCounts) {
        let VerifyCounts { written, checked, wrong, unreadable, .. } = *counts;
        let was_to = plan.spec.compares() && plan.spec.backlogs.verify;
        let nothing = was_to && written > 0 && checked == 0;
        let none_saved = plan.spec.until.as_ref().is_some_and(|end| end.writes == 0);
        let words = match () {
            () if self.error.is_some() || !plan.strict => return,
            () if wrong > 0 => {
                let words = format!("{wrong} of {checked} blocks were wrong");
                self.error = Some(JobError::other("verify", Errno::EILSEQ, &words));
                return;
            }
            // Whoever set the trigger checks later.
            () if self.shared.triggered() => return,
            () if unreadable > 0 => format!("{unreadable} blocks could not be read"),
            () if nothing && counts.unsynced > 0 => format!(
                "none of {written} writes was checked: no sync followed them; set fsync=N or \
                 fdatasync=N, or leave verify_policy=fsynced out"
            ),
            () if none_saved && checked == 0 => "nothing was checked: by its state file the job \
                                                  that wrote has no write that counts"
                .to_owned(),
            () if nothing => {
                format!("none of {written} writes was checked: {}", self.why_unchecked())
            }
            () => return,
        };
        self.error = Some(JobError::unchecked(&words));
    }

    /// The device is full, and that ends the writing (`fill_device`): whether
    /// blocks are to be read back now.
    pub(super) fn stop_writing(&mut self) -> bool {
        let Some(verify) = &mut self.drive.verify else { return false };
        verify.job.stop_writing();
        self.drive.ring.forget();
        if !self.must_check() {
            return false;
        }
        match self.begin_check() {
            Ok(()) => true,
            Err(failure) => {
                self.fail(failure);
                false
            }
        }
    }
}
