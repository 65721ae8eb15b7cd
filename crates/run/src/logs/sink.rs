//! One file of a log.

use iosonde_sys::process::close;
use iosonde_sys::whole_file::is_still_there;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Text is gathered up to this much before it is written or compressed.
const GATHERED: usize = 1 << 20;

/// An open log file. An error is kept, and nothing is written after it.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
    file: File,
    compressed: bool,
    text: Vec<u8>,
    failed: Option<io::Error>,
}

impl Sink {
    /// Create the file, or empty it; with `append`, keep what is there.
    pub fn open(path: &Path, append: bool, compressed: bool) -> io::Result<Sink> {
        let mut options = File::options();
        let file = if append {
            options.append(true).create(true).open(path)?
        } else {
            options.write(true).truncate(true).create(true).open(path)?
        };
        Ok(Sink { path: path.to_owned(), file, compressed, text: Vec::new(), failed: None })
    }

    /// Where lines are put.
    pub fn text(&mut self) -> &mut Vec<u8> {
        if self.text.len() >= GATHERED {
            self.write_out();
        }
        &mut self.text
    }

    /// Write what was gathered, unless it is to be compressed and little.
    pub fn flush(&mut self) {
        if !self.compressed || self.text.len() >= GATHERED {
            self.write_out();
        }
    }

    /// Write all that is left. The first error that was met, and where.
    pub fn finish(mut self) -> Result<(), (PathBuf, io::Error)> {
        self.write_out();
        // Some file systems report only now what a write met.
        let Sink { path, file, failed, .. } = self;
        let is_there = is_still_there(&file);
        let closed = failed.map_or(Ok(()), Err).and(is_there).and(close(file.into()));
        closed.map_err(|error| (path, error))
    }

    /// One call of write(2) for whole lines: jobs that share a file do not cut
    /// each other's. Compressed text is a zlib stream each time, as in fio's
    /// files; streams may follow one another.
    fn write_out(&mut self) {
        if !self.text.is_empty() && self.failed.is_none() {
            let written = if self.compressed {
                compress(&self.text).and_then(|bytes| self.file.write_all(&bytes))
            } else {
                self.file.write_all(&self.text)
            };
            self.failed = written.err();
        }
        self.text.clear();
    }
}

fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    let level = flate2::Compression::fast();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(text)?;
    encoder.finish()
}
