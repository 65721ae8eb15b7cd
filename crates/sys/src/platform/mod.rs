//! The differences between operating systems, behind one set of names.
//! The system is chosen here, once.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;

#[cfg(target_arch = "x86_64")]
pub(crate) mod processor;
