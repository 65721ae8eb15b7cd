//! The alignment direct I/O needs, from statx(2), the device, or a trial read.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, FileType, StatxFlags};

use crate::{AlignedBuf, AtomicWrite, DirectIo, Fact, Known, OpenOptions};

/// A flag of <linux/stat.h> since Linux 6.14; rustix and musl's libc do not
/// name it.
const STATX_DIO_READ_ALIGN: u32 = 0x20000;
/// As above, since Linux 6.11.
const STATX_WRITE_ATOMIC: u32 = 0x10000;

pub(crate) fn direct_io(file: &File) -> io::Result<DirectIo> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode);
    if !matches!(kind, FileType::RegularFile | FileType::BlockDevice) {
        return Ok(DirectIo::impossible(Known::Guessed("neither a file nor a block device")));
    }
    if let Some(stated) = stated(file) {
        return Ok(stated);
    }
    if kind == FileType::BlockDevice {
        // Asked of sysfs if the descriptor is only a path.
        let sector = rustix::fs::ioctl_blksszget(file).ok();
        let sector = sector.or_else(|| logical_sector(file));
        return Ok(match sector {
            Some(sector) => DirectIo::aligned(sector, Known::Sector),
            None => guess("neither the device nor sysfs reports its sector size"),
        });
    }
    let filesystem = rustix::fs::fstatfs(file)?;
    // A magic number has 32 bits, whatever sign the field has.
    if filesystem.f_type as u64 & 0xffff_ffff == BTRFS {
        // It takes any alignment, so that a trial would show nothing.
        let block = u32::try_from(filesystem.f_bsize).unwrap_or(DirectIo::SAFE);
        let why = "btrfs states nothing: its block, less than which goes through memory";
        return Ok(DirectIo::aligned(block, Known::Guessed(why)));
    }
    Ok(tried(file))
}

/// The logical sector of an open block device, as sysfs has it.
fn logical_sector(file: &File) -> Option<u32> {
    let id = crate::platform::device_id(rustix::fs::fstat(file).ok()?.st_rdev);
    super::device_facts::device_facts(id).logical_sector.get()
}

/// `f_type` of btrfs in <linux/magic.h>.
const BTRFS: u64 = 0x9123_683e;

/// The alignment that the filesystem states; `None` where it states nothing (before Linux
/// 6.1, and tmpfs to this day).
fn stated(file: &File) -> Option<DirectIo> {
    let wanted = StatxFlags::DIOALIGN | StatxFlags::from_bits_retain(STATX_DIO_READ_ALIGN);
    let status = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted).ok()?;
    if status.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return None;
    }
    let (memory, offset) = (status.stx_dio_mem_align, status.stx_dio_offset_align);
    if memory == 0 || offset == 0 {
        // statx(2): zero means that direct I/O on this file is not possible.
        return Some(DirectIo::impossible(Known::Stated));
    }
    let read_offset = match status.stx_mask & STATX_DIO_READ_ALIGN {
        0 => 0,
        _ => status.stx_dio_read_offset_align,
    };
    Some(DirectIo {
        possible: true,
        memory_alignment: memory,
        offset_alignment: offset,
        // Zero, or not reported: as for writes.
        read_offset_alignment: if read_offset == 0 { offset } else { read_offset },
        known: Known::Stated,
    })
}

/// The writes that the filesystem or driver states are done whole.
pub(crate) fn atomic_write(file: &File) -> Fact<AtomicWrite> {
    let wanted = StatxFlags::from_bits_retain(STATX_WRITE_ATOMIC);
    let status = match rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted) {
        Ok(status) => status,
        Err(error) => return Fact::unknown(format!("statx: {}", io::Error::from(error))),
    };
    if status.stx_mask & STATX_WRITE_ATOMIC == 0 {
        return Fact::unknown(
            "its filesystem or driver does not state them, or Linux is before 6.11",
        );
    }
    Fact::Known(AtomicWrite {
        unit_min: status.stx_atomic_write_unit_min,
        unit_max: status.stx_atomic_write_unit_max,
        // Zero: not reported separately (Linux 6.16 and later).
        unit_max_fast: Some(status.stx_atomic_write_unit_max_opt).filter(|&bytes| bytes > 0),
        segments_max: Some(status.stx_atomic_write_segments_max),
    })
}

/// Try a read of one sector at the second sector.
fn tried(file: &File) -> DirectIo {
    // Opened anew: the flags of `file` are shared with whoever else has it.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = match OpenOptions::new().read(true).direct(true).open(&path) {
        Ok(direct) => direct,
        Err(error) if error.source.kind() == io::ErrorKind::InvalidInput => {
            return DirectIo::impossible(Known::Tried);
        }
        Err(_) => return guess("the file cannot be opened again for a trial"),
    };
    if rustix::fs::fstat(&direct).map_or(0, |status| status.st_size) < 1024 {
        return guess("the file is too short for a trial");
    }
    let Ok(mut buffer) = AlignedBuf::new(1024, 1024) else {
        return guess("there is no memory for a trial");
    };
    match direct.read_at(&mut buffer[512..], 512) {
        Ok(_) => DirectIo::aligned(512, Known::Tried),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            DirectIo::aligned(DirectIo::SAFE, Known::Guessed("512 bytes are too few"))
        }
        Err(_) => guess("a trial failed"),
    }
}

const fn guess(why: &'static str) -> DirectIo {
    DirectIo::aligned(DirectIo::SAFE, Known::Guessed(why))
}

/// Whether the descriptor is open for direct I/O now.
pub(crate) fn is_direct(file: &File) -> bool {
    rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::DIRECT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_in(folder: &str, bytes: u64) -> Option<File> {
        let path = format!("{folder}/iosonde-direct-probe-{}-{bytes}", std::process::id());
        let options = OpenOptions::new().read(true).write(true).create(true).exclusive(true);
        let file = options.open(&path).ok()?;
        std::fs::remove_file(&path).unwrap();
        file.set_len(bytes).unwrap();
        Some(file)
    }

    #[test]
    fn a_file_is_read_directly_at_the_alignment_that_was_found() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let path = format!("{folder}/src/lib.rs");
        let plain = File::open(&path).unwrap();
        let needs = DirectIo::of(&plain).unwrap();
        assert!(!is_direct(&plain), "probing must not change the descriptor");
        if !needs.possible {
            assert!(OpenOptions::new().read(true).direct(true).open(&path).is_err());
            return;
        }
        let file = OpenOptions::new().read(true).direct(true).open(&path).unwrap();
        let mut buffer = AlignedBuf::new(
            needs.offset_alignment as usize,
            needs.memory_alignment.max(needs.offset_alignment) as usize,
        )
        .unwrap();
        assert!(file.read_at(&mut buffer, 0).unwrap() > 0);
    }

    #[test]
    fn a_filesystem_that_states_nothing_is_tried() {
        // tmpfs takes direct I/O since Linux 6.6 and says nothing about it.
        let Some(file) = file_in("/dev/shm", 1 << 16) else {
            iosonde_testing::skip!("/dev/shm is not writable");
        };
        let needs = DirectIo::of(&file).unwrap();
        assert!(matches!(needs.known, Known::Tried | Known::Stated), "{needs:?}");
        assert!(!is_direct(&file));
    }

    #[test]
    fn a_file_too_short_to_try_gets_safe_figures() {
        let Some(file) = file_in("/dev/shm", 10) else {
            iosonde_testing::skip!("/dev/shm is not writable");
        };
        let needs = DirectIo::of(&file).unwrap();
        if needs.known != Known::Stated {
            assert_eq!(needs, guess("the file is too short for a trial"));
        }
        let long_enough = file_in("/dev/shm", 1024).unwrap();
        let needs = DirectIo::of(&long_enough).unwrap();
        assert!(matches!(needs.known, Known::Tried | Known::Stated), "{needs:?}");
    }

    #[test]
    fn what_is_no_file_takes_no_direct_io() {
        let null = File::open("/dev/null").unwrap();
        assert!(!DirectIo::of(&null).unwrap().possible);
        let folder = File::open("/").unwrap();
        assert!(!DirectIo::of(&folder).unwrap().possible);
    }
}
