//! Counters the system keeps: read them before and after, and subtract.

mod diskstats;
mod extents;
mod group;
mod machine;
mod pressure;
mod procio;
mod usage;

pub use diskstats::DiskCounters;
pub use extents::{Attributes, Extents};
pub use group::{GroupLimits, Groups, Throttled};
pub use machine::{CpuTime, PageFlow};
pub use pressure::{Pressure, Resource};
pub use procio::TaskIo;
pub use usage::{Usage, run_delay_of_thread};
