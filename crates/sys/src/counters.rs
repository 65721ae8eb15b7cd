//! Counters the system keeps: read them before and after, and subtract.

mod diskstats;
mod procio;
mod usage;

pub use diskstats::DiskCounters;
pub use procio::TaskIo;
pub use usage::Usage;
