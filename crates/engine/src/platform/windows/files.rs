//! How files are opened, read and written at an offset, and made durable on Windows.
#![allow(unsafe_code)]

use super::{done, handle};
use crate::platform::RawFile;
use crate::{FileSetup, Hint, Io, SyncRangeFlags, WriteLifetime};
use iosonde_base::{Errno, Op};
use std::fs::{File, OpenOptions};
use std::mem::size_of;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr;
use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_ACCESS_DENIED, ERROR_HANDLE_EOF, ERROR_IO_PENDING, GENERIC_READ,
    GENERIC_WRITE, GetLastError, HANDLE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::{DeviceIoControl, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Ioctl as ioctl;
use windows_sys::Win32::System::Threading::CreateEventW;

/// All that others may do with a file while it is open here, as on Unix.
const SHARED: u32 = fs::FILE_SHARE_READ | fs::FILE_SHARE_WRITE | fs::FILE_SHARE_DELETE;

/// Open a file as the plan says: what failed, and what that may mean.
pub(crate) fn open(setup: &FileSetup) -> Result<File, (Errno, Option<&'static str>)> {
    let mode = setup.mode;
    let mut flags = match setup.hint {
        Some(Hint::Sequential) => fs::FILE_FLAG_SEQUENTIAL_SCAN,
        Some(Hint::Random) => fs::FILE_FLAG_RANDOM_ACCESS,
        Some(Hint::NoReuse) | None => 0,
    };
    for (wanted, flag) in [
        (mode.direct, fs::FILE_FLAG_NO_BUFFERING),
        (mode.sync || mode.dsync, fs::FILE_FLAG_WRITE_THROUGH),
        (mode.overlapped, fs::FILE_FLAG_OVERLAPPED),
    ] {
        if wanted {
            flags |= flag;
        }
    }
    let access = if mode.write { GENERIC_READ | GENERIC_WRITE } else { GENERIC_READ };
    let create = mode.create && !setup.block_device;
    // Only what may write may create, for std; what is written is said by the access.
    let mut options = OpenOptions::new();
    options.read(true).write(mode.write || create).create(create);
    options.access_mode(access).share_mode(SHARED).custom_flags(flags);
    options.open(&setup.path).map_err(|error| {
        let errno = Errno::from(error);
        let no_direct = mode.direct && errno == Errno::EINVAL;
        let words = "the file system may not take FILE_FLAG_NO_BUFFERING; try direct=0";
        (errno, no_direct.then_some(words))
    })
}

/// Open a file that was closed, to make it durable: FlushFileBuffers needs the right to write.
pub(crate) fn open_to_sync(path: &Path) -> Result<File, Errno> {
    Ok(OpenOptions::new().read(true).write(true).share_mode(SHARED).open(path)?)
}

/// Drop what the cache holds of a file that nobody else has open: opening it without buffering does. Where it
/// cannot be opened so, its cache stays, which reports on the cache say.
pub(crate) fn drop_cached(_: &File, setup: &FileSetup) -> Result<(), Errno> {
    if !setup.block_device {
        let mut options = OpenOptions::new();
        let options = options.read(true).share_mode(SHARED);
        let _ = options.custom_flags(fs::FILE_FLAG_NO_BUFFERING).open(&setup.path);
    }
    Ok(())
}

/// The order of access is said as a file is opened.
pub(crate) fn advise(_: &File, _: &FileSetup, _: Hint) {}

/// Windows takes no hint of how long data will live.
pub(crate) fn set_lifetime(_: &File, _: WriteLifetime) -> Result<(), Errno> {
    Err(Errno::EOPNOTSUPP)
}

/// The place of one transfer, for a call.
pub(super) fn at(offset: u64) -> OVERLAPPED {
    let mut overlapped = OVERLAPPED::default();
    // A plain write of two halves of a union.
    overlapped.Anonymous.Anonymous.Offset = offset as u32;
    overlapped.Anonymous.Anonymous.OffsetHigh = (offset >> 32) as u32;
    overlapped
}

/// What a transfer that failed comes to: the end of a file is no error.
#[cold]
pub(super) fn failed(code: u32) -> Result<u32, Errno> {
    if code == ERROR_HANDLE_EOF { Ok(0) } else { Err(Errno::from_native(code as i32)) }
}

/// ReadFile or WriteFile at an offset, on a handle whose calls wait.
///
/// # Safety
/// `len` bytes at `buffer` are the caller's alone until the call returns, and the file stays open.
#[inline(always)]
pub(super) unsafe fn transfer(
    file: RawFile,
    writes: bool,
    (buffer, len): (*mut u8, u32),
    offset: u64,
) -> Result<u32, Errno> {
    let mut overlapped = at(offset);
    let mut moved = 0;
    // SAFETY: the caller's promise; the structures live until the call returns, and on a handle
    // without FILE_FLAG_OVERLAPPED that is when the transfer is over.
    let answer = unsafe {
        if writes {
            fs::WriteFile(handle(file), buffer, len, &raw mut moved, &raw mut overlapped)
        } else {
            fs::ReadFile(handle(file), buffer, len, &raw mut moved, &raw mut overlapped)
        }
    };
    if answer != 0 {
        return Ok(moved);
    }
    // SAFETY: reads a number of this thread.
    failed(unsafe { GetLastError() })
}

/// Read at an offset.
pub(crate) fn read_at(file: RawFile, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let len = bytes.len().min(u32::MAX as usize) as u32;
    // SAFETY: the slice is the caller's alone; the table of files keeps the file open.
    let moved = unsafe { transfer(file, false, (bytes.as_mut_ptr(), len), offset) };
    moved.map(|moved| moved as usize)
}

/// Write at an offset.
pub(crate) fn write_at(file: RawFile, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    let len = bytes.len().min(u32::MAX as usize) as u32;
    // SAFETY: as for `read_at`; a write only reads the bytes.
    let moved = unsafe { transfer(file, true, (bytes.as_ptr().cast_mut(), len), offset) };
    moved.map(|moved| moved as usize)
}

/// FlushFileBuffers. A handle without the right to write is opened again with it: what others wrote is made
/// durable too, as fsync(2) does. Where that is not allowed there is nothing of ours to make durable.
pub(crate) fn fsync(file: RawFile) -> Result<(), Errno> {
    // SAFETY: the table of files keeps the handle open while the job's loop runs.
    if unsafe { fs::FlushFileBuffers(handle(file)) } != 0 {
        return Ok(());
    }
    // SAFETY: reads a number of this thread.
    match unsafe { GetLastError() } {
        ERROR_ACCESS_DENIED => flush_by_another(file),
        code => Err(Errno::from_native(code as i32)),
    }
}

#[cold]
fn flush_by_another(file: RawFile) -> Result<(), Errno> {
    // SAFETY: as for `fsync`; the handle that it gives is closed below, once.
    let other = unsafe { fs::ReOpenFile(handle(file), GENERIC_WRITE, SHARED, 0) };
    if other == INVALID_HANDLE_VALUE {
        return Ok(());
    }
    // SAFETY: it was just opened.
    let flushed = done(unsafe { fs::FlushFileBuffers(other) });
    // SAFETY: opened above and closed once.
    unsafe { CloseHandle(other) };
    flushed
}

/// As [`fsync`]: there is no lesser flush for every file system.
pub(crate) fn fdatasync(file: RawFile) -> Result<(), Errno> {
    fsync(file)
}

/// Of a file system, what can be flushed without owning its volume is each file.
pub(crate) fn sync_file_system(file: &File) -> Result<(), Errno> {
    fsync(super::raw(file))
}

/// There is no sync_file_range(2).
pub(crate) fn sync_range(_: RawFile, _: u64, _: u32, _: SyncRangeFlags) -> Result<(), Errno> {
    Err(Errno::ENOSYS)
}

/// Set where a file ends.
pub(crate) fn set_size(file: RawFile, bytes: u64) -> Result<(), Errno> {
    let end = i64::try_from(bytes).map_err(|_| Errno::EFBIG)?;
    let info = fs::FILE_END_OF_FILE_INFO { EndOfFile: end };
    let bytes = size_of::<fs::FILE_END_OF_FILE_INFO>() as u32;
    // SAFETY: the structure is of the class that is named, and lives until the call returns.
    done(unsafe {
        let info = (&raw const info).cast();
        fs::SetFileInformationByHandle(handle(file), fs::FileEndOfFileInfo, info, bytes)
    })
}

/// `DeviceDsmAction_Trim` of <winioctl.h>.
const TRIM_ACTION: u32 = 1;

/// One range after the header, as IOCTL_STORAGE_MANAGE_DATA_SET_ATTRIBUTES takes it.
#[repr(C)]
struct TrimRequest {
    header: ioctl::DEVICE_MANAGE_DATA_SET_ATTRIBUTES,
    range: ioctl::DEVICE_DATA_SET_RANGE,
}

/// Discard the range of `io` on its device.
pub(crate) fn discard(io: &Io) -> Result<u32, Errno> {
    let header_bytes = size_of::<ioctl::DEVICE_MANAGE_DATA_SET_ATTRIBUTES>() as u32;
    let range_bytes = size_of::<ioctl::DEVICE_DATA_SET_RANGE>() as u32;
    let request = TrimRequest {
        header: ioctl::DEVICE_MANAGE_DATA_SET_ATTRIBUTES {
            Size: header_bytes,
            Action: TRIM_ACTION,
            Flags: 0,
            ParameterBlockOffset: 0,
            ParameterBlockLength: 0,
            DataSetRangesOffset: std::mem::offset_of!(TrimRequest, range) as u32,
            DataSetRangesLength: range_bytes,
        },
        range: ioctl::DEVICE_DATA_SET_RANGE {
            StartingOffset: io.offset as i64,
            LengthInBytes: io.len.into(),
        },
    };
    let mut returned = 0;
    let ended = waited(handle(io.fd), |overlapped| {
        // SAFETY: the request and its length are of the code that is named, and it lives until
        // `waited` returns, which is when the call is over.
        unsafe {
            DeviceIoControl(
                handle(io.fd),
                ioctl::IOCTL_STORAGE_MANAGE_DATA_SET_ATTRIBUTES,
                (&raw const request).cast(),
                size_of::<TrimRequest>() as u32,
                ptr::null_mut(),
                0,
                &raw mut returned,
                overlapped,
            )
        }
    });
    ended.map(|()| io.len).map_err(|errno| match errno {
        // What a file, or a disk that cannot, answers.
        Errno::ENOSYS | Errno::EINVAL => Errno::EOPNOTSUPP,
        other => other,
    })
}

/// Make a call and wait until it is over, also on a handle whose calls do not wait.
fn waited(file: HANDLE, call: impl FnOnce(*mut OVERLAPPED) -> i32) -> Result<(), Errno> {
    // SAFETY: makes an event without a name; it is closed below, once.
    let event = unsafe { CreateEventW(ptr::null(), 1, 0, ptr::null()) };
    if event.is_null() {
        return Err(Errno::last());
    }
    // The lowest bit keeps the end of the call out of the file's completion port.
    let mut overlapped =
        OVERLAPPED { hEvent: event.map_addr(|at| at | 1), ..OVERLAPPED::default() };
    let mut result = done(call(&raw mut overlapped));
    // SAFETY: reads a number of this thread.
    if result.is_err() && unsafe { GetLastError() } == ERROR_IO_PENDING {
        let mut moved = 0;
        // SAFETY: the call that was begun with this place; waits until it is over.
        result = done(unsafe { GetOverlappedResult(file, &overlapped, &mut moved, 1) });
    }
    // SAFETY: made above and closed once, after the call that used it.
    unsafe { CloseHandle(event) };
    result
}

/// Why a trim is refused, where the number alone says too little.
#[cold]
pub(crate) fn explain_trim(op: Op, errno: Errno) -> Option<&'static str> {
    let refused = op == Op::Trim && errno == Errno::EOPNOTSUPP;
    refused.then_some("only disks that can discard are trimmed")
}
