//! One job's life, on its own thread: settle in, open, wait for the gate, run
//! its passes, make durable, close, hand over the result.

pub(crate) mod commands;
mod coordination;
mod logs;
mod ramp;
mod remedy;
mod requirements;
mod result;
mod sampler;
mod setup;
mod taps;
mod thread;
mod verify;
mod verify_state;
mod wear_out;
mod wrong_blocks;

pub use crate::control::JobStage;
pub use crate::job::JobError;
pub use result::{JobResult, PhaseTime, VerifyResult};
pub(crate) use result::{boxed_failure, failed_to_start, no_thread, panicked, so_far};

use crate::control::{Gate, GateOpening, Shared};
use crate::evidence::job_readings::JobReadings;
use crate::job::JobPlan;
use crate::layout;
use crate::logs::JobLogs;
use iosonde_base::{Dir, Errno, FileId, Nanos};
use iosonde_engine::{Drive, Ended, Failure, IoLog, Loop, Pacing, SliceControl};
use iosonde_stats::CountersWriter;
use iosonde_sys::clock::Clock;
use iosonde_sys::counters::Usage;
use iosonde_sys::memory::LockedMemory;
use ramp::Ramp;
use requirements::{Judged, Requirements};
use sampler::Sampler;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Run a job to its end. `ready` is called once, before the gate.
pub(crate) fn work(
    job: &JobPlan,
    writer: CountersWriter,
    shared: &Shared,
    gate: &Gate,
    ready: impl FnOnce(),
) -> Box<JobResult> {
    // Both are large: a value that is handed on is copied from frame to frame, and
    // hundreds of threads keep what their stacks once took.
    let mut worker = match Worker::settle_in(job, writer, shared) {
        Ok(worker) => worker,
        Err((error, counters)) => {
            ready();
            shared.enter(JobStage::Finished);
            return boxed_failure(*error, &counters);
        }
    };
    shared.enter(JobStage::Ready);
    ready();
    worker.start_at(gate.pass());
    worker.wait_delay();
    worker.require_written();
    worker.prerun();
    worker.connect();
    worker.run();
    worker.finish()
}

struct Worker<'a> {
    job: &'a JobPlan,
    shared: &'a Shared,
    engine: Box<dyn Loop>,
    drive: Drive,
    clock: Clock,
    /// When the present phase began.
    phase_began: u64,
    phases: Vec<PhaseTime>,
    /// When the job was to start, and when the first of the run were.
    start: u64,
    run_began: u64,
    /// When counting began, or the ramp; 0 before.
    began: u64,
    began_unix_ms: u64,
    usage_before: Usage,
    /// How long the thread had waited for a processor then.
    run_delay_before: Option<u64>,
    counting: bool,
    /// All that was planned has been done.
    ran_out: bool,
    /// Its time is over, and it goes on until it has done as much as others.
    is_past_time: bool,
    error: Option<JobError>,
    notes: Vec<String>,
    sampler: Sampler,
    requirements: Requirements,
    /// Kept from the rest of the machine while the job lives.
    _locked: Option<LockedMemory>,
    logs: Option<JobLogs>,
    /// When the job's tap is handed what there is, in ticks.
    tap_next: u64,
    readings: Option<JobReadings>,
    /// What paces the job, while blocks are read back without a pace.
    paced: Option<Box<Pacing>>,
    check: verify::CheckTimes,
}

impl<'a> Worker<'a> {
    /// Open what may be open at a time; the source asks for the rest as it
    /// comes to it.
    fn open_files(&mut self) -> Result<(), Failure> {
        let all_fit = self.job.source.open_files >= self.job.files.len();
        for file in 0..if all_fit { self.job.files.len() as u32 } else { 0 } {
            self.engine.open(&mut self.drive, FileId(file))?;
        }
        self.shared.open_files.store(self.drive.files.open_count() as u32, Ordering::Relaxed);
        Ok(())
    }

    fn close_files(&mut self) -> Result<(), Failure> {
        for file in 0..self.job.files.len() as u32 {
            if self.drive.files.fd(FileId(file)) >= 0 || !self.job.engine.caps.has_descriptors() {
                self.engine.close(&mut self.drive, FileId(file))?;
            }
        }
        Ok(())
    }

    /// Take the gate's opening for the start, not the moment at which this
    /// thread got a processor: the jobs of a wave start and end together,
    /// however many they are.
    fn start_at(&mut self, opened: GateOpening) {
        let ticks_at = |moment: Instant| {
            let ago = moment.elapsed().as_nanos() as u64;
            self.clock.now().saturating_sub(self.clock.ns_to_ticks(ago))
        };
        (self.start, self.run_began) = (ticks_at(opened.at), ticks_at(opened.run_began));
        self.end_phase("wait");
    }

    /// As in fio, `startdelay` counts from the start of the run, not of the wave.
    fn wait_delay(&mut self) {
        let delayed = self.clock.after(self.run_began, self.job.time.delay.0);
        if delayed > self.start && self.job.time.delay > Nanos(0) {
            self.start = delayed;
            sleep_unless_stopped(&self.clock, &self.shared.control, self.start);
            self.end_phase("delay");
        }
    }

    /// Engines that talk to somebody find him now; the job starts then.
    fn connect(&mut self) {
        if self.job.layout.only || self.error.is_some() || self.shared.control.stop_asked() {
            return;
        }
        match self.engine.connect(&mut self.drive) {
            Ok(None) => {}
            Ok(Some(met)) => {
                self.start = met;
                self.end_phase("connect");
            }
            Err(failure) => self.fail(failure),
        }
    }

    /// What is counted of the thread begins here.
    fn note_use(&mut self) {
        self.usage_before = thread_usage();
        self.run_delay_before = self.run_delay();
    }

    /// How long this thread has waited for a processor, where the ledger asks.
    fn run_delay(&self) -> Option<u64> {
        self.job.measure.readings.as_ref()?;
        iosonde_sys::counters::run_delay_of_thread().ok()
    }

    /// Ramp, then run, in slices.
    fn run(&mut self) {
        if self.job.layout.only || self.error.is_some() {
            return;
        }
        self.begin_pace();
        // For a job that ends within its ramp.
        self.note_use();
        (self.began, self.began_unix_ms) = (self.start, self.job.time.start_clock.now_ms());
        if self.job.time.ramp > Nanos(0) || self.job.time.ramp_bytes > 0 {
            self.shared.enter(JobStage::Ramping);
        } else {
            self.start_counting(self.start);
        }
        let shared = self.shared;
        let mut ramp = Ramp::new(self.job, self.clock, &shared.with_others.ramp, self.start);
        loop {
            let slice_ends = if self.counting { self.next_moment() } else { ramp.until() };
            self.shared.control.arm(slice_ends);
            if self.shared.control.stop_asked() {
                break;
            }
            let ended = self.run_slice(slice_ends);
            self.ran_out = matches!(ended, Ended::Pass | Ended::Done);
            match ended {
                Ended::Time => {
                    let now = self.clock.now();
                    if !self.counting && ramp.is_over(now, &shared.counters) {
                        self.end_phase("ramp");
                        self.start_counting(now);
                    } else if self.counting && !self.at_moment(now) {
                        break;
                    }
                }
                Ended::Pass => {
                    if let Err(failure) = self.next_pass() {
                        self.fail(failure);
                        break;
                    }
                }
                Ended::Done => break,
                Ended::Failed(failure) => {
                    let is_end = self.drive.tolerance.full_is_end && is_full(failure.errno);
                    if !is_end {
                        self.fail(failure);
                    }
                    if !(is_end && self.stop_writing()) {
                        break;
                    }
                }
            }
        }
    }

    /// The schedule of the job's pace begins where the job does; a search for
    /// a depth at its own.
    fn begin_pace(&mut self) {
        let Some(pacing) = &mut self.drive.pacing else { return };
        pacing.begin(self.start);
        if let Some(depth) = self.requirements.depth() {
            self.drive.window.depth = depth;
        }
        // Else a sleep may last 50 us longer than asked. Where the system does
        // not allow it, response times tell.
        let _ = iosonde_sys::process::set_timer_slack(NonZeroU64::MIN);
    }

    fn start_counting(&mut self, began: u64) {
        self.drive.writer.clear();
        self.drive.source.clear_zone_resets();
        if let Some(pacing) = &mut self.drive.pacing {
            pacing.count_anew();
        }
        self.counting = true;
        // Nothing was read before, where there is no ramp.
        if let Some(readings) = self.readings.as_mut().filter(|_| began != self.start) {
            readings.begin();
        }
        self.note_use();
        self.shared.note_used(self.usage_before);
        self.began = began;
        self.began_unix_ms = self.job.time.start_clock.now_ms();
        self.shared.began.store(self.began, Ordering::Relaxed);
        self.sampler.start(self.began);
        self.drive.tape = self.logs.as_mut().and_then(|logs| logs.start(began));
        self.start_tap();
        if let Some(prios) = &self.job.measure.priorities {
            self.drive.tape = Some(prios.tape(self.drive.tape.take()));
        }
        self.requirements.start(self.began, &mut self.drive);
        if let Some(log) = &mut self.drive.log {
            log.epoch = self.began;
        }
        self.shared.enter(JobStage::Running);
    }

    /// The next moment at which anything but I/O happens.
    fn next_moment(&self) -> u64 {
        let logs = self.logs.as_ref().map_or(u64::MAX, JobLogs::next);
        let others = self.sampler.next.min(logs).min(self.tap_next);
        self.deadline().min(others).min(self.requirements.next())
    }

    fn deadline(&self) -> u64 {
        match self.job.time.runtime {
            Some(runtime) if !self.is_past_time => {
                self.began.saturating_add(self.clock.ns_to_ticks(runtime.0))
            }
            _ => u64::MAX,
        }
    }

    /// Do what is due; whether the job goes on.
    fn at_moment(&mut self, now: u64) -> bool {
        // A window that ends with the job counts too.
        if now >= self.sampler.next {
            self.sampler.sample(now, &self.clock, &self.drive.writer);
        }
        if self.shared.control.stop_asked() {
            return false;
        }
        if now >= self.deadline() {
            return self.wear_out();
        }
        // The end reports why; going on would log nothing more.
        if self.drive.log.as_ref().is_some_and(IoLog::has_failed) {
            return false;
        }
        if let Some(logs) = self.logs.as_mut().filter(|logs| now >= logs.next()) {
            logs.look(now, &mut self.drive.tape);
        }
        if let (Some(_), Some(tape)) = (&self.job.measure.priorities, &mut self.drive.tape) {
            tape.hand_over();
        }
        if now >= self.tap_next {
            self.hand_over(now);
        }
        match self.requirements.judge(now, &mut self.drive) {
            Judged::Fine => true,
            Judged::CountAnew => {
                self.start_counting(now);
                true
            }
            Judged::Done => false,
            Judged::Missed(missed) => {
                let detail = Some(missed.words);
                let error = JobError { detail, ..self.describe(missed.failure) };
                self.error.get_or_insert(error);
                false
            }
        }
    }

    /// Between two passes: what fio does at the end of a loop and at the
    /// start of the next.
    fn next_pass(&mut self) -> Result<(), Failure> {
        self.drive.finish_checks()?;
        if self.must_check() {
            return self.begin_check();
        }
        self.make_durable()?;
        self.close_files()?;
        if self.job.end.unlink_each_loop {
            let removed = layout::remove(self.job);
            removed.map_err(|error| Failure::engine("unlink", error.into()))?;
        }
        self.end_check();
        self.drive.source.next_pass();
        self.open_files()
    }

    fn make_durable(&mut self) -> Result<(), Failure> {
        // As in fio, a job that only trims has written nothing.
        if !self.job.dirs[Dir::Write] || self.job.source.total_bytes == 0 {
            return Ok(());
        }
        let syncs = self.job.end.fsync || self.job.open.sync_on_close;
        if syncs && !self.has_synced() {
            self.shared.enter(JobStage::Syncing);
            self.drive.sync_all()?;
        }
        if self.job.end.fdatasync {
            self.shared.enter(JobStage::Syncing);
            self.drive.sync_all_data()?;
        }
        if self.job.end.syncfs {
            self.shared.enter(JobStage::Syncing);
            self.drive.sync_file_systems()?;
        }
        self.shared.enter(JobStage::Running);
        Ok(())
    }

    /// Whether a sync was the last thing done, and made all files durable: as in
    /// fio it is not repeated then. Of what was planned and not done, and of files
    /// that others were synced after, it is not known.
    fn has_synced(&self) -> bool {
        let every = self.job.source.sync_every;
        let whole = self.job.files.len() == 1 || every.fsync == 1 || every.fdatasync == 1;
        self.ran_out && whole && self.drive.source.last_was_sync()
    }

    /// Drain, make durable, close, and hand over.
    #[inline(never)]
    fn finish(mut self: Box<Self>) -> Box<JobResult> {
        let counted = self.counting;
        // A job that ends within its ramp reports what it did there, as in fio.
        let ran = self.began > 0;
        self.end_phase(if counted { "run" } else { "ramp" });
        let mut failure = self.engine.drain(&mut self.drive).err();
        failure = failure.or(self.drive.finish_checks().err());
        self.end_phase("drain");
        self.end_tap();
        if failure.is_none() && self.error.is_none() && !self.job.layout.only {
            failure = self.make_durable().err();
            self.end_phase("sync");
        }
        let ended = self.clock.now();
        self.end_check_readings();
        self.check.end(&self.clock);
        let usage = if ran { thread_usage().since(&self.usage_before) } else { Usage::default() };
        let run_delay_ns = self.run_delay().filter(|_| ran).zip(self.run_delay_before);
        let seen = self.readings.take().filter(|_| counted).map(JobReadings::end);
        failure = failure.or(self.close_files().err());
        if let Some(failure) = failure {
            self.fail(failure);
        }
        self.close_log();
        if let Some(tape) = &mut self.drive.tape {
            tape.hand_over();
        }
        self.close_logs(ended);
        self.postrun();
        if self.job.end.unlink
            && let Err(error) = layout::remove(self.job)
        {
            self.notes.push(format!("could not unlink a file of job {}: {error}", self.job.name));
        }
        let verify = self.finish_verify();
        let never_counted = !counted && !self.job.layout.only;
        let idle = self.why_idle();
        self.shared.enter(JobStage::Finished);
        self.shared.open_files.store(0, Ordering::Relaxed);
        Box::new(JobResult {
            snapshot: self.shared.counters.snapshot(),
            runtime: if ran { Nanos(self.clock.ns_between(self.began, ended)) } else { Nanos(0) },
            elapsed: Nanos(0),
            began_unix_ms: if ran { self.began_unix_ms } else { iosonde_base::time::unix_ms() },
            usage,
            run_delay_ns: run_delay_ns.map(|(now, before)| now.saturating_sub(before)),
            error: self.error,
            tolerated: (self.drive.tolerance.tolerated, self.drive.tolerance.first),
            phases: self.phases,
            depth_found: self.requirements.depth(),
            thread_id: iosonde_sys::process::thread_id(),
            never_counted,
            notes: self.notes,
            idle,
            lateness: self.drive.pacing.as_ref().and_then(|pacing| pacing.lateness()),
            steady: None,
            seen,
            verify,
            zone_resets: self.drive.source.zone_resets(),
        })
    }

    /// Why the job did no I/O, if it did none although it came to that.
    fn why_idle(&self) -> Option<String> {
        let stopped = self.shared.control.stop_asked() || self.error.is_some();
        let meant = self.job.layout.only || self.job.engine.caps.no_io;
        if stopped || meant || self.began == 0 {
            return None;
        }
        self.drive.source.why_idle()
    }

    fn close_log(&mut self) {
        if let Some(Err(error)) = self.drive.log.as_mut().map(IoLog::finish) {
            self.fail(Failure::engine("write the iolog", error.into()));
        }
    }

    fn end_phase(&mut self, name: &'static str) {
        let now = self.clock.now();
        let took = Nanos(self.clock.ns_between(self.phase_began, now));
        let began = Nanos(self.clock.ns_between(0, self.phase_began));
        self.phases.push(PhaseTime { name, began, took });
        self.phase_began = now;
    }

    fn fail(&mut self, failure: Failure) {
        let too_long = self.drive.pacing.as_ref().and_then(|pacing| pacing.too_long());
        let mut error = self.describe(failure);
        if let Some((took, most)) = too_long {
            let words = format!("latency of {took} nsec exceeds specified max ({most} nsec)");
            error.detail.get_or_insert(words);
        }
        self.error.get_or_insert(error);
    }

    fn describe(&self, failure: Failure) -> JobError {
        let path = failure.file.map(|file| self.job.files[file.0 as usize].path.clone());
        let detail = remedy::remedy(self.job, &failure);
        JobError { failure, path, detail }
    }
}

/// Use of the machine by this thread; zeroes where the system does not tell.
fn thread_usage() -> Usage {
    Usage::of_thread().unwrap_or_default()
}

fn is_full(errno: Errno) -> bool {
    matches!(errno, Errno::ENOSPC | Errno::EDQUOT)
}

/// Sleep until `until`, in ticks, in steps short enough to see a stop.
fn sleep_unless_stopped(clock: &Clock, control: &SliceControl, until: u64) {
    const STEP: Duration = Duration::from_millis(20);
    loop {
        let now = clock.now();
        if now >= until || control.stop_asked() {
            return;
        }
        let left = Duration::from_nanos(clock.ticks_to_ns(until - now));
        std::thread::sleep(left.min(STEP));
    }
}
