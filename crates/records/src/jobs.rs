//! From a run of records to jobs of the core: one for each worker.

use crate::bench::{Benchmark, Class, Creation, End, RecordPace, Size, WorkerRole};
use crate::latencies::PercentileBounds;
use crate::remedies::own_names;
use crate::tally::{RunStart, WorkerTally};
use crate::words::UsageError;
use iosonde_base::{Dir, Nanos, part_of};
use iosonde_engine::EngineDef;
use iosonde_options::{Amount, Bytes, Diagnostic, Level, SizeRange, Triple};
use iosonde_run::job::{FileKind, JobPlan, Plan};
use iosonde_run::plan::{JobBuilder, Totals, plan_built};
use iosonde_spec::values::{FadviseHint, FallocateMode, Rw, RwWord};
use iosonde_sys::files::{Status, status};
use iosonde_workload::content::{Base, EachWrite, Pattern};
use iosonde_workload::{Cap, Sizes};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// SBK's lines come this often.
pub const WINDOW_NS: u64 = 5_000_000_000;

/// Past every file, and far from overflow: bytes that a run without a count
/// may write.
const ENDLESS: u64 = 1 << 60;

/// One worker: its part of the run.
#[derive(Clone, Debug)]
pub struct RecordWorker {
    /// Its number, from 0.
    pub number: u32,
    /// Records it is requested, if they are counted.
    pub records: Option<u64>,
    /// Its file.
    pub path: PathBuf,
    /// Where its part of the file begins, and its bytes.
    pub part: (u64, u64),
    /// Its counters.
    pub tally: Arc<WorkerTally>,
}

/// A run, planned.
#[derive(Debug)]
pub struct PlannedBench {
    /// The jobs, one for each of `workers`, in order.
    pub plan: Plan,
    /// The workers that have anything to do.
    pub workers: Vec<RecordWorker>,
    /// When the run began, once it has.
    pub origin: RunStart,
    /// Notes.
    pub notes: Vec<String>,
}

/// Plan a run; nothing is touched.
pub fn planned(bench: &Benchmark) -> Result<PlannedBench, UsageError> {
    let origin = RunStart::default();
    let workers = workers(bench, &origin)?;
    if workers.is_empty() {
        return Ok(PlannedBench { plan: Plan::default(), workers, origin, notes: Vec::new() });
    }
    let mut jobs = Vec::new();
    for worker in &workers {
        jobs.push(job(bench, worker)?);
    }
    let planned = plan_built(jobs, Totals::Kept);
    let is_error = |diagnostic: &&Diagnostic| diagnostic.level >= Level::Error;
    if let Some(error) = planned.diagnostics.iter().find(is_error) {
        return Err(UsageError::because(own_names(error)));
    }
    let mut notes: Vec<String> = planned.diagnostics.iter().map(own_names).collect();
    notes.dedup();
    let mut plan_of_jobs = planned.plan;
    for (job, worker) in plan_of_jobs.jobs.iter_mut().zip(&workers) {
        shape(bench, job, worker);
    }
    Ok(PlannedBench { plan: plan_of_jobs, workers, origin, notes })
}

fn workers(bench: &Benchmark, origin: &RunStart) -> Result<Vec<RecordWorker>, UsageError> {
    let keep = PercentileBounds::of(bench.output.keep, bench.output.unit);
    let synced = if bench.sync_in_latency { bench.sync_every } else { 0 };
    let mut workers = Vec::new();
    for number in 0..bench.workers {
        let path = path_of(bench, number);
        let records = match bench.end {
            End::Records(records) => Some(part_of(records, bench.workers, number).1),
            _ => None,
        };
        let part = match bench.action {
            WorkerRole::Write => to_write(bench, &path, records),
            WorkerRole::Read => to_read(bench, &path, number)?,
        };
        let tally = Arc::new(WorkerTally::new(origin.clone(), WINDOW_NS, keep, synced));
        workers.push(RecordWorker { number, records, path, part, tally });
    }
    let starts_late = |worker: &RecordWorker| match bench.end {
        End::Seconds(seconds) => delay(bench, worker.number) >= seconds,
        _ => false,
    };
    workers.retain(|worker| worker.records != Some(0) && worker.part.1 > 0 && !starts_late(worker));
    Ok(workers)
}

fn path_of(bench: &Benchmark, number: u32) -> PathBuf {
    let mut path = bench.file.clone().into_os_string();
    if bench.files {
        path.push(format!(".{number}"));
    }
    path.into()
}

fn to_write(bench: &Benchmark, path: &Path, records: Option<u64>) -> (u64, u64) {
    let offset = match bench.creation {
        Creation::Appended => status(path).map_or(0, |found| found.len()),
        _ => 0,
    };
    let bytes = records.map_or(ENDLESS, |records| records * u64::from(bench.size.max));
    // A device is as long as it is; why it cannot be opened shows later.
    let is_device = |found: &Status| found.file_type().is_block_device();
    let device = status(path).ok().filter(is_device);
    let most = device
        .and_then(|_| iosonde_direct::device::size(&std::fs::File::open(path).ok()?).ok())
        .unwrap_or(u64::MAX);
    (offset, bytes.min(most))
}

fn to_read(bench: &Benchmark, path: &Path, number: u32) -> Result<(u64, u64), UsageError> {
    let because = |error: std::io::Error| {
        UsageError::because(format!("Reader {number} failed: open {}: {error}", path.display()))
    };
    let found = status(path).map_err(because)?;
    let kind = found.file_type();
    let bytes = match () {
        () if kind.is_dir() => {
            return Err(UsageError::because(format!(
                "-file {}: it is a directory",
                path.display()
            )));
        }
        () if kind.is_fifo() || kind.is_socket() => {
            return Err(UsageError::because(format!(
                "-file {}: it is a pipe or a socket, which has neither size nor offsets",
                path.display()
            )));
        }
        () if kind.is_block_device() => {
            let device = std::fs::File::open(path).map_err(because)?;
            iosonde_direct::device::size(&device).map_err(because)?
        }
        () if kind.is_char_device() => ENDLESS,
        // How many rows there are shows in the reading.
        () if bench.class == Class::Csv => ENDLESS,
        () => found.len(),
    };
    if !bench.split {
        return Ok((0, bytes));
    }
    let size = u64::from(bench.size.max);
    let records = bytes.div_ceil(size);
    let (before, own) = part_of(records, bench.workers, number);
    let end = (before + own) * size;
    Ok((before * size, end.min(bytes).saturating_sub(before * size)))
}

/// Seconds after which a worker starts.
pub fn delay(bench: &Benchmark, number: u32) -> f64 {
    // A century at most, as for a run: moments are in 64 bits of nanoseconds.
    const MOST: f64 = 3.2e9;
    let (step, seconds) = bench.ramp;
    (f64::from(number / step) * seconds).min(MOST)
}

/// The job of one worker, as far as options of the job language go.
fn job(bench: &Benchmark, worker: &RecordWorker) -> Result<JobBuilder, UsageError> {
    let writes = bench.action == WorkerRole::Write;
    let word = if writes { RwWord::Write } else { RwWord::Read };
    let (offset, bytes) = worker.part;
    let name = format!("{}-{}", bench.action.worker().to_lowercase(), worker.number);
    let mut job = JobBuilder::new(name, &worker.path);
    // Typed by the user: checked as the job language checks them.
    let typed =
        [("ioengine", engine(bench).to_owned()), ("iodepth", bench.depth.unwrap_or(1).to_string())];
    for (option, text) in typed {
        job.set_text(option, &text).map_err(|error| UsageError::because(error.to_string()))?;
    }
    job.set(|spec| &mut spec.job.thread, true)
        .set(|spec| &mut spec.file_life.invalidate, false)
        .set(|spec| &mut spec.file_life.fadvise_hint, FadviseHint::None)
        .set(|spec| &mut spec.file_life.fallocate, FallocateMode::None)
        .set(|spec| &mut spec.file_life.create_on_open, true)
        .set(|spec| &mut spec.buffers.scramble_buffers, false)
        .set(|spec| &mut spec.random.norandommap, true)
        .set(|spec| &mut spec.durability.direct, bench.direct)
        .set(|spec| &mut spec.order.rw, Rw { word, every: 1, skip: 0 })
        .set(|spec| &mut spec.order.offset, Amount::Bytes(offset))
        .set(|spec| &mut spec.size.size, Some(Amount::Bytes(bytes)));
    if writes && bench.sync_every > 0 {
        match sync_call(bench) {
            "fsync" => job.set(|spec| &mut spec.durability.fsync, bench.sync_every),
            _ => job.set(|spec| &mut spec.durability.fdatasync, bench.sync_every),
        };
    }
    set_sizes(&mut job, bench.size, bytes);
    match rate(bench, worker.number) {
        Cap::Free => {}
        Cap::Bytes(bytes) => {
            job.set(|spec| &mut spec.rate.rate, Triple([Bytes(bytes); 3]));
        }
        Cap::Ios(ios) => {
            let ios = u32::try_from(ios).unwrap_or(u32::MAX);
            job.set(|spec| &mut spec.rate.rate_iops, Triple([ios; 3]));
        }
    }
    Ok(job)
}

/// Which call makes durable, as in the job language.
pub fn sync_call(bench: &Benchmark) -> &'static str {
    match bench.class {
        Class::FileStream { .. } | Class::AsyncFile => "fsync",
        _ => "fdatasync",
    }
}

fn engine(bench: &Benchmark) -> &str {
    match (&bench.engine, bench.class) {
        (Some(engine), _) => engine,
        (None, Class::Null) => "null",
        (None, Class::AsyncFile) => "io_uring",
        (None, _) if bench.depth.unwrap_or(1) > 1 => "io_uring",
        (None, _) => "psync",
    }
}

/// The engines that are SBK's drivers, where the core's own do not do.
fn own_engine(bench: &Benchmark) -> Option<&'static EngineDef> {
    match bench.class {
        Class::Csv => Some(&iosonde_engine::streams::CSV),
        Class::FileStream { buffered: true } => Some(&iosonde_engine::streams::BUFFERED),
        _ => None,
    }
}

fn set_sizes(job: &mut JobBuilder, size: Size, bytes: u64) {
    if size.varies() {
        let range = SizeRange { min: Bytes(size.min.into()), max: Bytes(size.max.into()) };
        job.set(|spec| &mut spec.block.bsrange, Triple([Some(range); 3]))
            .set(|spec| &mut spec.block.bs_unaligned, true);
    } else {
        // A file shorter than a record is read in one short record.
        let record = u64::from(size.max).min(bytes);
        job.set(|spec| &mut spec.block.bs, Triple([Bytes(record); 3]));
    }
}

/// The worker's share of the rate.
fn rate(bench: &Benchmark, number: u32) -> Cap {
    let share_of = |rate: f64| (rate / f64::from(bench.workers)).round().max(1.0) as u64;
    match bench.pace {
        RecordPace::Free => Cap::Free,
        RecordPace::Bytes(rate) => Cap::Bytes(share_of(rate)),
        RecordPace::Records(records) if bench.size.varies() && records >= bench.workers.into() => {
            Cap::Ios(part_of(records, bench.workers, number).1)
        }
        RecordPace::Records(records) => Cap::Bytes(share_of(records as f64 * bench.size.mean())),
    }
}

/// What the job language has no words for.
fn shape(bench: &Benchmark, job: &mut JobPlan, worker: &RecordWorker) {
    let size = bench.size.max;
    let is_short = bench.action == WorkerRole::Read
        && worker.part.1 != ENDLESS
        && !worker.part.1.is_multiple_of(size.into());
    if !bench.size.varies() && is_short {
        job.source.sizes[Dir::Read] = Sizes::UpToEnd(size);
    }
    job.source.number_ios = worker.records.unwrap_or(0);
    let delay = delay(bench, worker.number);
    job.time.delay = Nanos((delay * 1e9) as u64);
    if let End::Seconds(seconds) = bench.end {
        job.time.runtime = Some(Nanos(((seconds - delay) * 1e9) as u64));
    }
    if bench.action == WorkerRole::Write {
        job.source.sync_every.after_last = true;
        job.fill.base = Base::Pattern(Pattern::new(letters(size), Vec::new()));
        job.fill.each_write = EachWrite::Nothing;
        job.settings.drain_syncs();
        // With records in flight, only a sync of io_uring waits for them.
        let covers_all = job.window.depth == 1 || job.engine.name == "io_uring";
        let synced = worker.records.is_some_and(|records| {
            covers_all && bench.sync_every > 0 && records.is_multiple_of(bench.sync_every.into())
        });
        // Those that are no storage cannot be made durable.
        let durable = [FileKind::Regular, FileKind::Block];
        let files = job.files.iter().all(|file| durable.contains(&file.kind));
        job.end.fdatasync = files && !synced && sync_call(bench) == "fdatasync";
        job.end.fsync = files && !synced && sync_call(bench) == "fsync";
    }
    if let Some(engine) = own_engine(bench) {
        job.engine = engine;
        // What these keep in memory is written at the end, not made durable:
        // SBK's do not either.
        (job.end.fsync, job.end.fdatasync) = (false, false);
    }
    job.measure.tap = Some(worker.tally.clone());
    job.reporting.options = options(bench, job, worker);
}

/// The job's options as the common result file shows them.
fn options(bench: &Benchmark, job: &JobPlan, worker: &RecordWorker) -> Vec<(String, String)> {
    let (offset, bytes) = worker.part;
    let size = bench.size;
    let mut options = vec![
        ("name", job.name.clone()),
        ("rw", job.reporting.rw.clone()),
        ("filename", worker.path.display().to_string()),
        ("offset", offset.to_string()),
        ("size", bytes.to_string()),
    ];
    if size.varies() {
        options.push(("bsrange", format!("{}-{}", size.min, size.max)));
        options.push(("bs_unaligned", "1".to_owned()));
    } else {
        options.push(("bs", u64::from(size.max).min(bytes).to_string()));
    }
    match rate(bench, worker.number) {
        Cap::Free => {}
        Cap::Bytes(bytes) => options.push(("rate", bytes.to_string())),
        Cap::Ios(ios) => options.push(("rate_iops", ios.to_string())),
    }
    options.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Capital letters, as SBK writes them: at most a page of different ones.
fn letters(size: u32) -> Vec<u8> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut letter = || {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b'A' + (state >> 33) as u8 % 26
    };
    (0..size.min(4096)).map(|_| letter()).collect()
}

/// Whether a sync only empties a buffer in memory, as with SBK's driver.
pub fn empties_buffers(bench: &Benchmark) -> bool {
    own_engine(bench).is_some()
}
