//! The common part of macOS and FreeBSD.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsString, c_char};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags};

use crate::cache::Residency;
use crate::stack::{DeviceId, Mount, Stack};
use crate::{
    Answer, Device, DeviceFacts, Fact, Facts, Honoured, MemoryKind, OpenOptions, PathKind,
};

/// How to reserve huge pages.
pub(crate) const HUGE_PAGES_REMEDY: &str = "which only Linux and Windows give on request";

/// Bytes in a page of memory.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// There is no /sys, and no /proc like that of Linux: nothing is below this.
pub(crate) const TREES_ROOT: &str = "/dev/null";

/// Mapped memory, given back when dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to the thread that made it,
// and `Pages` is the only name of this one.
unsafe impl Send for Pages {}
// SAFETY: a shared `Pages` hands out nothing but its address.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `bytes` of zeroed memory, which must not be zero.
    pub(crate) fn of(kind: &MemoryKind, bytes: usize) -> io::Result<Pages> {
        let flags = match kind {
            MemoryKind::Heap | MemoryKind::Mapping(None) => MapFlags::PRIVATE,
            MemoryKind::SharedMapping(None) => MapFlags::SHARED,
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "this kind of memory is for Linux only",
                ));
            }
        };
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is given, so the system finds a free range
        // and no existing mapping changes.
        let start = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), bytes, access, flags) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Pages { start, bytes })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// These systems make large pages by themselves.
    pub(crate) fn prefer_huge(&self) {}
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the range is the one mapped, whole, and its owner is going
        // away, so nothing can refer to it.
        let gone = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
        debug_assert!(gone.is_ok(), "give back {} bytes: {gone:?}", self.bytes);
    }
}

/// Open with the flags that both systems have; `more` are a system's own.
pub(crate) fn open(path: &Path, options: &OpenOptions, more: i32) -> io::Result<File> {
    let is_lock = options.exclusive && !options.create;
    let mut flags = more | libc::O_NOCTTY;
    for (requested, flag) in [
        (options.create, libc::O_CREAT),
        (options.exclusive && options.create, libc::O_EXCL),
        // Not to be waited for.
        (is_lock, libc::O_EXLOCK | libc::O_NONBLOCK),
        (options.truncate, libc::O_TRUNC),
        (options.data_sync, libc::O_DSYNC),
        (options.sync, libc::O_SYNC),
    ] {
        if requested {
            flags |= flag;
        }
    }
    let file = std::fs::OpenOptions::new()
        .read(options.read)
        .write(options.write && !options.append)
        .append(options.append)
        .mode(options.mode)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| match error.kind() {
            // The error that other systems return for a conflicting lock.
            io::ErrorKind::WouldBlock if is_lock => io::ErrorKind::ResourceBusy.into(),
            _ => error,
        })?;
    if is_lock {
        let flags = rustix::fs::fcntl_getfl(&file)?;
        rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::NONBLOCK)?;
    }
    Ok(file)
}

/// The text in a field of characters, up to the first zero.
fn field(text: &[c_char]) -> OsString {
    // The bytes of characters, whatever sign they have.
    let bytes: Vec<u8> = text.iter().map(|&character| character as u8).collect();
    let end = CStr::from_bytes_until_nul(&bytes).map_or(bytes.as_slice(), CStr::to_bytes);
    OsString::from_vec(end.to_vec())
}

/// The mount that a file is on.
pub(crate) fn mount_of(file: &File) -> io::Result<Mount> {
    let status = rustix::fs::fstatfs(file)?;
    let options = if status.f_flags & MNT_RDONLY == 0 { "rw" } else { "ro" };
    Ok(Mount {
        id: 0,
        device: crate::platform::device_id(file.metadata()?.dev()),
        point: PathBuf::from(field(&status.f_mntonname)),
        filesystem: field(&status.f_fstypename).to_string_lossy().into_owned(),
        source: field(&status.f_mntfromname),
        root: PathBuf::from("/"),
        options: options.to_owned(),
        super_options: String::new(),
    })
}

#[cfg(target_os = "macos")]
const MNT_RDONLY: u32 = 1;
#[cfg(target_os = "freebsd")]
const MNT_RDONLY: u64 = 1;

/// The stack below a path: its filesystem. The devices below that are not reported.
pub(crate) fn stack_under(path: &Path) -> io::Result<Stack> {
    let path = std::path::absolute(path)?;
    let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let existing = existing.canonicalize()?;
    let mount = mount_of(&File::open(&existing)?)?;
    Ok(Stack { path: existing, mount: Some(mount), devices: Vec::new() })
}

pub(crate) fn kind_of(file: &File) -> io::Result<PathKind> {
    let kind = file.metadata()?.file_type();
    Ok(match () {
        () if kind.is_file() => PathKind::File,
        () if kind.is_dir() => PathKind::Folder,
        () if kind.is_block_device() => PathKind::BlockDevice,
        () if kind.is_char_device() => PathKind::CharacterDevice,
        () => PathKind::Other,
    })
}

pub(crate) fn facts_of_path(path: &Path) -> io::Result<Facts> {
    // Neither a pipe nor a terminal is waited for.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let mut facts = super::facts_of_file(&file)?;
    facts.stack.path = path.canonicalize()?;
    Ok(facts)
}

/// Of an open file, with what the system reported of the device that it is.
pub(crate) fn facts_of_file(file: &File, device: Option<DeviceFacts>) -> io::Result<Facts> {
    let reported = kind_of(file)?;
    // On FreeBSD disks are character devices, and it is a disk that answered.
    let kind = if device.is_some() { PathKind::BlockDevice } else { reported };
    let bytes = match (&device, kind) {
        (Some(device), _) => device.bytes.clone(),
        (None, PathKind::File) => Fact::Known(file.metadata()?.len()),
        _ => Fact::unknown("it is neither a file nor a disk"),
    };
    let mount = if device.is_some() { None } else { Some(mount_of(file)?) };
    let stack = Stack { path: PathBuf::new(), mount, devices: Vec::new() };
    Ok(Facts {
        kind,
        bytes,
        direct: super::direct_io(file)?,
        atomic_write: Fact::unknown("this system does not report atomic writes"),
        stack,
        devices: device.into_iter().collect(),
    })
}

/// Nothing is known of a device by its numbers alone.
pub(crate) fn device_facts(id: DeviceId) -> DeviceFacts {
    DeviceFacts::unknown(id.to_string(), id, "this system reports open devices only")
}

pub(crate) fn residency(_file: &File, _offset: u64, _bytes: u64) -> Fact<Residency> {
    Fact::unknown("this system has no call for files that are not mapped")
}

pub(crate) fn warm(file: &File, offset: u64, bytes: u64) -> io::Result<u64> {
    crate::cache::read_through(offset, bytes, |piece, at| file.read_at(piece, at))
}

/// Read at an offset, as read(2) at a position does.
pub(super) fn read_at(file: &File, data: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(data, offset)
}

/// Write at an offset.
pub(super) fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(data, offset)
}

/// The answer for the directions that a file is open for.
pub(super) fn for_access(file: &File, answer: Answer) -> io::Result<Honoured> {
    let mut answers = Honoured::both(answer);
    let access = rustix::fs::fcntl_getfl(file)? & rustix::fs::OFlags::RWMODE;
    if access == rustix::fs::OFlags::WRONLY {
        answers.reads = None;
    } else if access == rustix::fs::OFlags::RDONLY {
        answers.writes = None;
    }
    Ok(answers)
}

/// The facts of an open disk besides what its `device` reports, and why not more.
pub(super) fn facts_of_disk(file: &File, device: &Device, why: &'static str) -> DeviceFacts {
    let id = file.metadata().map_or(0, |status| status.rdev());
    let id = crate::platform::device_id(id);
    let mut facts = DeviceFacts::unknown(id.to_string(), id, why);
    facts.bytes = Fact::Known(device.bytes);
    facts.logical_sector = Fact::Known(device.logical_sector);
    facts.physical_sector = Fact::Known(device.physical_sector);
    facts
}
