//! cachestat(2), mincore(2) and posix_fadvise(2).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr;

use rustix::fs::{Access, Advice, OFlags};
use rustix::mm::{MapFlags, ProtFlags};

use super::{device_size, page_bytes};
use crate::Fact;
use crate::cache::{Residency, read_through};

/// Pages asked about in one call; the answer has a byte for each.
const WINDOW_PAGES: u64 = 65_536;

/// Windows, spread over the range, that are checked when nothing seems cached.
const WINDOWS_CHECKED: u64 = 16;

/// `f_type` of overlayfs in <linux/magic.h>.
const OVERLAYFS: u64 = 0x794c_7630;

pub(crate) fn residency(file: &File, offset: u64, bytes: u64) -> Fact<Residency> {
    let range = match PageRange::of(file, offset, bytes) {
        Ok(range) => range,
        Err(error) => return Fact::unknown(format!("its size is not reported: {error}")),
    };
    let reported = cachestat(file, offset, bytes);
    let magic = rustix::fs::fstatfs(file).map_or(0, |status| status.f_type as u64 & 0xffff_ffff);
    if magic == OVERLAYFS {
        return by_mincore(
            file,
            range,
            "overlayfs: the pages belong to a file below, which cachestat(2) does not see",
        );
    }
    match reported {
        Ok(reported) if reported.cached == 0 && range.count > 0 => {
            confirm_nothing(file, range, reported)
        }
        Ok(reported) => Fact::Known(reported.residency(range)),
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            by_mincore(file, range, "Linux before 6.5 has no cachestat(2)")
        }
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            Fact::unknown("cachestat(2) needs ownership or write permission")
        }
        Err(error) => Fact::unknown(format!("cachestat(2): {error}")),
    }
}

/// The pages of a range that lie within the file.
#[derive(Clone, Copy)]
struct PageRange {
    first: u64,
    count: u64,
}

impl PageRange {
    fn of(file: &File, offset: u64, bytes: u64) -> io::Result<PageRange> {
        let page = page_bytes() as u64;
        let length = match device_size(file) {
            Ok(length) => length,
            Err(_) => file.metadata()?.len(),
        };
        let end = match bytes {
            0 => length,
            bytes => offset.saturating_add(bytes).min(length),
        };
        let first = offset / page;
        Ok(PageRange { first, count: end.div_ceil(page).saturating_sub(first) })
    }

    /// Runs of at most a window, each with how many pages it has.
    fn windows(self) -> impl Iterator<Item = (u64, u64)> {
        let end = self.first + self.count;
        let starts = (self.first..end).step_by(WINDOW_PAGES as usize);
        starts.map(move |first| (first, WINDOW_PAGES.min(end - first)))
    }
}

/// `struct cachestat` of <linux/mman.h>: counts of pages.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

impl CacheStat {
    fn residency(self, range: PageRange) -> Residency {
        Residency {
            page_bytes: page_bytes() as u64,
            pages: range.count,
            cached: self.cached,
            dirty: Fact::Known(self.dirty),
            writeback: Fact::Known(self.writeback),
            evicted: Fact::Known(self.evicted),
        }
    }
}

/// The same number on every architecture (as all since Linux 5.1), but for
/// Alpha, which has numbers 110 higher and which Rust does not support.
const SYS_CACHESTAT: libc::c_long = 451;

fn cachestat(file: &File, offset: u64, bytes: u64) -> io::Result<CacheStat> {
    let range = [offset, bytes];
    let mut reported = CacheStat::default();
    // SAFETY: the call reads two u64, writes five, all lent for its time, and
    // takes no flags.
    let answer = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), &raw mut reported, 0)
    };
    if answer == 0 { Ok(reported) } else { Err(io::Error::last_os_error()) }
}

/// cachestat(2) sees nothing. Where the pages belong to another file, it sees
/// nothing ever, so look by another way.
fn confirm_nothing(file: &File, range: PageRange, reported: CacheStat) -> Fact<Residency> {
    if may_ask_mincore(file) {
        let windows = range.count.div_ceil(WINDOW_PAGES);
        let step = usize::try_from(windows.div_ceil(WINDOWS_CHECKED)).unwrap_or(usize::MAX);
        for (first, count) in range.windows().step_by(step.max(1)) {
            match mincore(file, first, count) {
                Ok(0) => {}
                // Pages read in meanwhile are visible to cachestat(2) too.
                Ok(_) => match cachestat(file, 0, 0) {
                    Ok(again) if again.cached > 0 => {}
                    _ => {
                        return Fact::unknown(
                            "cachestat(2) sees no pages in memory where mincore(2) sees some",
                        );
                    }
                },
                // It cannot be mapped: not open for reading, or not mappable.
                Err(_) => break,
            }
        }
    }
    Fact::Known(reported.residency(range))
}

fn by_mincore(file: &File, range: PageRange, why: &'static str) -> Fact<Residency> {
    if !may_ask_mincore(file) {
        return Fact::unknown(format!("{why}, and mincore(2) needs ownership or write permission"));
    }
    let mut cached = 0;
    for (first, count) in range.windows() {
        match mincore(file, first, count) {
            Ok(pages) => cached += pages,
            Err(error) => return Fact::unknown(format!("{why}, and it cannot be mapped: {error}")),
        }
    }
    Fact::Known(Residency {
        page_bytes: page_bytes() as u64,
        pages: range.count,
        cached,
        dirty: Fact::unknown(why),
        writeback: Fact::unknown(why),
        evicted: Fact::unknown(why),
    })
}

/// To others than the owner and those who may write, mincore(2) says that all
/// is in memory (since Linux 5.2).
fn may_ask_mincore(file: &File) -> bool {
    let owner = rustix::fs::fstat(file).map(|status| status.st_uid);
    let me = rustix::process::geteuid();
    me.is_root()
        || owner.is_ok_and(|owner| owner == me.as_raw())
        || rustix::fs::access(own_link(file), Access::WRITE_OK).is_ok()
}

fn own_link(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// How many of `count` pages from the page `first` are in memory.
fn mincore(file: &File, first: u64, count: u64) -> io::Result<u64> {
    let page = page_bytes() as u64;
    // A window is at most 4 GiB (of pages of 64 KiB).
    let bytes = usize::try_from(count * page).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut in_memory = vec![0_u8; count as usize];
    // SAFETY: no address is given, so no existing mapping changes; the
    // mapping is only queried, never read, so that the file may change or
    // shrink under it.
    let start = unsafe {
        rustix::mm::mmap(
            ptr::null_mut(),
            bytes,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            first * page,
        )
    }?;
    // SAFETY: the range is the mapping, and a byte is there for each page.
    let answer = unsafe { libc::mincore(start, bytes, in_memory.as_mut_ptr().cast()) };
    let error = io::Error::last_os_error();
    // SAFETY: mapped above with this length, and nothing refers to it.
    unsafe { rustix::mm::munmap(start, bytes) }?;
    if answer != 0 {
        return Err(error);
    }
    Ok(in_memory.iter().filter(|&&byte| byte & 1 == 1).count() as u64)
}

pub(crate) fn drop_cached(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    // Dirty pages are not dropped.
    rustix::fs::fdatasync(file)?;
    let length = std::num::NonZeroU64::new(bytes);
    Ok(rustix::fs::fadvise(file, offset, length, Advice::DontNeed)?)
}

pub(crate) fn warm(file: &File, offset: u64, bytes: u64) -> io::Result<u64> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    let past_the_cache = flags.intersects(OFlags::DIRECT | OFlags::PATH);
    if past_the_cache || flags & OFlags::RWMODE == OFlags::WRONLY {
        let again = File::open(own_link(file))?;
        return read_through(offset, bytes, |piece, at| again.read_at(piece, at));
    }
    read_through(offset, bytes, |piece, at| file.read_at(piece, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_a_second_look_finds_contradict_nothing() {
        let folder = iosonde_testing::Folder::new("second-look");
        let path = folder.write("file", vec![7; 1 << 20]);
        let file = File::open(path).unwrap();
        if cachestat(&file, 0, 0).is_err() {
            iosonde_testing::skip!("the kernel has no cachestat(2)");
        }
        warm(&file, 0, 0).unwrap();
        // As if they had been read in after the first look.
        let range = PageRange::of(&file, 0, 0).unwrap();
        let reported = confirm_nothing(&file, range, CacheStat::default());
        assert_eq!(reported.known().map(|found| found.cached), Some(0), "{reported:?}");
    }

    #[test]
    fn windows_cover_a_range_without_gaps() {
        let range = PageRange { first: 10, count: 2 * WINDOW_PAGES + 5 };
        let windows: Vec<_> = range.windows().collect();
        let second = 10 + WINDOW_PAGES;
        assert_eq!(
            windows,
            [(10, WINDOW_PAGES), (second, WINDOW_PAGES), (second + WINDOW_PAGES, 5)]
        );
    }
}
