//! Windows: NO_BUFFERING, and the controls of its disks.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use windows_sys::Wdk::Storage::FileSystem as nt;
use windows_sys::Win32::Foundation::{ERROR_SHARING_VIOLATION, HANDLE};
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::{DeviceIoControl, IO_STATUS_BLOCK};
use windows_sys::Win32::System::{Ioctl as ioctl, Memory as memory, SystemInformation as system};

mod lock;
mod storage;

pub(crate) use lock::{
    conflict, lock, lock_range, lock_volume, unlock, unlock_range, unlock_volume,
};

use crate::cache::Residency;
use crate::stack::{DeviceId, Mount, Stack};
use crate::{
    Answer, Device, DeviceFacts, DirectIo, Fact, Facts, Honoured, Known, MemoryKind, OpenOptions,
    PathKind,
};

/// There are no trees of /sys and /proc: nothing is below this.
pub(crate) const TREES_ROOT: &str = "NUL";

/// A device by the number that `sys::files` gives it: that of a physical disk.
pub(crate) fn device_id(device: u64) -> DeviceId {
    DeviceId { major: (device >> 32) as u32, minor: device as u32 }
}

/// Windows has no nodes of devices in its directories.
pub(crate) fn block_device_at(_: &Path) -> Option<DeviceId> {
    None
}

/// A name from its bytes, which are those of another system.
pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// How to reserve huge pages.
pub(crate) const HUGE_PAGES_REMEDY: &str =
    "which take the privilege to lock pages in memory (SeLockMemoryPrivilege)";

fn handle(file: &File) -> HANDLE {
    file.as_raw_handle()
}

/// The result of a call that returns 0 on failure.
fn done(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn has_code(error: &io::Error, code: u32) -> bool {
    error.raw_os_error() == i32::try_from(code).ok()
}

/// Bytes in a page of memory.
pub(crate) fn page_bytes() -> usize {
    let mut about = system::SYSTEM_INFO::default();
    // SAFETY: the call fills the structure it is lent.
    unsafe { system::GetSystemInfo(&raw mut about) };
    about.dwPageSize as usize
}

/// Memory from VirtualAlloc, given back when dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
}

// SAFETY: the memory belongs to the process, not to the thread that requested
// it, and `Pages` is the only name of it.
unsafe impl Send for Pages {}
// SAFETY: a shared `Pages` hands out nothing but its address.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `bytes` of zeroed memory, which must not be zero.
    pub(crate) fn of(kind: &MemoryKind, bytes: usize) -> io::Result<Pages> {
        let large = match kind {
            MemoryKind::Heap | MemoryKind::Mapping(None) => 0,
            MemoryKind::HugeMapping(None, _) => memory::MEM_LARGE_PAGES,
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "this kind of memory is for Linux only",
                ));
            }
        };
        let flags = memory::MEM_RESERVE | memory::MEM_COMMIT | large;
        // SAFETY: no address is given, so the system finds a free range.
        let start =
            unsafe { memory::VirtualAlloc(ptr::null(), bytes, flags, memory::PAGE_READWRITE) };
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Pages { start })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Windows makes large pages on request only, which a privilege guards.
    pub(crate) fn prefer_huge(&self) {}
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated in `of`, freed whole, and its owner is going away,
        // so nothing can refer to it.
        let gone =
            unsafe { memory::VirtualFree(self.start.as_ptr().cast(), 0, memory::MEM_RELEASE) };
        debug_assert!(gone != 0, "give back memory: {}", io::Error::last_os_error());
    }
}

pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let mut flags = 0;
    if options.direct {
        flags |= fs::FILE_FLAG_NO_BUFFERING;
    }
    if options.sync || options.data_sync {
        flags |= fs::FILE_FLAG_WRITE_THROUGH;
    }
    let mut open = std::fs::OpenOptions::new();
    open.read(options.read)
        .write(options.write && !options.append)
        .append(options.append)
        .truncate(options.truncate)
        .create(options.create)
        .create_new(options.create && options.exclusive)
        .custom_flags(flags);
    let alone = options.exclusive && !options.create;
    if alone {
        open.share_mode(0);
    }
    open.open(path).map_err(|error| {
        if alone && has_code(&error, ERROR_SHARING_VIOLATION) {
            return io::ErrorKind::ResourceBusy.into();
        }
        error
    })
}

/// Send a control to a disk, a volume, or a file; how many bytes of answer
/// there are.
fn control(file: &File, code: u32, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
    let length = |bytes: usize| u32::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput);
    let (input_bytes, output_bytes) = (length(input.len())?, length(output.len())?);
    let mut answered = 0;
    // SAFETY: both buffers are lent for the call with their true lengths; our
    // files are not overlapped, so it is done when it returns.
    done(unsafe {
        DeviceIoControl(
            handle(file),
            code,
            input.as_ptr().cast(),
            input_bytes,
            output.as_mut_ptr().cast(),
            output_bytes,
            &raw mut answered,
            ptr::null_mut(),
        )
    })?;
    Ok(answered as usize)
}

/// One property that a storage device reports (STORAGE_PROPERTY_QUERY).
fn property(file: &File, which: ioctl::STORAGE_PROPERTY_ID) -> io::Result<Vec<u8>> {
    let mut query = [0; size_of::<ioctl::STORAGE_PROPERTY_QUERY>()];
    query[..4].copy_from_slice(&which.to_le_bytes());
    let mut answer = vec![0; 1024];
    let bytes = control(file, ioctl::IOCTL_STORAGE_QUERY_PROPERTY, &query, &mut answer)?;
    answer.truncate(bytes);
    Ok(answer)
}

/// A disk or volume has no directory entry, and so no times and attributes.
fn expect_device(file: &File) -> io::Result<()> {
    if file.metadata().is_ok() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no disk or volume"));
    }
    Ok(())
}

pub(crate) fn device_size(file: &File) -> io::Result<u64> {
    expect_device(file)?;
    let mut length = [0; 8];
    control(file, ioctl::IOCTL_DISK_GET_LENGTH_INFO, &[], &mut length)?;
    Ok(u64::from_le_bytes(length))
}

pub(crate) fn device(file: &File) -> io::Result<Device> {
    let bytes = device_size(file)?;
    let (logical, physical) =
        storage::sectors(&property(file, ioctl::StorageAccessAlignmentProperty)?)
            .ok_or_else(|| io::Error::other("the disk does not report its sectors"))?;
    let seeks = property(file, ioctl::StorageDeviceSeekPenaltyProperty).ok();
    Ok(Device {
        bytes,
        logical_sector: logical,
        physical_sector: physical,
        rotational: seeks.and_then(|answer| storage::flag(&answer)),
        discard_bytes_max: None,
    })
}

pub(crate) fn discard(file: &File, _offset: u64, _bytes: u64) -> io::Result<()> {
    expect_device(file)?;
    Err(io::Error::new(io::ErrorKind::Unsupported, "discards are not sent on Windows"))
}

/// A disk's handle has no page cache; its own is flushed.
pub(crate) fn flush_buffers(file: &File) -> io::Result<()> {
    expect_device(file)?;
    file.sync_all()
}

pub(crate) fn device_facts(id: DeviceId) -> DeviceFacts {
    DeviceFacts::unknown(id.to_string(), id, "Windows reports open disks only")
}

fn facts_of_device(file: &File, bytes: u64) -> DeviceFacts {
    let id = DeviceId { major: 0, minor: 0 };
    let why = "Windows does not report it";
    let mut facts = DeviceFacts::unknown("disk".to_owned(), id, why);
    facts.bytes = Fact::Known(bytes);
    if let Ok(reported) = device(file) {
        facts.logical_sector = Fact::Known(reported.logical_sector);
        facts.physical_sector = Fact::Known(reported.physical_sector);
        facts.rotational = Fact::or_why(reported.rotational, why);
    }
    if let Ok(answer) = property(file, ioctl::StorageDeviceWriteCacheProperty) {
        facts.write_cache = Fact::or_why(storage::write_cache(&answer), why);
    }
    if let Ok(answer) = property(file, ioctl::StorageDeviceProperty) {
        let names = storage::names(&answer);
        facts.vendor = Fact::or_why(names.vendor, "the disk reports none");
        facts.model = Fact::or_why(names.model, "the disk reports none");
        facts.firmware = Fact::or_why(names.firmware, "the disk reports none");
        facts.serial = Fact::or_why(names.serial, "the disk reports none");
        facts.removable = Fact::or_why(names.removable, why);
        facts.transport = Fact::or_why(names.bus.map(str::to_owned), why);
    }
    facts
}

pub(crate) fn facts_of_path(path: &Path) -> io::Result<Facts> {
    // Folders open with this flag only.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(fs::FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)?;
    facts_of_file(&file)
}

pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    let (kind, bytes) = match (file.metadata(), device_size(file)) {
        (Ok(status), _) if status.is_dir() => (PathKind::Folder, None),
        (Ok(status), _) => (PathKind::File, Some(status.len())),
        (Err(_), Ok(bytes)) => (PathKind::BlockDevice, Some(bytes)),
        (Err(_), Err(_)) => (PathKind::Other, None),
    };
    let devices = match (kind, bytes) {
        (PathKind::BlockDevice, Some(bytes)) => vec![facts_of_device(file, bytes)],
        _ => Vec::new(),
    };
    let stack = match kind {
        PathKind::File | PathKind::Folder => stack_of(file)?,
        _ => Stack { path: PathBuf::new(), mount: None, devices: Vec::new() },
    };
    Ok(Facts {
        kind,
        bytes: Fact::or_why(bytes, "it is neither a file nor a disk"),
        direct: direct_io(file)?,
        atomic_write: Fact::unknown("Windows does not report atomic writes"),
        stack,
        devices,
    })
}

pub(crate) fn stack_under(path: &Path) -> io::Result<Stack> {
    let path = std::path::absolute(path)?;
    let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(&path);
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(fs::FILE_FLAG_BACKUP_SEMANTICS)
        .open(existing)?;
    stack_of(&file)
}

/// The volume that a file is on; the disks below it are not reported.
fn stack_of(file: &File) -> io::Result<Stack> {
    let path = path_of(file)?;
    let point = wide(|text, length| {
        let name = zero_ended(&path);
        // SAFETY: reads text up to its zero, writes at most `length`.
        unsafe { fs::GetVolumePathNameW(name.as_ptr(), text, length) }
    })?;
    // A share of another machine has no volume here.
    let source = wide(|text, length| {
        let name = zero_ended(Path::new(&point));
        // SAFETY: as above.
        unsafe { fs::GetVolumeNameForVolumeMountPointW(name.as_ptr(), text, length) }
    });
    let mut flags = 0;
    let filesystem = wide(|text, length| {
        // SAFETY: what is not wanted is null, the rest is lent for the call.
        unsafe {
            fs::GetVolumeInformationByHandleW(
                handle(file),
                ptr::null_mut(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                &raw mut flags,
                text,
                length,
            )
        }
    });
    /// FILE_READ_ONLY_VOLUME of <winnt.h>.
    const READ_ONLY: u32 = 0x0008_0000;
    let mount = Mount {
        id: 0,
        device: DeviceId { major: 0, minor: 0 },
        point: PathBuf::from(&point),
        filesystem: filesystem.unwrap_or_default().to_string_lossy().into_owned(),
        source: source.unwrap_or(point),
        root: PathBuf::from("\\"),
        options: if flags & READ_ONLY == 0 { "rw" } else { "ro" }.to_owned(),
        super_options: String::new(),
    };
    Ok(Stack { path, mount: Some(mount), devices: Vec::new() })
}

fn path_of(file: &File) -> io::Result<PathBuf> {
    wide(|text, length| {
        // SAFETY: writes at most `length`; its answer says if there is more.
        let needed = unsafe { fs::GetFinalPathNameByHandleW(handle(file), text, length, 0) };
        i32::from(needed > 0 && needed < length)
    })
    .map(PathBuf::from)
}

fn zero_ended(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// The text that a call writes; it gives 0 for failure.
fn wide(call: impl FnOnce(*mut u16, u32) -> i32) -> io::Result<OsString> {
    // The longest path there is (with the prefix \\?\).
    let mut text = vec![0; 32_768];
    done(call(text.as_mut_ptr(), 32_768))?;
    let end = text.iter().position(|&unit| unit == 0).unwrap_or(text.len());
    Ok(OsString::from_wide(&text[..end]))
}

/// Offsets, lengths and addresses must be multiples of the sector.
pub(crate) fn direct_io(file: &File) -> io::Result<DirectIo> {
    if let Ok(status) = file.metadata() {
        if status.is_dir() {
            return Ok(DirectIo::impossible(Known::Guessed("a folder")));
        }
        let mut about = fs::FILE_STORAGE_INFO::default();
        // SAFETY: the call fills the structure it is lent.
        let reported = done(unsafe {
            fs::GetFileInformationByHandleEx(
                handle(file),
                fs::FileStorageInfo,
                (&raw mut about).cast(),
                size_of::<fs::FILE_STORAGE_INFO>() as u32,
            )
        });
        return Ok(match reported {
            Ok(()) if about.LogicalBytesPerSector > 0 => {
                DirectIo::aligned(about.LogicalBytesPerSector, Known::Sector)
            }
            _ => guess(),
        });
    }
    match device(file) {
        Ok(reported) => Ok(DirectIo::aligned(reported.logical_sector, Known::Sector)),
        Err(_) if device_size(file).is_ok() => Ok(guess()),
        Err(_) => Ok(DirectIo::impossible(Known::Guessed("neither a file nor a disk"))),
    }
}

fn guess() -> DirectIo {
    let why = "the volume does not report its sector (FileStorageInfo)";
    DirectIo::aligned(DirectIo::SAFE, Known::Guessed(why))
}

/// Whether the file is open without buffering; `None` if that is not reported.
fn is_unbuffered(file: &File) -> Option<bool> {
    let mut status = IO_STATUS_BLOCK::default();
    let mut mode = nt::FILE_MODE_INFORMATION::default();
    // SAFETY: the call fills the two structures it is lent.
    let answer = unsafe {
        nt::NtQueryInformationFile(
            handle(file),
            &raw mut status,
            (&raw mut mode).cast(),
            size_of::<nt::FILE_MODE_INFORMATION>() as u32,
            nt::FileModeInformation,
        )
    };
    (answer >= 0).then_some(mode.Mode & nt::FILE_NO_INTERMEDIATE_BUFFERING != 0)
}

pub(crate) fn honoured(file: &File) -> io::Result<Honoured> {
    let answer = match is_unbuffered(file) {
        None => Answer::unknown("the system does not report how it is open (FileModeInformation)"),
        Some(false) => Answer::no("it is not open with FILE_FLAG_NO_BUFFERING"),
        Some(true) => unbuffered(file),
    };
    Ok(Honoured::both(answer))
}

fn unbuffered(file: &File) -> Answer {
    let through = fs::FILE_ATTRIBUTE_COMPRESSED | fs::FILE_ATTRIBUTE_ENCRYPTED;
    match file.metadata() {
        Ok(status) if status.file_attributes() & through != 0 => {
            Answer::unknown("what is compressed or encrypted may go through memory")
        }
        Ok(_) if path_of(file).is_ok_and(|path| path.starts_with(r"\\?\UNC\")) => {
            Answer::unknown("it passes this machine's memory, the server may have a cache")
        }
        Ok(_) => Answer::yes("it is open without buffering, which Windows refuses or does"),
        Err(_) => Answer::yes("a disk or volume, open without buffering"),
    }
}

const NOT_REPORTED: &str = "Windows does not report it for single files";

pub(crate) fn residency(_file: &File, _offset: u64, _bytes: u64) -> Fact<Residency> {
    Fact::unknown(NOT_REPORTED)
}

pub(crate) fn drop_cached(file: &File, _offset: u64, _bytes: u64) -> io::Result<()> {
    file.sync_all()?;
    Err(io::Error::new(io::ErrorKind::Unsupported, "Windows drops no single file's pages"))
}

pub(crate) fn warm(file: &File, offset: u64, bytes: u64) -> io::Result<u64> {
    if is_unbuffered(file) == Some(true) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it is open without buffering; open it again, without direct",
        ));
    }
    crate::cache::read_through(offset, bytes, |piece, at| file.seek_read(piece, at))
}

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    file.sync_data()
}

pub(crate) fn sync_all(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// FlushFileBuffers ends with a flush of the device's cache.
pub(crate) fn full_barrier(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// Read at an offset.
pub(super) fn read_at(file: &File, data: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(data, offset)
}

/// Write at an offset.
pub(super) fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(data, offset)
}
