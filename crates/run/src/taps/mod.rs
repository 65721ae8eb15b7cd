//! Every I/O of a job, handed to somebody in chunks, on the job's own thread.
//!
//! For accounts that need each latency and not its bucket. A job without a tap
//! pays nothing.

pub(crate) mod priorities;

use iosonde_engine::{Record, Tape};
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use std::sync::Arc;

/// Records of a chunk: 16 KiB, which stay in the processor's first cache.
const CHUNK: usize = 512;

/// Who is handed every I/O of a job. The job waits while it is called.
pub trait Tap: Send + Sync + std::fmt::Debug {
    /// Counting has begun at `began`, in ticks of `clock`.
    fn begin(&self, began: u64, clock: Clock, counters: &Arc<Counters>);

    /// I/Os that were done whole, in the order in which they came back.
    fn take(&self, records: &[Record]);

    /// A sync among the writes took this long; reported after the I/Os before it
    /// were done, which may still be in a chunk that is not full.
    fn sync(&self, ns: u64);

    /// All up to `now`, in ticks, has been taken. When to hand over next, in
    /// ticks, full chunk or not.
    fn handed_over(&self, now: u64) -> u64;

    /// The job has ended; all was taken.
    fn end(&self, now: u64);
}

/// A tape that gives its chunks to `tap`.
pub(crate) fn tape(tap: Arc<dyn Tap>) -> Tape {
    Tape::new(Box::new(move |mut full: Vec<Record>| {
        if full.capacity() == 0 {
            return Vec::with_capacity(CHUNK);
        }
        tap.take(&full);
        full.clear();
        full
    }))
}
