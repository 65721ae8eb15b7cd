//! I/O that was recorded before, done again: a source read from a list.
//!
//! A [`Parser`] turns the bytes of an iolog or a blktrace into [`Step`]s; it
//! opens nothing. A source whose spec has [`Steps`] hands them out in their
//! order, each with the moment at which it is due.

mod blktrace;
mod iolog;
mod merge;
mod parser;
mod shape;
mod steps;

pub use blktrace::{Event, write as write_blktrace};
pub use merge::{Strand, merge};
pub use parser::{LogError, Parser, Place};
pub use shape::{Shape, Skip};
pub use steps::{NextPiece, Pieces, Step, Steps, Unreadable};

pub(crate) use steps::Replaying;

/// The name of a file in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// By its path.
    Path(String),
    /// By the number of its device, as blktrace does.
    Device {
        /// Which driver.
        major: u32,
        /// Which of its devices.
        minor: u32,
    },
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Path(path) => f.write_str(path),
            Name::Device { major, minor } => write!(f, "device {major}:{minor}"),
        }
    }
}
