//! `--live=json`: an object each second, on descriptor 3 or in a file.

use super::sampler::LiveSampler;
use iosonde_command::new_file;
use iosonde_report::live::screen::object;
use iosonde_spec::cli::flags::{Flags, LiveFlag};
use iosonde_sys::files::{status, without_waiting};
use iosonde_sys::guard;
use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(1);

/// Opened anew, descriptor 3 has its own flags, and who else has it is not disturbed.
const DESCRIPTOR: &str = "/proc/self/fd/3";

/// Where the objects go. A reader that does not read gets fewer of them, and
/// never holds up the run.
pub struct JsonStream {
    file: File,
    /// The rest of an object that has been begun.
    pending: Vec<u8>,
    /// Why nothing is written any more.
    failed: Option<Error>,
}

impl JsonStream {
    /// Open it; `None` if no objects are wanted. To be called before anything else is
    /// opened, so that descriptor 3 is the caller's.
    ///
    /// # Errors
    /// It cannot be written to, or is a file that exists: a sentence.
    pub fn open(flags: &Flags) -> Result<Option<JsonStream>, String> {
        let opened = match (&flags.live.file, flags.live.show) {
            (None, LiveFlag::Json) => open(Path::new(DESCRIPTOR)).map_err(|error| {
                format!(
                    "--live=json: descriptor 3 cannot be written to: {error}; redirect it, as in \
                     3>FILE, or use --live-file=FILE"
                )
            })?,
            (Some(path), LiveFlag::Json) => named(Path::new(path), flags.output.force)?,
            (Some(_), _) => return Err("--live-file needs --live=json".to_owned()),
            (None, _) => return Ok(None),
        };
        Ok(Some(JsonStream { file: opened, pending: Vec::new(), failed: None }))
    }

    fn put(&mut self, line: &str) {
        if self.pending.is_empty() {
            self.pending = format!("{line}\n").into_bytes();
        }
        while !self.pending.is_empty() && self.failed.is_none() {
            match self.file.write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => self.failed = Some(error),
            }
        }
    }

    /// Why objects were lost, if they were. A reader that has gone wants no more.
    fn lost(self) -> Option<Error> {
        self.failed.filter(|error| error.kind() != ErrorKind::BrokenPipe)
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    // Who does not read must not stop the thread that writes.
    without_waiting(File::options().append(true)).open(path)
}

/// A file of that name; a pipe or a device as it is.
fn named(path: &Path, force: bool) -> Result<File, String> {
    let cannot = |error| format!("--live-file: cannot write {}: {error}", path.display());
    let is_stream = status(path).is_ok_and(|found| {
        let kind = found.file_type();
        kind.is_fifo() || kind.is_char_device()
    });
    if is_stream {
        return open(path).map_err(cannot);
    }
    new_file::check(path, force).map_err(|why| format!("--live-file: {why}"))?;
    if path.is_symlink() {
        // As of every other output: the link is replaced, and what it leads to stays.
        std::fs::remove_file(path).map_err(cannot)?;
    }
    guard::create_output(path).map_err(|refusal| format!("--live-file: cannot {refusal}"))
}

/// Writes objects until it ends, and one more then.
pub struct LiveJson {
    stop: Sender<()>,
    thread: Option<JoinHandle<Option<Error>>>,
}

impl LiveJson {
    /// Begin.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn begin(mut stream: JsonStream, mut sampler: LiveSampler) -> std::io::Result<LiveJson> {
        let (stop, stopped) = channel();
        let body = move || {
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                stream.put(&object(&sampler.sample()).to_string());
            }
            stream.put(&object(&sampler.sample()).to_string());
            stream.lost()
        };
        let thread = Builder::new().name("live json".to_owned()).spawn(body)?;
        Ok(LiveJson { stop, thread: Some(thread) })
    }

    /// Write the last object. An error if some could not be written.
    pub fn end(mut self) -> std::io::Result<()> {
        self.stop().map_or(Ok(()), Err)
    }

    fn stop(&mut self) -> Option<Error> {
        // It may have panicked, and then nobody listens.
        let _ = self.stop.send(());
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(|ended| ended.unwrap_or_else(|_| Some(Error::other("its thread panicked"))))
    }
}

impl Drop for LiveJson {
    fn drop(&mut self) {
        // A run that fails has reported why.
        let _ = self.stop();
    }
}
