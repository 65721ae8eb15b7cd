//! The machine: clocks, processors, counters, the stack of devices below a path.
