//! What is measured: a temporary file in a directory, a file, a device.

use iosonde_base::text::bytes;
use iosonde_sys::files::{self, FileSystem, status};
use iosonde_sys::{guard, temporary};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Less than this says nothing about a disk.
const BYTES_LEAST: u64 = 16 << 20;
/// Of the space that is free, one part in so many is used at most.
const FREE_PART: u64 = 4;

/// What is measured.
#[derive(Debug)]
pub struct QuickTarget {
    /// As it was named.
    pub path: PathBuf,
    /// The file or device that the I/Os go to.
    pub file: PathBuf,
    /// What it is.
    pub kind: QuickKind,
    /// Bytes that the I/Os may fall on.
    pub bytes: u64,
    /// Removes the temporary file when the target is dropped.
    temporary: Option<Temporary>,
}

/// Kinds of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickKind {
    /// A directory: a temporary file in it is written and read.
    Directory,
    /// A file, only read.
    File,
    /// A block device, only read.
    Device,
}

/// A file that was made here and goes with this.
#[derive(Debug)]
enum Temporary {
    /// It has no name, and goes with the process however that ends.
    Unnamed { _open: File, path: PathBuf },
    /// The system cannot open one without a name again.
    Named(PathBuf),
}

impl Temporary {
    fn make(folder: &Path) -> std::io::Result<Temporary> {
        guard::may_make_files_in(folder)?;
        if let Ok(file) = files::unnamed(folder)
            && let Some(path) = files::path_of(&file)
        {
            return Ok(Temporary::Unnamed { _open: file, path });
        }
        temporary::create(folder, ".iosonde-quick").map(|(path, _)| Temporary::Named(path))
    }

    /// What opens it.
    fn path(&self) -> PathBuf {
        match self {
            Temporary::Unnamed { path, .. } | Temporary::Named(path) => path.clone(),
        }
    }

    fn remove(&self) {
        if let Temporary::Named(path) = self {
            // It may be gone; there is nobody to tell.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        self.remove();
    }
}

impl QuickTarget {
    /// Remove the temporary file, if there is one, though jobs may still use it: the
    /// process ends under them.
    pub fn remove(&self) {
        if let Some(temporary) = &self.temporary {
            temporary.remove();
        }
    }

    /// What `path` names; in a directory a temporary file of at most
    /// `bytes_most`.
    ///
    /// # Errors
    /// It is not there, cannot be used, or has no room.
    pub fn of(path: &Path, bytes_most: u64) -> Result<QuickTarget, String> {
        let named = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let found = status(path).map_err(|error| named(&error))?;
        let kind = found.file_type();
        if kind.is_dir() {
            return QuickTarget::in_directory(path, bytes_most).map_err(|why| named(&why));
        }
        let existing = |kind: QuickKind, bytes: u64| QuickTarget {
            path: path.to_owned(),
            file: path.to_owned(),
            kind,
            bytes,
            temporary: None,
        };
        if kind.is_block_device() {
            // The whole device: the plan looks at its size.
            return Ok(existing(QuickKind::Device, 0));
        }
        if !kind.is_file() {
            return Err(named(&"it is neither a directory, a file nor a block device"));
        }
        let whole = found.len() - found.len() % (1 << 20);
        if whole < BYTES_LEAST {
            Err(named(&format!(
                "it has {}: a file of {} or more, or a directory, is needed",
                bytes(found.len()),
                bytes(BYTES_LEAST)
            )))
        } else {
            Ok(existing(QuickKind::File, whole))
        }
    }

    fn in_directory(path: &Path, bytes_most: u64) -> Result<QuickTarget, String> {
        let free = FileSystem::of(path).map_err(|error| error.to_string())?.available_bytes;
        let usable = bytes_most.min(free / FREE_PART);
        let usable = usable - usable % (1 << 20);
        if usable < BYTES_LEAST {
            return Err(format!(
                "{} are free: {} are needed, as a fourth of the free space is used",
                bytes(free),
                bytes(BYTES_LEAST * FREE_PART)
            ));
        }
        // Made here, so that nothing of anybody's is written to or removed.
        let temporary = Temporary::make(path)
            .map_err(|error| format!("cannot create a temporary file there: {error}"))?;
        Ok(QuickTarget {
            path: path.to_owned(),
            kind: QuickKind::Directory,
            bytes: usable,
            file: temporary.path(),
            temporary: Some(temporary),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn a_temporary_file_is_made_and_removed_and_a_file_is_left_alone() {
        let folder = Folder::new("quick-target");
        let target = QuickTarget::of(folder.path(), 32 << 20).unwrap();
        assert!(target.file.exists() && target.kind == QuickKind::Directory);
        assert_eq!(target.bytes, 32 << 20);
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), usize::from(target.file.starts_with(folder.path())));
        drop(target);
        assert_eq!(names(), 0);
        // Where files without names are not known.
        let named = Temporary::Named(folder.join("named"));
        folder.write("named", "x");
        assert!(named.path().exists());
        drop(named);
        assert_eq!(names(), 0);

        folder.write("data", vec![1; 17 << 20]);
        let path = folder.join("data");
        drop(QuickTarget::of(&path, 0).unwrap());
        assert!(path.exists());
        folder.write("small", b"x");
        let refused = QuickTarget::of(&folder.join("small"), 0).unwrap_err();
        assert!(refused.contains("16 MiB or more"), "{refused}");
        assert!(QuickTarget::of(&folder.join("none"), 0).is_err());
        assert!(QuickTarget::of(Path::new("/dev/null"), 0).unwrap_err().contains("neither"));
    }
}
