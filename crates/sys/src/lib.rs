//! The machine: clocks, processors, counters, the stack of devices below a path.

pub mod cgroup;
pub mod clock;
pub mod connections;
pub mod counters;
pub mod cpu;
pub mod environment;
pub mod erase;
pub mod files;
mod gather;
pub mod guard;
pub mod library;
pub mod local_time;
pub mod memory;
pub mod memory_limit;
pub mod numa;
mod platform;
pub mod priority;
pub mod process;
pub mod processor;
pub mod ring_probe;
pub mod scheduler;
pub mod signals;
pub mod signature;
pub mod stack;
pub mod standard_error;
pub mod standard_output;
pub mod status_line;
pub mod temporary;
pub mod terminal;
pub mod whole_file;
pub mod zones;

pub use clock::{Bell, Clock, ClockError, ClockSource, Sleeper, Slept, Still};
pub use gather::{Gathered, Giver, gather};
