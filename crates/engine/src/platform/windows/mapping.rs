//! A part of a file in memory: CreateFileMapping, MapViewOfFile, FlushViewOfFile.
#![allow(unsafe_code)]

use super::{done, files, handle};
use crate::engines::mmap::PAST_END;
use crate::platform::RawFile;
use crate::{Hint, Io};
use iosonde_base::Errno;
use std::ptr;
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::Storage::FileSystem::GetFileSizeEx;
use windows_sys::Win32::System::Memory as memory;
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

/// A mapped part of a file; unmapped when dropped.
pub(crate) struct Mapping {
    /// Where it is.
    pub(crate) memory: *mut u8,
    /// How long it is.
    pub(crate) bytes: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let view = memory::MEMORY_MAPPED_VIEW_ADDRESS { Value: self.memory.cast() };
        // SAFETY: mapped by `new`, and unmapped once. The copies out of it are over: they end
        // within the engine's `perform`.
        unsafe { memory::UnmapViewOfFile(view) };
    }
}

/// What the offset of a mapping is a multiple of.
pub(crate) fn map_alignment() -> u64 {
    let mut about = SYSTEM_INFO::default();
    // SAFETY: the call fills the structure it is lent.
    unsafe { GetSystemInfo(&raw mut about) };
    about.dwAllocationGranularity.into()
}

fn size(file: RawFile) -> Result<u64, Errno> {
    let mut bytes = 0;
    // SAFETY: writes one number; the job's table of files keeps the file open.
    done(unsafe { GetFileSizeEx(handle(file), &raw mut bytes) })?;
    Ok(bytes as u64)
}

impl Mapping {
    /// Map `bytes` of a file from `start` on, as far as the file goes, for reads and, if the job
    /// `writes`, for writes.
    pub(crate) fn new(
        file: RawFile,
        (start, bytes): (u64, usize),
        writes: bool,
        _: Option<Hint>,
        _: bool,
    ) -> Result<Mapping, Errno> {
        let there = usize::try_from(size(file)?.saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = bytes.min(there);
        if bytes == 0 {
            return Err(PAST_END);
        }
        let (protection, access) = if writes {
            (memory::PAGE_READWRITE, memory::FILE_MAP_READ | memory::FILE_MAP_WRITE)
        } else {
            (memory::PAGE_READONLY, memory::FILE_MAP_READ)
        };
        // SAFETY: of the whole file as it is; a section without a name, closed below once.
        let section = unsafe {
            memory::CreateFileMappingW(handle(file), ptr::null(), protection, 0, 0, ptr::null())
        };
        if section.is_null() {
            return Err(Errno::last());
        }
        // SAFETY: a new view where the system likes; nothing else is touched.
        let view = unsafe {
            memory::MapViewOfFile(section, access, (start >> 32) as u32, start as u32, bytes)
        };
        let mapped = if view.Value.is_null() { Err(Errno::last()) } else { Ok(view.Value) };
        // SAFETY: made above and closed once; the view keeps the section.
        unsafe { CloseHandle(section) };
        Ok(Mapping { memory: mapped?.cast(), bytes })
    }

    /// Make what was written to it durable.
    pub(crate) fn sync(&self, file: RawFile) -> Result<(), Errno> {
        // SAFETY: the range is mapped for as long as this exists.
        done(unsafe { memory::FlushViewOfFile(self.memory.cast(), self.bytes) })?;
        // That leaves the file's facts, and the drive's cache.
        files::fsync(file)
    }
}

/// Result of an I/O by a mapping of `file` that met an unavailable page.
#[cold]
pub(crate) fn missing_page(file: RawFile, io: &Io) -> Result<u32, Errno> {
    match size(file) {
        // Past the end, as ReadFile would say it.
        Ok(bytes) if io.offset + u64::from(io.len) > bytes => Ok(0),
        _ => Err(Errno::EIO),
    }
}
