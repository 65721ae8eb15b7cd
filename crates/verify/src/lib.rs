//! Blocks that carry their own proof, as fio's `verify` writes and checks
//! them: headers, checksums, content that follows from a seed, patterns; the
//! list of writes that are still to be checked; the file that keeps the state
//! of an interrupted job.
//!
//! Byte for byte the layout of fio 3.42 (header version 0x81). Nothing here
//! reads or writes a file, and nothing is decided about the order of a job's
//! I/O.

#![forbid(unsafe_code)]

mod block;
mod check;
mod checksum;
mod content;
mod diagnosis;
mod header;
mod history;
mod job;
mod schedule;
mod seeds;
mod state;
mod writes_end;

pub use block::{BlockFormat, BlockIdentity, Expected, FormatError, Mismatch, MismatchKind};
pub use check::BlockCheck;
pub use checksum::{BlockType, Checksum, TYPES, crc32c, hex};
pub use content::{BlockContent, SeededBytes};
pub use diagnosis::{Diagnosis, diagnose, remake};
pub use header::{HEADER_BYTES, Header, HeaderError, MAGIC, VERSION};
pub use history::{CheckOrder, History, Written};
pub use job::{Checks, VerifyJob, VerifySpec};
pub use schedule::{Backlogs, BlockDue, LastDone, VerifySchedule};
pub use seeds::{SeedsAgain, WriteSeeds};
pub use state::{GeneratorState, OldStateFile, StateError, StateFile, StateHeader};
pub use writes_end::WritesEnd;
