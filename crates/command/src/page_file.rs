//! The file of an HTML page that `--html` asks for.

use crate::new_file;
use std::path::{Path, PathBuf};

/// Where a page goes, and whether it may replace a file.
#[derive(Clone, Debug)]
pub struct PageFile {
    path: PathBuf,
    may_replace: bool,
}

impl PageFile {
    /// At `path`, if there is to be one.
    ///
    /// # Errors
    /// The file exists and may not be replaced: known before anything runs.
    pub fn at(path: Option<&Path>, may_replace: bool) -> Result<Option<PageFile>, String> {
        let Some(path) = path else { return Ok(None) };
        new_file::check(path, may_replace).map_err(|why| format!("--html: {why}"))?;
        Ok(Some(PageFile { path: path.to_owned(), may_replace }))
    }

    /// Write the page.
    ///
    /// # Errors
    /// The system refuses, or the file has appeared meanwhile.
    pub fn write(&self, page: &str) -> Result<(), String> {
        new_file::write(&self.path, page, self.may_replace).map_err(|why| format!("--html: {why}"))
    }
}
