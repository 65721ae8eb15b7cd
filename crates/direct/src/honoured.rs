//! Whether direct I/O that was requested is honoured.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io;

use crate::platform;

/// Yes, no, or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tristate {
    /// It is.
    Yes,
    /// Nothing here shows it.
    Unknown,
    /// It is not.
    No,
}

impl fmt::Display for Tristate {
    /// `yes`, `no`, `unknown`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Tristate::Yes => "yes",
            Tristate::No => "no",
            Tristate::Unknown => "unknown",
        })
    }
}

/// A verdict and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Yes, no, or not known.
    pub verdict: Tristate,
    /// Why, in a few words: `tmpfs keeps files in memory`.
    pub why: Cow<'static, str>,
}

impl Answer {
    pub(crate) fn yes(why: impl Into<Cow<'static, str>>) -> Answer {
        Answer { verdict: Tristate::Yes, why: why.into() }
    }

    pub(crate) fn no(why: impl Into<Cow<'static, str>>) -> Answer {
        Answer { verdict: Tristate::No, why: why.into() }
    }

    pub(crate) fn unknown(why: impl Into<Cow<'static, str>>) -> Answer {
        Answer { verdict: Tristate::Unknown, why: why.into() }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.verdict, self.why)
    }
}

/// Whether aligned reads and writes of an open file pass the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Honoured {
    /// Of reads; `None` if the file is not open for reading.
    pub reads: Option<Answer>,
    /// Of writes; `None` if the file is not open for writing.
    pub writes: Option<Answer>,
    /// A cache further down that direct I/O on this file does not pass: that
    /// of the file a loop device shows. `None` if none is known.
    pub cache_below: Option<String>,
}

impl Honoured {
    pub(crate) fn both(answer: Answer) -> Honoured {
        Honoured { reads: Some(answer.clone()), writes: Some(answer), cache_below: None }
    }

    /// The worse of the answers for reads and writes: no before unknown
    /// before yes.
    pub fn overall(&self) -> Answer {
        let worst = self.reads.iter().chain(&self.writes).max_by_key(|answer| answer.verdict);
        worst.cloned().unwrap_or_else(|| Answer::unknown("open for neither reading nor writing"))
    }
}

impl fmt::Display for Honoured {
    /// `yes: ext4 states its alignment`, and a cache below if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.reads, &self.writes) {
            (Some(reads), Some(writes)) if reads != writes => {
                write!(f, "reads {reads}; writes {writes}")?;
            }
            _ => self.overall().fmt(f)?,
        }
        self.cache_below.as_ref().map_or(Ok(()), |below| write!(f, "; below, {below}"))
    }
}

/// Whether direct I/O on `file`, which was opened so, is what one gets. Many
/// filesystems take the flag and go through memory all the same.
///
/// Asked are the descriptor's flags, the alignment that statx(2) states, and
/// what is known of the filesystem; no I/O is done.
///
/// ```
/// use iosonde_direct::{OpenOptions, Tristate, honoured};
///
/// let plain = OpenOptions::new().read(true).open("Cargo.toml")?;
/// assert_eq!(honoured(&plain)?.overall().verdict, Tristate::No, "it was not requested");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the system cannot report what the file is.
pub fn honoured(file: &File) -> io::Result<Honoured> {
    platform::honoured(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_answer_counts_and_both_are_reported() {
        let mixed = Honoured {
            reads: Some(Answer::yes("r")),
            writes: Some(Answer::no("w")),
            cache_below: Some("c".into()),
        };
        assert_eq!(mixed.overall(), Answer::no("w"));
        assert_eq!(mixed.to_string(), "reads yes: r; writes no: w; below, c");
        let same = Honoured::both(Answer::unknown("why"));
        assert_eq!(same.to_string(), "unknown: why");
        let neither = Honoured { reads: None, writes: None, cache_below: None };
        assert_eq!(neither.overall().verdict, Tristate::Unknown);
    }
}
