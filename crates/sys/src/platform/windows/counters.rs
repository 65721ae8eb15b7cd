//! Counters of threads, the process, disks and files.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, FILETIME, HANDLE};
use windows_sys::Win32::Storage::FileSystem::FILE_ATTRIBUTE_COMPRESSED;
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl as ioctl;
use windows_sys::Win32::System::ProcessStatus as status;
use windows_sys::Win32::System::Threading as threading;

use super::{done, volumes};
use crate::counters::{DiskCounters, Extents, Usage};

type Times = unsafe extern "system" fn(
    HANDLE,
    *mut FILETIME,
    *mut FILETIME,
    *mut FILETIME,
    *mut FILETIME,
) -> i32;

/// Times only: Windows counts no switches and no faults of a thread.
pub(crate) fn usage_of_thread() -> io::Result<Usage> {
    // SAFETY: it takes nothing; the handle stands for the thread that uses it.
    times(threading::GetThreadTimes, unsafe { threading::GetCurrentThread() })
}

/// Faults are not told apart: all count as those that read nothing.
pub(crate) fn usage_of_process() -> io::Result<Usage> {
    // SAFETY: it takes nothing; the handle stands for the process that uses it.
    let process = unsafe { threading::GetCurrentProcess() };
    let mut memory = status::PROCESS_MEMORY_COUNTERS::default();
    let bytes = size_of_val(&memory) as u32;
    // SAFETY: the call fills the structure, whose size it is told.
    let counted = unsafe { status::K32GetProcessMemoryInfo(process, &raw mut memory, bytes) } != 0;
    let minor_faults = if counted { u64::from(memory.PageFaultCount) } else { 0 };
    Ok(Usage { minor_faults, ..times(threading::GetProcessTimes, process)? })
}

fn times(call: Times, of: HANDLE) -> io::Result<Usage> {
    let [mut made, mut ended, mut system, mut user] = [FILETIME::default(); 4];
    // SAFETY: the call writes four times, which live here.
    done(unsafe { call(of, &raw mut made, &raw mut ended, &raw mut system, &raw mut user) })?;
    Ok(Usage { user_ns: nanoseconds(user), system_ns: nanoseconds(system), ..Usage::default() })
}

/// From units of 100 ns.
fn nanoseconds(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)).saturating_mul(100)
}

/// Of a disk named `PhysicalDrive0` or `C:`.
pub(crate) fn disk_counters(name: &str) -> io::Result<DiskCounters> {
    const TICKS_PER_MS: i64 = 10_000;
    let file = volumes::open_device(name)?;
    let mut found = ioctl::DISK_PERFORMANCE::default();
    // SAFETY: DISK_PERFORMANCE is plain numbers, which the request fills.
    unsafe { volumes::request(&file, ioctl::IOCTL_DISK_PERFORMANCE, &mut found) }?;
    let sectors = |bytes: i64| bytes.unsigned_abs() / 512;
    let ms = |ticks: i64| (ticks / TICKS_PER_MS).unsigned_abs();
    Ok(DiskCounters {
        reads: found.ReadCount.into(),
        read_sectors: sectors(found.BytesRead),
        read_ms: ms(found.ReadTime),
        writes: found.WriteCount.into(),
        write_sectors: sectors(found.BytesWritten),
        write_ms: ms(found.WriteTime),
        in_flight: found.QueueDepth.into(),
        busy_ms: ms((found.QueryTime - found.IdleTime).max(0)),
        queue_ms: ms(found.ReadTime.saturating_add(found.WriteTime)),
        ..DiskCounters::default()
    })
}

/// The bits of FS_IOC_GETFLAGS that Windows has: compression.
pub(crate) fn attributes(file: &File) -> io::Result<u32> {
    use std::os::windows::fs::MetadataExt;
    const FS_COMPR_FL: u32 = 0x4;
    let is_compressed = file.metadata()?.file_attributes() & FILE_ATTRIBUTE_COMPRESSED != 0;
    Ok(if is_compressed { FS_COMPR_FL } else { 0 })
}

/// Ranges with blocks; a file that is not sparse is one.
pub(crate) fn extents(file: &File, offset: u64, bytes: u64) -> io::Result<Extents> {
    type Range = ioctl::FILE_ALLOCATED_RANGE_BUFFER;
    let number = |value: u64| i64::try_from(value).map_err(|_| io::ErrorKind::InvalidInput);
    let end = offset.saturating_add(bytes);
    let mut found = Extents::default();
    let mut at = offset;
    while at < end {
        let asked = Range { FileOffset: number(at)?, Length: number(end - at)? };
        let mut answer = [Range::default(); 256];
        let mut answered = 0;
        // SAFETY: both buffers are lent for the call with their true lengths, and the file is not overlapped.
        let whole = done(unsafe {
            DeviceIoControl(
                file.as_raw_handle(),
                ioctl::FSCTL_QUERY_ALLOCATED_RANGES,
                (&raw const asked).cast(),
                size_of::<Range>() as u32,
                answer.as_mut_ptr().cast(),
                size_of_val(&answer) as u32,
                &raw mut answered,
                std::ptr::null_mut(),
            )
        });
        let is_whole = match whole {
            Ok(()) => true,
            Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA as i32) => false,
            Err(error) => return Err(error),
        };
        for range in &answer[..answered as usize / size_of::<Range>()] {
            let begins = range.FileOffset.unsigned_abs().clamp(at, end);
            let ends =
                (range.FileOffset.unsigned_abs() + range.Length.unsigned_abs()).clamp(begins, end);
            found.hole_bytes += begins - at;
            found.data_bytes += ends - begins;
            at = ends;
        }
        if is_whole {
            found.hole_bytes += end - at;
            at = end;
        } else if answered == 0 {
            break;
        }
    }
    found.looked_at_bytes = at - offset;
    Ok(found)
}
