//! Reports as text: one format, one file. Each is a pure function.

mod client_json;
mod csv;
mod disk_json;
mod findings_text;
mod fio_json;
mod fio_json_plus;
mod fio_normal;
mod fio_terse;
mod job_json;
mod json_text;
mod latency_json;
mod ledger_text;
mod markdown;
mod native;
mod style;

pub use csv::csv;
pub use findings_text::{findings_folded, findings_text};
pub use fio_json::{JsonOptions, fio_json};
pub use fio_json_plus::fio_json_plus;
pub use fio_normal::{Opening, fio_all_clients, fio_normal, opening_lines, starting_line};
pub use fio_terse::{TerseVersion, fio_terse};
pub(crate) use latency_json::Bins;
pub use latency_json::LatencyDocument;
pub use ledger_text::{ledger_text, system};
pub use markdown::markdown;
pub use native::native;
pub use style::Style;

/// The label of each of fio's queue depth classes.
const DEPTH_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// The label of each of fio's batch classes.
const BATCH_LABELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// The labels of fio's latency classes; milliseconds go on to 2000 and more.
const CLASS_LABELS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
