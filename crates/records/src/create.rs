//! Writers' files come to be, as SBK's drivers make them.

use crate::bench::{Benchmark, Creation};
use crate::jobs::RecordWorker;
use std::fs::{File, FileType, symlink_metadata};
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Create, empty or keep the file of each worker. Only regular files and links
/// are ever removed: a device stays what it is, and is written from its start.
pub fn files(bench: &Benchmark, workers: &[RecordWorker]) -> Result<(), String> {
    for RecordWorker { path, .. } in workers {
        create(bench.creation, path)
            .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
    }
    Ok(())
}

fn create(creation: Creation, path: &Path) -> Result<(), Error> {
    let found = match std::fs::metadata(path) {
        Ok(found) => Some(found.file_type()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if found.is_some_and(|kind| !kind.is_file()) {
        return Ok(());
    }
    let is_link = |kind: FileType| kind.is_symlink();
    let named = symlink_metadata(path).map(|found| found.file_type());
    // A link is removed as SBK removes it: what it leads to stays.
    let is_there = found.is_some() || named.is_ok_and(is_link);
    let mut options = File::options();
    let opened = match creation {
        Creation::Anew => {
            if is_there {
                std::fs::remove_file(path)?;
            }
            options.write(true).create_new(true).open(path)
        }
        Creation::Emptied => options.write(true).create(true).truncate(true).open(path),
        Creation::Kept | Creation::Appended => {
            options.write(true).create(true).truncate(false).open(path)
        }
    };
    opened.map(drop)
}
