//! Recordings that are done again (`read_iolog`): found, read and checked as a
//! whole before anything runs; kept, or read again piece by piece.

use iosonde_base::{Dir, FileId, Op, PerDir};
use iosonde_sys::files::{self, FileExt};
use iosonde_workload::replay::{
    LogError, Name, NextPiece, Parser, Pieces, Shape, Step, Steps, Unreadable,
};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// A recording, and what there is to know of it before it runs.
#[derive(Clone, Debug)]
pub struct IoRecording {
    /// What it calls its files.
    pub names: Vec<Name>,
    /// What is done to each.
    pub uses: Vec<FileUse>,
    /// What is done, in order.
    pub steps: Steps,
    /// Directions it moves data in.
    pub dirs: PerDir<bool>,
    /// Bytes of the largest I/O that takes a buffer: trims take none.
    pub largest: u32,
    /// I/Os and syncs.
    pub ios: u64,
    /// Bytes of data, trims included.
    pub bytes: u64,
    /// A note for the user.
    pub remark: Option<String>,
}

/// Use of a file by a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Bytes up to the end of the furthest read; zero if there are none.
    pub read_end: u64,
    /// The same of all I/Os.
    pub end: u64,
    /// It is written to.
    pub writes: bool,
    /// It is trimmed.
    pub trims: bool,
}

/// Where the steps are during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// In memory, 32 bytes each.
    Whole,
    /// Where they come from, read a piece at a time (`read_iolog_chunked`).
    Pieces,
}

/// Why a recording is unavailable.
#[derive(Debug)]
pub enum RecordingError {
    /// It cannot be read.
    Io {
        /// What failed.
        doing: &'static str,
        /// Why.
        error: io::Error,
    },
    /// It makes no sense.
    Log(LogError),
}

impl From<LogError> for RecordingError {
    fn from(error: LogError) -> RecordingError {
        RecordingError::Log(error)
    }
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> RecordingError {
    move |error| RecordingError::Io { doing, error }
}

/// No line or record is longer.
const LINE_MOST: usize = 256 << 10;

/// How much is read at a time: a few hundred lines, so that a job that reads
/// on its way is held up by less than a millisecond.
const PIECE_BYTES: usize = 16 << 10;

/// Read the recording at `from`: a file, a socket in the file system, or `-`
/// for standard input.
///
/// # Errors
/// If it cannot be read, or is no recording.
pub fn read(from: &str, shape: Shape, keep: Keep) -> Result<IoRecording, RecordingError> {
    take_in(open(from)?, shape, keep)
}

/// Take a recording that is in memory.
///
/// # Errors
/// If it is no recording.
pub fn from_bytes(bytes: Vec<u8>, shape: Shape, keep: Keep) -> Result<IoRecording, RecordingError> {
    take_in(Input::Stream(Box::new(io::Cursor::new(bytes))), shape, keep)
}

fn take_in(input: Input, shape: Shape, keep: Keep) -> Result<IoRecording, RecordingError> {
    let mut parsing = Parsing::new(shape);
    let mut tally = RecordingTally::default();
    let mut steps = Vec::new();
    let mut take = |source: Box<dyn Read>, spool: Option<&File>| -> Result<(), RecordingError> {
        let mut source = Spooled { source, spool };
        let mut piece = Vec::new();
        while parsing.next(&mut source, &mut piece)? {
            tally.add(&piece, parsing.parser.names().len());
            match keep {
                Keep::Whole => steps.append(&mut piece),
                Keep::Pieces => piece.clear(),
            }
        }
        Ok(())
    };
    let steps = match (input, keep) {
        (input, Keep::Whole) => {
            take(input.reader(), None)?;
            Steps::Whole(Arc::new(steps))
        }
        (Input::File(file), Keep::Pieces) if is_regular(&file) => {
            let file = Arc::new(file);
            take(Box::new(At { file: file.clone(), at: 0 }), None)?;
            Steps::Pieces(Arc::new(OnDisk { file, shape }))
        }
        // What cannot be read twice is put where it can.
        (input, Keep::Pieces) => {
            let spool = spool().map_err(failed("keep it in a temporary file"))?;
            take(input.reader(), Some(&spool))?;
            Steps::Pieces(Arc::new(OnDisk { file: Arc::new(spool), shape }))
        }
    };
    let remark = parsing.parser.finish(parsing.kept())?;
    let names = parsing.parser.names().to_vec();
    tally.uses.resize(names.len(), FileUse::default());
    let RecordingTally { uses, dirs, largest, ios, bytes } = tally;
    Ok(IoRecording { names, uses, steps, dirs, largest, ios, bytes, remark })
}

enum Input {
    File(File),
    Stream(Box<dyn Read>),
}

impl Input {
    fn reader(self) -> Box<dyn Read> {
        match self {
            Input::File(file) => Box::new(file),
            Input::Stream(stream) => stream,
        }
    }
}

fn open(from: &str) -> Result<Input, RecordingError> {
    if from == "-" {
        return Ok(Input::Stream(Box::new(io::stdin())));
    }
    let path = Path::new(from);
    let kind = files::status(path).map_err(failed("open"))?.file_type();
    if kind.is_socket() {
        let stream = files::connect(path).map_err(failed("connect to the socket"))?;
        return Ok(Input::Stream(stream));
    }
    File::open(path).map(Input::File).map_err(failed("open"))
}

fn is_regular(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// A file without a name, gone with its last user.
fn spool() -> io::Result<File> {
    files::unnamed(&std::env::temp_dir())
}

/// Reads, and keeps what was read.
struct Spooled<'a> {
    source: Box<dyn Read>,
    spool: Option<&'a File>,
}

impl Read for Spooled<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.source.read(buffer)?;
        if let Some(mut spool) = self.spool {
            spool.write_all(&buffer[..got])?;
        }
        Ok(got)
    }
}

/// A parser with the bytes that it has yet to read.
#[derive(Debug)]
struct Parsing {
    parser: Parser,
    buffer: Box<[u8]>,
    /// Bytes at the start of `buffer` that were read from the source.
    filled: usize,
    /// The source has no more.
    ended: bool,
}

impl Parsing {
    fn new(shape: Shape) -> Parsing {
        let buffer = vec![0; LINE_MOST].into();
        Parsing { parser: Parser::new(shape), buffer, filled: 0, ended: false }
    }

    /// Bytes that belong to nothing whole.
    fn kept(&self) -> usize {
        self.filled
    }

    /// Add the next steps to `steps`; whether there may be more. None is added
    /// where a piece of the source holds none.
    fn next(
        &mut self,
        source: &mut dyn Read,
        steps: &mut Vec<Step>,
    ) -> Result<bool, RecordingError> {
        if self.ended {
            return Ok(false);
        }
        if self.filled == self.buffer.len() {
            let error = io::Error::other("a line is longer than 256 KiB: this is no recording");
            return Err(RecordingError::Io { doing: "read", error });
        }
        let got = loop {
            let end = self.buffer.len().min(self.filled + PIECE_BYTES);
            match source.read(&mut self.buffer[self.filled..end]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                got => break got.map_err(failed("read"))?,
            }
        };
        self.filled += got;
        self.ended = got == 0;
        let taken = self.parser.feed(&self.buffer[..self.filled], self.ended, steps)?;
        self.buffer.copy_within(taken..self.filled, 0);
        self.filled -= taken;
        Ok(true)
    }
}

/// What is counted while a recording is read.
#[derive(Debug, Default)]
struct RecordingTally {
    uses: Vec<FileUse>,
    dirs: PerDir<bool>,
    largest: u32,
    ios: u64,
    bytes: u64,
}

impl RecordingTally {
    fn add(&mut self, steps: &[Step], files: usize) {
        self.uses.resize(files, FileUse::default());
        for Step { entry, .. } in steps {
            if entry.op.is_control() {
                continue;
            }
            self.ios += 1;
            let FileId(file) = entry.file;
            let file = &mut self.uses[file as usize];
            let Some(dir) = entry.op.dir() else { continue };
            let end = entry.offset + u64::from(entry.len);
            self.dirs[dir] = true;
            self.bytes = self.bytes.saturating_add(entry.len.into());
            file.end = file.end.max(end);
            match entry.op {
                Op::Read => file.read_end = file.read_end.max(end),
                Op::Write => file.writes = true,
                _ => file.trims = true,
            }
            if dir != Dir::Trim {
                self.largest = self.largest.max(entry.len);
            }
        }
    }
}

/// A recording on a disk, to be read again.
#[derive(Debug)]
struct OnDisk {
    file: Arc<File>,
    shape: Shape,
}

impl Pieces for OnDisk {
    fn begin(&self) -> Box<dyn NextPiece> {
        let file = At { file: self.file.clone(), at: 0 };
        Box::new(Again { file, parsing: Parsing::new(self.shape) })
    }
}

/// A file with its own position.
#[derive(Debug)]
struct At {
    file: Arc<File>,
    at: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

#[derive(Debug)]
struct Again {
    file: At,
    parsing: Parsing,
}

impl NextPiece for Again {
    fn next(&mut self, piece: &mut Vec<Step>) -> Result<(), Unreadable> {
        while piece.is_empty() {
            match self.parsing.next(&mut self.file, piece) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return Err(Unreadable),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A recording of reads in a file that is gone with the value.
    struct OnFile(PathBuf);

    impl OnFile {
        fn new(name: &str, reads: u64) -> OnFile {
            let name = format!("iosonde-recording-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let mut text = "fio version 3 iolog\n0 /f add\n0 /f open\n".to_owned();
            (0..reads).for_each(|n| text += &format!("{n} /f read {} 512\n", n * 512));
            std::fs::write(&path, text).unwrap();
            OnFile(path)
        }

        fn read(&self, keep: Keep) -> Result<IoRecording, RecordingError> {
            read(self.0.to_str().unwrap(), Shape::default(), keep)
        }
    }

    impl Drop for OnFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn pieces(recording: &IoRecording) -> Box<dyn NextPiece> {
        let Steps::Pieces(pieces) = &recording.steps else { panic!("kept whole") };
        pieces.begin()
    }

    #[test]
    fn pieces_are_bounded_and_add_up_to_the_whole() {
        let file = OnFile::new("pieces", 50_000);
        let whole = file.read(Keep::Whole).unwrap();
        let Steps::Whole(steps) = &whole.steps else { panic!("kept in pieces") };
        let recording = file.read(Keep::Pieces).unwrap();
        assert_eq!((recording.ios, recording.bytes, recording.largest), (50_000, 25_600_000, 512));
        assert_eq!((whole.ios, &whole.uses), (recording.ios, &recording.uses));
        let (mut reader, mut seen, mut piece) = (pieces(&recording), Vec::new(), Vec::new());
        loop {
            reader.next(&mut piece).unwrap();
            if piece.is_empty() {
                break;
            }
            assert!(piece.len() < PIECE_BYTES / 10, "{}", piece.len());
            seen.append(&mut piece);
        }
        assert_eq!(&seen, &**steps);
    }

    #[test]
    fn what_changes_after_it_was_checked_is_noticed() {
        let file = OnFile::new("changed", 50_000);
        let recording = file.read(Keep::Pieces).unwrap();
        let open = File::options().write(true).open(&file.0).unwrap();
        open.write_all_at(b"\nnonsense\n", 600_000).unwrap();
        let (mut reader, mut piece) = (pieces(&recording), Vec::new());
        let read = |piece: &mut Vec<Step>| {
            piece.clear();
            reader.next(piece).map(|()| !piece.is_empty())
        };
        let mut read = read;
        while let Ok(more) = read(&mut piece) {
            assert!(more, "the end came without an objection");
        }
    }

    #[test]
    fn a_line_without_end_is_refused_in_bounded_memory() {
        let file = OnFile::new("long", 0);
        std::fs::write(&file.0, vec![b'x'; 1 << 20]).unwrap();
        let Err(RecordingError::Io { error, .. }) = file.read(Keep::Whole) else {
            panic!("accepted")
        };
        assert!(error.to_string().contains("longer than 256 KiB"), "{error}");
    }
}
