//! stat(2), statvfs(2) and what else is the same for files everywhere.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::files::{FileKind, FileSystem, Status};
use crate::platform;

pub use std::os::fd::{BorrowedFd as BorrowedHandle, OwnedFd as OwnedHandle};
pub use std::os::unix::fs::{FileExt, symlink as make_link};

/// The handle of a file, for the calls that take one.
pub fn borrow(file: &File) -> BorrowedHandle<'_> {
    file.as_fd()
}

/// Do not wait for another end when a pipe is opened.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NONBLOCK)
}

pub(crate) fn status(path: &Path) -> io::Result<Status> {
    std::fs::metadata(path).map(|of| read(&of, || platform::is_disk_at(path)))
}

pub(crate) fn link_status(path: &Path) -> io::Result<Status> {
    std::fs::symlink_metadata(path).map(|of| read(&of, || platform::is_disk_at(path)))
}

pub(crate) fn status_of(file: &File) -> io::Result<Status> {
    file.metadata().map(|of| read(&of, || platform::is_disk(file)))
}

fn read(of: &Metadata, is_disk: impl FnOnce() -> bool) -> Status {
    let kind = of.file_type();
    let kind = match () {
        () if kind.is_file() => FileKind::File,
        () if kind.is_dir() => FileKind::Folder,
        () if kind.is_block_device() => FileKind::BlockDevice,
        () if kind.is_char_device() && is_disk() => FileKind::BlockDevice,
        () if kind.is_char_device() => FileKind::CharacterDevice,
        () if kind.is_symlink() => FileKind::Link,
        () if kind.is_socket() => FileKind::Socket,
        () => FileKind::Pipe,
    };
    Status {
        kind,
        bytes: of.len(),
        device: of.dev(),
        number: of.ino(),
        is_device: of.rdev(),
        mode: of.mode(),
        links: of.nlink(),
        user: of.uid(),
        group: of.gid(),
        blocks: of.blocks(),
        modified: of.modified().ok(),
    }
}

pub(crate) fn file_system(path: &Path) -> io::Result<FileSystem> {
    let found = rustix::fs::statvfs(path)?;
    let block = found.f_frsize;
    Ok(FileSystem {
        bytes: found.f_blocks.saturating_mul(block),
        free_bytes: found.f_bfree.saturating_mul(block),
        available_bytes: found.f_bavail.saturating_mul(block),
        files: found.f_files,
        files_free: found.f_ffree,
        // Zero: the file system makes them as they are wanted.
        files_available: (found.f_files > 0).then_some(found.f_favail),
    })
}

pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

pub(crate) fn sync_everything() {
    rustix::fs::sync();
}

pub(crate) fn random_bytes(bytes: &mut [u8]) -> io::Result<()> {
    use std::io::Read;
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// A file whose name is removed as soon as it is there.
pub(crate) fn unnamed_by_name(folder: &Path) -> io::Result<File> {
    let (path, file) = crate::temporary::create(folder, "iosonde")?;
    std::fs::remove_file(path)?;
    Ok(file)
}

pub(crate) fn public_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o644);
    options
}

pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn connect(path: &Path) -> io::Result<Box<dyn io::Read>> {
    Ok(Box::new(std::os::unix::net::UnixStream::connect(path)?))
}

/// A handle of our own of what another one stands for.
///
/// # Errors
/// It is closed, or there are too many.
pub fn owned_handle(of: &impl AsFd) -> io::Result<OwnedHandle> {
    of.as_fd().try_clone_to_owned()
}
