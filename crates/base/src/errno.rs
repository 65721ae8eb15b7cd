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
    /// Operation timed out.
    pub const ETIMEDOUT: Errno = Errno(110);
}

impl std::fmt::Display for Errno {
    /// The system's words for it: `No space left on device (os error 28)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
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
