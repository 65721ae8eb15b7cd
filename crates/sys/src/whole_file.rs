//! Files that get their name when they are complete: until then the name keeps what it had, also
//! if the program is killed.

use crate::files::{Status, status, status_of};
use crate::guard;
use crate::platform;
use crate::process;
use crate::temporary::unpredictable_name;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that is written. Dropped before [`WholeFile::finish`], it leaves things as they were.
#[derive(Debug)]
pub struct WholeFile {
    file: Option<File>,
    way: Way,
}

/// How the file comes to its name.
#[derive(Debug)]
enum Way {
    /// It has it: a pipe, a terminal, a file with several names, a directory without leave to
    /// make files.
    InPlace,
    /// It has no name yet, and gets one next to the target.
    Unnamed(FinalName),
    /// It has another name until then, in the same directory.
    Partial(FinalName, PathBuf),
}

/// The file that is replaced or made; links are resolved, and stay.
#[derive(Debug)]
struct FinalName {
    path: PathBuf,
    /// There was a file, whose data must not be lost to a power cut.
    is_there: bool,
}

/// The longest name in a directory, in bytes, on the file systems of Linux.
const NAME_MAX: usize = 255;

impl WholeFile {
    /// Begin a file that will have the name `path`.
    ///
    /// # Errors
    /// It cannot be created, or cannot be created next to the file that is there: that one stays.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        // What is open already, such as /dev/stdout, has others that write to it.
        if platform::may_be_open_elsewhere(path) {
            return WholeFile::in_place(path);
        }
        let (target, old) = match status(path) {
            Ok(old) if old.is_file() && old.nlink() == 1 => {
                (FinalName { path: path.canonicalize()?, is_there: true }, Some(old))
            }
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {
                (FinalName { path: path.to_owned(), is_there: false }, None)
            }
            _ => return WholeFile::in_place(path),
        };
        match WholeFile::beside(target, old.as_ref()) {
            Ok(Some(whole)) => Ok(whole),
            Ok(None) => WholeFile::in_place(path),
            Err(error) if platform::takes_no_new_file(&error) => WholeFile::in_place(path),
            Err(error) => Err(error),
        }
    }

    /// Create the file under its name, or empty the one that is there: for what others read
    /// while it is written.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn in_place(path: &Path) -> io::Result<WholeFile> {
        let file = guard::create_output(path).map_err(io::Error::from)?;
        Ok(WholeFile { file: Some(file), way: Way::InPlace })
    }

    /// `None` where the directory takes no file like the old, or its name would be too long.
    ///
    /// # Errors
    /// The file that is there may not be written, or none can be made next to it.
    fn beside(target: FinalName, old: Option<&Status>) -> io::Result<Option<WholeFile>> {
        let folder = folder(&target.path);
        // Who may not write to the file may not replace it either.
        if old.is_some() {
            File::options().write(true).open(&target.path)?;
        }
        let partial = partial_name(&target.path);
        if partial.file_name().is_some_and(|name| name.len() > NAME_MAX) {
            return Ok(None);
        }
        let (file, way) = match platform::open_unnamed(folder)? {
            Some(unnamed) => (unnamed, Way::Unnamed(target)),
            None => {
                let named = File::options().write(true).create_new(true).open(&partial)?;
                (named, Way::Partial(target, partial))
            }
        };
        let whole = WholeFile { file: Some(file), way };
        Ok(match old {
            Some(old) => whole.is_like(old).then_some(whole),
            None => Some(whole),
        })
    }

    /// Give it the owner and the permissions of the file that it replaces; whether it has them.
    fn is_like(&self, old: &Status) -> bool {
        self.file.as_ref().is_some_and(|file| platform::take_after(file, old))
    }

    /// Give the file its name now, with what has been written: others read it while the rest is.
    ///
    /// # Errors
    /// Its directory is gone.
    pub fn publish(&mut self) -> io::Result<()> {
        let (Some(file), Some(target)) = (&self.file, self.target()) else { return Ok(()) };
        let partial = self.partial(file, target)?;
        fs::rename(partial, &target.path)?;
        self.way = Way::InPlace;
        Ok(())
    }

    /// Its name next to the target.
    fn partial(&self, file: &File, target: &FinalName) -> io::Result<PathBuf> {
        match &self.way {
            Way::Partial(_, partial) => Ok(partial.clone()),
            _ => name_it(file, &target.path),
        }
    }

    /// Give the file its name, with all that was written; what replaces a file is synced.
    ///
    /// # Errors
    /// Data was lost, or its directory is gone; what was there before stays.
    pub fn finish(self) -> io::Result<()> {
        if let (Some(file), Some(FinalName { is_there: true, .. })) = (&self.file, self.target()) {
            sync(file)?;
        }
        self.finish_unsynced()
    }

    /// Give the file its name so that it has it after a power cut, too.
    ///
    /// # Errors
    /// As [`WholeFile::finish`].
    pub fn finish_durably(self) -> io::Result<()> {
        let renamed_in = self.target().map(|target| folder(&target.path).to_owned());
        self.file.as_ref().map_or(Ok(()), sync)?;
        self.finish_unsynced()?;
        match renamed_in {
            Some(folder) => platform::sync_folder(&folder),
            None => Ok(()),
        }
    }

    /// As [`WholeFile::finish`], without a sync of what replaces a file: for what a power cut may take.
    ///
    /// # Errors
    /// As [`WholeFile::finish`].
    pub fn finish_unsynced(mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let Some(target) = self.target() else {
            is_still_there(&file)?;
            return process::close(file.into());
        };
        let partial = self.partial(&file, target)?;
        let placed = process::close(file.into()).and_then(|()| fs::rename(&partial, &target.path));
        if placed.is_err() {
            // Of no use to anybody.
            let _ = fs::remove_file(&partial);
        }
        placed
    }

    fn target(&self) -> Option<&FinalName> {
        match &self.way {
            Way::InPlace => None,
            Way::Unnamed(target) | Way::Partial(target, _) => Some(target),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let (Some(_), Way::Partial(_, partial)) = (&self.file, &self.way) {
            let _ = fs::remove_file(partial);
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn partial_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(unpredictable_name(&format!(".{name}")))
}

/// Name an unnamed file, next to its target: link(2) replaces nothing, rename(2) does.
fn name_it(file: &File, path: &Path) -> io::Result<PathBuf> {
    let partial = partial_name(path);
    platform::link_unnamed(file, &partial)?;
    Ok(partial)
}

/// A file system without fsync(2) is no error.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// A file that lost its name meanwhile is lost with what was written to it.
///
/// # Errors
/// It has no name any more.
pub fn is_still_there(file: &File) -> io::Result<()> {
    let status = status_of(file)?;
    if status.is_file() && status.nlink() == 0 {
        return Err(io::Error::new(ErrorKind::NotFound, "it was removed meanwhile"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::make_link as symlink;
    use iosonde_testing::{Folder, Mounted};
    use std::os::unix::fs::PermissionsExt;

    fn names(folder: &Folder) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn the_name_has_the_old_text_until_the_new_one_is_complete() {
        let folder = Folder::temporary("whole-file");
        let path = folder.join("report");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"one").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(folder.read("report"), "one");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"two").unwrap();
        assert_eq!(folder.read("report"), "one");
        drop(file);
        assert_eq!((folder.read("report").as_str(), names(&folder)), ("one", 1), "given up");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"three").unwrap();
        file.finish().unwrap();
        assert_eq!((folder.read("report").as_str(), names(&folder)), ("three", 1));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn what_is_published_is_there_while_the_rest_is_written() {
        let folder = Folder::temporary("whole-file-published");
        folder.write("report", "old");
        let mut file = WholeFile::create(&folder.join("report")).unwrap();
        file.write_all(b"one").unwrap();
        file.publish().unwrap();
        assert_eq!(folder.read("report"), "one");
        file.write_all(b"two").unwrap();
        file.publish().unwrap();
        file.finish().unwrap();
        assert_eq!((folder.read("report").as_str(), names(&folder)), ("onetwo", 1));
    }

    #[test]
    fn links_stay_links_and_several_names_of_a_file_stay_one() {
        let folder = Folder::temporary("whole-file-links");
        folder.write("real", "old");
        symlink("real", folder.join("link")).unwrap();
        let mut file = WholeFile::create(&folder.join("link")).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert!(folder.join("link").is_symlink());
        assert_eq!(folder.read("real"), "new");
        symlink("later", folder.join("dangling")).unwrap();
        WholeFile::create(&folder.join("dangling")).unwrap().finish().unwrap();
        assert!(folder.join("dangling").is_symlink() && folder.join("later").exists());

        fs::hard_link(folder.join("real"), folder.join("second")).unwrap();
        let mut file = WholeFile::create(&folder.join("real")).unwrap();
        file.write_all(b"both").unwrap();
        file.finish().unwrap();
        assert_eq!(folder.read("second"), "both");
    }

    #[test]
    fn a_directory_that_is_gone_and_a_name_that_is_taken_away_are_errors() {
        let folder = Folder::temporary("whole-file-gone");
        fs::create_dir(folder.join("d")).unwrap();
        let file = WholeFile::create(&folder.join("d/report")).unwrap();
        fs::remove_dir_all(folder.join("d")).unwrap();
        assert!(file.finish().is_err());
        let file = WholeFile::in_place(&folder.join("x")).unwrap();
        fs::remove_file(folder.join("x")).unwrap();
        assert_eq!(file.finish().unwrap_err().to_string(), "it was removed meanwhile");
    }

    #[test]
    fn a_name_that_leaves_no_room_for_another_is_written_in_place() {
        let folder = Folder::temporary("whole-file-long");
        let path = folder.join(&"n".repeat(NAME_MAX));
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"text").unwrap();
        file.finish().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(&folder)), (b"text".to_vec(), 1));
    }

    #[test]
    fn a_file_stays_as_it_is_where_no_other_can_be_made_next_to_it() {
        let folder = Folder::temporary("whole-file-full");
        // One for the directory, one for the file that is there.
        let Some(mounted) = Mounted::in_memory(&folder, "tmpfs", "nr_inodes=2") else { return };
        let path = mounted.0.join("report");
        fs::write(&path, "old").unwrap();
        let error = WholeFile::create(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn what_is_no_file_is_written_to_as_it_is() {
        let mut file = WholeFile::create(Path::new("/dev/null")).unwrap();
        file.write_all(b"x").unwrap();
        file.finish().unwrap();
        let mut full = WholeFile::create(Path::new("/dev/full")).unwrap();
        assert!(full.write_all(b"x").is_err());
        assert!(WholeFile::create(Path::new("/none/there/x")).is_err());
    }
}
