//! What only Linux has, as the other systems answer.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::files::BorrowedHandle;
use iosonde_base::ZoneReport;

fn only_on_linux<T>(what: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("{what}: only Linux has it")))
}

/// No libblkid.
pub(crate) fn blkid_type(_: &File, _: Range<u64>) -> Option<String> {
    None
}

pub(crate) fn places(_: &File, _: u64, _: u64) -> io::Result<Vec<Range<u64>>> {
    only_on_linux("extents of a file with their place on the device (FIEMAP)")
}

pub(crate) fn leave_zeroed_memory_untouched() {}

pub(crate) fn allocate_from_one_arena() {}

pub(crate) fn set_memory_policy(_: i32, _: &[u32]) -> io::Result<()> {
    only_on_linux("a policy for memory of NUMA nodes")
}

pub(crate) fn set_io_priority(_: u16) -> io::Result<()> {
    only_on_linux("a priority for I/O (ioprio_set)")
}

/// Threads share their files.
pub(crate) fn unshare_files() -> io::Result<()> {
    only_on_linux("a table of files for each thread")
}

pub(crate) fn become_group(_: u32) -> io::Result<()> {
    only_on_linux("another group for one thread")
}

pub(crate) fn become_user(_: u32) -> io::Result<()> {
    only_on_linux("another user for one thread")
}

/// The timers of other systems have no slack that can be set.
pub(crate) fn set_timer_slack(_: std::num::NonZeroU64) -> io::Result<()> {
    Ok(())
}

pub(crate) fn io_uring_disabled() -> Option<u32> {
    None
}

pub(crate) fn is_filtered() -> bool {
    false
}

pub(crate) fn try_io_uring() -> io::Result<()> {
    only_on_linux("io_uring")
}

pub(crate) fn try_libaio() -> io::Result<()> {
    only_on_linux("libaio")
}

pub(crate) fn report_zones(_: BorrowedHandle<'_>, _: u64, _: usize) -> io::Result<Vec<ZoneReport>> {
    only_on_linux("zones of a device")
}

pub(crate) fn reset_zone(_: BorrowedHandle<'_>, _: u64, _: u64) -> io::Result<()> {
    only_on_linux("zones of a device")
}

pub(crate) fn finish_zone(_: BorrowedHandle<'_>, _: u64, _: u64) -> io::Result<()> {
    only_on_linux("zones of a device")
}

pub(crate) fn write_all_at(_: BorrowedHandle<'_>, _: &[u8], _: u64) -> io::Result<()> {
    only_on_linux("zones of a device")
}

pub(crate) fn zero_range(_: BorrowedHandle<'_>, _: u64, _: u64) -> io::Result<()> {
    only_on_linux("zones of a device")
}

/// Files have names: they are written next to their target.
pub(crate) fn open_unnamed(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

pub(crate) fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    only_on_linux("a file without a name")
}

/// Nothing is known against the processor's counter.
#[allow(dead_code)] // Only x86_64 has one that is read.
pub(crate) fn clock_counter_is_trusted() -> bool {
    true
}

/// The unit of times in /proc, which is not there.
pub(crate) fn clock_ticks_per_second() -> u64 {
    100
}

pub(crate) fn is_overlaid(_: &File) -> bool {
    false
}

pub(crate) fn has_thread(_: u32, _: &str) -> Option<bool> {
    None
}

pub(crate) fn own_program() -> io::Result<File> {
    File::open(std::env::current_exe()?)
}

pub(crate) fn own_path() -> io::Result<std::path::PathBuf> {
    std::env::current_exe()
}

/// Nothing tells it here.
pub(crate) fn end_with_parent() {}

/// A library's connections are not known.
pub(crate) struct OpenConnections;

impl OpenConnections {
    pub(crate) fn now() -> OpenConnections {
        OpenConnections
    }

    pub(crate) fn leave_out_closed(&mut self) -> Option<std::net::SocketAddr> {
        None
    }
}
