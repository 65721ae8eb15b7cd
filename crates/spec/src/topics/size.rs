//! How much is read or written.

use iosonde_options::{Amount, Category, options};

use crate::values::FileSize;

options! {
    /// Size
    pub struct SizeOptions in Category::IoBasic {
        /// Bytes that the job covers, over all its files.
        ///
        /// Also a percentage of the existing files or device, or a number of zones. Without
        /// it the job covers what is there.
        size: Option<Amount> = "" as "size" {
            zones: true,
            good: &["1g", "4096", "50%", "8z"],
            bad: &["huge", "1.5z"],
        }
        /// Bytes that the job moves, if that is not `size`.
        ///
        /// Less ends the job early; more goes round again.
        io_size: Option<Amount> = "" as "io_size" | "io_limit" {
            zones: true,
            good: &["1g", "50%", "8z"],
            bad: &["huge", "101%"],
        }
        /// Write until there is no space left.
        ///
        /// Only for sequential writes; running out of space is then a normal end.
        fill_device: bool = "0" as "fill_device" | "fill_fs" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Bytes of each file, or a range from which each file's size is drawn.
        filesize: Option<FileSize> = "" as "filesize" {
            category: Category::File,
            min: Some(1),
            good: &["1m", "4k-8k", "4k:8k"],
            bad: &["0", "big"],
        }
        /// Begin at the end of each file, which grows.
        file_append: bool = "0" as "file_append" {
            category: Category::File,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
    }
}
