//! The system calls that make written data durable.

use crate::SyncRangeFlags;
use crate::platform::{self, RawFile};
use crate::retries::uninterrupted;
use iosonde_base::{Errno, Op, Planned};

/// fsync(2), fdatasync(2) or sync_file_range(2), as `entry` asks.
pub(crate) fn sync(entry: &Planned, file: RawFile, range: SyncRangeFlags) -> Result<(), Errno> {
    uninterrupted(|| match entry.op {
        Op::Sync => platform::fsync(file),
        Op::DataSync => platform::fdatasync(file),
        _ => platform::sync_range(file, entry.offset, entry.len, range),
    })
}
