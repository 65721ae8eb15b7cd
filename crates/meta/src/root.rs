//! The directory that a run works in: made for it, and removed with all that is
//! in it.

use crate::arguments::MetaOptions;
use iosonde_base::text;
use iosonde_sys::temporary;
use rustix::fs::Mode;
use std::path::{Path, PathBuf};

/// A new directory inside the one that was named.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    keep: bool,
}

impl RunDirectory {
    /// Make it, if there is room for the tree.
    ///
    /// # Errors
    /// The reason, with what to do.
    pub fn make(options: &MetaOptions) -> Result<RunDirectory, String> {
        let dir = &options.dir;
        let status = std::fs::metadata(dir)
            .map_err(|error| format!("cannot read the metadata of {}: {error}", dir.display()))?;
        if !status.is_dir() {
            return Err(format!("{} is not a directory", dir.display()));
        }
        has_room(options)?;
        // Nobody can guess the name, and mkdir(2) follows no link that somebody planted.
        let path = dir.join(temporary::unpredictable_name("iosonde-meta"));
        rustix::fs::mkdir(&path, Mode::RWXU)
            .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(RunDirectory { path, keep: options.keep })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remove it, with what is left in it; or leave it, if that was asked for.
    pub fn end(self) {
        if self.keep {
            eprintln!("iosonde: the tree is in {}", self.path.display());
        } else if let Err(error) = std::fs::remove_dir_all(&self.path) {
            eprintln!("iosonde: could not remove {}: {error}", self.path.display());
        }
    }
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
