//! `write_iolog`: each I/O as it is issued, in fio's iolog version 3.

use crate::Trace;
use iosonde_base::text::put_number;
use iosonde_base::{FileId, Op, Planned};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An open iolog. Lines are `time file action [offset length]`, as fio(1)
/// describes under "trace file format v3"; the times are in microseconds since
/// the job's start.
///
/// Every file is added at the start. It is logged as opened when the job comes
/// to it, as fio opens it then, though ours are mostly open before.
#[derive(Debug)]
pub struct IoLog {
    /// The log itself; none where only a trace was asked for.
    out: Option<BufWriter<File>>,
    trace: Option<Trace>,
    /// The line that is being made.
    line: Vec<u8>,
    names: Vec<String>,
    /// Which files are open, as the log has it.
    open: Vec<bool>,
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
        for name in &names {
            writeln!(out, "0 {name} add")?;
        }
        let open = vec![false; names.len()];
        Ok(IoLog {
            out: Some(out),
            trace: None,
            line: Vec::new(),
            names,
            open,
            epoch,
            failed: None,
        })
    }

    /// No log, but a trace on standard output.
    pub fn only_trace(trace: Trace, files: usize) -> IoLog {
        let (names, open) = (Vec::new(), vec![false; files]);
        IoLog {
            out: None,
            trace: Some(trace),
            line: Vec::new(),
            names,
            open,
            epoch: 0,
            failed: None,
        }
    }

    /// A trace on standard output as well.
    pub fn with_trace(self, trace: Option<Trace>) -> IoLog {
        IoLog { trace, ..self }
    }

    /// Whether I/Os are printed as well.
    pub fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// Print that an I/O has completed, where that is requested.
    pub fn completed(&self, entry: &Planned) {
        if let Some(trace) = &self.trace {
            trace.completed(entry);
        }
    }

    /// Log that a file is closed, `ns` after the epoch, if it was ever opened.
    pub fn close(&mut self, ns: u64, file: FileId) {
        let file = file.0 as usize;
        if std::mem::take(&mut self.open[file]) {
            self.mark(ns, file, "close");
        }
    }

    fn mark(&mut self, ns: u64, file: usize, action: &str) {
        if let Some(out) = &mut self.out {
            let written = writeln!(out, "{} {} {action}", ns / 1000, self.names[file]);
            self.keep(written);
        }
    }

    /// Log that the file system of a file is synced, `ns` after the epoch.
    pub fn add_syncfs(&mut self, ns: u64, file: FileId) {
        let file = file.0 as usize;
        if !std::mem::replace(&mut self.open[file], true) {
            self.mark(ns, file, "open");
        }
        self.mark(ns, file, "syncfs 0 0");
    }

    /// Log one I/O, `ns` after the epoch.
    pub fn add(&mut self, ns: u64, entry: &Planned) {
        if let Some(trace) = &self.trace {
            trace.queued(entry);
        }
        let action = match entry.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim | Op::ZoneTrim => "trim",
            Op::Sync => "sync",
            Op::DataSync => "datasync",
            Op::SyncRange => "sync_file_range",
            _ => return,
        };
        let file = entry.file.0 as usize;
        if !std::mem::replace(&mut self.open[file], true) {
            self.mark(ns, file, "open");
        }
        if let Some(out) = &mut self.out {
            let line = &mut self.line;
            line.clear();
            put_number(line, ns / 1000);
            for word in [&self.names[file], action] {
                line.push(b' ');
                line.extend_from_slice(word.as_bytes());
            }
            for number in [entry.offset, entry.len.into()] {
                line.push(b' ');
                put_number(line, number);
            }
            line.push(b'\n');
            let written = out.write_all(line);
            self.keep(written);
        }
    }

    /// Whether a line could not be written: the log is not complete.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Write out what is buffered; the first error that any line met.
    pub fn finish(&mut self) -> io::Result<()> {
        let flushed = self.out.as_mut().map_or(Ok(()), BufWriter::flush);
        self.failed.take().map_or(flushed, Err)
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_its_word_and_others_have_no_line() {
        let folder = iosonde_testing::Folder::new("iolog");
        let path = folder.join("log");
        let mut log = IoLog::open(&path, vec!["a".to_owned(), "b".to_owned()], 0).unwrap();
        let entry = |op, file| Planned { offset: 8192, len: 512, file: FileId(file), op };
        log.add(1_999, &entry(Op::Read, 0));
        for op in [Op::Write, Op::Trim, Op::ZoneTrim, Op::Sync, Op::DataSync, Op::SyncRange] {
            log.add(2_000, &entry(op, 0));
        }
        for op in [Op::Open, Op::Close, Op::Invalidate, Op::ZoneReset] {
            log.add(3_000, &entry(op, 1));
        }
        log.add_syncfs(4_000, FileId(0));
        log.close(4_000, FileId(0));
        log.close(4_000, FileId(1));
        assert!(!log.is_traced() && !log.has_failed());
        log.finish().unwrap();
        assert!(log.with_trace(Some(Trace::new(Vec::new(), 0))).is_traced());
        assert_eq!(
            folder.read("log"),
            "fio version 3 iolog\n0 a add\n0 b add\n1 a open\n1 a read 8192 512\n\
             2 a write 8192 512\n2 a trim 8192 512\n2 a trim 8192 512\n2 a sync 8192 512\n\
             2 a datasync 8192 512\n2 a sync_file_range 8192 512\n4 a syncfs 0 0\n4 a close\n",
            "a file that was never opened is not closed"
        );
    }
}
