//! One slice of a cell: a job of the common core, planned and conducted.

use crate::cell::{Access, ReadPath, WritePath, WriteSync};
use crate::target::Target;
use iosonde_base::Dir;
use iosonde_options::Origin;
use iosonde_run::conductor::{Outcome, Unseen, conduct};
use iosonde_run::job::{Need, Plan};
use iosonde_run::plan;
use iosonde_run::worker::JobResult;
use iosonde_spec::JobSpec;
use iosonde_sys::counters::TaskIo;
use rustix::fs::Advice;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// One slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// How it writes or reads.
    pub kind: Access,
    /// Bytes of a block.
    pub size: u32,
    /// The block it begins with.
    pub first: u64,
    /// How many blocks it moves, one after the other.
    pub blocks: u64,
}

/// The result of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Sliced {
    /// Bytes per second, with the syncs that its mode promises.
    pub rate: f64,
    /// How long it took with all that is around it.
    pub wall: Duration,
    /// Why it is no sample of its mode, if it is none.
    pub odd: Option<String>,
}

/// Why a slice has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// A signal ends the run.
    Stopped,
    /// An error, in words.
    Failed(String),
}

/// Runs slices until a signal comes.
#[derive(Debug)]
pub struct Runner {
    stop: Arc<AtomicBool>,
    abandoned: bool,
}

impl Runner {
    /// Listen for signals, between slices too.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn new() -> std::io::Result<Runner> {
        let stop: Arc<AtomicBool> = Arc::default();
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, stop.clone())?;
        }
        Ok(Runner { stop, abandoned: false })
    }

    /// A second signal arrived while a slice did not end: its thread still runs.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Write all of the target's span once, durably, so that every cell
    /// overwrites and reads what is there.
    ///
    /// # Errors
    /// If it was stopped, or failed.
    pub fn prepare(&mut self, target: &Target) -> Result<(), Interruption> {
        const BLOCK: u64 = 1 << 20;
        let mut spec = JobSpec::default();
        let block = BLOCK.min(target.span);
        set(&mut spec, &target.about.path, "write", block, 0, target.span)?;
        take(&mut spec, "end_fsync", "1")?;
        self.conduct(planned(spec)?).map(drop)
    }

    /// Run one slice.
    ///
    /// # Errors
    /// If it was stopped, or failed.
    pub fn run(&mut self, slice: &Slice, target: &Target) -> Result<Sliced, Interruption> {
        let begun = Instant::now();
        let path = &target.about.path;
        if slice.kind == Access::Read(ReadPath::Cold) && !target.about.is_device {
            drop_cache(target)
                .map_err(|error| Interruption::Failed(format!("drop the page cache: {error}")))?;
        }
        let mut plan = planned(spec(slice, path)?)?;
        for job in &mut plan.jobs {
            job.buffers.lead = lead(slice.kind);
            // All is there, or it was taken away meanwhile: then it is not put
            // back, least of all where only reading was requested.
            job.files.iter_mut().for_each(|file| file.need = Need::Nothing);
        }
        let before = TaskIo::of_process().ok();
        let result = self.conduct(plan)?;
        let after = TaskIo::of_process().ok();
        let fetched = before.zip(after).map(|(before, after)| after.since(&before));
        let dir = if slice.kind.writes() { Dir::Write } else { Dir::Read };
        let bytes = result.snapshot.lanes[dir as usize].bytes;
        let expected = slice.blocks * u64::from(slice.size);
        if bytes != expected || result.runtime.0 == 0 {
            return Err(Interruption::Failed(format!("{bytes} of {expected} bytes were moved")));
        }
        let fetched = fetched.map(|io| io.storage_read_bytes);
        Ok(Sliced {
            rate: bytes as f64 / result.runtime.secs_f64(),
            wall: begun.elapsed(),
            odd: odd(slice.kind, bytes, fetched),
        })
    }

    fn conduct(&mut self, plan: Plan) -> Result<JobResult, Interruption> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Interruption::Stopped);
        }
        let outcome: Outcome = conduct(Arc::new(plan), &mut Unseen)
            .map_err(|error| Interruption::Failed(format!("listen for signals: {error}")))?;
        self.abandoned |= outcome.abandoned;
        if outcome.signal.is_some() || self.stop.load(Ordering::Relaxed) {
            return Err(Interruption::Stopped);
        }
        match outcome.results.into_iter().flatten().next() {
            Some(JobResult { error: Some(error), .. }) => {
                Err(Interruption::Failed(error.to_string()))
            }
            Some(result) => Ok(result),
            None => Err(Interruption::Failed("the job did not start".into())),
        }
    }
}

/// Drop all of the span from the page cache. The job drops its own range, but
/// the kernel keeps a large folio that lies in it only in part.
fn drop_cache(target: &Target) -> std::io::Result<()> {
    let file = File::open(&target.about.path)?;
    rustix::fs::fadvise(file, 0, NonZeroU64::new(target.span), Advice::DontNeed)?;
    Ok(())
}

/// Bytes past a page at which the buffer of this kind starts.
const fn lead(kind: Access) -> usize {
    match kind {
        Access::Write(_, WritePath::Plain) => 1,
        _ => 0,
    }
}

/// Whether the kernel's count of what came from storage agrees with the name.
fn odd(kind: Access, bytes: u64, fetched: Option<u64>) -> Option<String> {
    let Access::Read(reading) = kind else { return None };
    let Some(fetched) = fetched else {
        return Some("the kernel does not count where reads come from (/proc/self/io)".into());
    };
    let percent = |part: u64| part as f64 / bytes as f64 * 100.0;
    match reading {
        ReadPath::Warm if percent(fetched) > 10.0 => {
            Some("the data did not stay in the page cache".into())
        }
        ReadPath::Cold if percent(fetched) < 90.0 => Some(
            "the kernel did not count the reads as coming from storage: the page cache could not \
             be dropped, or the file system does not report its reads"
                .into(),
        ),
        ReadPath::Direct if percent(fetched) < 90.0 => Some(
            "the kernel did not count the reads as coming from storage, though O_DIRECT was set"
                .into(),
        ),
        _ => None,
    }
}

/// The job of a slice, in the words of the job language.
fn spec(slice: &Slice, path: &Path) -> Result<JobSpec, Interruption> {
    let mut spec = JobSpec::default();
    let size = u64::from(slice.size);
    let rw = if slice.kind.writes() { "write" } else { "read" };
    set(&mut spec, path, rw, size, slice.first * size, slice.blocks * size)?;
    let blocks = slice.blocks.to_string();
    for (name, value) in options(slice.kind) {
        take(&mut spec, name, value.unwrap_or(&blocks))?;
    }
    Ok(spec)
}

/// The options that make a kind what it is; `None` stands for the number of
/// blocks.
fn options(kind: Access) -> Vec<(&'static str, Option<&'static str>)> {
    let one = Some("1");
    let mut options = match kind {
        // The rest is made durable outside the time, so that it does not slow down later cells.
        Access::Write(WriteSync::Buffered, _) => vec![("fsync_on_close", one)],
        Access::Write(WriteSync::AmortizedFdatasync, _) => vec![("fdatasync", None)],
        Access::Write(WriteSync::AmortizedFsync, _) => vec![("fsync", None)],
        Access::Write(WriteSync::Fdatasync, _) => vec![("fdatasync", one)],
        Access::Write(WriteSync::Fsync, _) => vec![("fsync", one)],
        Access::Write(WriteSync::ODsync, _) => vec![("sync", Some("dsync"))],
        Access::Write(WriteSync::OSync, _) => vec![("sync", Some("sync"))],
        Access::Read(ReadPath::Cold) => vec![("invalidate", one)],
        Access::Read(ReadPath::Warm) => vec![("pre_read", one)],
        Access::Read(ReadPath::Direct) => vec![],
    };
    if kind.is_direct() {
        options.push(("direct", one));
    }
    if kind != Access::Read(ReadPath::Cold) {
        options.push(("invalidate", Some("0")));
    }
    options
}

/// What all jobs have in common: one thread, one block after the other, by
/// pread(2) and pwrite(2), random bytes that stay the same from write to write.
fn set(
    spec: &mut JobSpec,
    path: &Path,
    rw: &str,
    block: u64,
    offset: u64,
    bytes: u64,
) -> Result<(), Interruption> {
    // Colons part names in the job language.
    let path = path.to_string_lossy().replace(':', "\\:");
    for (name, value) in [
        ("filename", path.as_str()),
        ("rw", rw),
        ("ioengine", "psync"),
        ("bs", &block.to_string()),
        ("offset", &offset.to_string()),
        ("size", &bytes.to_string()),
        ("fallocate", "none"),
        ("fadvise_hint", "0"),
        ("scramble_buffers", "0"),
        // A file that another process removes is not created again.
        ("allow_file_create", "0"),
    ] {
        take(spec, name, value)?;
    }
    Ok(())
}

fn take(spec: &mut JobSpec, name: &str, value: &str) -> Result<(), Interruption> {
    let taken = spec.set(name, Some(value), Origin::Default);
    taken.map(drop).map_err(|error| Interruption::Failed(error.to_string()))
}

fn planned(spec: JobSpec) -> Result<Plan, Interruption> {
    plan::alone("matrix", spec).map_err(|error| Interruption::Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(kind: Access) -> iosonde_run::job::JobPlan {
        let path = std::env::temp_dir().join(format!("iosonde-slice-{}:x", std::process::id()));
        std::fs::write(&path, [0; 65536]).unwrap();
        let slice = Slice { kind, size: 4096, first: 2, blocks: 5 };
        let plan = planned(spec(&slice, &path).unwrap()).unwrap();
        assert_eq!(plan.jobs[0].files[0].path, path);
        std::fs::remove_file(&path).unwrap();
        plan.jobs.into_iter().next().unwrap()
    }

    #[test]
    fn each_kind_is_a_job_that_does_what_its_name_says() {
        for kind in Access::all() {
            let job = plan_of(kind);
            let file = &job.files[0];
            assert_eq!((file.offset, file.bytes), (8192, 5 * 4096), "{kind:?}");
            assert_eq!(job.dirs[Dir::Write], kind.writes(), "{kind:?}");
            assert_eq!(job.open.mode.direct, kind.is_direct(), "{kind:?}");
            let mode = if let Access::Write(mode, _) = kind { Some(mode) } else { None };
            assert_eq!(job.open.mode.sync, mode == Some(WriteSync::OSync), "{kind:?}");
            assert_eq!(job.open.mode.dsync, mode == Some(WriteSync::ODsync), "{kind:?}");
            assert_eq!(job.open.sync_on_close, mode == Some(WriteSync::Buffered), "{kind:?}");
            assert_eq!(job.open.invalidate, kind == Access::Read(ReadPath::Cold), "{kind:?}");
            assert_eq!(job.layout.pre_read, kind == Access::Read(ReadPath::Warm), "{kind:?}");
        }
    }

    #[test]
    fn reads_are_held_to_where_the_kernel_says_they_came_from() {
        let said = |reading, fetched| odd(Access::Read(reading), 1000, fetched);
        assert!(said(ReadPath::Cold, Some(0)).is_some());
        assert!(said(ReadPath::Cold, Some(1000)).is_none());
        assert!(said(ReadPath::Cold, Some(4000)).is_none());
        assert!(said(ReadPath::Direct, Some(899)).is_some());
        assert!(said(ReadPath::Warm, Some(0)).is_none());
        assert!(said(ReadPath::Warm, Some(101)).is_some());
        assert!(said(ReadPath::Warm, None).is_some());
        assert_eq!(odd(Access::Write(WriteSync::Fsync, WritePath::Plain), 1000, None), None);
    }
}
