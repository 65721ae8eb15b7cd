//! What handles say of files, and calls that differ from those of Unix.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::Console::GetConsoleMode;

use super::{done, volumes, wide};
use crate::files::{FileKind, FileSystem, Status};

pub use std::os::windows::fs::symlink_file as make_link;
pub use std::os::windows::io::{BorrowedHandle, OwnedHandle};

/// Reads and writes at a place, as on Unix; the place of the file itself moves, which nobody relies on.
pub trait FileExt {
    /// As pread(2).
    ///
    /// # Errors
    /// The error of the system.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// As pwrite(2).
    ///
    /// # Errors
    /// The error of the system.
    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize>;

    /// Read as much as the buffer takes.
    ///
    /// # Errors
    /// The error of the system, or the file is shorter.
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Write all of it.
    ///
    /// # Errors
    /// The error of the system.
    fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.write_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    buffer = &buffer[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(self, buffer, offset)
    }
}

/// The handle of a file, for the calls that take one.
pub fn borrow(file: &File) -> BorrowedHandle<'_> {
    file.as_handle()
}

/// Opening a pipe waits for nobody here.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(crate) fn status(path: &Path) -> io::Result<Status> {
    looked_at(path, fs::FILE_FLAG_BACKUP_SEMANTICS)
}

pub(crate) fn link_status(path: &Path) -> io::Result<Status> {
    looked_at(path, fs::FILE_FLAG_BACKUP_SEMANTICS | fs::FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Opened without any right, which is enough to look.
fn looked_at(path: &Path, flags: u32) -> io::Result<Status> {
    let file = OpenOptions::new().access_mode(0).custom_flags(flags).open(path)?;
    let mut status = status_of(&file)?;
    if status.kind == FileKind::CharacterDevice && is_null(path) {
        status.is_device = 1 << 32 | 3;
    }
    Ok(status)
}

/// Whether a path names the device that takes and forgets everything.
fn is_null(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let name = name.strip_prefix(r"\\.\").unwrap_or(&name);
    name.eq_ignore_ascii_case("nul")
}

pub(crate) fn status_of(file: &File) -> io::Result<Status> {
    let handle = file.as_raw_handle();
    // SAFETY: it takes a handle, which is open, and returns a number.
    let kind = unsafe { fs::GetFileType(handle) };
    let mut about = fs::BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the call fills the structure that it is lent.
    let is_known = unsafe { fs::GetFileInformationByHandle(handle, &raw mut about) } != 0;
    let kind = match kind {
        fs::FILE_TYPE_CHAR => FileKind::CharacterDevice,
        fs::FILE_TYPE_PIPE => FileKind::Pipe,
        _ if !is_known => FileKind::BlockDevice,
        _ if about.dwFileAttributes & fs::FILE_ATTRIBUTE_REPARSE_POINT != 0 => FileKind::Link,
        _ if about.dwFileAttributes & fs::FILE_ATTRIBUTE_DIRECTORY != 0 => FileKind::Folder,
        _ => FileKind::File,
    };
    let whole = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let is_device = match kind {
        FileKind::BlockDevice => {
            volumes::number(file).map_or(0, |(disk, partition)| whole(partition, disk))
        }
        FileKind::CharacterDevice => whole(1, 0),
        _ => 0,
    };
    Ok(Status {
        kind,
        bytes: whole(about.nFileSizeHigh, about.nFileSizeLow),
        device: about.dwVolumeSerialNumber.into(),
        number: whole(about.nFileIndexHigh, about.nFileIndexLow),
        is_device,
        mode: 0,
        links: about.nNumberOfLinks.into(),
        user: 0,
        group: 0,
        blocks: allocated(file).unwrap_or(0).div_ceil(512),
        modified: file.metadata().and_then(|of| of.modified()).ok(),
    })
}

/// Bytes that are allocated for a file.
fn allocated(file: &File) -> io::Result<u64> {
    let mut about = fs::FILE_STANDARD_INFO::default();
    // SAFETY: the call fills the structure, whose size it is told.
    done(unsafe {
        fs::GetFileInformationByHandleEx(
            file.as_raw_handle(),
            fs::FileStandardInfo,
            (&raw mut about).cast(),
            size_of_val(&about) as u32,
        )
    })?;
    Ok(about.AllocationSize.unsigned_abs())
}

pub(crate) fn file_system(path: &Path) -> io::Result<FileSystem> {
    // A directory is asked for; a file is in one.
    let path = std::path::absolute(path)?;
    let folder = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(&path);
    let name = wide(folder.as_os_str());
    let (mut available_bytes, mut bytes, mut free_bytes) = (0, 0, 0);
    // SAFETY: the text is read up to its zero, and three numbers are written.
    done(unsafe {
        fs::GetDiskFreeSpaceExW(
            name.as_ptr(),
            &raw mut available_bytes,
            &raw mut bytes,
            &raw mut free_bytes,
        )
    })?;
    Ok(FileSystem {
        bytes,
        free_bytes,
        available_bytes,
        files: 0,
        files_free: 0,
        files_available: None,
    })
}

/// A new file takes the rights of its directory, which for a user's own are his.
pub(crate) fn private_options() -> OpenOptions {
    OpenOptions::new()
}

/// As [`private_options`].
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Reserve clusters; what is there already stays.
pub(crate) fn reserve(file: &File, offset: u64, bytes: u64, grow: bool) -> io::Result<()> {
    let (end, length) = (offset.saturating_add(bytes), file.metadata()?.len());
    let wanted = end.max(length).max(allocated(file)?);
    let size = i64::try_from(wanted).map_err(|_| io::ErrorKind::InvalidInput)?;
    let about = fs::FILE_ALLOCATION_INFO { AllocationSize: size };
    // SAFETY: the call reads the structure, whose size it is told.
    done(unsafe {
        fs::SetFileInformationByHandle(
            file.as_raw_handle(),
            fs::FileAllocationInfo,
            (&raw const about).cast(),
            size_of_val(&about) as u32,
        )
    })?;
    if grow && end > length { file.set_len(end) } else { Ok(()) }
}

/// Windows flushes a whole volume only for administrators: this file then.
pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
    match file.metadata() {
        Ok(of) if of.is_dir() => Ok(()),
        _ => file.sync_all(),
    }
}

pub(crate) fn sync_everything() {}

pub(crate) fn random_bytes(bytes: &mut [u8]) -> io::Result<()> {
    use windows_sys::Win32::Security::Cryptography as cryptography;
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: so many bytes are written as the buffer has; no algorithm is named, which the flag allows.
    let status = unsafe {
        cryptography::BCryptGenRandom(
            std::ptr::null_mut(),
            bytes.as_mut_ptr(),
            length,
            cryptography::BCRYPT_USE_SYSTEM_PREFERRED_RNG,
        )
    };
    if status < 0 { Err(io::Error::other("the system has no random numbers")) } else { Ok(()) }
}

/// The system removes it when it is closed.
pub(crate) fn unnamed(folder: &Path) -> io::Result<File> {
    let path = folder.join(crate::temporary::unpredictable_name("iosonde"));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    options.custom_flags(fs::FILE_FLAG_DELETE_ON_CLOSE).open(path)
}

/// No device can be had alone: one that is opened so could not be opened by the jobs either, and a lock on a volume
/// dismounts it.
pub(crate) fn open_alone(path: &Path) -> io::Result<Option<File>> {
    File::open(path).map(|_| None)
}

/// Whether a path names a device, to which others may write.
pub(crate) fn may_be_open_elsewhere(path: &Path) -> bool {
    path.to_string_lossy().starts_with(r"\\.\") || is_null(path) || is_console(path)
}

fn is_console(path: &Path) -> bool {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
    let mut mode = 0;
    // SAFETY: the handle is open; the call writes a number.
    unsafe { GetConsoleMode(file.as_raw_handle(), &raw mut mode) != 0 }
}

/// Whether the directory takes no new file, while the one that is there may be written.
pub(crate) fn takes_no_new_file(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Rights come from the directory.
pub(crate) fn take_after(_: &File, _: &Status) -> bool {
    true
}

/// Names are in the file system's journal; directories are not flushed.
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Servers listen at addresses here.
pub(crate) fn remove_abandoned_socket(_: &Path) -> io::Result<()> {
    Ok(())
}

/// What is mounted from memory is a volume like any other.
pub(crate) fn is_of_memory(_: &File) -> bool {
    false
}

/// There is no such advice.
pub(crate) fn advise_unneeded(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// The file's name; one that is removed when it is closed still has it.
pub(crate) fn path_of(file: &File) -> Option<PathBuf> {
    let mut name = vec![0_u16; 1024];
    // SAFETY: at most the length told is written; the handle is open.
    let length = unsafe {
        fs::GetFinalPathNameByHandleW(file.as_raw_handle(), name.as_mut_ptr(), name.len() as u32, 0)
    };
    let name = name.get(..length as usize).filter(|name| !name.is_empty())?;
    // Without the mark of a path that nothing is done to, where it is on a drive.
    let mark: Vec<u16> = r"\\?\".encode_utf16().collect();
    let plain =
        name.strip_prefix(mark.as_slice()).filter(|rest| rest.get(1) == Some(&u16::from(b':')));
    Some(PathBuf::from(std::ffi::OsString::from_wide(plain.unwrap_or(name))))
}

pub(crate) fn connect(_: &Path) -> io::Result<Box<dyn io::Read>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "sockets with names are for Unix systems only"))
}

pub(crate) fn public_options() -> OpenOptions {
    OpenOptions::new()
}

pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(fs::FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// A handle of our own of what another one stands for.
///
/// # Errors
/// It is closed.
pub fn owned_handle(of: &impl AsHandle) -> io::Result<OwnedHandle> {
    of.as_handle().try_clone_to_owned()
}
