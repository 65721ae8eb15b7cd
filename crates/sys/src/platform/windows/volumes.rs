//! Disks and volumes, and which volumes are on which disk.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::PathBuf;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl as ioctl;

use super::done;

/// All may read, write and remove it while it is open here.
const SHARED: u32 = fs::FILE_SHARE_READ | fs::FILE_SHARE_WRITE | fs::FILE_SHARE_DELETE;

/// A device by its name (`PhysicalDrive0`, `C:`), to ask it about itself: that takes no rights.
pub(super) fn open_device(name: &str) -> io::Result<File> {
    OpenOptions::new().access_mode(0).share_mode(SHARED).open(format!(r"\\.\{name}"))
}

/// Ask a device for one structure.
///
/// # Safety
/// Any bytes make a valid `T`: it is plain numbers.
pub(super) unsafe fn request<T>(file: &File, code: u32, answer: &mut T) -> io::Result<()> {
    let mut answered = 0;
    // SAFETY: the answer has the length that is told, and by the caller's word takes any bytes; nothing else is lent.
    done(unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            code,
            std::ptr::null(),
            0,
            std::ptr::from_mut(answer).cast(),
            size_of::<T>() as u32,
            &raw mut answered,
            std::ptr::null_mut(),
        )
    })
}

/// The number of the disk that an open device is or is on, and of the partition on it: zero for the disk itself.
pub(super) fn number(file: &File) -> io::Result<(u32, u32)> {
    let mut found = ioctl::STORAGE_DEVICE_NUMBER::default();
    // SAFETY: STORAGE_DEVICE_NUMBER is plain numbers.
    unsafe { request(file, ioctl::IOCTL_STORAGE_GET_DEVICE_NUMBER, &mut found) }?;
    // All ones: the device has no partitions.
    let partition = Some(found.PartitionNumber).filter(|number| *number != u32::MAX);
    Ok((found.DeviceNumber, partition.unwrap_or(0)))
}

/// A volume of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Volume {
    /// The disks that it is on.
    pub disks: Vec<u32>,
    /// Where it is mounted: `C:\`.
    pub points: Vec<PathBuf>,
}

/// All volumes.
pub(super) fn volumes() -> Vec<Volume> {
    let mut name = [0_u16; 260];
    // SAFETY: at most the length told is written.
    let search = unsafe { fs::FindFirstVolumeW(name.as_mut_ptr(), name.len() as u32) };
    if search == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    let mut found = Vec::new();
    loop {
        found.push(Volume { disks: disks_of(&name).unwrap_or_default(), points: points_of(&name) });
        // SAFETY: the search is open, and at most the length told is written.
        if unsafe { fs::FindNextVolumeW(search, name.as_mut_ptr(), name.len() as u32) } == 0 {
            break;
        }
    }
    // SAFETY: the search was opened above and is not used again.
    unsafe { fs::FindVolumeClose(search) };
    found
}

/// A text up to its zero.
fn text(wide: &[u16]) -> OsString {
    let length = wide.iter().position(|unit| *unit == 0).unwrap_or(wide.len());
    OsString::from_wide(&wide[..length])
}

/// The disks of a volume by its name, `\\?\Volume{...}\`.
fn disks_of(name: &[u16]) -> io::Result<Vec<u32>> {
    /// IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS of <winioctl.h>.
    const DISK_EXTENTS: u32 = 0x0056_0000;
    /// A volume over more disks than this is reported on these.
    const DISKS: usize = 32;
    #[repr(C)]
    struct DiskExtents {
        count: u32,
        extents: [ioctl::DISK_EXTENT; DISKS],
    }
    // Without the last backslash it is the volume, with it the directory on top.
    let name = text(name).into_string().unwrap_or_default();
    let file = OpenOptions::new()
        .access_mode(0)
        .share_mode(SHARED)
        .open(name.strip_suffix('\\').unwrap_or(&name))?;
    let mut found = DiskExtents { count: 0, extents: [ioctl::DISK_EXTENT::default(); DISKS] };
    // SAFETY: `DiskExtents` is VOLUME_DISK_EXTENTS with more than one extent: plain numbers.
    unsafe { request(&file, DISK_EXTENTS, &mut found) }?;
    let extents = &found.extents[..(found.count as usize).min(DISKS)];
    Ok(extents.iter().map(|extent| extent.DiskNumber).collect())
}

/// Where a volume is mounted.
fn points_of(name: &[u16]) -> Vec<PathBuf> {
    let mut buffer = vec![0_u16; 4096];
    let mut length = 0;
    // SAFETY: the name is read up to its zero, and at most the length told is written.
    let answer = unsafe {
        fs::GetVolumePathNamesForVolumeNameW(
            name.as_ptr(),
            buffer.as_mut_ptr(),
            buffer.len() as u32,
            &raw mut length,
        )
    };
    if answer == 0 {
        return Vec::new();
    }
    let texts = buffer[..(length as usize).min(buffer.len())].split(|unit| *unit == 0);
    texts.filter(|one| !one.is_empty()).map(|one| PathBuf::from(text(one))).collect()
}
