//! Direct I/O done right: aligned memory, and what a device really is.
