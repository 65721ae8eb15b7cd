//! One file of a log.

use iosonde_sys::process::close;
use iosonde_sys::whole_file::{WholeFile, is_still_there};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Text is gathered up to this much before it is written or compressed.
const GATHERED: usize = 1 << 20;

/// An open log file. An error is kept, and nothing is written after it.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
    file: LogFile,
    compressed: bool,
    text: Vec<u8>,
    failed: Option<io::Error>,
}

/// Where a log is written.
#[derive(Debug)]
enum LogFile {
    /// Under its name, where it can be watched as it grows.
    Named(File),
    /// In place of a log of before, which stays until this one is complete.
    Replacing(WholeFile),
}

impl LogFile {
    fn open(path: &Path, append: bool) -> io::Result<LogFile> {
        let mut options = File::options();
        if append {
            return options.append(true).create(true).open(path).map(LogFile::Named);
        }
        let holds_data = |found: std::fs::Metadata| found.is_file() && found.len() > 0;
        if std::fs::metadata(path).is_ok_and(holds_data) {
            return WholeFile::create(path).map(LogFile::Replacing);
        }
        options.write(true).truncate(true).create(true).open(path).map(LogFile::Named)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            LogFile::Named(file) => file.write_all(bytes),
            LogFile::Replacing(file) => file.write_all(bytes),
        }
    }

    /// Some file systems report only now what a write met.
    fn finish(self) -> io::Result<()> {
        match self {
            LogFile::Named(file) => is_still_there(&file).and(close(file.into())),
            // No sync: other jobs may still be measured.
            LogFile::Replacing(file) => file.finish_unsynced(),
        }
    }
}

impl Sink {
    /// Create the file. What is there is kept with `append`; else it is replaced when the
    /// log is complete.
    pub fn open(path: &Path, append: bool, compressed: bool) -> io::Result<Sink> {
        let file = LogFile::open(path, append)?;
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
        let Sink { path, file, failed, .. } = self;
        // One that is not complete replaces nothing.
        let finished = failed.map_or(Ok(()), Err).and_then(|()| file.finish());
        finished.map_err(|error| (path, error))
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

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn a_log_of_before_stays_until_the_new_one_is_complete() {
        let folder = Folder::temporary("log-sink");
        let path = folder.join("log");
        let mut first = Sink::open(&path, false, false).unwrap();
        first.text().extend_from_slice(b"1\n");
        first.flush();
        assert_eq!(folder.read("log"), "1\n", "a new log can be watched");
        first.finish().unwrap();

        let mut second = Sink::open(&path, false, false).unwrap();
        second.text().extend_from_slice(b"2\n");
        second.flush();
        assert_eq!(folder.read("log"), "1\n");
        drop(second);
        assert_eq!(folder.read("log"), "1\n", "given up");
        let mut third = Sink::open(&path, false, false).unwrap();
        third.text().extend_from_slice(b"3\n");
        third.finish().unwrap();
        assert_eq!(folder.read("log"), "3\n");
        let mut more = Sink::open(&path, true, false).unwrap();
        more.text().extend_from_slice(b"4\n");
        more.finish().unwrap();
        assert_eq!(folder.read("log"), "3\n4\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
