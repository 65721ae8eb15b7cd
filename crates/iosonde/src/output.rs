//! Output streams: the report, and standard error for messages.

use iosonde_base::bare;
use iosonde_base::exit;
use iosonde_base::text::{harmless, plain};
use iosonde_session::Personality;
use iosonde_sys::standard_error::{self, print_error};
use iosonde_sys::standard_output;
use iosonde_sys::whole_file::WholeFile;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// The stream of the report, and of messages beside it.
pub struct ReportOutput {
    report: Stream,
    /// Only documents go to the report's stream: JSON or terse.
    documents_only: bool,
    failed: Option<io::Error>,
}

/// Where a report goes.
enum Stream {
    Standard(io::Stdout),
    File(WholeFile),
}

impl Stream {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Stream::Standard(out) => out,
            Stream::File(file) => file,
        }
    }

    /// The end, with what is only reported then.
    fn finish(self) -> io::Result<()> {
        match self {
            Stream::Standard(mut out) => standard_output::is_open().and_then(|()| out.flush()),
            Stream::File(file) => file.finish(),
        }
    }
}

impl ReportOutput {
    /// To `path`, or to standard output.
    pub fn open(path: Option<&str>, documents_only: bool) -> io::Result<ReportOutput> {
        let report = match path {
            Some(path) => Stream::File(WholeFile::create(Path::new(path))?),
            None => Stream::Standard(io::stdout()),
        };
        Ok(ReportOutput { report, documents_only, failed: None })
    }

    /// An interim report is complete: others may read it from here on, and the rest as it comes.
    pub fn publish(&mut self) {
        let published = match &mut self.report {
            Stream::File(file) => file.publish(),
            Stream::Standard(_) => Ok(()),
        };
        self.keep(published);
    }

    fn is_file(&self) -> bool {
        matches!(self.report, Stream::File(_))
    }

    /// Part of the report. Flushed at once: others read it as it comes.
    pub fn report(&mut self, text: &str) {
        // A document has its own way to write such characters.
        let text = if self.documents_only { text.into() } else { harmless(text) };
        let out = self.report.writer();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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

    /// A note or warning. Beside a document it is printed on a terminal only: many
    /// programs treat any output on standard error as a failure.
    pub fn note(&mut self, text: &str) {
        let text = bare(text);
        if !self.documents_only {
            self.line(&text);
        } else if io::stderr().is_terminal() {
            standard_error::print_line(format_args!("{text}"));
        }
    }

    /// An error: to standard error, and into a report that is text in a file.
    pub fn error(&mut self, text: &str) {
        print_error(text);
        if self.is_file() && !self.documents_only {
            self.report(&bare(text));
            self.report("\n");
        }
    }

    /// Whether a status line may be drawn on standard output: no document goes there.
    pub fn allows_status_line(&self) -> bool {
        self.is_file() || !self.documents_only
    }

    /// Whether the report goes to the stream of the status line.
    pub fn is_on_status_stream(&self) -> bool {
        !self.is_file()
    }

    /// Redraw the status line.
    pub fn draw_status(&mut self, text: &str) {
        // The line is redrawn anyway, so an error is ignored.
        let mut out = io::stdout();
        let _ = write!(out, "{}\r", plain(text)).and_then(|()| out.flush());
    }

    /// Keep the status line on the screen and begin a new one.
    pub fn keep_status(&mut self) {
        let mut out = io::stdout();
        let _ = out.write_all(b"\n").and_then(|()| out.flush());
    }

    /// The first error of writing. A closed pipe does not count. A file of a report that was
    /// not written to its end keeps what it had.
    fn finish(self) -> io::Result<()> {
        let ReportOutput { report, failed, .. } = self;
        let finished = match failed {
            Some(error) => Err(error),
            None => report.finish(),
        };
        match finished {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            finished => finished,
        }
    }

    /// End the stream; the exit code, after an error message if it could not be written.
    pub fn end(self, personality: Personality) -> u8 {
        let Err(error) = self.finish() else { return exit::OK };
        let program = personality.program();
        print_error(&format!("{program}: cannot write the report: {error}"));
        exit::REFUSED
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}
