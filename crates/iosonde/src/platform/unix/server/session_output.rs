//! What a server's process prints goes to its client, line by line.

use iosonde_hosts::remote::{Outgoing, TextStream};
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A line that is longer is sent in parts.
const LINE_BYTES_MOST: u64 = 64 << 10;
/// Programs that jobs started may hold the streams open: they are not waited for.
const END_WITHIN: Duration = Duration::from_millis(500);

/// The streams of this process, until they are dropped.
pub struct SessionOutput {
    readers: Vec<JoinHandle<()>>,
}

impl SessionOutput {
    /// Send standard output and standard error from now on.
    ///
    /// # Errors
    /// The system gives no pipe.
    pub fn begin(lines: &Outgoing) -> io::Result<SessionOutput> {
        let (output, output_end) = io::pipe()?;
        let (error, error_end) = io::pipe()?;
        rustix::stdio::dup2_stdout(&output_end)?;
        rustix::stdio::dup2_stderr(&error_end)?;
        let readers = [(output, TextStream::Output), (error, TextStream::Error)];
        let start = |(pipe, stream): (PipeReader, TextStream)| {
            let lines = lines.clone();
            let read = move || send_lines(pipe, stream, &lines);
            std::thread::Builder::new().name("output".into()).spawn(read)
        };
        Ok(SessionOutput { readers: readers.into_iter().map(start).collect::<io::Result<_>>()? })
    }

    /// No more is printed: all that was is with the client's link.
    pub fn end(self) {
        let _ = io::stdout().flush();
        if let Ok(nowhere) = nowhere() {
            let _ = rustix::stdio::dup2_stdout(&nowhere);
            let _ = rustix::stdio::dup2_stderr(&nowhere);
        }
        let until = Instant::now() + END_WITHIN;
        while self.readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Programs that jobs start have nothing to read.
pub fn close_input() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(nowhere()?)?)
}

fn nowhere() -> io::Result<OwnedFd> {
    Ok(OpenOptions::new().read(true).write(true).open("/dev/null")?.into())
}

fn send_lines(pipe: PipeReader, stream: TextStream, lines: &Outgoing) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        let read = io::Read::take(&mut pipe, LINE_BYTES_MOST).read_until(b'\n', &mut line);
        if !read.is_ok_and(|read| read > 0) {
            return;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if lines.send((stream, String::from_utf8_lossy(&line).into_owned())).is_err() {
            return;
        }
    }
}
