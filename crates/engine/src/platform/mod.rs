//! The differences between operating systems, behind one set of names: files and their calls, mappings,
//! and the engines that only some systems have. The system is chosen here, once.

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

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::RawFile;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub use windows::RawFile;

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod bsd;

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
mod posix;
