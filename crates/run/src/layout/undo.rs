//! Undoing a layout that failed: space, files, directories.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// What one job's layout added so far.
#[derive(Debug, Default)]
pub struct Added {
    files: Vec<AddedFile>,
    /// In the order of creation: parents first.
    directories: Vec<PathBuf>,
}

#[derive(Debug)]
struct AddedFile {
    path: PathBuf,
    /// Its size before; `None` if it did not exist.
    old_bytes: Option<u64>,
}

impl Added {
    /// `path`, of this size (`None` if it does not exist), is about to be created
    /// or extended.
    pub fn file(&mut self, path: &Path, old_bytes: Option<u64>) {
        if let (None, Some(parent)) = (old_bytes, path.parent()) {
            self.directory(parent);
        }
        self.files.push(AddedFile { path: path.to_owned(), old_bytes });
    }

    /// `path` is about to be created as a directory, with its parents.
    pub fn directory(&mut self, path: &Path) {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
        self.directories.extend(missing.into_iter().rev().map(Path::to_owned));
    }

    /// Leave these files as they are: others use them.
    pub fn leave(&mut self, used: &BTreeSet<&Path>) {
        self.files.retain(|file| !used.contains(file.path.as_path()));
    }

    /// Remove what was created and cut what was extended; the first error, after
    /// everything was tried.
    pub fn give_back(self) -> io::Result<()> {
        let files = self.files.iter().rev().map(AddedFile::give_back);
        let directories = self.directories.iter().rev().map(std::fs::remove_dir);
        let is_error = |error: &io::Error| {
            // Gone already, or somebody else has put something there.
            !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty)
        };
        let errors = files.chain(directories).filter_map(|done| done.err().filter(is_error));
        // All are collected, so that everything is tried.
        errors.collect::<Vec<io::Error>>().into_iter().next().map_or(Ok(()), Err)
    }
}

impl AddedFile {
    fn give_back(&self) -> io::Result<()> {
        match self.old_bytes {
            // A link that led nowhere stays; the file behind it goes.
            None => std::fs::remove_file(self.path.canonicalize()?),
            // What is no file was never extended.
            Some(_) if !self.path.is_file() => Ok(()),
            // Also where the size is the same: this frees space reserved past the end.
            Some(bytes) => std::fs::File::options().write(true).open(&self.path)?.set_len(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn what_was_there_is_as_before_and_the_rest_is_gone() {
        let folder = Folder::temporary("undo");
        folder.write("old", "kept");
        std::os::unix::fs::symlink(folder.join("target"), folder.join("link")).unwrap();
        let mut added = Added::default();
        added.file(&folder.join("old"), Some(4));
        added.file(&folder.join("a/b/new"), None);
        added.file(&folder.join("link"), None);
        added.directory(&folder.join("c/d"));
        folder.write("old", "kept and more");
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::create_dir_all(folder.join("c/d")).unwrap();
        folder.write("a/b/new", "x");
        folder.write("link", "x");
        folder.write("c/somebody's", "x");
        added.give_back().unwrap();
        assert_eq!(folder.read("old"), "kept");
        assert!(!folder.join("a").exists() && !folder.join("target").exists());
        assert!(folder.join("link").is_symlink() && folder.join("c/somebody's").exists());
        assert!(!folder.join("c/d").exists());
    }

    #[test]
    fn what_is_gone_already_is_no_error() {
        let folder = Folder::temporary("undo-gone");
        let mut added = Added::default();
        added.file(&folder.join("never"), None);
        added.give_back().unwrap();
    }
}
