//! What the next I/O is: direction, place, size. Replays from a seed; does no I/O.
//!
//! A [`SourceSpec`] is everything decided beforehand; [`Source::new`] turns it
//! into a planner; [`Source::refill`] fills a [`Ring`](iosonde_base::Ring) with
//! the next entries, equal to those fio 3.42 would issue from the same seed.

//!
//! No clock, no file and no thread is touched here, so that all of it is tested
//! in microseconds and replays exactly.

#![forbid(unsafe_code)]

mod choose;
pub mod content;
mod fast_files;
mod fast_numbers;
mod fast_path;
mod file;
mod files;
mod idle;
mod limits;

mod mix;
mod offsets;
mod pace;
mod picker;
mod plain;
mod random;
mod random_map;
pub mod replay;
mod sizes;
mod source;
mod spec;
mod sprandom;
mod steady;
mod streams;
mod syncs;
pub mod zbd;

pub use offsets::Law;
pub use pace::{Cap, Pace, PaceSpec, Process};
pub use random::{Lfsr, Taus88, Taus258};
pub use random_map::RandomMap;
pub use source::{Refill, Source};
pub use spec::{
    Directions, Distribution, FilePick, FileService, Generator, MapMode, Sequencer, Share, Sizes,
    SourceFile, SourceSpec, SpecError, SprandomSpec, Strided, SyncEvery, Zone,
};
pub use streams::{FileSizes, priority_seed, seeds, start_delay_us};
