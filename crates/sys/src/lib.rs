//! The machine: clocks, processors, counters, the stack of devices below a path.

pub mod clock;

pub use clock::{Bell, Clock, ClockError, ClockSource, Slept, Still};
