//! The report of a run as an HTML page (`--html`).

use iosonde_command::page_file::PageFile;
use iosonde_html::{PageRun, page};
use iosonde_report::Report;
use iosonde_report::formats::{JsonOptions, fio_json};
use iosonde_spec::cli::flags::OutputFlags;
use std::path::Path;

/// Whether the page can be written when the run has ended.
///
/// # Errors
/// The file exists, and `--force` is not given.
pub fn check(flags: &OutputFlags) -> Result<(), String> {
    file(flags).map(drop)
}

fn file(flags: &OutputFlags) -> Result<Option<PageFile>, String> {
    PageFile::at(flags.html.as_deref().map(Path::new), flags.force)
}

/// Write the page, if one is wanted.
///
/// # Errors
/// The file cannot be written, or has appeared meanwhile.
pub fn write(flags: &OutputFlags, report: &Report) -> Result<(), String> {
    let Some(file) = file(flags)? else { return Ok(()) };
    let json = fio_json(report, &JsonOptions { ours: true });
    let names: Vec<&str> = report.jobs.iter().map(|job| job.name.as_str()).collect();
    let title = format!("iosonde: {}", names.join(", "));
    let run = PageRun { name: "a run", report, json: Some(&json), notes: &[], findings: &[] };
    file.write(&page(&title, &[run]))
}
