//! Storage that fails on purpose, and the bench that runs iosonde on it.
//!
//! [`FaultMount`] is a file system in user space whose files live in memory.
//! A [`Script`] made from a seed decides which requests fail, and how; the
//! [`Store`] knows what should lie in each block, what does, and what a power
//! cut would leave. [`mod@bench`] runs jobs on it and compares what iosonde
//! reports with what was injected. For tests and `cargo xtask faults` only.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod bench;
mod dice;
mod files;
mod forge;
mod mount;
mod script;
mod store;

pub use dice::Dice;
pub use forge::HeaderField;
pub use mount::{FaultMount, with_own_mounts};
pub use script::{Fault, Rule, Script, Target};
pub use store::{Caching, EVERY_FILE, Store};
