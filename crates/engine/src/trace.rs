//! `--debug=io`: each I/O as it is handed to the engine, on standard output.

use iosonde_base::{Op, Planned};
use std::io::Write;

/// Prints I/Os in fio's form.
#[derive(Clone, Debug)]
pub struct Trace {
    names: Vec<String>,
    thread: u32,
}

impl Trace {
    /// For a job with files of these names, run by this thread.
    pub fn new(names: Vec<String>, thread: u32) -> Trace {
        Trace { names, thread }
    }

    /// Print one entry: `io       PID   queue: off=0x..,len=0x..,ddir=..,file=..`.
    /// That the line may be lost harms nobody.
    #[cold]
    pub fn add(&self, entry: &Planned) {
        let direction = match entry.op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim => 2,
            Op::Sync => 3,
            Op::DataSync => 4,
            Op::SyncRange => 5,
            Op::Open | Op::Close | Op::Invalidate => return,
        };
        let name = self.names.get(entry.file.0 as usize).map_or("", String::as_str);
        let _ = writeln!(
            std::io::stdout(),
            "{:<8} {:<5} queue: off={:#x},len={:#x},ddir={direction},file={name}",
            "io",
            self.thread,
            entry.offset,
            entry.len,
        );
    }
}
