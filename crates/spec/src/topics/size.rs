//! How much is read or written.

use iosonde_options::{Amount, Category, options};

use crate::values::FileSize;

options! {
    /// Size
    pub struct SizeOptions in Category::IoBasic {
        /// Size of the job: the bytes it covers over all its files.
        ///
        /// Also a percentage of the existing files or device, or a number of zones of
        /// `zonemode` (`8z`). Without it, or with 0, the job covers the existing files or device.
        size: Option<Amount> = "" as "size" {
            zones: true,
            good: &["1g", "4096", "50%"],
            bad: &["huge", "1.5z"],
        }
        /// Bytes of I/O to do; default: `size`.
        ///
        /// Less ends the job early; more starts over. Also in zones of `zonemode` (`8z`).
        io_size: Option<Amount> = "" as "io_size" | "io_limit" {
            zones: true,
            good: &["1g", "50%"],
            bad: &["huge", "101%"],
        }
        /// Write until the device is full.
        ///
        /// Only for sequential writes; ENOSPC is then the normal end.
        fill_device: bool = "0" as "fill_device" | "fill_fs" {
            with: &["rw=write"],
        }
        /// Size of each file, or a range from which it is drawn.
        filesize: Option<FileSize> = "" as "filesize" {
            category: Category::File,
            min: Some(1),
            good: &["1m", "4k-8k", "4k:8k"],
            bad: &["0", "big"],
        }
        /// Append to each file.
        file_append: bool = "0" as "file_append" {
            category: Category::File,
            with: &["rw=write"],
        }
    }
}
