//! A file that is replaced every ten seconds, for the textfile collector.

use iosonde_command::new_file;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Scrapes are 15 s to 60 s apart.
const EVERY: Duration = Duration::from_secs(10);

/// How a file of ours begins.
const BEGINS: &[u8] = b"# HELP iosonde_";

/// A file of metrics.
pub struct TextFile {
    path: PathBuf,
    writer: Option<TextfileWriter>,
}

struct TextfileWriter {
    stop: Sender<()>,
    thread: JoinHandle<Result<(), String>>,
}

impl TextFile {
    /// At `path`.
    ///
    /// # Errors
    /// There is something else than a file of ours, and `force` is off: a sentence.
    pub fn at(path: &Path, force: bool) -> Result<TextFile, String> {
        let refuse = |what: &str| Err(format!("{}: {what}", path.display()));
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => {
                return refuse("it is a directory; name a file in it, such as iosonde.prom");
            }
            Ok(found) if !force && (!found.is_file() || !is_ours(path)) => {
                return refuse("it exists and is no file of metrics; use --force to overwrite it");
            }
            _ => new_file::check(path, true)?,
        }
        Ok(TextFile { path: path.to_owned(), writer: None })
    }

    /// Write `text` now, every ten seconds, and at the end.
    ///
    /// # Errors
    /// It cannot be written now: a sentence.
    pub fn keep(&mut self, text: impl Fn() -> String + Send + 'static) -> Result<(), String> {
        new_file::replace(&self.path, &text(), true)?;
        let (stop, stopped) = channel();
        let path = self.path.clone();
        let body = move || {
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // What cannot be written now may be later; the last one counts.
                let _ = new_file::replace(&path, &text(), true);
            }
            new_file::replace(&path, &text(), true)
        };
        let thread = Builder::new().name("metrics file".to_owned()).spawn(body);
        let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        self.writer = Some(TextfileWriter { stop, thread });
        Ok(())
    }

    /// Write it for the last time.
    ///
    /// # Errors
    /// It cannot be written: a sentence.
    pub fn finish(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(TextfileWriter { stop, thread }) = self.writer.take() else { return Ok(()) };
        // It may have panicked, and then nobody listens.
        let _ = stop.send(());
        thread.join().unwrap_or_else(|_| Err("its thread panicked".to_owned()))
    }
}

impl Drop for TextFile {
    fn drop(&mut self) {
        // A run that fails has reported why.
        let _ = self.end();
    }
}

fn is_ours(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| {
        let most = BEGINS.len() as u64;
        file.take(most).read_to_end(&mut begin)
    });
    // An empty one was put there for its permissions.
    read.is_ok() && (begin.is_empty() || begin == BEGINS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn the_file_holds_the_first_text_and_then_the_last_and_nothing_is_left_beside_it() {
        let folder = Folder::new("textfile");
        let path = folder.join("iosonde.prom");
        let times = Arc::new(AtomicU32::new(0));
        let counted = times.clone();
        let mut file = TextFile::at(&path, false).unwrap();
        let text =
            move || format!("# HELP iosonde_x {}\n", counted.fetch_add(1, Ordering::Relaxed));
        file.keep(text).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# HELP iosonde_x 0\n");
        file.finish().unwrap();
        let last = times.load(Ordering::Relaxed) - 1;
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("# HELP iosonde_x {last}\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(TextFile::at(&path, false).is_ok(), "it is ours");
    }

    #[test]
    fn files_of_others_stay() {
        let folder = Folder::new("textfile-other");
        let path = folder.join("notes.prom");
        fs::write(&path, "# HELP node_x\n").unwrap();
        let refused = TextFile::at(&path, false).err().unwrap();
        assert!(refused.contains("no file of metrics; use --force"), "{refused}");
        assert!(TextFile::at(&path, true).is_ok());
        assert!(TextFile::at(folder.path(), true).err().unwrap().contains("directory"));
        fs::write(&path, "").unwrap();
        assert!(TextFile::at(&path, false).is_ok());
        let nowhere = TextFile::at(&folder.join("none/x.prom"), false).unwrap().keep(String::new);
        assert!(nowhere.unwrap_err().contains("cannot write"));
    }
}
