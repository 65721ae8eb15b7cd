//! One slice of a cell: a job of the common core, planned and conducted.

use crate::cell::{Access, ReadPath, WritePath, WriteSync};
use crate::target::Target;
use iosonde_base::Dir;
use iosonde_options::{Amount, Bytes, Triple};
use iosonde_run::conductor::Unseen;
use iosonde_run::job::{Need, Plan};
use iosonde_run::plan::JobBuilder;
use iosonde_run::worker::JobResult;
use iosonde_session::{RunEnd, RunRules, Session, Work};
use iosonde_spec::values::{EngineName, FadviseHint, FallocateMode, Rw, RwWord, SyncMode};
use iosonde_sys::counters::TaskIo;
use std::fs::File;
use std::path::Path;
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
    /// Why it is not a sample of its mode, if it is not.
    pub doubt: Option<String>,
}

/// Runs slices until a signal comes.
#[derive(Debug)]
pub struct Runner {
    session: Session,
    abandoned: bool,
}

impl Runner {
    /// Listen for signals, between slices too.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn new() -> Result<Runner, RunEnd> {
        Ok(Runner { session: Session::listening()?, abandoned: false })
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
    pub fn prepare(&mut self, target: &Target) -> Result<(), RunEnd> {
        const BLOCK: u64 = 1 << 20;
        let mut job = JobBuilder::new("matrix", &target.about.path);
        set_common(&mut job, true, BLOCK.min(target.span));
        job.set(|spec| &mut spec.size.size, Some(Amount::Bytes(target.span)))
            .set(|spec| &mut spec.durability.end_fsync, true);
        self.conduct(planned(job)?).map(drop)
    }

    /// Run one slice.
    ///
    /// # Errors
    /// If it was stopped, or failed.
    pub fn run(&mut self, slice: &Slice, target: &Target) -> Result<Sliced, RunEnd> {
        let begun = Instant::now();
        let path = &target.about.path;
        if slice.kind == Access::Read(ReadPath::Cold) && !target.about.is_device {
            drop_cache(target)
                .map_err(|error| RunEnd::failed(format!("drop the page cache: {error}")))?;
        }
        let mut plan = planned(job(slice, path))?;
        for job in &mut plan.jobs {
            job.buffers.lead = lead(slice.kind);
            job.source.sync_every.after_last = true;
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
            return Err(RunEnd::failed(format!("{bytes} of {expected} bytes were moved")));
        }
        let fetched = fetched.map(|io| io.storage_read_bytes);
        Ok(Sliced {
            rate: bytes as f64 / result.runtime.secs_f64(),
            wall: begun.elapsed(),
            doubt: doubt(slice.kind, bytes, fetched),
        })
    }

    /// Run a plan of one job on the target, which the caller holds.
    fn conduct(&mut self, plan: Plan) -> Result<JobResult, RunEnd> {
        let ready = self.session.open(Work::Planned(plan), &RunRules::held())?;
        let measured = ready.run(&mut Unseen, None)?;
        self.abandoned |= measured.outcome.abandoned;
        if let Some(end) = measured.stopped() {
            return Err(end);
        }
        if let Some((_, why)) = measured.failed_job() {
            return Err(RunEnd::failed(why));
        }
        let result = measured.outcome.results.into_iter().flatten().next();
        result.ok_or_else(|| RunEnd::failed("the plan has no job"))
    }
}

/// Drop all of the span from the page cache. The job drops its own range, but
/// the kernel keeps a large folio that lies in it only in part.
fn drop_cache(target: &Target) -> std::io::Result<()> {
    let file = File::open(&target.about.path)?;
    iosonde_sys::files::advise_unneeded(&file, 0, target.span)
}

/// Bytes past a page at which the buffer of this kind starts.
const fn lead(kind: Access) -> usize {
    match kind {
        Access::Write(_, WritePath::Plain) => 1,
        _ => 0,
    }
}

/// Whether the kernel's count of what came from storage agrees with the name.
fn doubt(kind: Access, bytes: u64, fetched: Option<u64>) -> Option<String> {
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

/// The job of a slice.
fn job(slice: &Slice, path: &Path) -> JobBuilder {
    let size = u64::from(slice.size);
    let mut job = JobBuilder::new("matrix", path);
    set_common(&mut job, slice.kind.writes(), size);
    job.set(|spec| &mut spec.order.offset, Amount::Bytes(slice.first * size))
        .set(|spec| &mut spec.size.size, Some(Amount::Bytes(slice.blocks * size)));
    set_kind(&mut job, slice);
    job
}

/// The options that make a kind what it is.
fn set_kind(job: &mut JobBuilder, slice: &Slice) {
    let all = u32::try_from(slice.blocks).unwrap_or(u32::MAX);
    match slice.kind {
        // Later cells shall not pay for what is left: made durable outside the time.
        Access::Write(WriteSync::Buffered, _) => {
            job.set(|s| &mut s.durability.fsync_on_close, true)
        }
        Access::Write(WriteSync::AmortizedFdatasync, _) => {
            job.set(|s| &mut s.durability.fdatasync, all)
        }
        Access::Write(WriteSync::AmortizedFsync, _) => job.set(|s| &mut s.durability.fsync, all),
        Access::Write(WriteSync::Fdatasync, _) => job.set(|s| &mut s.durability.fdatasync, 1),
        Access::Write(WriteSync::Fsync, _) => job.set(|s| &mut s.durability.fsync, 1),
        Access::Write(WriteSync::ODsync, _) => job.set(|s| &mut s.durability.sync, SyncMode::Dsync),
        Access::Write(WriteSync::OSync, _) => job.set(|s| &mut s.durability.sync, SyncMode::Sync),
        Access::Read(ReadPath::Warm) => job.set(|s| &mut s.file_life.pre_read, true),
        Access::Read(ReadPath::Cold | ReadPath::Direct) => job,
    };
    job.set(|spec| &mut spec.durability.direct, slice.kind.is_direct())
        .set(|spec| &mut spec.file_life.invalidate, slice.kind == Access::Read(ReadPath::Cold));
}

/// What all jobs have in common: one thread, one block after the other, by
/// pread(2) and pwrite(2), random bytes that stay the same from write to write.
fn set_common(job: &mut JobBuilder, writes: bool, block: u64) {
    let word = if writes { RwWord::Write } else { RwWord::Read };
    job.set(|spec| &mut spec.engine.ioengine, EngineName::Known("psync"))
        .set(|spec| &mut spec.order.rw, Rw { word, every: 1, skip: 0 })
        .set(|spec| &mut spec.block.bs, Triple([Bytes(block); 3]))
        .set(|spec| &mut spec.file_life.fallocate, FallocateMode::None)
        .set(|spec| &mut spec.file_life.fadvise_hint, FadviseHint::None)
        .set(|spec| &mut spec.buffers.scramble_buffers, false)
        // A file that somebody removes meanwhile is not made again.
        .set(|spec| &mut spec.file_life.allow_file_create, false);
}

fn planned(job: JobBuilder) -> Result<Plan, RunEnd> {
    job.plan().map_err(|error| RunEnd::failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(kind: Access) -> iosonde_run::job::JobPlan {
        let path = std::env::temp_dir().join(format!("iosonde-slice-{}:x", std::process::id()));
        std::fs::write(&path, [0; 65536]).unwrap();
        let slice = Slice { kind, size: 4096, first: 2, blocks: 5 };
        let plan = planned(job(&slice, &path)).unwrap();
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
        let found = |reading, fetched| doubt(Access::Read(reading), 1000, fetched);
        assert!(found(ReadPath::Cold, Some(0)).is_some());
        assert!(found(ReadPath::Cold, Some(1000)).is_none());
        assert!(found(ReadPath::Cold, Some(4000)).is_none());
        assert!(found(ReadPath::Direct, Some(899)).is_some());
        assert!(found(ReadPath::Warm, Some(0)).is_none());
        assert!(found(ReadPath::Warm, Some(101)).is_some());
        assert!(found(ReadPath::Warm, None).is_some());
        assert_eq!(doubt(Access::Write(WriteSync::Fsync, WritePath::Plain), 1000, None), None);
    }
}
