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
pub use windows::files::{
    BorrowedHandle, FileExt, OwnedHandle, borrow, make_link, owned_handle, without_waiting,
};
#[cfg(windows)]
pub(crate) use windows::*;

// Code that several systems share.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(unix)]
pub use unix::{
    BorrowedHandle, FileExt, OwnedHandle, borrow, make_link, owned_handle, without_waiting,
};

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod bsd;
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(crate) use bsd::*;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod plain;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use plain::*;

#[cfg(target_arch = "x86_64")]
pub(crate) mod processor;
