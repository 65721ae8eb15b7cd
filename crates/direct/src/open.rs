//! Opening a file for direct, synchronous or exclusive I/O.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform;

/// How to open a file. Begin with [`OpenOptions::new`], say what is wanted,
/// [`open`](OpenOptions::open).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) exclusive: bool,
    pub(crate) append: bool,
    pub(crate) truncate: bool,
    pub(crate) direct: bool,
    pub(crate) data_sync: bool,
    pub(crate) sync: bool,
    pub(crate) keep_access_time: bool,
    pub(crate) mode: u32,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions::new()
    }
}

impl OpenOptions {
    /// Nothing requested; files that are created get mode 0644 (less the umask).
    pub const fn new() -> OpenOptions {
        OpenOptions {
            read: false,
            write: false,
            create: false,
            exclusive: false,
            append: false,
            truncate: false,
            direct: false,
            data_sync: false,
            sync: false,
            keep_access_time: false,
            mode: 0o644,
        }
    }

    /// For reading.
    pub const fn read(mut self, yes: bool) -> OpenOptions {
        self.read = yes;
        self
    }

    /// For writing.
    pub const fn write(mut self, yes: bool) -> OpenOptions {
        self.write = yes;
        self
    }

    /// Make the file if it is not there.
    pub const fn create(mut self, yes: bool) -> OpenOptions {
        self.create = yes;
        self
    }

    /// With [`create`](OpenOptions::create), fail if the file is there; nothing is locked.
    ///
    /// Without it, the file is held until it is closed:
    ///
    /// - a block device of Linux: fail if it is mounted or otherwise held by the system, and keep
    ///   mounts and others that open it exclusively away (`O_EXCL`);
    /// - a regular file: fail if it is locked, and lock it exclusively, as
    ///   [`lock`](crate::lock::lock) does: flock(2) on Linux, where `O_EXCL` has no effect on a
    ///   file, `O_EXLOCK` on macOS and FreeBSD. This keeps out those who lock too, and nobody else.
    ///   Where the file system has no locks it fails;
    /// - on Windows: fail if another program has it open, and keep all others out (share mode 0).
    pub const fn exclusive(mut self, yes: bool) -> OpenOptions {
        self.exclusive = yes;
        self
    }

    /// Each write goes to the end of the file; implies writing.
    pub const fn append(mut self, yes: bool) -> OpenOptions {
        self.append = yes;
        self
    }

    /// Cut the file to nothing; needs writing.
    pub const fn truncate(mut self, yes: bool) -> OpenOptions {
        self.truncate = yes;
        self
    }

    /// Past the page cache (`O_DIRECT`, `F_NOCACHE`,
    /// `FILE_FLAG_NO_BUFFERING`). See [`honoured`](crate::honoured).
    pub const fn direct(mut self, yes: bool) -> OpenOptions {
        self.direct = yes;
        self
    }

    /// Each write ends when its data, and what is needed to find them again,
    /// are durable (`O_DSYNC`).
    pub const fn dsync(mut self, yes: bool) -> OpenOptions {
        self.data_sync = yes;
        self
    }

    /// Each write ends when its data and all of the file's metadata are durable
    /// (`O_SYNC`).
    pub const fn sync(mut self, yes: bool) -> OpenOptions {
        self.sync = yes;
        self
    }

    /// Leave the time of the last access alone (`O_NOATIME`). Tried only: who
    /// does not own the file may not ask for this, and gets it opened without.
    /// On Linux only.
    pub const fn keep_access_time(mut self, yes: bool) -> OpenOptions {
        self.keep_access_time = yes;
        self
    }

    /// The permissions of a file that is created, less the umask. Not on
    /// Windows.
    pub const fn mode(mut self, mode: u32) -> OpenOptions {
        self.mode = mode;
        self
    }

    /// Open `path`. The descriptor is not inherited by other programs.
    ///
    /// # Errors
    /// The error of the system, or `InvalidInput` if neither reading nor writing
    /// is requested, or truncating without writing.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, OpenError> {
        let path = path.as_ref();
        self.check().and_then(|()| self.attempt(path)).map_err(|source| OpenError {
            path: path.to_owned(),
            options: self.clone(),
            source,
        })
    }

    fn check(&self) -> io::Result<()> {
        let writes = self.write || self.append;
        let wrong = match () {
            () if !self.read && !writes => "neither reading nor writing is requested",
            () if self.truncate && !writes => "truncating needs writing",
            () => return Ok(()),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, wrong))
    }

    fn attempt(&self, path: &Path) -> io::Result<File> {
        match platform::open(path, self) {
            // Not the owner, so not allowed to leave the access time alone.
            Err(error)
                if self.keep_access_time && error.kind() == io::ErrorKind::PermissionDenied =>
            {
                platform::open(path, &self.clone().keep_access_time(false))
            }
            result => result,
        }
    }

    /// `reading and writing, direct, synchronous`: for messages.
    fn words(&self) -> String {
        let mut words = match (self.read, self.write || self.append) {
            (true, true) => "reading and writing",
            (false, true) => "writing",
            _ => "reading",
        }
        .to_owned();
        for (requested, word) in [
            (self.append, "appending"),
            (self.direct, "direct"),
            (self.sync, "synchronous"),
            (self.data_sync && !self.sync, "data-synchronous"),
            (self.exclusive, "exclusive"),
        ] {
            if requested {
                words = format!("{words}, {word}");
            }
        }
        words
    }
}

/// A file that could not be opened.
#[derive(Debug)]
pub struct OpenError {
    /// Which file.
    pub path: PathBuf,
    /// How it was to be opened.
    pub options: OpenOptions,
    /// The error of the system.
    pub source: io::Error,
}

impl OpenError {
    /// The likely cause, where the error number alone would mislead.
    fn remedy(&self) -> Option<&'static str> {
        match self.source.kind() {
            io::ErrorKind::InvalidInput
                if self.options.direct && self.source.raw_os_error().is_some() =>
            {
                Some("its filesystem may not support direct I/O; try without")
            }
            // A lock has another text.
            io::ErrorKind::ResourceBusy
                if self.options.exclusive && self.source.raw_os_error().is_some() =>
            {
                Some("it is mounted, or held by another program or device")
            }
            io::ErrorKind::AlreadyExists if self.options.exclusive => {
                Some("it was to be a new file")
            }
            _ => None,
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenError { path, options, source } = self;
        write!(f, "open {} for {}: {source}", path.display(), options.words())?;
        self.remedy().map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<OpenError> for io::Error {
    /// The system's error, so that its number is kept.
    fn from(error: OpenError) -> io::Error {
        error.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_before_the_system_is_asked() {
        for options in [
            OpenOptions::new(),
            OpenOptions::new().create(true),
            OpenOptions::new().read(true).truncate(true),
        ] {
            let error = options.open("/").unwrap_err();
            assert_eq!(error.source.kind(), io::ErrorKind::InvalidInput);
            assert_eq!(error.source.raw_os_error(), None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_missing_file_is_named_with_what_was_wanted_of_it() {
        let options = OpenOptions::new().read(true).write(true).direct(true).dsync(true);
        let error = options.open("/nowhere/at/all").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
        assert_eq!(
            error.to_string(),
            "open /nowhere/at/all for reading and writing, direct, data-synchronous: \
             No such file or directory (os error 2)"
        );
    }

    #[test]
    fn a_path_with_a_zero_byte_is_an_error_not_a_panic() {
        assert!(OpenOptions::new().read(true).open("a\0b").is_err());
    }
}
