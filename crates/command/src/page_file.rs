//! The file of an HTML page that `--html` asks for.

use crate::new_file;
use iosonde_sys::standard_error::print_error;
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
    /// The file exists and may not be replaced, or its directory does not exist: known before
    /// anything runs.
    pub fn at(path: Option<&Path>, may_replace: bool) -> Result<Option<PageFile>, String> {
        let folder = path.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let what = if folder.exists() { "is not a directory" } else { "does not exist" };
            return Err(format!("--html: {} {what}", folder.display()));
        }
        PageFile::in_new_folder(path, may_replace)
    }

    /// As [`PageFile::at`], where a run makes the directory of the page.
    ///
    /// # Errors
    /// The file exists and may not be replaced.
    pub fn in_new_folder(
        path: Option<&Path>,
        may_replace: bool,
    ) -> Result<Option<PageFile>, String> {
        let Some(path) = path else { return Ok(None) };
        new_file::check(path, may_replace).map_err(|why| format!("--html: {why}"))?;
        Ok(Some(PageFile { path: path.to_owned(), may_replace }))
    }

    /// Write the page, and name it on standard error.
    ///
    /// # Errors
    /// The system refuses, or the file has appeared meanwhile.
    pub fn write(&self, page: &str) -> Result<(), String> {
        new_file::write(&self.path, page, self.may_replace)
            .map_err(|why| format!("--html: {why}"))?;
        print_error(&format!("iosonde: wrote {}", self.path.display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn a_directory_that_does_not_exist_is_refused_before_anything_runs() {
        let folder = Folder::new("page-file");
        let path = folder.join("none/page.html");
        let refused = PageFile::at(Some(&path), false).unwrap_err();
        assert!(refused.starts_with("--html: ") && refused.ends_with("/none does not exist"));
        assert!(PageFile::in_new_folder(Some(&path), false).is_ok());
        assert!(PageFile::at(Some(Path::new("page-of-no-run.html")), false).is_ok());
    }
}
