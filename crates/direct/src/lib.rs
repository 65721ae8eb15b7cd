//! Direct I/O done right: aligned memory, and what a device really is.
//!
//! [`AlignedBuf`] is memory that any device takes; [`OpenOptions`] opens a file
//! past the page cache or through it; [`DirectIo`] says what a file asks of
//! direct I/O and how that is known; [`device`] reads and commands block
//! devices. Nothing here decides what to read or write.

mod buffer;
pub mod device;
mod memory_kind;
mod open;
mod platform;
mod probe;

pub use buffer::{AlignedBuf, BufferError};
pub use device::Device;
pub use memory_kind::{HugePage, MemoryKind};
pub use open::{OpenError, OpenOptions};
pub use probe::{DirectIo, Known};
