//! fio's json+: its JSON, with the bins that the percentiles were read from.

use super::fio_json::document;
use super::latency_json::Bins;
use super::{JsonOptions, json_text};
use crate::Report;

/// The report as fio's `--output-format=json+`.
pub fn fio_json_plus(report: &Report, options: &JsonOptions) -> String {
    json_text::document(&document(report, options, Bins::Included))
}
