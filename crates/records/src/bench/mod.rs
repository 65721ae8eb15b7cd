//! The configuration of a run: checked, nothing left as text.

mod output;
mod typed;

pub use output::{LatencyUnit, LineFormat, Logger, MetricsAddress, OutputOptions};

use std::path::PathBuf;

/// Bytes of SBK's "MB", which is a MiB.
pub const MB: f64 = 1_048_576.0;

/// A run.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// The storage class.
    pub class: Class,
    /// Writers or readers.
    pub action: WorkerRole,
    /// How many of them.
    pub workers: u32,
    /// How long a record is.
    pub size: Size,
    /// When it ends.
    pub end: End,
    /// How fast it may go, all workers together.
    pub pace: RecordPace,
    /// Make durable after this many records of a writer; 0 for only at the end.
    pub sync_every: u32,
    /// How many workers start at a time, and the seconds between.
    pub ramp: (u32, f64),
    /// Where the bytes are.
    pub file: PathBuf,
    /// How its file is created.
    pub creation: Creation,
    /// Each worker has its own file.
    pub files: bool,
    /// Readers share the file.
    pub split: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// The engine that was requested.
    pub engine: Option<String>,
    /// In flight for each worker.
    pub depth: Option<u32>,
    /// A sync counts in the latency of the record before it.
    pub sync_in_latency: bool,
    /// Block devices that may be erased, by serial number, model or size.
    pub erase: Vec<String>,
    /// Its output.
    pub output: OutputOptions,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// A driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One call for each record.
    File,
    /// The same, or through a buffer in memory.
    FileStream {
        /// Through a buffer.
        buffered: bool,
    },
    /// Many records in flight.
    AsyncFile,
    /// Rows of a table.
    Csv,
    /// Nothing at all.
    Null,
}

impl Class {
    /// Its name in SBK's lines.
    pub fn storage(self) -> &'static str {
        match self {
            Class::File => "File",
            Class::FileStream { .. } => "FileStream",
            Class::AsyncFile => "AsyncFile",
            Class::Csv => "CSV",
            Class::Null => "Null",
        }
    }
}

/// The role of the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerRole {
    /// They write.
    Write,
    /// They read.
    Read,
}

impl WorkerRole {
    /// Its name in SBK's lines.
    pub fn word(self) -> &'static str {
        match self {
            WorkerRole::Write => "Writing",
            WorkerRole::Read => "Reading",
        }
    }

    /// The name of a worker in lines.
    pub fn worker(self) -> &'static str {
        match self {
            WorkerRole::Write => "Writer",
            WorkerRole::Read => "Reader",
        }
    }
}

/// Bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The least.
    pub min: u32,
    /// The most; the same where all are alike.
    pub max: u32,
}

impl Size {
    /// The mean, in bytes.
    pub fn mean(self) -> f64 {
        (f64::from(self.min) + f64::from(self.max)) / 2.0
    }

    /// Whether records differ.
    pub fn varies(self) -> bool {
        self.min != self.max
    }
}

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// After this many records of all workers together.
    Records(u64),
    /// After this many seconds.
    Seconds(f64),
    /// Never: Ctrl-C ends it.
    Never,
}

/// How fast a run may go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecordPace {
    /// As it likes.
    Free,
    /// So many bytes a second of all workers together.
    Bytes(f64),
    /// So many records a second of all workers together.
    Records(u64),
}

/// How a writer's file is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// Removed, then created.
    Anew,
    /// Created, or emptied where it is.
    Emptied,
    /// Created, or left as it is and written from its start.
    Kept,
    /// Created, or written on at its end.
    Appended,
}
