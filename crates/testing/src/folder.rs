//! Folders and files of a test's own, removed after it.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of a test's own, removed with everything in it when dropped.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A new, empty folder in Cargo's target directory, which is on a disk more
    /// often than the folder of temporary files. The name helps people who look.
    pub fn new(name: &str) -> Folder {
        Folder::within(&target_tmp(), name)
    }

    /// A new, empty folder in the system's folder of temporary files, which
    /// every user may enter.
    pub fn temporary(name: &str) -> Folder {
        Folder::within(&std::env::temp_dir(), name)
    }

    /// A new, empty folder in `place`.
    pub fn within(place: &Path, name: &str) -> Folder {
        let path = place.join(unique(name));
        fs::create_dir_all(&path).unwrap();
        Folder { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path within.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Write a file within; its path as text.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.join(name);
        fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The text of a file within.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        let path = self.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    /// A sparse file of `bytes` bytes.
    pub fn image(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.join(name);
        File::create(&path).unwrap().set_len(bytes).unwrap();
        path
    }

    /// Names of the entries, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Names and sizes of the files, sorted.
    pub fn sizes(&self) -> Vec<(String, u64)> {
        let size = |name: String| {
            let size = fs::metadata(self.join(&name)).unwrap().len();
            (name, size)
        };
        self.names().into_iter().map(size).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A file for reading and writing that holds `bytes`, its position at the
/// start. On Unix it has no name any more.
pub fn temporary_file(bytes: &[u8]) -> File {
    let path = std::env::temp_dir().join(unique("file"));
    let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    if cfg!(unix) {
        fs::remove_file(&path).unwrap();
    }
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// No other test, in this process or another, has this name.
pub(crate) fn unique(name: &str) -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    format!("iosonde-{name}-{}-{number}", process::id())
}

/// `target/tmp`, found from `target/debug/deps/TEST`: Cargo names it to
/// integration tests only.
fn target_tmp() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).filter(|_| program.parent().unwrap().ends_with("deps"));
    target.map_or_else(std::env::temp_dir, |target| target.join("tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_folder_goes_with_its_files() {
        let folder = Folder::new("folder");
        folder.write("b", "text");
        folder.image("a", 5000);
        assert_eq!(folder.sizes(), [("a".to_owned(), 5000), ("b".to_owned(), 4)]);
        assert_eq!(folder.read("b"), "text");
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn folders_of_one_name_differ() {
        let (one, other) = (Folder::temporary("same"), Folder::temporary("same"));
        assert_ne!(one.path(), other.path());
        assert!(target_tmp().ends_with("tmp"));
    }

    #[test]
    fn a_temporary_file_is_read_from_its_start() {
        let mut text = String::new();
        temporary_file(b"abc").read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
    }
}
