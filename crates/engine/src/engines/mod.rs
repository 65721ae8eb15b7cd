//! The engines: one file each, and a line in [`crate::CATALOGUE`].

pub(crate) mod beside;
pub(crate) mod cmdprio;
pub(crate) mod cpuio;
pub(crate) mod e4defrag;
pub(crate) mod exec;
pub mod external;
pub(crate) mod falloc;
pub(crate) mod file_ops;
pub(crate) mod ftruncate;
pub(crate) mod io_uring;
pub(crate) mod libaio;
pub(crate) mod mmap;
pub(crate) mod net;
pub(crate) mod null;
pub(crate) mod offload;
pub(crate) mod page_fault;
pub(crate) mod pool;
pub(crate) mod posixaio;
pub(crate) mod psync;
pub(crate) mod pvsync2;
pub(crate) mod rw_flags;
pub(crate) mod shared;
pub mod sim;
pub(crate) mod splice;
pub(crate) mod stepwise;
pub mod streams;
pub(crate) mod sync;
pub mod tree;
pub(crate) mod trim;
pub(crate) mod vsync;

use crate::{Accounting, EngineError, Loop, OneShot, OneShotLoop, QueueLoop, Queued};

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

/// For engines that run everywhere.
pub(crate) fn always() -> Result<(), EngineError> {
    Ok(())
}

/// Everything in a file, from its start.
#[cfg(test)]
pub(crate) fn tests_read_all(file: &std::fs::File) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}
