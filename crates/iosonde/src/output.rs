//! Where text goes: the report's stream, and standard error for a person.

use iosonde_base::bare;
use std::fs::File;
use std::io::{self, IsTerminal, Write};

/// Print an answer. That nobody reads on, as before `head`, harms nobody.
pub fn print(text: &str) {
    let mut out = io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Say on standard error what went wrong.
pub fn print_error(text: &str) {
    eprintln!("{}", bare(text));
}

/// The stream of the report, and what may be said beside it.
pub struct Output {
    report: Box<dyn Write>,
    /// The report goes to a file.
    is_file: bool,
    /// Only documents go to the report's stream: JSON or terse.
    documents_only: bool,
    failed: Option<io::Error>,
}

impl Output {
    /// To `path`, or to standard output.
    pub fn open(path: Option<&str>, documents_only: bool) -> io::Result<Output> {
        let report: Box<dyn Write> = match path {
            Some(path) => Box::new(File::create(path)?),
            None => Box::new(io::stdout()),
        };
        Ok(Output { report, is_file: path.is_some(), documents_only, failed: None })
    }

    /// Part of the report. Flushed at once: others read it as it comes.
    pub fn report(&mut self, text: &str) {
        let written = self.report.write_all(text.as_bytes()).and_then(|()| self.report.flush());
        self.keep(written);
    }

    /// A line around the report, such as "Starting 1 thread": part of a text,
    /// never of a document.
    pub fn line(&mut self, text: &str) {
        if !self.documents_only {
            self.report(text);
            self.report("\n");
        }
    }

    /// A note or warning. Beside a document it goes to a person only: many
    /// programs take any word on standard error for a failure.
    pub fn note(&mut self, text: &str) {
        let text = bare(text);
        if !self.documents_only {
            self.line(&text);
        } else if io::stderr().is_terminal() {
            eprintln!("{text}");
        }
    }

    /// Something went wrong: to standard error, and into a report that is a
    /// text in a file.
    pub fn error(&mut self, text: &str) {
        print_error(text);
        if self.is_file && !self.documents_only {
            self.report(&bare(text));
            self.report("\n");
        }
    }

    /// Whether standard output has room for a live line: no document goes there.
    pub fn has_room(&self) -> bool {
        self.is_file || !self.documents_only
    }

    /// Whether the report itself follows on the stream of the live line.
    pub fn is_below_line(&self) -> bool {
        !self.is_file
    }

    /// Redraw the live line.
    pub fn live(&mut self, text: &str) {
        // The line is drawn over; that it may be lost harms nobody.
        let mut out = io::stdout();
        let _ = write!(out, "{text}\r").and_then(|()| out.flush());
    }

    /// Leave the live line standing.
    pub fn end_live(&mut self) {
        let mut out = io::stdout();
        let _ = out.write_all(b"\n").and_then(|()| out.flush());
    }

    /// The first error that writing met. A closed pipe is the reader's wish.
    pub fn finish(mut self) -> io::Result<()> {
        let flushed = self.report.flush();
        self.keep(flushed);
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}
