//! What is printed while jobs run.

mod status_line;

pub use status_line::{JobState, Status, StatusRate, fio_status_line, native_status_line};
