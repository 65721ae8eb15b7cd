//! System error numbers.

/// A system error number (errno(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// Input/output error.
    pub const EIO: Errno = Errno(5);
    /// Invalid argument.
    pub const EINVAL: Errno = Errno(22);
    /// No space left on device.
    pub const ENOSPC: Errno = Errno(28);
    /// Disk quota exceeded.
    pub const EDQUOT: Errno = Errno(122);
    /// Data is not what was written (`verify`), as in fio.
    pub const EILSEQ: Errno = Errno(84);
    /// Operation timed out.
    pub const ETIMEDOUT: Errno = Errno(110);
}

impl std::fmt::Display for Errno {
    /// The system's words for it, those of strerror(3): `No space left on
    /// device`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&bare(&std::io::Error::from_raw_os_error(self.0).to_string()))
    }
}

impl std::error::Error for Errno {}

impl From<std::io::Error> for Errno {
    /// The number behind an I/O error; `EIO` when it carries none.
    fn from(error: std::io::Error) -> Errno {
        Errno(error.raw_os_error().unwrap_or(Errno::EIO.0))
    }
}

impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> std::io::Error {
        std::io::Error::from_raw_os_error(errno.0)
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
            Some((number, rest)) if number.parse::<i32>().is_ok() => text.push_str(rest),
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
        let ours = "a file named x (os error y)";
        assert_eq!(bare(ours), ours);
        assert_eq!(bare(" (os error "), " (os error ");
    }
}
