//! Numbers as text and lines of a given width, the same in each report.

mod csv;
mod digits;
mod harmless;
mod lines;
mod numbers;
mod sizes;
mod times;

pub use csv::csv_cell;
pub use digits::{put_next_number, put_number};
pub use harmless::{harmless, plain};
pub use lines::{fit, shell_command, unbroken, wrap};
pub use numbers::{
    bytes, count, counted, duration, duration_of_ms, exact_bytes, percent, percent_of, rate,
    rough_time, short_duration, short_percent, significant,
};
pub use sizes::{short_size, size};
pub use times::time;
