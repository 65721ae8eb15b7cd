//! `write_iolog`: each I/O as it is issued, in fio's iolog version 3.

use iosonde_base::{Op, Planned};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An open iolog. Lines are `milliseconds file action offset length`, as
/// fio(1) describes under "trace file format v3"; the times are in
/// microseconds since the job's start there and here.
#[derive(Debug)]
pub struct IoLog {
    out: BufWriter<File>,
    names: Vec<String>,
    /// The moment that the times count from, in ticks.
    pub epoch: u64,
    failed: Option<io::Error>,
}

impl IoLog {
    /// Create, or append to, the log at `path` for files of these names.
    pub fn open(path: &Path, names: Vec<String>, epoch: u64) -> io::Result<IoLog> {
        let file = File::options().append(true).create(true).open(path)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(b"fio version 3 iolog\n")?;
        Ok(IoLog { out, names, epoch, failed: None })
    }

    /// Note that every file was added or that one was opened or closed.
    pub fn note(&mut self, ns: u64, file: usize, action: &str) {
        let written = writeln!(self.out, "{} {} {action}", ns / 1000, self.names[file]);
        self.keep(written);
    }

    /// Note one I/O, `ns` after the epoch.
    pub fn add(&mut self, ns: u64, entry: &Planned) {
        let action = match entry.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Sync => "sync",
            Op::DataSync => "datasync",
            Op::SyncRange => "sync_file_range",
            Op::Open | Op::Close | Op::Invalidate => return,
        };
        let name = &self.names[entry.file.0 as usize];
        let (us, offset, len) = (ns / 1000, entry.offset, entry.len);
        let written = writeln!(self.out, "{us} {name} {action} {offset} {len}");
        self.keep(written);
    }

    /// Write out what is buffered; the first error that any line met.
    pub fn finish(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.failed.take().map_or(flushed, Err)
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}
