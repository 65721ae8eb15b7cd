//! Making what was written durable, all at once or with each write.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io;

use crate::{AtomicWrite, DirectIo, Fact, Misalignment, Transfer, platform};

/// Why a call failed.
#[derive(Debug)]
pub enum CallError {
    /// This system, filesystem or device does not do it. Nothing was read or
    /// written.
    Unsupported {
        /// The requested flag: `RWF_DONTCACHE`.
        what: Cow<'static, str>,
        /// Why it is not available.
        why: Cow<'static, str>,
    },
    /// A write that was to be done whole or not at all cannot be, because of
    /// its length or offset. Nothing was written.
    Shape {
        /// The length of the write, in bytes.
        bytes: usize,
        /// Its offset, in bytes.
        offset: u64,
        /// The limits of the file.
        limits: Fact<AtomicWrite>,
    },
    /// The file is open for direct I/O, and the buffer's address, the length or the offset is no
    /// multiple of what it must be. Nothing was read or written.
    Misaligned {
        /// Which way.
        transfer: Transfer,
        /// Each rule that is broken: at least one.
        broken: Vec<Misalignment>,
    },
    /// The error of the system.
    System(io::Error),
}

impl CallError {
    pub(crate) fn unsupported(
        what: impl Into<Cow<'static, str>>,
        why: impl Into<Cow<'static, str>>,
    ) -> CallError {
        CallError::Unsupported { what: what.into(), why: why.into() }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Unsupported { what, why } => {
                write!(f, "{what} is not supported here: {why}")
            }
            CallError::Shape { bytes, offset, limits } => {
                write!(f, "write {bytes} bytes at {offset} whole or not at all: ")?;
                match limits {
                    Fact::Known(limits) => write!(
                        f,
                        "use a power of two from {} to {} bytes, at a multiple of itself",
                        limits.unit_min, limits.unit_max
                    ),
                    Fact::Unknown(why) => {
                        write!(f, "it is refused, and the limits are unknown: {why}")
                    }
                }
            }
            CallError::Misaligned { transfer, broken } => {
                let verb = match transfer {
                    Transfer::Read => "read",
                    Transfer::Write => "write",
                };
                write!(f, "{verb} with direct I/O")?;
                for (at, rule) in broken.iter().enumerate() {
                    write!(f, "{} {rule}", if at == 0 { ":" } else { "," })?;
                }
                Ok(())
            }
            CallError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::System(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> CallError {
        CallError::System(error)
    }
}

impl From<CallError> for io::Error {
    fn from(error: CallError) -> io::Error {
        match error {
            CallError::System(error) => error,
            CallError::Unsupported { .. } => io::Error::new(io::ErrorKind::Unsupported, error),
            CallError::Shape { .. } | CallError::Misaligned { .. } => {
                io::Error::new(io::ErrorKind::InvalidInput, error)
            }
        }
    }
}

/// Wait until the data of `file`, and what is needed to find them again, are
/// durable: fdatasync(2). Where the system has a weaker and a stronger call
/// (macOS), this is the weaker; see [`full_barrier`].
///
/// # Errors
/// The error of the system. After an error, what was written before may be lost:
/// Linux reports it once and then drops it.
pub fn sync_data(file: &File) -> io::Result<()> {
    platform::sync_data(file)
}

/// Wait until the data of `file` and all its metadata are durable: fsync(2).
/// As [`sync_data`], the weaker call where there are two.
///
/// # Errors
/// As [`sync_data`].
pub fn sync_all(file: &File) -> io::Result<()> {
    platform::sync_all(file)
}

/// Wait until everything written to `file` would outlive a loss of power, the
/// device's own cache included: fsync(2) on Linux, `F_FULLFSYNC` on macOS,
/// `FlushFileBuffers` on Windows.
///
/// # Errors
/// As [`sync_data`].
pub fn full_barrier(file: &File) -> io::Result<()> {
    platform::full_barrier(file)
}

/// How [`sync_range`] goes about it: sync_file_range(2)'s three flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRange {
    /// First wait for pages that are being written.
    pub wait_before: bool,
    /// Begin to write all dirty pages.
    pub write: bool,
    /// Then wait for them.
    pub wait_after: bool,
}

impl SyncRange {
    /// Begin to write, and do not wait.
    pub const START: SyncRange = SyncRange { wait_before: false, write: true, wait_after: false };
    /// Write and wait.
    pub const FINISH: SyncRange = SyncRange { wait_before: true, write: true, wait_after: true };
}

/// Have `bytes` bytes of `file` from `offset` (to the end if 0) written to the
/// device: sync_file_range(2). This makes **nothing durable**: neither is the
/// file's metadata written nor the device's cache flushed. It spreads the work
/// that [`sync_data`] would otherwise find all at once.
///
/// # Errors
/// `Unsupported` anywhere but on Linux, and for what has no page cache.
pub fn sync_range(file: &File, offset: u64, bytes: u64, how: SyncRange) -> Result<(), CallError> {
    platform::sync_range(file, offset, bytes, how)
}

/// Flags of one write.
///
/// ```
/// use iosonde_direct::durability::{CallError, WriteFlags, write_with};
///
/// let path = std::env::temp_dir().join(format!("doc-write-{}", std::process::id()));
/// let file = std::fs::File::create(&path)?;
/// let gone = std::fs::remove_file(&path);
/// match write_with(&file, b"as good as on disk", 0, WriteFlags::new().dsync(true)) {
///     Ok(bytes) => assert_eq!(bytes, 18),
///     Err(CallError::Unsupported { what, why }) => println!("no {what}: {why}"),
///     Err(error) => return Err(error.into()),
/// }
/// # gone?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    pub(crate) dsync: bool,
    pub(crate) sync: bool,
    pub(crate) atomic: bool,
    pub(crate) dont_cache: bool,
}

impl WriteFlags {
    /// Nothing.
    pub const fn new() -> WriteFlags {
        WriteFlags { dsync: false, sync: false, atomic: false, dont_cache: false }
    }

    /// Durable when it returns, with what is needed to find it again
    /// (`RWF_DSYNC`).
    pub const fn dsync(mut self, yes: bool) -> WriteFlags {
        self.dsync = yes;
        self
    }

    /// Durable when it returns, with all metadata (`RWF_SYNC`).
    pub const fn sync(mut self, yes: bool) -> WriteFlags {
        self.sync = yes;
        self
    }

    /// After a loss of power, there whole or not at all (`RWF_ATOMIC`, Linux
    /// 6.11). Its length and offset must fit [`AtomicWrite`].
    pub const fn atomic(mut self, yes: bool) -> WriteFlags {
        self.atomic = yes;
        self
    }

    /// Through the page cache, and out of it again once written
    /// (`RWF_DONTCACHE`, Linux 6.14).
    pub const fn dont_cache(mut self, yes: bool) -> WriteFlags {
        self.dont_cache = yes;
        self
    }

    /// `RWF_DSYNC and RWF_ATOMIC`: for messages.
    pub(crate) fn names(self) -> String {
        let all = [
            (self.dsync, "RWF_DSYNC"),
            (self.sync, "RWF_SYNC"),
            (self.atomic, "RWF_ATOMIC"),
            (self.dont_cache, "RWF_DONTCACHE"),
        ];
        let names: Vec<&str> = all.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
        if names.is_empty() { "pwritev2(2)".to_owned() } else { names.join(" with ") }
    }
}

/// One write of `data` at `offset`; how many bytes were written, which may be
/// fewer. What is requested is done or refused, never left out.
///
/// # Errors
/// `Unsupported` if the system, filesystem or device does not take one of the
/// flags, `Shape` if an atomic write cannot be of this length or offset, `Misaligned` if direct
/// I/O does not take the address, the length or the offset.
pub fn write_with(
    file: &File,
    data: &[u8],
    offset: u64,
    flags: WriteFlags,
) -> Result<usize, CallError> {
    expect_offset(offset)?;
    platform::write_with(file, data, offset, flags)
        .map_err(|error| explained(error, file, Transfer::Write, data, offset))
}

/// What the number of an error does not say: which rule of direct I/O was broken. The request is
/// only looked at after it failed, so that a file system that takes more than it states takes it.
fn explained(
    error: CallError,
    file: &File,
    transfer: Transfer,
    data: &[u8],
    offset: u64,
) -> CallError {
    let refused = |error: &io::Error| {
        error.kind() == io::ErrorKind::InvalidInput && error.raw_os_error().is_some()
    };
    if !matches!(&error, CallError::System(error) if refused(error)) || !platform::is_direct(file) {
        return error;
    }
    let Ok(needs) = DirectIo::of(file) else { return error };
    let broken = needs.misalignments(transfer, data.as_ptr().addr(), data.len(), offset);
    if broken.is_empty() { error } else { CallError::Misaligned { transfer, broken } }
}

/// The largest numbers are no offsets: to pwritev2(2), -1 is the file's own
/// position, to Windows the end of the file.
pub(crate) fn expect_offset(offset: u64) -> io::Result<()> {
    match i64::try_from(offset) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("no file reaches to the offset {offset}"),
        )),
    }
}

/// Whether one read leaves its pages in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadCaching {
    /// As reads do.
    #[default]
    Cached,
    /// Those that it brought in go again (`RWF_DONTCACHE`, Linux 6.14).
    Dropped,
}

/// One read into `data` from `offset`; how many bytes were read, 0 at the end.
///
/// # Errors
/// `Unsupported` if the system or filesystem does not know [`ReadCaching::Dropped`], `Misaligned`
/// if direct I/O does not take the address, the length or the offset.
pub fn read_with(
    file: &File,
    data: &mut [u8],
    offset: u64,
    keep: ReadCaching,
) -> Result<usize, CallError> {
    expect_offset(offset)?;
    platform::read_with(file, data, offset, keep)
        .map_err(|error| explained(error, file, Transfer::Read, data, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_and_why_and_keeps_its_kind() {
        let error = CallError::unsupported("RWF_ATOMIC", "the device has none");
        assert_eq!(error.to_string(), "RWF_ATOMIC is not supported here: the device has none");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::Unsupported);
        let limits = AtomicWrite { unit_min: 512, unit_max: 4096, ..AtomicWrite::default() };
        let error = CallError::Shape { bytes: 513, offset: 1, limits: Fact::Known(limits) };
        assert!(error.to_string().contains("from 512 to 4096 bytes"), "{error}");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
        let error = CallError::from(io::Error::from_raw_os_error(5));
        assert_eq!(io::Error::from(error).raw_os_error(), Some(5));
    }

    #[test]
    fn flags_are_called_by_their_names() {
        assert_eq!(WriteFlags::new().names(), "pwritev2(2)");
        let two = WriteFlags::new().dsync(true).dont_cache(true);
        assert_eq!(two.names(), "RWF_DSYNC with RWF_DONTCACHE");
        let others = WriteFlags::new().sync(true).atomic(true);
        assert_eq!(others.names(), "RWF_SYNC with RWF_ATOMIC");
    }
}
