//! The differences between operating systems, behind one set of names.
//! The system is chosen here, once.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

// Code that several systems share.

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod bsd;
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(crate) use bsd::{
    HUGE_PAGES_REMEDY, Pages, TREES_ROOT, device_facts, facts_of_path, page_bytes, residency,
    stack_under, warm,
};
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
use bsd::{read_at, write_at};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::{block_device_at, device_id, os_string};

#[cfg(unix)]
mod unix_lock;
#[cfg(unix)]
pub(crate) use unix_lock::{lock, lock_volume, unlock, unlock_volume};

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod ofd_lock;
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
pub(crate) use ofd_lock::{conflict, lock_range, unlock_range};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod plain;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use plain::{is_direct, kernel_text, read_with, sync_range, write_with};
