//! Files come to be: created, reserved, filled with data, before any clock
//! starts.
//!
//! The system calls and their order are fio's (the program's tests of system
//! calls hold us to it), except that a file that is too short is extended,
//! never replaced, and that many small files are made durable by one syncfs(2)
//! instead of an fsync(2) each.

use crate::job::{Fallocate, FileKind, FilePlan, JobError, JobPlan, Need};
use iosonde_base::Errno;
use iosonde_direct::AlignedBuf;
use iosonde_engine::{Failure, LaysOut};
use iosonde_sys::files::{self, FileExt, status_of};
use iosonde_workload::content::Content;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
pub use undo::Added;

mod undo;

/// Asked between two steps: whether to stop, leaving what is there.
pub type StopAsked<'a> = &'a dyn Fn() -> bool;

/// From this many files on, one syncfs(2) replaces the fsync(2) of each.
const MANY: usize = 16;

/// Why a file could not be laid out.
#[derive(Debug)]
pub struct LayoutError {
    /// The act that failed.
    pub doing: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub errno: Errno,
    /// What to do about it.
    pub help: Option<&'static str>,
}

impl std::fmt::Display for LayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.doing, self.path.display(), self.errno)?;
        self.help.map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for LayoutError {}

impl From<LayoutError> for JobError {
    fn from(error: LayoutError) -> JobError {
        JobError {
            failure: Failure::engine(error.doing, error.errno),
            path: Some(error.path),
            detail: error.help.map(str::to_owned),
        }
    }
}

/// What one job still needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Files that will be filled with data.
    pub files: usize,
    /// Their bytes in total.
    pub bytes: u64,
}

/// Data that a job's files lack, as they are now. Touches nothing.
pub fn missing(job: &JobPlan) -> Missing {
    let lacking = job.files.iter().filter(|file| lacks_data(file));
    lacking.fold(Missing::default(), |sum, file| Missing {
        files: sum.files + 1,
        bytes: sum.bytes + file.end(),
    })
}

fn lacks_data(file: &FilePlan) -> bool {
    file.need == Need::Data && is_short(file)
}

/// Whether a file, as it is now, does not exist or is shorter than it is laid out.
pub fn is_short(file: &FilePlan) -> bool {
    file.need != Need::Nothing && size_of(&file.path) < Some(file.end())
}

fn size_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.len())
}

/// Lay out the files of one job. `stop` ends it early, leaving what is there; an
/// error gives back all that was added.
pub fn lay_out(job: &JobPlan, stop: StopAsked<'_>) -> Result<Added, LayoutError> {
    let mut added = Added::default();
    let Err(mut error) = lay_out_files(job, stop, &mut added) else { return Ok(added) };
    if added.give_back().is_err() {
        error.help.get_or_insert("what was added before could not all be removed");
    }
    Err(error)
}

fn lay_out_files(job: &JobPlan, stop: StopAsked<'_>, added: &mut Added) -> Result<(), LayoutError> {
    let mut filled = 0;
    let many = job.files.len() >= MANY;
    let mut source = DataSource::new(job);
    let mut last = None;
    for file in &job.files {
        if file.kind != FileKind::Regular || file.need == Need::Nothing {
            continue;
        }
        if stop() {
            return last.map_or(Ok(()), close);
        }
        if job.engine.caps.lays_out == LaysOut::Directories {
            added.directory(&file.path);
            std::fs::create_dir_all(&file.path)
                .map_err(|error| failed("create the directory", &file.path, error))?;
            continue;
        }
        let old_bytes = size_of(&file.path);
        if old_bytes >= Some(file.end()) {
            continue;
        }
        added.file(&file.path, old_bytes);
        let made = match file.need {
            Need::Data => {
                filled += 1;
                fill(job, file, many, &mut source, stop)?
            }
            _ => reserve(job, file)?,
        };
        last.replace(made).map_or(Ok(()), close)?;
    }
    if let (true, true, 1.., Some((path, file))) = (many, job.layout.sync, filled, &last) {
        files::sync_file_system(file)
            .map_err(|error| failed("sync the file system of", path, error))?;
    }
    last.map_or(Ok(()), close)
}

/// Some file systems report only now what a write met.
fn close((path, file): Made) -> Result<(), LayoutError> {
    iosonde_sys::process::close(file.into()).map_err(|error| failed("close", &path, error))
}

fn failed(doing: &'static str, path: &Path, error: impl Into<io::Error>) -> LayoutError {
    let errno = Errno::from(error.into());
    let help = match errno {
        Errno::ENOSPC => Some("free space, or ask for a smaller size"),
        Errno::EISDIR => Some("it is a directory: directory= puts files in it"),
        _ => None,
    };
    LayoutError { doing, path: path.into(), errno, help }
}

type Made = (PathBuf, File);

fn create(job: &JobPlan, file: &FilePlan) -> Result<Made, LayoutError> {
    let path = &file.path;
    let is_there = size_of(path).is_some();
    if !is_there && !job.layout.may_create {
        return Err(LayoutError {
            doing: "lay out",
            path: path.clone(),
            errno: Errno::ENOENT,
            help: Some("it does not exist and allow_file_create=0 forbids creating it"),
        });
    }
    if is_there && !job.layout.may_extend {
        return Err(LayoutError {
            doing: "extend",
            path: path.clone(),
            errno: Errno::EROFS,
            help: Some("--readonly forbids it"),
        });
    }
    if !is_there {
        make_directories(job, path)?;
        clear_the_way(job, path);
    }
    let file = files::public_options().write(true).create(true).truncate(false).open(path);
    Ok((path.clone(), file.map_err(|error| failed("create", path, error))?))
}

/// fio removes a file before it creates it. Here there is nothing to remove:
/// not even a link that leads nowhere, which is left to be followed. Jobs that
/// lay out side by side leave it out, as the file may be another's by now.
fn clear_the_way(job: &JobPlan, path: &Path) {
    if job.layout.serialize && std::fs::symlink_metadata(path).is_err() {
        let _ = std::fs::remove_file(path);
    }
}

/// A file name may contain directories; fio makes them too.
fn make_directories(_: &JobPlan, path: &Path) -> Result<(), LayoutError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.exists() => {
            std::fs::create_dir_all(parent)
                .map_err(|error| failed("create the directory", parent, error))
        }
        _ => Ok(()),
    }
}

/// The file and its range, no data.
fn reserve(job: &JobPlan, file: &FilePlan) -> Result<Made, LayoutError> {
    let old_end = size_of(&file.path).unwrap_or(0);
    let made = create(job, file)?;
    allocate(job, file, &made, old_end)?;
    drop_cache(file, &made.1, old_end);
    Ok(made)
}

/// Space for the whole file as with fio; of a sparse one from its old end on, because
/// holes that are filled could not be given back.
fn allocate(
    job: &JobPlan,
    file: &FilePlan,
    (path, open): &Made,
    old_end: u64,
) -> Result<(), LayoutError> {
    let end = file.end();
    if end == 0 {
        return Ok(());
    }
    let from = if is_sparse(open) { old_end } else { 0 };
    let bytes = end.saturating_sub(from);
    match job.layout.fallocate {
        Fallocate::None => Ok(()),
        // A file system without it is no error: the space comes with the writes.
        Fallocate::Native => match files::reserve(open, from, bytes, true) {
            Err(error) if Errno::of(&error) == Errno::ENOSPC => {
                Err(failed("reserve space for", path, error))
            }
            _ => Ok(()),
        },
        Fallocate::Posix => files::reserve(open, from, bytes, true)
            .map_err(|error| failed("reserve space for", path, error)),
        Fallocate::Keep => files::reserve(open, from, bytes, false)
            .map_err(|error| failed("reserve space for", path, error)),
        Fallocate::Truncate => open.set_len(end).map_err(|error| failed("resize", path, error)),
    }
}

/// Whether a file has fewer blocks than its size needs.
fn is_sparse(file: &File) -> bool {
    status_of(file).is_ok_and(|status| status.blocks().saturating_mul(512) < status.len())
}

/// The file with data up to the end of its range. What is there already stays.
fn fill(
    job: &JobPlan,
    file: &FilePlan,
    many: bool,
    source: &mut DataSource,
    stop: StopAsked<'_>,
) -> Result<Made, LayoutError> {
    let made = create(job, file)?;
    let (path, open) = (&made.0, &made.1);
    let from = size_of(path).unwrap_or(0);
    let end = file.end();
    if job.layout.fallocate != Fallocate::None {
        allocate(job, file, &made, from)?;
        // Room is there for certain, or the file system does not reserve.
        open.set_len(end).map_err(|error| failed("resize", path, error))?;
    }
    let (at, written) = write_data(job, &made, from..end, source, stop);
    if at < end {
        // A hole must not pass for data, now or in a later run.
        let cut = open.set_len(at).map_err(|error| failed("resize", path, error));
        return written.and(cut).map(|()| made);
    }
    if job.layout.sync && !many {
        open.sync_all().map_err(|error| failed("fsync", path, error))?;
    }
    if !many {
        drop_cache(file, open, from);
    }
    Ok(made)
}

/// Fill a range; how far that came, and what kept it from the end, if not
/// `stop`.
fn write_data(
    job: &JobPlan,
    (path, open): &Made,
    range: std::ops::Range<u64>,
    source: &mut DataSource,
    stop: StopAsked<'_>,
) -> (u64, Result<(), LayoutError>) {
    let mut at = range.start;
    while at < range.end && !stop() {
        let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
        let want = left.min(job.layout.block);
        let data = source.next(job, want, at);
        if let Err(error) = open.write_all_at(data, at) {
            return (at, Err(failed("lay out", path, error)));
        }
        at += want as u64;
    }
    (at, Ok(()))
}

/// What was added, from the old end on, need not stay in the page cache.
fn drop_cache(file: &FilePlan, open: &File, old_end: u64) {
    let bytes = file.end().saturating_sub(old_end);
    // Advice; whether it was heeded shows in the run, not here.
    let _ = files::advise_unneeded(open, old_end, bytes);
}

/// What files are filled with: the job's own kind of data.
struct DataSource {
    content: Content,
    /// There once it is needed.
    buffer: Option<AlignedBuf>,
}

impl DataSource {
    fn new(job: &JobPlan) -> DataSource {
        DataSource { content: job.fill.for_layout(), buffer: None }
    }

    /// `len` bytes, at most the layout's block, that go to `offset`.
    fn next(&mut self, job: &JobPlan, len: usize, offset: u64) -> &[u8] {
        let buffer = self.buffer.get_or_insert_with(|| {
            let mut buffer = AlignedBuf::new(job.layout.block.max(1), 4096)
                .expect("4096 is a power of two, and the block was planned");
            self.content.prepare(&mut buffer);
            buffer
        });
        self.content.apply(&mut buffer[..len], offset);
        &buffer[..len]
    }
}

/// Remove the regular files of a job; those already gone are no error.
pub fn remove(job: &JobPlan) -> io::Result<()> {
    for file in job.files.iter().filter(|file| file.kind == FileKind::Regular) {
        let removed = if file.path.is_dir() && !file.path.is_symlink() {
            std::fs::remove_dir(&file.path)
        } else {
            std::fs::remove_file(&file.path)
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Read the job's ranges into the page cache (`pre_read`).
pub fn pre_read(job: &JobPlan, stop: StopAsked<'_>) -> Result<(), LayoutError> {
    let mut buffer = vec![0; job.buffers.bytes.max(1 << 16)];
    for file in job.files.iter().filter(|file| file.kind != FileKind::None) {
        let open = File::open(&file.path).map_err(|error| failed("open", &file.path, error))?;
        let mut at = file.offset;
        // Not more of what other hosts read, too: they have memory of their own.
        let end = file.range_end();
        while at < end && !stop() {
            let want = usize::try_from(end - at).map_or(buffer.len(), |n| n.min(buffer.len()));
            match open.read_at(&mut buffer[..want], at) {
                Ok(0) => break,
                Ok(n) => at += n as u64,
                Err(error) => return Err(failed("read", &file.path, error)),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::JobBuilder;
    use iosonde_sys::counters::TaskIo;
    use iosonde_testing::Folder;

    #[test]
    fn a_host_reads_its_own_part_of_a_file_into_the_page_cache() {
        let folder = Folder::new("pre-read");
        folder.write("data", vec![1; 1 << 20]);
        let mut job = JobBuilder::new("job", &folder.join("data"));
        job.set_text("size", "64k").unwrap();
        let mut job = job.plan().unwrap().jobs[0].clone();
        job.files[0].shared_end = Some(1 << 20);
        let before = TaskIo::of_thread().unwrap();
        pre_read(&job, &|| false).unwrap();
        let read = TaskIo::of_thread().unwrap().called_read_bytes - before.called_read_bytes;
        assert!((64 << 10..128 << 10).contains(&read), "{read}: beside 64 KiB a file of /proc");
    }
}
