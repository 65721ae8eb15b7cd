//! Direct I/O done right: aligned memory, and what a device really is.

mod buffer;
mod platform;

pub use buffer::{AlignedBuf, BufferError};
