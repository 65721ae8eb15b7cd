//! Files as the system shows them, by one set of names on all systems: on Unix what stat(2) says, on Windows what its
//! handles say, zero where it has no such thing.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::platform;

pub use crate::platform::{
    BorrowedHandle, FileExt, OwnedHandle, borrow, make_link, owned_handle, without_waiting,
};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// A disk, partition or volume: on Linux a block device, on FreeBSD and macOS also its character device, on Windows
    /// `\\.\PhysicalDriveN` or `\\.\C:`.
    BlockDevice,
    /// Any other device: a terminal, `/dev/null`, `NUL`.
    CharacterDevice,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A symbolic link, where it was not followed.
    Link,
}

impl FileKind {
    /// Whether it is a regular file.
    pub fn is_file(self) -> bool {
        self == FileKind::File
    }

    /// Whether it is a directory.
    pub fn is_dir(self) -> bool {
        self == FileKind::Folder
    }

    /// Whether it is a disk, partition or volume.
    pub fn is_block_device(self) -> bool {
        self == FileKind::BlockDevice
    }

    /// Whether it is a device, and no disk.
    pub fn is_char_device(self) -> bool {
        self == FileKind::CharacterDevice
    }

    /// Whether it is a pipe.
    pub fn is_fifo(self) -> bool {
        self == FileKind::Pipe
    }

    /// Whether it is a socket.
    pub fn is_socket(self) -> bool {
        self == FileKind::Socket
    }

    /// Whether it is a symbolic link.
    pub fn is_symlink(self) -> bool {
        self == FileKind::Link
    }
}

/// Remove the name `path` if it is a Unix socket that nobody has open any more. A socket in
/// use, of whatever type, and what is no socket stay: bind(2) reports them.
///
/// # Errors
/// It cannot be removed.
pub fn remove_abandoned_socket(path: &Path) -> io::Result<()> {
    platform::remove_abandoned_socket(path)
}

/// What stat(2) says of a file.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    pub(crate) kind: FileKind,
    pub(crate) bytes: u64,
    pub(crate) device: u64,
    pub(crate) number: u64,
    pub(crate) is_device: u64,
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) blocks: u64,
    pub(crate) modified: Option<SystemTime>,
}

impl Status {
    /// What it is.
    pub fn file_type(&self) -> FileKind {
        self.kind
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind.is_file()
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind.is_dir()
    }

    /// Its length in bytes; zero for a device.
    #[expect(clippy::len_without_is_empty, reason = "as in the standard library's Metadata")]
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// The number of the device or volume that it is on.
    pub fn dev(&self) -> u64 {
        self.device
    }

    /// Its number there.
    pub fn ino(&self) -> u64 {
        self.number
    }

    /// The number of the device that it is, for `DeviceId::from_raw`.
    pub fn rdev(&self) -> u64 {
        self.is_device
    }

    /// Its permissions; zero on Windows.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// How many names it has.
    pub fn nlink(&self) -> u64 {
        self.links
    }

    /// The number of its owner; zero on Windows.
    pub fn uid(&self) -> u32 {
        self.user
    }

    /// The number of its group; zero on Windows.
    pub fn gid(&self) -> u32 {
        self.group
    }

    /// The blocks of 512 bytes that are allocated for it.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// When it was last written to, where that is known.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }
}

/// Of the file at `path`, links followed.
///
/// # Errors
/// There is none, or it may not be looked at.
pub fn status(path: impl AsRef<Path>) -> io::Result<Status> {
    platform::status(path.as_ref())
}

/// The same, of a link itself.
///
/// # Errors
/// As [`status`].
pub fn link_status(path: impl AsRef<Path>) -> io::Result<Status> {
    platform::link_status(path.as_ref())
}

/// Of an open file.
///
/// # Errors
/// The error of the system.
pub fn status_of(file: &File) -> io::Result<Status> {
    platform::status_of(file)
}

/// The space of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// All of it.
    pub bytes: u64,
    /// What is free.
    pub free_bytes: u64,
    /// What is free for this user.
    pub available_bytes: u64,
    /// All files that there can be; zero where that is not limited or not reported.
    pub files: u64,
    /// Files that can still be made; zero likewise.
    pub files_free: u64,
    /// Files that this user can still make; `None` where that is not limited or not reported.
    pub files_available: Option<u64>,
}

impl FileSystem {
    /// Of the file system that `path` is on.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of(path: &Path) -> io::Result<FileSystem> {
        platform::file_system(path)
    }
}

/// Options to open a file that, made new, only its owner reads and writes.
pub fn private_options() -> std::fs::OpenOptions {
    platform::private_options()
}

/// Make a directory that only its owner reads and writes.
///
/// # Errors
/// It cannot be made.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    platform::make_private_folder(path)
}

/// Reserve space for a part of a file without writing to it (fallocate(2)); with `grow` the file gets longer by it.
///
/// # Errors
/// The file system cannot, or has too little space.
pub fn reserve(file: &File, offset: u64, bytes: u64, grow: bool) -> io::Result<()> {
    platform::reserve(file, offset, bytes, grow)
}

/// Write back all that waits for the file system that a file or directory is on, where the system can (syncfs(2));
/// else of this file.
///
/// # Errors
/// The error of the system.
pub fn sync_file_system(file: &File) -> io::Result<()> {
    platform::sync_file_system(file)
}

/// Write back what waits for any file system (sync(2)); nothing where the system has no such call.
pub fn sync_everything() {
    platform::sync_everything();
}

/// Random bytes of the system.
///
/// # Errors
/// The system has none yet.
pub fn random_bytes(bytes: &mut [u8]) -> io::Result<()> {
    platform::random_bytes(bytes)
}

/// A new file in `folder` that has no name, or has lost it already.
///
/// # Errors
/// It cannot be made.
pub fn unnamed(folder: &Path) -> io::Result<File> {
    platform::unnamed(folder)
}

/// The same, by the path of a directory on it.
///
/// # Errors
/// The error of the system.
pub fn sync_file_system_of(folder: &Path) -> io::Result<()> {
    platform::open_folder(folder).and_then(|folder| platform::sync_file_system(&folder))
}

/// Have the names in a directory on the device, where the system and the file system have a call for it.
///
/// # Errors
/// The error of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    platform::sync_folder(folder)
}

/// Whether a file's system is overlayfs, which keeps it in another directory.
pub fn is_overlaid(file: &File) -> bool {
    platform::is_overlaid(file)
}

/// Whether a file's system is made of memory, as far as that is known.
pub fn is_of_memory(file: &File) -> bool {
    platform::is_of_memory(file)
}

/// Advise the system that a range need not stay in the page cache; to the end with zero bytes.
///
/// # Errors
/// The error of the system. One that takes no such advice does nothing.
pub fn advise_unneeded(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    platform::advise_unneeded(file, offset, bytes)
}

/// A path by which an open file can be opened again, also if it has lost its name; `None` where the system has none.
pub fn path_of(file: &File) -> Option<std::path::PathBuf> {
    platform::path_of(file)
}

/// What comes through the socket with this name.
///
/// # Errors
/// Nobody listens, or the system has no such sockets.
pub fn connect(path: &Path) -> io::Result<Box<dyn io::Read>> {
    platform::connect(path)
}

/// Options to open a file that, made new, all may read.
pub fn public_options() -> std::fs::OpenOptions {
    platform::public_options()
}
