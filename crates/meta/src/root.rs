//! The directory that a run works in: made for it, and removed with all that is
//! in it.

use crate::arguments::MetaOptions;
use iosonde_base::text;
use iosonde_sys::temporary::OwnDirectory;

/// A new directory inside the one that was named, if there is room for the tree.
///
/// # Errors
/// The reason, with what to do.
pub fn make(options: &MetaOptions) -> Result<OwnDirectory, String> {
    let dir = &options.dir;
    let status = std::fs::metadata(dir)
        .map_err(|error| format!("cannot read the metadata of {}: {error}", dir.display()))?;
    if !status.is_dir() {
        return Err(format!("{} is not a directory", dir.display()));
    }
    has_room(options)?;
    OwnDirectory::make(dir, "iosonde-meta")
        .map_err(|error| format!("cannot create a directory in {}: {error}", dir.display()))
}

/// Whether the file system has the bytes and the inodes.
fn has_room(options: &MetaOptions) -> Result<(), String> {
    let dir = options.dir.display();
    let Ok(state) = rustix::fs::statvfs(&options.dir) else { return Ok(()) };
    let (bytes, free) = (options.bytes(), state.f_bavail.saturating_mul(state.f_frsize));
    if bytes > free {
        let (bytes, free) = (text::bytes(bytes), text::bytes(free));
        return Err(format!(
            "the files need {bytes}, and {dir} has {free} free: use fewer --files or a smaller --size"
        ));
    }
    // File systems that make inodes as they are needed say 0 of them.
    let inodes = options.files.saturating_add(options.dirs);
    if state.f_files > 0 && inodes > state.f_favail {
        return Err(format!(
            "the tree needs {inodes} inodes, and {dir} has {} free: use fewer --files",
            state.f_favail
        ));
    }
    Ok(())
}
