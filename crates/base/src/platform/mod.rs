//! The differences between operating systems, behind one set of names.
//! The system is chosen here, once.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{errno_from_native, errno_to_native};

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
use macos::NUMBERS;

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "freebsd")]
use freebsd::NUMBERS;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows::NUMBERS;

// Code that several systems share.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod mapped;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use mapped::{errno_from_native, errno_to_native};

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod bsd;
