//! The job's files: how they are opened, and which are open.
#![allow(unsafe_code)]

use crate::drive::Failure;
use crate::engine::Opened;
use crate::retries::uninterrupted;
use crate::sync_call::errno;
use iosonde_base::{Errno, FileId};
use rustix::fs::{Advice, Mode, OFlags};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

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

/// The table of a job's files.
#[derive(Debug)]
pub struct Files {
    setups: Vec<FileSetup>,
    fds: Vec<RawFd>,
    open: Vec<Option<OwnedFd>>,
}

impl Files {
    /// A table of files, none of them open.
    pub fn new(setups: Vec<FileSetup>) -> Files {
        Files { fds: vec![-1; setups.len()], open: setups.iter().map(|_| None).collect(), setups }
    }

    /// The descriptor of a file; -1 when it is not open or has none.
    #[inline(always)]
    pub fn fd(&self, file: FileId) -> RawFd {
        self.fds.get(file.0 as usize).copied().unwrap_or(-1)
    }

    /// A file as it is open; none while it is not.
    pub(crate) fn open_file(&self, file: FileId) -> Option<BorrowedFd<'_>> {
        self.open.get(file.0 as usize)?.as_ref().map(AsFd::as_fd)
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
        let fd = open(setup).map_err(|(errno, detail)| Failure {
            file: Some(file),
            detail,
            ..Failure::engine("open", errno)
        })?;
        let opened = opened(fd.as_raw_fd());
        self.fds[index] = fd.as_raw_fd();
        self.open[index] = Some(fd);
        if let Some(lifetime) = self.setups[index].mode.lifetime {
            set_lifetime(opened.fd, lifetime).map_err(|errno| Failure {
                file: Some(file),
                ..Failure::engine("set the write hint of", errno)
            })?;
        }
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
        let Some(fd) = self.open[index].take() else { return Ok(()) };
        self.fds[index] = -1;
        if syncs {
            uninterrupted(|| rustix::fs::fsync(&fd).map_err(errno))
                .map_err(|errno| Failure { file: Some(file), ..Failure::engine("fsync", errno) })?;
        }
        close(fd).map_err(|errno| Failure { file: Some(file), ..Failure::engine("close", errno) })
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
        let (setup, Some(fd)) = (&self.setups[index], &self.open[index]) else { return Ok(()) };
        if setup.block_device {
            flush_buffers(fd);
            return Ok(());
        }
        let len = std::num::NonZeroU64::new(setup.bytes);
        rustix::fs::fadvise(fd, setup.offset, len, Advice::DontNeed)
            .or_else(|error| {
                // Pipes and character devices have no page cache to drop.
                let harmless = [rustix::io::Errno::SPIPE, rustix::io::Errno::INVAL];
                if harmless.contains(&error) { Ok(()) } else { Err(error) }
            })
            .map_err(|error| Failure {
                file: Some(file),
                ..Failure::engine("invalidate", errno(error))
            })
    }

    fn advise(&self, file: FileId, hint: Hint) {
        let (setup, Some(fd)) = (&self.setups[file.0 as usize], &self.open[file.0 as usize]) else {
            return;
        };
        let advice = match hint {
            Hint::Sequential => Advice::Sequential,
            Hint::Random => Advice::Random,
            Hint::NoReuse => Advice::NoReuse,
        };
        let len = std::num::NonZeroU64::new(setup.bytes);
        // Advice may be declined; nothing depends on it.
        let _ = rustix::fs::fadvise(fd, setup.offset, len, advice);
    }

    /// fsync(2) every file, also those that are closed by now.
    pub fn sync_all(&self) -> Result<(), Failure> {
        self.sync_each("fsync", |fd| rustix::fs::fsync(fd))
    }

    /// fdatasync(2) every file, also those that are closed by now.
    pub fn sync_all_data(&self) -> Result<(), Failure> {
        self.sync_each("fdatasync", |fd| rustix::fs::fdatasync(fd))
    }

    /// syncfs(2) on the file systems of every file.
    pub fn sync_file_systems(&self) -> Result<(), Failure> {
        self.sync_each("syncfs", |fd| rustix::fs::syncfs(fd))
    }

    fn sync_each(
        &self,
        doing: &'static str,
        sync: impl Fn(BorrowedFd<'_>) -> rustix::io::Result<()>,
    ) -> Result<(), Failure> {
        for (index, (open, setup)) in self.open.iter().zip(&self.setups).enumerate() {
            let sync = |fd| uninterrupted(|| sync(fd).map_err(errno));
            let synced = match open {
                Some(fd) => sync(fd.as_fd()),
                None if setup.path.as_os_str().is_empty() => continue,
                None => {
                    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                    match rustix::fs::open(&setup.path, flags, Mode::empty()) {
                        Ok(fd) => sync(fd.as_fd()),
                        // The job never came to it: there is nothing to sync.
                        Err(rustix::io::Errno::NOENT) => continue,
                        Err(error) => Err(errno(error)),
                    }
                }
            };
            synced.map_err(|errno| Failure {
                file: Some(FileId(index as u32)),
                ..Failure::engine(doing, errno)
            })?;
        }
        Ok(())
    }
}

fn open(setup: &FileSetup) -> Result<OwnedFd, (Errno, Option<&'static str>)> {
    let mode = setup.mode;
    let mut flags = match (mode.read, mode.write) {
        // Writers read too: engines that map, and checks that read back.
        (_, true) => OFlags::RDWR,
        _ => OFlags::RDONLY,
    };
    flags |= OFlags::CLOEXEC;
    flags.set(OFlags::CREATE, mode.create && !setup.block_device);
    flags.set(OFlags::DIRECT, mode.direct);
    flags |= durability(mode);
    // Not our own file: leave its access time alone where we may.
    let permissions = Mode::from_raw_mode(0o600);
    let opened =
        rustix::fs::open(&setup.path, flags | OFlags::NOATIME, permissions).or_else(|error| {
            match error {
                rustix::io::Errno::PERM => rustix::fs::open(&setup.path, flags, permissions),
                other => Err(other),
            }
        });
    opened.map_err(|error| {
        let no_direct = mode.direct && error == rustix::io::Errno::INVAL;
        let detail = "the file system may not take O_DIRECT; try direct=0";
        (errno(error), no_direct.then_some(detail))
    })
}

/// O_SYNC, O_DSYNC or neither. The numbers are libc's: rustix's DSYNC carries
/// the bits of O_SYNC, and O_SYNC has the bit of O_DSYNC in it, so that clearing
/// the one would break the other.
fn durability(mode: OpenMode) -> OFlags {
    OFlags::from_bits_retain(match (mode.sync, mode.dsync) {
        (true, _) => libc::O_SYNC as u32,
        (false, true) => libc::O_DSYNC as u32,
        (false, false) => 0,
    })
}

/// `F_SET_RW_HINT` of <linux/fcntl.h>.
const F_SET_RW_HINT: libc::c_int = 1036;

fn set_lifetime(fd: RawFd, lifetime: WriteLifetime) -> Result<(), Errno> {
    let hint = lifetime as u64;
    // SAFETY: the kernel reads one u64, which `hint` is, before the call returns.
    match unsafe { libc::fcntl(fd, F_SET_RW_HINT, &raw const hint) } {
        0 => Ok(()),
        _ => Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))),
    }
}

/// BLKFLSBUF, from linux/fs.h.
const BLKFLSBUF: libc::c_ulong = 0x1261;

/// close(2), with its error: some file systems report only then what a write met.
pub(crate) fn close(fd: OwnedFd) -> Result<(), Errno> {
    iosonde_sys::process::close(fd).map_err(Errno::from)
}

fn flush_buffers(fd: &OwnedFd) {
    // SAFETY: the request takes no argument that the kernel would write to,
    // and the descriptor is open for as long as `fd` is borrowed. Without
    // CAP_SYS_ADMIN it fails and the cache stays, which is reported elsewhere.
    unsafe { libc::ioctl(fd.as_raw_fd(), BLKFLSBUF, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sync_and_dsync_open_with_the_flags_of_their_names() {
        let flags =
            |sync, dsync| durability(OpenMode { sync, dsync, ..OpenMode::default() }).bits();
        assert_eq!(flags(true, false), libc::O_SYNC as u32);
        assert_eq!(flags(false, true), libc::O_DSYNC as u32);
        assert_eq!(flags(false, false), 0);
    }

    #[test]
    fn the_kernel_keeps_the_write_hint_of_a_file() {
        const F_GET_RW_HINT: libc::c_int = 1035;
        let folder = iosonde_testing::Folder::new("write-hint");
        let file = std::fs::File::create(folder.join("f")).unwrap();
        let kept = || {
            let mut hint = 0u64;
            // SAFETY: the kernel writes one u64, which `hint` is, before the call returns.
            let answer = unsafe { libc::fcntl(file.as_raw_fd(), F_GET_RW_HINT, &raw mut hint) };
            assert_eq!(answer, 0);
            hint
        };
        for lifetime in [WriteLifetime::Long, WriteLifetime::Short, WriteLifetime::None] {
            match set_lifetime(file.as_raw_fd(), lifetime) {
                Err(Errno::EINVAL | Errno::ENOTTY | Errno::EOPNOTSUPP) => {
                    iosonde_testing::skip!("the kernel takes no write hints");
                }
                set => set.unwrap(),
            }
            assert_eq!(kept(), lifetime as u64);
        }
        assert!(set_lifetime(-1, WriteLifetime::Long).is_err());
    }

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
        assert_eq!(files.open_file(FileId(0)).map(|fd| fd.as_raw_fd()), Some(opened.fd));
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
        // procfs takes no O_DIRECT.
        let mut files = Files::new(vec![reading("/proc/self/stat", true)]);
        let failure = files.open(FileId(0)).unwrap_err();
        assert_eq!(failure.errno, Errno::EINVAL);
        assert!(failure.detail.is_some_and(|words| words.contains("direct=0")), "{failure:?}");
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
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
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
