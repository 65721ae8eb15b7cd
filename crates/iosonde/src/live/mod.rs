//! A run in progress: readings of it, and how they are shown.

pub mod dirty;
mod findings;
mod json;
mod latencies;
mod mode;
mod painter;
mod sampler;
pub mod share;
mod show;
mod viewer;

pub use json::JsonStream;
pub use mode::{LONG_S, LiveMode};
pub use show::LiveShow;
