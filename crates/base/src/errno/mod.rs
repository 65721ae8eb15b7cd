//! System error numbers.

mod names;

use crate::platform;
use std::io;

/// A system error number (errno(3)): Linux's number on every system, so that results, and what
/// is made of them elsewhere, mean the same. Names are constants.
///
/// A number of the system that has no name in Linux is kept as it is, above [`Errno::NATIVE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// Added to a number of this system that has no name in Linux.
    pub const NATIVE: i32 = 1 << 24;

    /// The number behind an I/O error; `EIO` when it carries none.
    pub fn of(error: &io::Error) -> Errno {
        Errno::known(error).unwrap_or(Errno::EIO)
    }

    /// The number behind an I/O error, if it carries one.
    pub fn known(error: &io::Error) -> Option<Errno> {
        let carried = || error.get_ref().and_then(|inner| inner.downcast_ref::<Errno>().copied());
        error.raw_os_error().map(Errno::from_native).or_else(carried)
    }

    /// The error that this system numbers so: what `GetLastError` returns on Windows.
    #[inline]
    pub fn from_native(number: i32) -> Errno {
        platform::errno_from_native(number)
    }

    /// The number that this system has for it, if it has one.
    pub fn native(self) -> Option<i32> {
        self.only_here().or_else(|| platform::errno_to_native(self))
    }

    /// The system's number, where Linux has no name for it.
    fn only_here(self) -> Option<i32> {
        (self.0 >= Errno::NATIVE).then(|| self.0 - Errno::NATIVE)
    }

    /// The error of this name, as in `ENOSPC`.
    pub fn named(name: &str) -> Option<Errno> {
        let named = names::TABLE.iter().find(|row| row.0 == name);
        named.map(|row| Errno(row.1))
    }

    /// Its name; of two, the usual one.
    pub fn name(self) -> Option<&'static str> {
        names::TABLE.iter().find(|row| row.1 == self.0).map(|row| row.0)
    }

    /// The error of the system call that failed last on this thread.
    #[cold]
    pub fn last() -> Errno {
        io::Error::last_os_error().into()
    }
}

impl std::fmt::Display for Errno {
    /// The words of strerror(3) for it: `No space left on device`; of a number that only this
    /// system has, the system's words.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(row) = names::TABLE.iter().find(|row| row.1 == self.0) {
            return f.write_str(row.2);
        }
        match self.only_here() {
            Some(number) => f.write_str(&bare(&io::Error::from_raw_os_error(number).to_string())),
            None => write!(f, "Unknown error {}", self.0),
        }
    }
}

impl std::error::Error for Errno {}

impl From<io::Error> for Errno {
    /// As [`Errno::of`].
    fn from(error: io::Error) -> Errno {
        Errno::of(&error)
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        match errno.native() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::other(errno),
        }
    }
}

/// Words about errors of the system as strerror(3) has them: without the
/// numbers that the standard library adds.
pub fn bare(words: &str) -> String {
    const ADDED: &str = " (os error ";
    let mut parts = words.split(ADDED);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => {
                // Windows ends its words with a full stop.
                text.truncate(text.trim_end_matches('.').len());
                text.push_str(rest);
            }
            _ => text.extend([ADDED, part]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_read_as_strerror_has_them() {
        assert_eq!(Errno::ENOSPC.to_string(), "No space left on device");
        assert_eq!(Errno(9999).to_string(), "Unknown error 9999");
        assert_eq!(bare("open a: b (os error 2): c (os error -1)"), "open a: b: c");
        let windows = "a: Request not supported. (os error 50): b";
        assert_eq!(bare(windows), "a: Request not supported: b");
        let ours = "a file named x (os error y)";
        assert_eq!(bare(ours), ours);
        assert_eq!(bare(" (os error "), " (os error ");
    }

    #[test]
    fn names_and_numbers_lead_to_one_another() {
        assert_eq!(Errno::named("ENOSPC"), Some(Errno(28)));
        assert_eq!(Errno::named("EWOULDBLOCK").and_then(Errno::name), Some("EAGAIN"));
        assert_eq!((Errno::named("ENOTHING"), Errno(9999).name()), (None, None));
    }

    #[test]
    fn an_error_comes_back_from_the_system_as_it_went() {
        for row in names::TABLE {
            let errno = Errno(row.1);
            assert_eq!(Errno::from(io::Error::from(errno)), errno, "{}", row.0);
            if let Some(native) = errno.native() {
                assert_eq!(Errno::from_native(native), errno, "{}", row.0);
            }
        }
        assert_eq!(io::Error::from(Errno::ENOENT).kind(), io::ErrorKind::NotFound);
        assert_eq!(Errno::from(io::Error::other("words alone")), Errno::EIO);
        let only_here = Errno(Errno::NATIVE + 9000);
        assert_eq!(only_here.native(), Some(9000));
    }
}
