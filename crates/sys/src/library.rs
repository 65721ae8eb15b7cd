//! Libraries that are loaded while the program runs.
#![allow(unsafe_code)]

pub use libloading::Library;

/// Load a library, with its names for what it loads itself, where the system distinguishes that.
///
/// # Safety
/// Its constructors run, which must rely on nothing of ours.
///
/// # Errors
/// In the loader's words.
pub unsafe fn open_globally(name: &str) -> Result<Library, String> {
    // SAFETY: as the caller promises.
    unsafe { crate::platform::open_globally(name) }.map_err(|error| error.to_string())
}
