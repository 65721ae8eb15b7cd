//! The engines that every system has, one file each, and what engines share; those of some systems
//! are in their platform.

pub(crate) mod beside;
pub(crate) mod cpuio;
pub(crate) mod exec;
pub(crate) mod external_settings;
pub(crate) mod file_ops;
pub(crate) mod ftruncate;
pub(crate) mod mmap;
pub(crate) mod null;
pub(crate) mod offload;
pub(crate) mod pool;
pub(crate) mod shared;
pub mod sim;
pub(crate) mod stepwise;
pub mod streams;
pub(crate) mod sync;
pub mod tree;

use crate::{
    Accounting, Caps, EngineDef, EngineError, Loop, OneShot, OneShotLoop, QueueLoop, Queued,
};

/// The engines of a system: tables, one after another.
pub(crate) type Tables = &'static [&'static [&'static EngineDef]];

/// On every system: engines that move no data.
pub(crate) const NO_DATA: &[&EngineDef] = &[&null::NULL, &sim::SIM];
/// On every system: engines that act on names.
pub(crate) const NAMES: &[&EngineDef] = &[
    &file_ops::FILECREATE,
    &file_ops::FILESTAT,
    &file_ops::FILEDELETE,
    &file_ops::DIRCREATE,
    &file_ops::DIRSTAT,
    &file_ops::DIRDELETE,
];
/// On every system: engines that do something else than I/O.
pub(crate) const OTHER_WORK: &[&EngineDef] = &[&cpuio::CPUIO, &exec::EXEC];

/// A one-shot engine in a loop that is compiled for it: for engines whose I/Os take
/// so little that a few instructions for each would show.
pub(crate) fn one_shot<E: OneShot + 'static>(engine: E, accounting: Accounting) -> Box<dyn Loop> {
    match accounting {
        Accounting::Full => Box::new(OneShotLoop::<E, true>::new(engine)),
        Accounting::CountsOnly => Box::new(OneShotLoop::<E, false>::new(engine)),
    }
}

/// A one-shot engine in the loop that is compiled once for all of these.
pub(crate) fn shared_one_shot(
    engine: impl OneShot + 'static,
    accounting: Accounting,
) -> Box<dyn Loop> {
    one_shot::<Box<dyn OneShot>>(Box::new(engine), accounting)
}

/// A queued engine in a loop that is compiled for it, as [`one_shot`].
pub(crate) fn queued<E: Queued + 'static>(
    engine: E,
    depth: u32,
    accounting: Accounting,
) -> Box<dyn Loop> {
    match accounting {
        Accounting::Full => Box::new(QueueLoop::<E, true>::new(engine, depth)),
        Accounting::CountsOnly => Box::new(QueueLoop::<E, false>::new(engine, depth)),
    }
}

/// A queued engine in the loop that is compiled once for all of these.
pub(crate) fn shared_queued(
    engine: impl Queued + 'static,
    depth: u32,
    accounting: Accounting,
) -> Box<dyn Loop> {
    queued::<Box<dyn Queued>>(Box::new(engine), depth, accounting)
}

/// What the engines of plain system calls can do.
pub(crate) const CAPS: Caps = Caps { sync: true, trim: true, ..Caps::NONE };

/// For engines that run everywhere.
pub(crate) fn always() -> Result<(), EngineError> {
    Ok(())
}

/// Everything in a file, from its start.
#[cfg(test)]
pub(crate) fn tests_read_all(file: &std::fs::File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    let read = crate::platform::read_at(crate::platform::raw(file), &mut bytes, 0);
    assert_eq!(read, Ok(bytes.len()));
    bytes
}
