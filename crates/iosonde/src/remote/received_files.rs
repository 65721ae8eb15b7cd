//! Logs that servers send: `NAME.log` becomes `NAME.log.HOST`. A server chooses no other name than
//! those that the client's jobs have.

use iosonde_sys::whole_file::WholeFile;
use std::io::{self, Write};
use std::path::Path;

/// The kinds of logs, as they end.
const KINDS: [&str; 6] = ["_bw", "_iops", "_slat", "_clat", "_lat", "_clat_hist"];

/// Which logs a server may send.
#[derive(Clone, Debug, Default)]
pub struct ExpectedLogs {
    /// What the names of logs begin with, as the client's jobs say.
    pub prefixes: Vec<String>,
    /// The server reads jobs of its own: theirs may be in the client's directory.
    pub are_of_server: bool,
}

/// The files of one server.
pub struct ReceivedFiles {
    suffix: String,
    expected: ExpectedLogs,
    open: Option<Incoming>,
}

/// A file that comes.
struct Incoming {
    name: String,
    file: io::Result<WholeFile>,
}

impl ReceivedFiles {
    /// Of a server with this name.
    pub fn new(host: &str, expected: ExpectedLogs) -> ReceivedFiles {
        // A socket has the name of a path.
        ReceivedFiles { suffix: host.replace('/', "_"), expected, open: None }
    }

    /// A file begins.
    pub fn begin(&mut self, name: &str) {
        let path = format!("{name}.{}", self.suffix);
        let file = if self.expected.has(name) {
            WholeFile::create(Path::new(&path))
        } else {
            Err(io::Error::other("no job of this client has a log of that name"))
        };
        self.open = Some(Incoming { name: path, file });
    }

    /// The next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        if let Some(Incoming { file, .. }) = &mut self.open
            && let Ok(whole) = file
            && let Err(error) = whole.write_all(bytes)
        {
            *file = Err(error);
        }
    }

    /// It is complete.
    ///
    /// # Errors
    /// It could not be written: a sentence.
    pub fn end(&mut self) -> Result<(), String> {
        let Some(Incoming { name, file }) = self.open.take() else { return Ok(()) };
        file.and_then(WholeFile::finish).map_err(|error| format!("cannot write {name:?}: {error}"))
    }
}

impl ExpectedLogs {
    /// Whether a name is that of a log which the jobs name: `PREFIX_KIND.log`, with a number
    /// before and `.fz` behind `.log` or not.
    fn has(&self, name: &str) -> bool {
        let Some(stem) = name.strip_suffix(".fz").unwrap_or(name).strip_suffix(".log") else {
            return false;
        };
        let stem = match stem.rsplit_once('.') {
            Some((stem, number)) if number.parse::<u32>().is_ok() => stem,
            _ => stem,
        };
        KINDS.iter().filter_map(|kind| stem.strip_suffix(kind)).any(|prefix| {
            let is_here = self.are_of_server && !prefix.contains('/');
            is_here || self.prefixes.iter().any(|known| known == prefix)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn a_server_chooses_no_name_but_those_of_the_jobs_logs() {
        let prefixes = vec!["b".to_owned(), "/tmp/x/l".to_owned()];
        let own = ExpectedLogs { prefixes, are_of_server: false };
        for name in ["b_bw.1.log", "b_bw.log", "/tmp/x/l_clat_hist.7.log.fz", "b_lat.log"] {
            assert!(own.has(name), "{name}");
        }
        for name in [
            "",
            "b",
            "b_bw",
            "c_bw.1.log",
            "../b_bw.1.log",
            "/etc/b_bw.log",
            "b_bw.x.log",
            "b_bw.1.log.sh",
            "./b_bw.log",
            "/tmp/x/../l_lat.log",
            "b_evil.log",
            "_bw.log",
        ] {
            assert!(!own.has(name), "{name}");
        }
        let of_server = ExpectedLogs { prefixes: Vec::new(), are_of_server: true };
        assert!(of_server.has("any_bw.1.log") && !of_server.has("../any_bw.1.log"));
        assert!(!of_server.has("/etc/any_bw.1.log") && !of_server.has("any.sh"));
    }

    #[test]
    fn what_is_not_expected_is_not_written_and_named() {
        let folder = Folder::new("received");
        let prefix = folder.join("b").display().to_string();
        let expected = ExpectedLogs { prefixes: vec![prefix.clone()], are_of_server: false };
        let mut files = ReceivedFiles::new("a/b", expected);
        files.begin(&format!("{prefix}_bw.log"));
        files.add(b"1, 2\n");
        assert_eq!(files.end(), Ok(()));
        files.begin(&folder.join("c_bw.log").display().to_string());
        files.add(b"x");
        assert!(files.end().unwrap_err().contains("no job of this client"));
        assert_eq!(files.end(), Ok(()));
        assert_eq!(folder.sizes(), [("b_bw.log.a_b".to_owned(), 5)]);
    }
}
