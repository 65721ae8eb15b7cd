//! From a run of records to jobs of the core: one for each worker.

use crate::bench::{Benchmark, Class, Creation, End, RecordPace, Size, WorkerRole};
use crate::latencies::PercentileBounds;
use crate::tally::{RunStart, WorkerTally};
use crate::words::UsageError;
use iosonde_base::{Dir, Nanos};
use iosonde_engine::EngineDef;
use iosonde_engine::settings::UringSettings;
use iosonde_options::Level;
use iosonde_run::job::{FileKind, JobPlan, Plan};
use iosonde_run::plan::{Totals, caps, plan};
use iosonde_spec::cli::{World, flag_table, parse};
use iosonde_spec::text::{expand::Host, include::DiskJobFiles};
use iosonde_workload::Sizes;
use iosonde_workload::content::{Base, EachWrite, Pattern};
use std::env::VarError;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// SBK's lines come this often.
pub const WINDOW_NS: u64 = 5_000_000_000;

/// Past every file, and far from overflow: bytes that a run without a count
/// may write.
const ENDLESS: u64 = 1 << 60;

/// One worker: its part of the run.
#[derive(Clone, Debug)]
pub struct Worker {
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
pub struct Planned {
    /// The jobs, one for each of `workers`, in order.
    pub plan: Plan,
    /// The workers that have anything to do.
    pub workers: Vec<Worker>,
    /// When the run began, once it has.
    pub origin: RunStart,
    /// Notes.
    pub notes: Vec<String>,
}

/// Plan a run; nothing is touched.
pub fn planned(bench: &Benchmark) -> Result<Planned, UsageError> {
    let origin = RunStart::default();
    let workers = workers(bench, &origin)?;
    if workers.is_empty() {
        return Ok(Planned { plan: Plan::default(), workers, origin, notes: Vec::new() });
    }
    let mut parsed = parse(
        &arguments(bench, &workers),
        &World {
            files: &DiskJobFiles,
            host: &Nothing,
            flags: &[flag_table::FIO, flag_table::OURS],
        },
    );
    let mut diagnostics: Vec<_> =
        parsed.notices.iter().map(|notice| notice.diagnostic.clone()).collect();
    for job in &mut parsed.jobs {
        let caps = caps(&job.spec);
        diagnostics.extend(iosonde_spec::resolve(&mut job.spec, &caps));
    }
    let is_error = |message: &iosonde_options::Diagnostic| message.level >= Level::Error;
    let mut plan_of_jobs = Plan::default();
    if !parsed.is_refused() && !diagnostics.iter().any(is_error) {
        let planned = plan(&parsed.jobs, Totals::Kept);
        diagnostics.extend(planned.diagnostics);
        plan_of_jobs = planned.plan;
    }
    if let Some(error) = diagnostics.iter().find(|message| is_error(message)) {
        return Err(UsageError::because(error.to_string()));
    }
    let mut notes: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    notes.dedup();
    for (job, worker) in plan_of_jobs.jobs.iter_mut().zip(&workers) {
        shape(bench, job, worker);
    }
    Ok(Planned { plan: plan_of_jobs, workers, origin, notes })
}

/// Options of jobs come from here alone, not from the environment.
struct Nothing;

impl Host for Nothing {
    fn variable(&self, _: &str) -> Result<String, VarError> {
        Err(VarError::NotPresent)
    }
    fn processors(&self) -> u64 {
        iosonde_sys::cpu::allowed_count() as u64
    }
    fn page_bytes(&self) -> u64 {
        iosonde_sys::memory::page_bytes() as u64
    }
    fn memory_mib(&self) -> u64 {
        iosonde_sys::memory::total_bytes() >> 20
    }
}

/// `n` shared by `workers`: the first ones take what does not divide.
fn share(n: u64, workers: u32, number: u32) -> u64 {
    n / u64::from(workers) + u64::from(u64::from(number) < n % u64::from(workers))
}

fn workers(bench: &Benchmark, origin: &RunStart) -> Result<Vec<Worker>, UsageError> {
    let keep = PercentileBounds::of(bench.output.keep, bench.output.unit);
    let synced = if bench.sync_in_latency { bench.sync_every } else { 0 };
    let mut workers = Vec::new();
    for number in 0..bench.workers {
        let path = path_of(bench, number);
        let records = match bench.end {
            End::Records(records) => Some(share(records, bench.workers, number)),
            _ => None,
        };
        let part = match bench.action {
            WorkerRole::Write => to_write(bench, &path, records),
            WorkerRole::Read => to_read(bench, &path, number)?,
        };
        let tally = Arc::new(WorkerTally::new(origin.clone(), WINDOW_NS, keep, synced));
        workers.push(Worker { number, records, path, part, tally });
    }
    let starts_late = |worker: &Worker| match bench.end {
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
        Creation::Appended => std::fs::metadata(path).map_or(0, |found| found.len()),
        _ => 0,
    };
    let bytes = records.map_or(ENDLESS, |records| records * u64::from(bench.size.max));
    // A device is as long as it is; why it cannot be opened shows later.
    let is_device = |found: &std::fs::Metadata| found.file_type().is_block_device();
    let device = std::fs::metadata(path).ok().filter(is_device);
    let most = device
        .and_then(|_| iosonde_direct::device::size(&std::fs::File::open(path).ok()?).ok())
        .unwrap_or(u64::MAX);
    (offset, bytes.min(most))
}

fn to_read(bench: &Benchmark, path: &Path, number: u32) -> Result<(u64, u64), UsageError> {
    let because = |error: std::io::Error| {
        UsageError::because(format!("Reader {number} failed: open {}: {error}", path.display()))
    };
    let found = std::fs::metadata(path).map_err(because)?;
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
    let before: u64 = (0..number).map(|other| share(records, bench.workers, other)).sum();
    let end = (before + share(records, bench.workers, number)) * size;
    Ok((before * size, end.min(bytes).saturating_sub(before * size)))
}

/// Seconds after which a worker starts.
fn delay(bench: &Benchmark, number: u32) -> f64 {
    // A century at most, as for a run: moments are in 64 bits of nanoseconds.
    const MOST: f64 = 3.2e9;
    let (step, seconds) = bench.ramp;
    (f64::from(number / step) * seconds).min(MOST)
}

/// The jobs in the language of jobs, as far as that goes.
fn arguments(bench: &Benchmark, workers: &[Worker]) -> Vec<String> {
    let writes = bench.action == WorkerRole::Write;
    let mut words: Vec<String> = [
        "--thread",
        "--invalidate=0",
        "--fadvise_hint=0",
        "--fallocate=none",
        "--create_on_open=1",
        "--scramble_buffers=0",
        "--norandommap",
    ]
    .map(str::to_owned)
    .into();
    words.push(format!("--ioengine={}", engine(bench)));
    words.push(format!("--iodepth={}", bench.depth.unwrap_or(1)));
    words.push(format!("--direct={}", u8::from(bench.direct)));
    if writes && bench.sync_every > 0 {
        words.push(format!("--{}={}", sync_call(bench), bench.sync_every));
    }
    let rw = if writes { "write" } else { "read" };
    for worker in workers {
        let name = format!("{}-{}", bench.action.worker().to_lowercase(), worker.number);
        let path = worker.path.display().to_string().replace(':', "\\:");
        let (offset, bytes) = worker.part;
        words.extend([
            format!("--name={name}"),
            format!("--rw={rw}"),
            format!("--filename={path}"),
            format!("--offset={offset}"),
            format!("--size={bytes}"),
        ]);
        words.extend(sizes(bench.size, bytes));
        words.extend(rate(bench, worker.number));
    }
    words
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

fn sizes(size: Size, bytes: u64) -> Vec<String> {
    match size.varies() {
        true => vec![format!("--bsrange={}-{}", size.min, size.max), "--bs_unaligned=1".to_owned()],
        // A file shorter than a record is read in one short record.
        false => vec![format!("--bs={}", u64::from(size.max).min(bytes))],
    }
}

fn rate(bench: &Benchmark, number: u32) -> Option<String> {
    let workers = f64::from(bench.workers);
    let bytes = |rate: f64| format!("--rate={}", (rate / workers).round().max(1.0) as u64);
    match bench.pace {
        RecordPace::Free => None,
        RecordPace::Bytes(rate) => Some(bytes(rate)),
        RecordPace::Records(records) if bench.size.varies() && records >= bench.workers.into() => {
            Some(format!("--rate_iops={}", share(records, bench.workers, number)))
        }
        RecordPace::Records(records) => Some(bytes(records as f64 * bench.size.mean())),
    }
}

/// What the job language has no words for.
fn shape(bench: &Benchmark, job: &mut JobPlan, worker: &Worker) {
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
        job.fill.base = Base::Pattern(Pattern::new(letters(size), Vec::new()));
        job.fill.each_write = EachWrite::Nothing;
        job.settings.change(|uring: &mut UringSettings| uring.drained_syncs = true);
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
