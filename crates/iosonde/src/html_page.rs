//! The report of a run as an HTML page (`--html`).

use crate::new_file;
use iosonde_html::{PageRun, page};
use iosonde_report::Report;
use iosonde_report::formats::{JsonOptions, fio_json};
use iosonde_spec::cli::flags::Flags;
use std::path::Path;

/// Whether the page can be written when the run has ended.
///
/// # Errors
/// The file exists, and `--force` is not given.
pub fn check(flags: &Flags) -> Result<(), String> {
    let named = |why: String| format!("--html: {why}");
    flags
        .html
        .as_ref()
        .map_or(Ok(()), |file| new_file::check(Path::new(file), flags.force).map_err(named))
}

/// Write the page, if one is wanted.
///
/// # Errors
/// The file cannot be written, or has appeared meanwhile.
pub fn write(flags: &Flags, report: &Report) -> Result<(), String> {
    let Some(file) = &flags.html else { return Ok(()) };
    let json = fio_json(report, &JsonOptions { ours: true });
    let names: Vec<&str> = report.jobs.iter().map(|job| job.name.as_str()).collect();
    let title = format!("iosonde: {}", names.join(", "));
    let run = PageRun { name: "a run", report, json: Some(&json), notes: &[] };
    new_file::write(Path::new(file), &page(&title, &[run]), flags.force)
        .map_err(|why| format!("--html: {why}"))
}
