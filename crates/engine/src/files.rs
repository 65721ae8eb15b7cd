//! The job's files: how they are opened, and which are open.

use crate::drive::Failure;
use crate::engine::Opened;
use crate::platform::{self, RawFile};
use crate::retries::uninterrupted;
use iosonde_base::{Errno, FileId};
use iosonde_sys::files::status_of;
use iosonde_sys::zones::OpenTarget;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Open a file that was closed, to make it durable.
///
/// # Errors
/// The error of the system.
pub fn open_to_sync(path: &Path) -> io::Result<File> {
    Ok(platform::open_to_sync(path)?)
}

/// How a file is opened; decided by the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenMode {
    /// The job reads.
    pub read: bool,
    /// The job writes or trims.
    pub write: bool,
    /// It may be created.
    pub create: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// For I/O that the system completes later ([`crate::Caps::overlapped`]).
    pub overlapped: bool,
    /// How long what is written is expected to live (fcntl(2) `F_SET_RW_HINT`).
    pub lifetime: Option<WriteLifetime>,
}

/// How long data is expected to live: the numbers of <linux/fcntl.h>, `RWH_WRITE_LIFE_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[allow(missing_docs)]
pub enum WriteLifetime {
    None = 1,
    Short = 2,
    Medium = 3,
    Long = 4,
    Extreme = 5,
}

/// One file of a job.
#[derive(Clone, Debug)]
pub struct FileSetup {
    /// Where; empty for engines without files.
    pub path: PathBuf,
    /// How.
    pub mode: OpenMode,
    /// The first byte that the job may touch.
    pub offset: u64,
    /// How many bytes from there.
    pub bytes: u64,
    /// It is a block device.
    pub block_device: bool,
    /// Dropped from the page cache whenever it is opened (`invalidate`).
    pub invalidate: bool,
    /// The access order that the kernel is advised of (`fadvise_hint`).
    pub hint: Option<Hint>,
    /// fsync(2) before it is closed (`fsync_on_close`).
    pub sync_on_close: bool,
}

impl FileSetup {
    /// The first `bytes` of a regular file, as an open leaves them and the kernel is not advised.
    pub fn new(path: impl Into<PathBuf>, mode: OpenMode, bytes: u64) -> FileSetup {
        FileSetup {
            path: path.into(),
            mode,
            offset: 0,
            bytes,
            block_device: false,
            invalidate: false,
            hint: None,
            sync_on_close: false,
        }
    }
}

/// Advice for posix_fadvise(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// In order.
    Sequential,
    /// In no order.
    Random,
    /// Once.
    NoReuse,
}

/// Whether the name of a file leads to a block device by now, of which nobody knows whether
/// it may be written to.
fn is_block_device(file: &File) -> bool {
    status_of(file).is_ok_and(|found| found.file_type().is_block_device())
}

/// The table of a job's files.
#[derive(Debug)]
pub struct Files {
    setups: Vec<FileSetup>,
    fds: Vec<RawFile>,
    open: Vec<Option<File>>,
}

impl Files {
    /// A table of files, none of them open.
    pub fn new(setups: Vec<FileSetup>) -> Files {
        Files { fds: vec![-1; setups.len()], open: setups.iter().map(|_| None).collect(), setups }
    }

    /// The descriptor of a file; -1 when it is not open or has none.
    #[inline(always)]
    pub fn fd(&self, file: FileId) -> RawFile {
        self.fds.get(file.0 as usize).copied().unwrap_or(-1)
    }

    /// A file as it is open; none while it is not.
    pub(crate) fn open_file(&self, file: FileId) -> OpenTarget<'_> {
        self.open.get(file.0 as usize)?.as_ref().map(platform::lend)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.setups.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.setups.is_empty()
    }

    /// How many are open.
    pub fn open_count(&self) -> usize {
        self.open.iter().flatten().count()
    }

    /// What is known of a file.
    pub fn setup(&self, file: FileId) -> &FileSetup {
        &self.setups[file.0 as usize]
    }

    /// Open a file and prepare its cache as the plan says. For an engine
    /// without files nothing is opened.
    pub fn open(&mut self, file: FileId) -> Result<Opened, Failure> {
        let index = file.0 as usize;
        let setup = &self.setups[index];
        let opened = |fd| Opened {
            file,
            fd,
            bytes: setup.offset + setup.bytes,
            writes: setup.mode.write,
            hint: setup.hint,
        };
        if setup.path.as_os_str().is_empty() {
            return Ok(opened(-1));
        }
        if self.open[index].is_some() {
            return Ok(opened(self.fds[index]));
        }
        let open = platform::open(setup).map_err(|(errno, detail)| Failure {
            file: Some(file),
            detail,
            ..Failure::engine("open", errno)
        })?;
        if setup.mode.write && !setup.block_device && is_block_device(&open) {
            return Err(Failure {
                file: Some(file),
                detail: Some(
                    "it became a block device after the run had begun, and may be in use: name \
                     the device itself",
                ),
                ..Failure::engine("open", Errno::EBUSY)
            });
        }
        let opened = opened(platform::raw(&open));
        self.fds[index] = opened.fd;
        let lifetime = self.setups[index].mode.lifetime;
        let set = lifetime.map_or(Ok(()), |lifetime| platform::set_lifetime(&open, lifetime));
        self.open[index] = Some(open);
        set.map_err(|errno| Failure {
            file: Some(file),
            ..Failure::engine("set the write hint of", errno)
        })?;
        self.invalidate(file)?;
        if let Some(hint) = self.setups[index].hint {
            self.advise(file, hint);
        }
        Ok(opened)
    }

    /// Close a file, making it durable first if the plan says so; unless a sync
    /// was the last thing done.
    pub fn close(&mut self, file: FileId, synced: bool) -> Result<(), Failure> {
        let index = file.0 as usize;
        let syncs = !synced && self.syncs_on_close(file);
        let Some(open) = self.open[index].take() else { return Ok(()) };
        self.fds[index] = -1;
        if syncs {
            uninterrupted(|| platform::fsync(platform::raw(&open)))
                .map_err(|errno| Failure { file: Some(file), ..Failure::engine("fsync", errno) })?;
        }
        platform::close(open)
            .map_err(|errno| Failure { file: Some(file), ..Failure::engine("close", errno) })
    }

    /// Whether closing the file makes it durable first: it is open for writing
    /// and the plan says so.
    pub fn syncs_on_close(&self, file: FileId) -> bool {
        let (setup, open) = (&self.setups[file.0 as usize], &self.open[file.0 as usize]);
        open.is_some() && setup.sync_on_close && setup.mode.write
    }

    /// Drop the job's range from the page cache if the plan says so.
    pub fn invalidate(&mut self, file: FileId) -> Result<(), Failure> {
        if self.setups[file.0 as usize].invalidate { self.drop_cached(file) } else { Ok(()) }
    }

    /// Drop the job's range of an open file from the page cache:
    /// posix_fadvise(2) DONTNEED for a file, BLKFLSBUF for a block device (where
    /// root may).
    pub fn drop_cached(&self, file: FileId) -> Result<(), Failure> {
        let index = file.0 as usize;
        let Some(open) = &self.open[index] else { return Ok(()) };
        platform::drop_cached(open, &self.setups[index])
            .map_err(|errno| Failure { file: Some(file), ..Failure::engine("invalidate", errno) })
    }

    fn advise(&self, file: FileId, hint: Hint) {
        if let Some(open) = &self.open[file.0 as usize] {
            platform::advise(open, &self.setups[file.0 as usize], hint);
        }
    }

    /// fsync(2) every file, also those that are closed by now.
    pub fn sync_all(&self) -> Result<(), Failure> {
        self.sync_each("fsync", |file| platform::fsync(platform::raw(file)))
    }

    /// fdatasync(2) every file, also those that are closed by now.
    pub fn sync_all_data(&self) -> Result<(), Failure> {
        self.sync_each("fdatasync", |file| platform::fdatasync(platform::raw(file)))
    }

    /// syncfs(2) on the file systems of every file.
    pub fn sync_file_systems(&self) -> Result<(), Failure> {
        self.sync_each("syncfs", platform::sync_file_system)
    }

    fn sync_each(
        &self,
        doing: &'static str,
        sync: impl Fn(&File) -> Result<(), Errno>,
    ) -> Result<(), Failure> {
        for (index, (open, setup)) in self.open.iter().zip(&self.setups).enumerate() {
            let sync = |file: &File| uninterrupted(|| sync(file));
            let synced = match open {
                Some(file) => sync(file),
                None if setup.path.as_os_str().is_empty() => continue,
                None => match platform::open_to_sync(&setup.path) {
                    Ok(file) => sync(&file),
                    // The job never came to it: there is nothing to sync.
                    Err(Errno::ENOENT) => continue,
                    Err(errno) => Err(errno),
                },
            };
            synced.map_err(|errno| Failure {
                file: Some(FileId(index as u32)),
                ..Failure::engine(doing, errno)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(path: &str, direct: bool) -> FileSetup {
        let mode = OpenMode { read: true, direct, ..OpenMode::default() };
        FileSetup::new(path, mode, 4096)
    }

    #[test]
    fn a_file_has_a_descriptor_only_while_it_is_open() {
        let folder = iosonde_testing::Folder::new("descriptors");
        let path = folder.write("f", [0; 4096]);
        let mut files = Files::new(vec![reading(&path, false), reading("", false)]);
        assert_eq!((files.len(), files.is_empty(), files.open_count()), (2, false, 0));
        assert_eq!((files.fd(FileId(0)), files.fd(FileId(9))), (-1, -1));
        let opened = files.open(FileId(0)).unwrap();
        assert!(opened.fd >= 0 && opened.fd == files.fd(FileId(0)));
        assert_eq!((opened.bytes, opened.writes), (4096, false));
        // Again is the same, and an engine without files has none.
        assert_eq!(files.open(FileId(0)).unwrap().fd, opened.fd);
        assert_eq!(files.open(FileId(1)).unwrap().fd, -1);
        assert!(files.open_file(FileId(0)).is_some());
        assert!(files.open_file(FileId(1)).is_none());
        assert_eq!(files.open_count(), 1);
        files.close(FileId(0), false).unwrap();
        files.close(FileId(0), false).unwrap();
        assert_eq!((files.open_count(), files.fd(FileId(0))), (0, -1));
        assert!(Files::new(Vec::new()).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named_with_what_helps() {
        let mut files = Files::new(vec![reading("/no/such/file", false)]);
        let failure = files.open(FileId(0)).unwrap_err();
        assert_eq!((failure.doing, failure.file), ("open", Some(FileId(0))));
        assert_eq!((failure.errno, failure.detail), (Errno::ENOENT, None));
        let mut both = Files::new(vec![reading("/no/such/file", true)]);
        assert_eq!(both.open(FileId(0)).unwrap_err().detail, None, "not for want of O_DIRECT");
    }

    #[test]
    fn a_file_is_created_only_if_it_may_be() {
        let folder = iosonde_testing::Folder::new("created");
        let path = folder.join("f");
        for (create, block_device) in [(false, false), (true, true), (true, false)] {
            let mode = OpenMode { write: true, create, ..OpenMode::default() };
            let setup = FileSetup { block_device, ..FileSetup::new(&path, mode, 4096) };
            let opened = Files::new(vec![setup]).open(FileId(0));
            let is_created = create && !block_device;
            assert_eq!((opened.is_ok(), path.exists()), (is_created, is_created));
        }
    }

    #[test]
    fn only_files_that_are_written_are_made_durable_as_they_close() {
        let folder = iosonde_testing::Folder::new("on-close");
        let path = folder.write("f", [0; 4096]);
        let setup = |write, sync_on_close| FileSetup {
            mode: OpenMode { read: true, write, ..OpenMode::default() },
            sync_on_close,
            ..reading(&path, false)
        };
        for (write, wanted) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut files = Files::new(vec![setup(write, wanted)]);
            assert!(!files.syncs_on_close(FileId(0)), "it is not open");
            files.open(FileId(0)).unwrap();
            assert_eq!(files.syncs_on_close(FileId(0)), write && wanted);
        }
    }

    #[test]
    fn what_a_job_reads_is_dropped_from_the_page_cache_where_it_is_wanted() {
        let folder = iosonde_testing::Folder::new("dropped");
        let path = folder.write("f", vec![7; 1 << 20]);
        File::options().write(true).open(&path).unwrap().sync_all().unwrap();
        let cached = |files: &Files| {
            let file = std::fs::File::from(
                files.open_file(FileId(0)).unwrap().try_clone_to_owned().unwrap(),
            );
            match iosonde_direct::cache::residency(&file, 0, 0) {
                iosonde_direct::Fact::Known(found) => Some(found.cached),
                iosonde_direct::Fact::Unknown(_) => None,
            }
        };
        let setup = |invalidate| FileSetup { invalidate, bytes: 1 << 20, ..reading(&path, false) };
        let mut files = Files::new(vec![setup(true)]);
        files.open(FileId(0)).unwrap();
        let Some(left) = cached(&files) else {
            iosonde_testing::skip!("the page cache of this folder cannot be seen");
        };
        assert_eq!(left, 0, "pages of a file that was opened with invalidate=1");
        let warmed = std::fs::read(&path).unwrap();
        assert_eq!(warmed.len(), 1 << 20);
        let before = cached(&files).unwrap();
        let mut kept = Files::new(vec![setup(false)]);
        kept.open(FileId(0)).unwrap();
        kept.invalidate(FileId(0)).unwrap();
        // A kernel that reclaims idle memory may take some meanwhile.
        assert!(cached(&kept).unwrap() * 2 >= before, "of {before} pages");
        kept.drop_cached(FileId(0)).unwrap();
        assert_eq!(cached(&kept), Some(0));
    }
}
