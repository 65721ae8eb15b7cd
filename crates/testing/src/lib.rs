//! Helpers that only tests use: folders of a test's own, real devices, a fake
//! machine, changed inputs, and skips that are counted. A dev-dependency of the other crates;
//! it depends on none of them.

#![forbid(unsafe_code)]

#[cfg(unix)]
mod devices;
#[cfg(unix)]
mod fake_system;
pub mod fio_text;
mod folder;
mod json_shape;
mod mutate;
mod port;
mod programs;
pub mod schema;
pub mod skip;
#[cfg(unix)]
mod undo;

#[cfg(unix)]
pub use devices::{LoopDevice, Mounted, Overlay, filesystem, freeze, swap_on};
#[cfg(unix)]
pub use fake_system::FakeSystem;
pub use folder::{Folder, temporary_file};
pub use json_shape::json_shape;
pub use mutate::Mutations;
pub use port::free_port;
#[cfg(unix)]
pub use programs::is_root;
pub use programs::{has, has_fio, has_fio_for_part, has_strace, run};
pub use skip::{or_skip, or_skip_part};
#[cfg(unix)]
pub use undo::{Cleaner, Undo, quoted};
