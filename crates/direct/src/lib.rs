//! Direct I/O, and the facts it depends on.
//!
#![doc = include_str!("../README.md")]

mod alignment;
mod buffer;
pub mod cache;
pub mod device;
mod device_facts;
pub mod durability;
mod exact;
mod fact;
mod facts;
mod honoured;
pub mod lock;
mod memory_kind;
mod open;
mod platform;
mod probe;
pub mod stack;
pub mod sysfs;

pub use alignment::{Misalignment, RequestPart, Transfer};
pub use buffer::{AlignedBuf, BufferError, BufferPool, PoolError, PoolOptions, PooledBuf, RawBuf};
pub use device::Device;
pub use device_facts::{AtomicWrite, DeviceFacts, Discard, WriteCache, ZoneModel};
pub use exact::ExactIo;
pub use fact::Fact;
pub use facts::{Facts, PathKind};
pub use honoured::{Answer, Honoured, Tristate, honoured};
pub use memory_kind::{HugePage, MemoryKind};
pub use open::{OpenError, OpenOptions};
pub use probe::{DirectIo, Known};
