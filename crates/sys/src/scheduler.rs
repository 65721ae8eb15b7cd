//! I/O schedulers of disks: which there are, which is in use, and another one
//! for a while.

use iosonde_direct::sysfs;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The schedulers of one disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedulers {
    /// The one in use.
    pub current: String,
    /// All there are.
    pub all: Vec<String>,
}

impl Schedulers {
    /// As /sys/block/*/queue/scheduler shows them: `[none] mq-deadline bfq`.
    /// `None` if none is marked.
    pub fn parse(text: &str) -> Option<Schedulers> {
        let plain = |word: &str| word.trim_matches(['[', ']']).to_owned();
        let mut words = text.split_ascii_whitespace();
        let current = plain(words.clone().find(|word| word.starts_with('['))?);
        Some(Schedulers { current, all: words.by_ref().map(plain).collect() })
    }
}

/// A disk under another scheduler; dropped, it has its own again.
#[derive(Debug)]
pub struct Switched {
    file: PathBuf,
    before: String,
}

impl Switched {
    /// Give the disk `name` (as in /sys/block) the scheduler `wanted`;
    /// `None` if that is in use already.
    ///
    /// # Errors
    /// If the disk has no such scheduler, and which it has; or what the
    /// system says.
    pub fn to(name: &str, wanted: &str) -> io::Result<Option<Switched>> {
        Switched::by(&sysfs::root().join("sys/block").join(name).join("queue/scheduler"), wanted)
    }

    fn by(file: &Path, wanted: &str) -> io::Result<Option<Switched>> {
        let text = fs::read_to_string(file)?;
        let none = || io::Error::new(io::ErrorKind::Unsupported, "the disk has no schedulers");
        let Schedulers { current, all } = Schedulers::parse(&text).ok_or_else(none)?;
        if current == wanted {
            return Ok(None);
        }
        if !all.iter().any(|name| name == wanted) {
            let message = format!("the disk has no scheduler {wanted}; it has {}", all.join(", "));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        fs::write(file, wanted)?;
        Ok(Some(Switched { file: file.to_owned(), before: current }))
    }
}

impl Drop for Switched {
    fn drop(&mut self) {
        // It was in use a moment ago; nothing needs it if it is gone.
        let _ = fs::write(&self.file, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_in_brackets_is_in_use() {
        let read = Schedulers::parse("none [mq-deadline] bfq\n").unwrap();
        assert_eq!(read.current, "mq-deadline");
        assert_eq!(read.all, ["none", "mq-deadline", "bfq"]);
        assert_eq!(Schedulers::parse("none\n"), None);
        assert_eq!(Schedulers::parse(""), None);
    }

    #[test]
    fn a_scheduler_is_set_for_a_while_and_one_that_is_not_there_is_refused() {
        let file = std::env::temp_dir().join(format!("iosonde-scheduler-{}", std::process::id()));
        fs::write(&file, "[none] bfq\n").unwrap();
        let refused = Switched::by(&file, "cfq").unwrap_err();
        assert!(refused.to_string().contains("it has none, bfq"), "{refused}");
        assert!(Switched::by(&file, "none").unwrap().is_none());
        let switched = Switched::by(&file, "bfq").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "bfq");
        drop(switched);
        assert_eq!(fs::read_to_string(&file).unwrap(), "none");
        fs::remove_file(&file).unwrap();
    }
}
