//! Traces that are merged before they are done again (`merge_blktrace_file`).

use crate::replay::recording::RecordingError;
use iosonde_sys::memory::available_bytes;
use iosonde_workload::replay::{Strand, merge};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A merged trace, to be written before anything runs.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Where to.
    pub path: PathBuf,
    /// The trace.
    pub bytes: Vec<u8>,
}

impl Merged {
    /// Write it.
    ///
    /// # Errors
    /// In words.
    pub fn write(&self) -> Result<(), String> {
        let written = std::fs::write(&self.path, &self.bytes);
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }
}

/// How each trace goes into the merge: its time in percent, and how often.
pub(crate) type TraceScale = (f64, u32);

/// Merge the traces at `from`.
///
/// # Errors
/// The first trace that cannot be had, and why.
pub(crate) fn read(
    from: &[String],
    parts: &[TraceScale],
) -> Result<Vec<u8>, (String, RecordingError)> {
    let mut traces = Vec::new();
    for name in from {
        let bytes = whole(name)
            .map_err(|error| (name.clone(), RecordingError::Io { doing: "read", error }))?;
        traces.push(bytes);
    }
    let strands = traces.iter().zip(parts);
    let strands: Vec<Strand<'_>> = strands
        .map(|(bytes, &(time_percent, times))| Strand { bytes, time_percent, times })
        .collect();
    merge(&strands).map_err(|(index, error)| (from[index].clone(), RecordingError::Log(error)))
}

/// All of a trace. /dev/zero never ends: not more than there is memory for.
fn whole(name: &str) -> io::Result<Vec<u8>> {
    let most = available_bytes().unwrap_or(1 << 30) / 2;
    let mut bytes = Vec::new();
    File::open(name)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(io::Error::other("it is longer than half of the memory that is available"))
    } else {
        Ok(bytes)
    }
}

/// Why a merged trace may not be written there: something else is there.
pub(crate) fn keeps_from_writing(path: &Path) -> Option<String> {
    let shown = path.display();
    let kind = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(format!("cannot inspect {shown}: {error}")),
        Ok(found) => found.file_type(),
    };
    let mut head = [0; 4];
    let is_trace = |head: [u8; 4]| head[1..] == *b"tae" || head[..3] == *b"eat";
    match File::open(path).and_then(|mut file| file.read(&mut head)) {
        _ if !kind.is_file() => Some(format!("{shown} is no regular file")),
        Ok(0) => None,
        Ok(4) if is_trace(head) => None,
        Ok(_) => Some(format!("{shown} is there and is no blktrace: it is not overwritten")),
        Err(error) => Some(format!("cannot read {shown}: {error}")),
    }
}
