//! Why a job ended badly.

use iosonde_base::Errno;
use iosonde_engine::Failure;
use std::io;
use std::path::PathBuf;

/// Why a job ended badly.
#[derive(Clone, Debug)]
pub struct JobError {
    /// What failed, where, why.
    pub failure: Failure,
    /// The file's path, if a file it was.
    pub path: Option<PathBuf>,
    /// More words, where there are.
    pub detail: Option<String>,
}

/// What failed where data was to be checked and was not, which accuses nobody.
const INCOMPLETE: &str = "verification";

impl std::fmt::Display for JobError {
    /// `write of 4096 bytes at 8192 in /x: No space left on device`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { doing, offset, len, errno, detail, .. } = &self.failure;
        write!(f, "{doing}")?;
        if let (Some(offset), 1..) = (offset, len) {
            write!(f, " of {len} bytes at {offset}")?;
        }
        if let Some(path) = &self.path {
            let preposition = if offset.is_some() { " in" } else { "" };
            write!(f, "{preposition} {}", path.display())?;
        }
        match (*doing, *errno) {
            // The system's words for this number are about characters.
            ("verify", Errno::EILSEQ) => f.write_str(": the data is not what was written")?,
            // Nothing was found wrong: it was not looked at.
            (INCOMPLETE, _) => f.write_str(" incomplete")?,
            _ => write!(f, ": {errno}")?,
        }
        for words in [detail.map(str::to_owned), self.detail.clone()].into_iter().flatten() {
            write!(f, ": {words}")?;
        }
        Ok(())
    }
}

impl std::error::Error for JobError {}

impl JobError {
    /// An act that has no file: what failed, and why.
    pub(crate) fn other(
        doing: &'static str,
        errno: Errno,
        why: &dyn std::fmt::Display,
    ) -> JobError {
        JobError {
            failure: Failure::engine(doing, errno),
            path: None,
            detail: Some(iosonde_base::bare(&why.to_string())),
        }
    }

    /// Data that was to be checked and was not.
    pub(crate) fn unchecked(why: &dyn std::fmt::Display) -> JobError {
        JobError::other(INCOMPLETE, Errno::ECANCELED, why)
    }

    /// From an error of the system, in its own words where it has some.
    pub(crate) fn system(doing: &'static str, error: &io::Error) -> JobError {
        let errno = match (Errno::known(error), error.kind()) {
            (Some(errno), _) => errno,
            (None, io::ErrorKind::Unsupported) => Errno::ENOTSUP,
            (None, _) => Errno::EINVAL,
        };
        let detail = error.raw_os_error().is_none().then(|| error.to_string());
        JobError { failure: Failure::engine(doing, errno), path: None, detail }
    }
}
