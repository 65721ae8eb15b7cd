//! Types that every crate shares: directions, requests, completions, times, numbers as text.
//!
//! No I/O and no allocation on a hot path; everything here is plain data.

#![forbid(unsafe_code)]

mod dir;
mod errno;
pub mod exit;
mod middle;
mod parts;
mod platform;
mod request;
mod sort;
pub mod text;
pub mod time;
mod zone;

pub use dir::{DIRS, Dir, PerDir};
pub use errno::{Errno, bare};
pub use middle::{mean, median};
pub use parts::part_of;
pub use request::{Completion, FileId, Op, Planned, RING, Ring, Slot};
pub use sort::{sort, sort_by, sort_by_key};
pub use time::Nanos;
pub use zone::{ZoneCondition, ZoneKind, ZoneReport};
