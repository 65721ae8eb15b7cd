//! Temporary files and directories: created new, under names that nobody can have
//! prepared.

use crate::files::{make_private_folder, private_options};
use crate::{guard, standard_error};
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// A name such as `iosonde-matrix.4f1d03a9b7c2e586.tmp`. Who shares the directory
/// cannot guess it, and so cannot put a link or a file of that name there.
pub fn unpredictable_name(stem: &str) -> String {
    // The keys of a RandomState come from the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    format!("{stem}.{random:016x}.tmp")
}

/// A new file in a directory, which only its owner reads and writes.
///
/// # Errors
/// It cannot be created, or lies among device nodes.
pub fn create(folder: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
    guard::may_make_files_in(folder)?;
    let path = folder.join(unpredictable_name(stem));
    // O_EXCL: also a link that leads nowhere is an error, not followed.
    let made = private_options().read(true).write(true).create_new(true).open(&path);
    made.map(|file| (path, file))
}

/// A directory that was made here: removed with what is in it when it is dropped.
#[derive(Debug)]
pub struct OwnDirectory {
    path: PathBuf,
    is_kept: bool,
}

impl OwnDirectory {
    /// Make one in `folder`, which only its owner reads and writes. mkdir(2) follows no
    /// link that somebody planted.
    ///
    /// # Errors
    /// It cannot be made, or lies among device nodes.
    pub fn make(folder: &Path, stem: &str) -> io::Result<OwnDirectory> {
        guard::may_make_files_in(folder)?;
        let path = std::path::absolute(folder.join(unpredictable_name(stem)))?;
        make_private_folder(&path)?;
        Ok(OwnDirectory { path, is_kept: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leave it where it is.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        let removed = if self.is_kept { Ok(()) } else { std::fs::remove_dir_all(&self.path) };
        if let Err(error) = removed {
            standard_error::print_line(format_args!(
                "iosonde: cannot remove {}: {error}",
                self.path.display()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_of_our_own_goes_with_what_is_in_it_unless_it_is_kept() {
        let folder = Folder::temporary("own-directory");
        let own = OwnDirectory::make(folder.path(), "x").unwrap();
        let path = own.path().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(path.join("file"), "text").unwrap();
        drop(own);
        assert!(!path.exists());
        let mut kept = OwnDirectory::make(folder.path(), "x").unwrap();
        kept.keep();
        let path = kept.path().to_owned();
        drop(kept);
        assert!(path.exists());
        assert!(OwnDirectory::make(&folder.join("none"), "x").is_err());
    }

    #[test]
    fn names_differ_and_files_are_new_and_private() {
        assert_ne!(unpredictable_name("x"), unpredictable_name("x"));
        let folder = Folder::temporary("temporary");
        let (path, file) = create(folder.path(), "x").unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(path.starts_with(folder.path()) && path.exists());
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("x.") && name.ends_with(".tmp") && name.len() == 22, "{name}");
    }
}
