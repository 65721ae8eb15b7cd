//! `--debug=io`: each I/O when it is handed to the engine and when it completes, on
//! standard output.

use iosonde_base::text::plain;
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

    /// Print that an entry is handed to the engine.
    #[cold]
    pub fn queued(&self, entry: &Planned) {
        self.print("queue", entry);
    }

    /// Print that an entry has completed, with or without an error.
    #[cold]
    pub fn completed(&self, entry: &Planned) {
        self.print("complete", entry);
    }

    /// Print one line: `io       PID   EVENT: off=0x..,len=0x..,ddir=..,file=..`.
    /// An error of standard output is ignored.
    fn print(&self, event: &str, entry: &Planned) {
        let direction = match entry.op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim | Op::ZoneTrim => 2,
            Op::Sync => 3,
            Op::DataSync => 4,
            Op::SyncRange => 5,
            _ => return,
        };
        let name = self.names.get(entry.file.0 as usize).map_or("", String::as_str);
        let _ = writeln!(
            std::io::stdout(),
            "{:<8} {:<5} {event}: off={:#x},len={:#x},ddir={direction},file={}",
            "io",
            self.thread,
            entry.offset,
            entry.len,
            plain(name),
        );
    }
}
