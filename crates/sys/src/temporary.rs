//! Temporary files: created new, under names that nobody can have prepared.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
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
/// It cannot be created.
pub fn create(folder: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
    let path = folder.join(unpredictable_name(stem));
    // O_EXCL: also a link that leads nowhere is an error, not followed.
    let options = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path);
    options.map(|file| (path, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use std::os::unix::fs::PermissionsExt;

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
