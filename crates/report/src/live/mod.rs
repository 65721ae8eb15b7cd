//! What is shown while jobs run: the status line, the screen, metrics.

mod clients;
pub mod metrics;
mod page_server;
pub mod screen;
mod status_line;

pub use page_server::{PageServer, PageSource, ServedPage};
pub use status_line::{JobState, Status, StatusRate, fio_status_line, native_status_line};
