//! Options of the engines that do one call an I/O.

use iosonde_options::{Category, options};

use crate::values::HugePageAdvice;

options! {
    /// pvsync2
    pub struct Pvsync2 in Category::Engine {
        /// Poll for completions rather than wait for interrupts (RWF_HIPRI).
        hipri: bool = "0" as "hipri" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Share of I/Os that `hipri` holds for, in percent.
        hipri_percentage: u32 = "100" as "hipri_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "50", "100"],
            bad: &["101", "some"],
        }
        /// Drop pages from the page cache once they are read or written (RWF_DONTCACHE).
        uncached: u32 = "0" as "uncached" {
            good: &["0", "1"],
            bad: &["yes"],
        }
        /// Fail with EAGAIN rather than wait (RWF_NOWAIT).
        nowait: bool = "0" as "nowait" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
    }
}

options! {
    /// mmap
    pub struct Mmap in Category::Engine {
        /// Ask for huge pages (1), for none (0), or leave it to the system.
        thp: Option<HugePageAdvice> = "" as "thp" {
            good: &["0", "1"],
            bad: &["some"],
        }
    }
}
