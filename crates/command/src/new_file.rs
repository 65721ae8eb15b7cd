//! Files that commands write: whole or not at all, and nothing that exists is
//! overwritten unless that is asked for.

use iosonde_sys::files::public_options;
use iosonde_sys::guard::{self, MountedWrite};
use iosonde_sys::process::close;
use iosonde_sys::temporary::unpredictable_name;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Whether `path` may be written.
///
/// # Errors
/// It exists, and `force` is off: a sentence.
pub fn check(path: &Path, force: bool) -> Result<(), String> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Err(format!("{}: it is a directory", path.display())),
        Ok(_) if !force => {
            Err(format!("{}: it exists; use --force to overwrite it", path.display()))
        }
        // A link is replaced, and what it leads to stays.
        Ok(found) if found.is_symlink() => Ok(()),
        Ok(found) if !found.is_file() => {
            Err(format!("{}: it is not a regular file, and stays as it is", path.display()))
        }
        _ => guard::Guard::now(MountedWrite::Refuse)
            .may_put_output(path)
            .map_err(|refusal| format!("cannot {refusal}")),
    }
}

/// Write `text` to `path`.
///
/// # Errors
/// It exists and `force` is off, or cannot be written: a sentence.
pub fn write(path: &Path, text: &str, force: bool) -> Result<(), String> {
    check(path, force)?;
    replace(path, text, force)
}

/// Write `text` to `path`, about which [`check`] was asked before.
///
/// # Errors
/// It cannot be written, or appeared meanwhile and `force` is off: a sentence.
pub fn replace(path: &Path, text: &str, force: bool) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(unpredictable_name(&format!(".{name}")));
    let written = create(&partial)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| close(file.into())))
        .and_then(|()| place(&partial, path, force));
    written.map_err(|error| {
        // What was begun is of no use to anybody.
        let _ = fs::remove_file(&partial);
        format!("cannot write {}: {error}", path.display())
    })
}

/// Others may read it, also where a server or a collector runs as another user.
fn create(path: &Path) -> io::Result<File> {
    public_options().write(true).create_new(true).open(path)
}

/// Give a whole file its name. Without `force` a file that appeared meanwhile stays.
fn place(partial: &Path, path: &Path, force: bool) -> io::Result<()> {
    if force {
        return fs::rename(partial, path);
    }
    match fs::hard_link(partial, path) {
        Ok(()) => fs::remove_file(partial),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links, such as vfat: it was not there just now.
        Err(_) => fs::rename(partial, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn what_exists_stays_unless_it_may_be_overwritten() {
        let folder = Folder::new("new-file");
        let path = folder.join("page.html");
        write(&path, "one", false).unwrap();
        let refused = write(&path, "two", false).unwrap_err();
        assert!(refused.contains("page.html: it exists; use --force"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, "three", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert!(write(folder.path(), "x", true).unwrap_err().contains("directory"));
        assert!(write(&folder.join("none/page"), "x", false).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
