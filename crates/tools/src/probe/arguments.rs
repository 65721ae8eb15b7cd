//! The command line of `iosonde probe`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Shows what affects the results of a test there: the file system and the
devices below it, whether direct, uncached, atomic and polled I/O work, the
machine and its limits, and hazards, each with what to do.

I/O is tried on a temporary file of 1 MiB without a name, in the directory (for
a file: the one it is in). Files are not opened for writing; of a device only
the first MiB is read.";

/// What to inspect, and how.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ProbeArgs {
    /// A directory, a file or a block device
    #[arg(value_name = "PATH|DEVICE", value_hint = ValueHint::AnyPath)]
    pub path: PathBuf,
    /// Create and read nothing; what has to be tried stays unknown
    #[arg(long)]
    pub no_touch: bool,
    /// Print one JSON object; docs/tools.md describes its keys
    #[arg(long)]
    pub json: bool,
}
