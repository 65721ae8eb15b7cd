//! The hot loop and the engines that move bytes.
//!
//! [`Drive`] holds the state of a job's loop; a [`Loop`] is an engine
//! together with the loop that suits it. A call of [`Loop::run`] is one slice:
//! what happens at a moment (ramp, runtime, samples, stops) happens between
//! two of them, in the crate above.

mod catalogue;
mod drive;
mod engine;
mod engines;
mod files;
mod iolog;
mod memory;
mod one_shot;
mod options;
mod pacing;
mod platform;
mod queue;
mod retries;
mod sync_call;
mod tape;
mod tolerance;
mod trace;
mod verifying;
mod zones;

pub use catalogue::{
    CATALOGUE, DEFAULT_ENGINE, ELSEWHERE, ElsewhereEngines, elsewhere, external, find,
};
pub use drive::{Accounting, Drive, Ended, Failure, Loop, SliceControl, SyncTap, Window};
pub use engine::{
    Caps, EngineDef, EngineError, FsyncCall, Io, LaysOut, NameChange, OneShot, Open, OpenWith,
    Opened, Queued, SyncRangeFlags, Wanted,
};
pub use engines::{sim, streams, tree};
pub use files::{FileSetup, Files, Hint, OpenMode, WriteLifetime, open_to_sync};
pub use iolog::IoLog;
pub use memory::{Fill, Memory};
pub use one_shot::OneShotLoop;
pub use options::{
    EngineOptionTable, EngineSettings, JobContext, OwnOptions, OwnSettings, ReadTyped,
};
pub use pacing::{FlowGroup, FlowShare, LatencyBounds, Lateness, Pacing, Pause, PauseEvery, Tried};
pub use platform::RawFile;
pub use queue::QueueLoop;
pub use tape::{Record, Tape, TapeConsumer};
pub use tolerance::{ErrorKind, ErrorReporter, Tolerance};
pub use trace::Trace;
pub use verifying::{CheckerStart, Checkers, OnWrongBlock, Verifying, WrongBlock};
pub use zones::ZoneDevices;

/// The settings of the engines that have options of their own.
pub mod settings {
    pub use crate::engines::cpuio::{CpuMode, CpuSettings};
    pub use crate::engines::exec::ExecSettings;
    pub use crate::engines::external_settings::ExternalSettings;
    pub use crate::engines::file_ops::{StatSettings, StatType};
    pub use crate::engines::mmap::MmapSettings;
    #[allow(unused_imports, reason = "some systems have no engines of their own with options")]
    pub use crate::platform::settings::*;
}
