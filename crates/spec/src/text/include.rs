//! Which file an `include` means, and whether it may be read.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Where job files come from: the disk, or a test's own few.
pub trait JobFiles {
    /// The bytes of the file; `-` is standard input.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
}

/// Job files on the disk, `-` from standard input.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskJobFiles;

impl JobFiles for DiskJobFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "-" => read_at_most(io::stdin().lock(), BYTES_MAX),
            path => read_at_most(std::fs::File::open(path)?, BYTES_MAX),
        }
    }
}

/// A longer file is not a job file, and /dev/zero never ends.
const BYTES_MAX: u64 = 64 << 20;

fn read_at_most(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    file.take(most + 1).read_to_end(&mut all)?;
    if all.len() as u64 > most {
        let words = format!("it is longer than {} MiB and no job file", most >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, words));
    }
    Ok(all)
}

/// Job files that are nowhere but in memory, by path.
impl<B: AsRef<[u8]>> JobFiles for HashMap<&str, B> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(found.as_ref().to_vec())
    }
}

/// More files than any job is made of; what stands between two files that include each other
/// twice and a very long wait.
const INCLUDES_MAX: usize = 1000;

/// The includes of one job file while it is being read.
#[derive(Debug)]
pub struct Includes {
    /// The files that are open around the present line, the job file first.
    open: Vec<PathBuf>,
    read: usize,
}

/// Why a file may not be included here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncludeRefused {
    /// No path was given.
    Nameless,
    /// It is being read already, further out.
    Cycle,
    /// The job file includes more files than is reasonable.
    TooMany,
}

impl fmt::Display for IncludeRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IncludeRefused::Nameless => write!(f, "include without a file name"),
            IncludeRefused::Cycle => write!(f, "the file includes itself"),
            IncludeRefused::TooMany => write!(f, "more than {INCLUDES_MAX} files included"),
        }
    }
}

impl Includes {
    /// For a job file at `path`, with nothing included so far.
    pub fn of(path: &str) -> Self {
        Includes { open: vec![plain(Path::new(path))], read: 0 }
    }

    /// Where `written` is to be found: beside the file that includes it.
    pub fn locate(&self, written: &str) -> String {
        let from = self.open.last().and_then(|file| file.parent()).unwrap_or(Path::new(""));
        // Both halves came from text, so the lossy conversion loses nothing.
        from.join(written).to_string_lossy().into_owned()
    }

    /// Go into the file `path`, which [`leave`](Self::leave) must follow.
    ///
    /// # Errors
    /// When it would never end.
    pub fn enter(&mut self, path: &str) -> Result<(), IncludeRefused> {
        let path = plain(Path::new(path));
        if self.open.contains(&path) {
            return Err(IncludeRefused::Cycle);
        }
        // A symbolic link may hide a cycle from the comparison; the count ends it.
        if self.read == INCLUDES_MAX {
            return Err(IncludeRefused::TooMany);
        }
        self.read += 1;
        self.open.push(path);
        Ok(())
    }

    /// Back to the file that included.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// How many files lie around the present line.
    pub fn depth(&self) -> usize {
        self.open.len()
    }
}

/// `a/./b` as `a/b`, so that one file has one name. `..` stays: a link may be before it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_file_without_end_is_refused() {
        assert_eq!(read_at_most(&b"1234"[..], 4).unwrap(), b"1234");
        let error = read_at_most(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 1 MiB and no job file");
    }

    #[test]
    fn an_include_lies_beside_the_file_that_names_it() {
        let mut includes = Includes::of("jobs/a.fio");
        assert_eq!(includes.locate("b.inc"), "jobs/b.inc");
        assert_eq!(includes.locate("/etc/b.inc"), "/etc/b.inc");
        includes.enter("jobs/sub/b.inc").unwrap();
        assert_eq!(includes.locate("c.inc"), "jobs/sub/c.inc");
        includes.leave();
        assert_eq!(includes.locate("c.inc"), "jobs/c.inc");
        assert_eq!(Includes::of("-").locate("c.inc"), "c.inc");
    }

    #[test]
    fn a_file_may_come_twice_but_not_within_itself() {
        let mut includes = Includes::of("./a.fio");
        assert_eq!(includes.enter("a.fio"), Err(IncludeRefused::Cycle));
        for _ in 0..2 {
            includes.enter("b.inc").unwrap();
            assert_eq!(includes.enter("./b.inc"), Err(IncludeRefused::Cycle));
            includes.leave();
        }
    }

    #[test]
    fn there_is_an_end_to_how_many() {
        let mut includes = Includes::of("a.fio");
        for _ in 0..INCLUDES_MAX {
            includes.enter("b.inc").unwrap();
            includes.leave();
        }
        assert_eq!(includes.enter("b.inc"), Err(IncludeRefused::TooMany));
    }
}
