//! Reading the kernel's signals: each function looks at something now.
//!
//! None of them changes anything, and each is bounded in what it looks at.

mod backing;
mod below;
mod below_holes;
mod durable;
mod file;
mod journal;
mod machine;
mod place;

pub use backing::PagesBelow;
pub use below::LoopBacking;
pub use below_holes::holes_below;
pub use durable::{DrainTime, SyncFile, drain};
pub use file::{FileReading, sample};
pub use machine::MachineReading;
pub(crate) use machine::both;
pub(crate) use place::is_of_memory;
pub use place::{Location, Locations, device_facts};
