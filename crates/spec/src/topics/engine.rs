//! Which engine does the I/O.

use iosonde_options::{Category, options};

use crate::values::{EngineName, UNAVAILABLE_NAMES};

options! {
    /// Engine
    pub struct EngineOptions in Category::Engine {
        /// The I/O engine: how I/O is submitted.
        ///
        /// Options of an engine may be given before or after it.
        ioengine: EngineName = "psync" as "ioengine" {
            default: iosonde_engine::DEFAULT_ENGINE,
            unbuilt_words: &UNAVAILABLE_NAMES,
            good: &["psync", "libaio", "io_uring", "null", "mmap", "sync", "pvsync2"],
            bad: &["fastest", "external:"],
        }
    }
}
