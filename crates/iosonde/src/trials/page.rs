//! What the pages of comparisons and sweeps have in common: units, the command
//! line, the file.

use super::figures::{Figure, Measure};
use crate::new_file;
use iosonde_base::text::shell_command;
use iosonde_html::FigureUnit;
use std::path::{Path, PathBuf};

/// The unit of a figure's values.
pub fn unit(figure: &Figure) -> FigureUnit {
    match figure.measure {
        Measure::Iops => FigureUnit::Count,
        Measure::Bandwidth | Measure::Durable => FigureUnit::BytesPerSecond,
        _ => FigureUnit::Nanoseconds,
    }
}

/// The command line that ran, for a shell.
pub fn command_line() -> String {
    shell_command(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// The file of a page that `--html` asks for, and whether it may replace one.
#[derive(Clone, Debug)]
pub struct PageFile {
    path: PathBuf,
    may_replace: bool,
}

impl PageFile {
    /// Of `--html[=FILE]`; `beside` is its name where none is given.
    ///
    /// # Errors
    /// The file exists and may not be replaced: known before anything runs.
    pub fn asked(
        html: Option<&Option<PathBuf>>,
        beside: &Path,
        may_replace: bool,
    ) -> Result<Option<PageFile>, String> {
        let Some(file) = html else { return Ok(None) };
        let path = file.clone().unwrap_or_else(|| beside.to_owned());
        new_file::check(&path, may_replace).map_err(|why| format!("--html: {why}"))?;
        Ok(Some(PageFile { path, may_replace }))
    }

    /// Write the page.
    ///
    /// # Errors
    /// The system refuses, or the file has appeared meanwhile.
    pub fn write(&self, page: &str) -> Result<(), String> {
        new_file::write(&self.path, page, self.may_replace).map_err(|why| format!("--html: {why}"))
    }
}
