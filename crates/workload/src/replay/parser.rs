//! One parser for all recordings: which format it is shows in the first bytes.

use super::{Name, Shape, Step, blktrace, iolog};

/// Where in a recording something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a text: line and column, from 1.
    Text {
        /// Which line.
        line: u64,
        /// Which byte of it.
        column: u64,
    },
    /// In a binary: how many bytes from its start.
    Byte(u64),
}

/// Why a recording cannot be done again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where there is anything.
    pub help: Option<&'static str>,
}

impl LogError {
    pub(super) fn text(line: u64, column: usize, message: impl Into<String>) -> LogError {
        // A line is in memory, so its length fits.
        let place = Place::Text { line, column: column as u64 };
        LogError { place, message: message.into(), help: None }
    }

    pub(super) fn help(self, help: &'static str) -> LogError {
        LogError { help: Some(help), ..self }
    }
}

impl std::fmt::Display for LogError {
    /// `12:7: frob is no action`, to be put behind the name of the file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            Place::Text { line, column } => write!(f, "{line}:{column}: ")?,
            Place::Byte(at) => write!(f, "byte {at}: ")?,
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for LogError {}

/// Reads a recording from its bytes, in whatever portions they come.
#[derive(Clone, Debug)]
pub struct Parser {
    shape: Shape,
    format: Format,
    names: Vec<Name>,
}

#[derive(Clone, Debug)]
enum Format {
    /// Nothing was read yet.
    Unknown,
    Iolog(iolog::Iolog),
    Blktrace(blktrace::Blktrace),
}

impl Parser {
    /// At the start of a recording, to be changed as `shape` says.
    pub fn new(shape: Shape) -> Parser {
        Parser { shape, format: Format::Unknown, names: Vec::new() }
    }

    /// Read the complete lines of `bytes`, which go on where the last call left
    /// off, and add its steps to `steps`. `last`: no more bytes follow. How many
    /// bytes were read; give the others again, with more behind them.
    ///
    /// # Errors
    /// At the first line or record that makes no sense.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        last: bool,
        steps: &mut Vec<Step>,
    ) -> Result<usize, LogError> {
        if let Format::Unknown = self.format {
            if bytes.len() < blktrace::RECORD_BYTES && !last {
                return Ok(0);
            }
            self.format = match blktrace::order(bytes) {
                Some(order) => Format::Blktrace(blktrace::Blktrace::new(order)),
                None => Format::Iolog(iolog::Iolog::default()),
            };
        }
        match &mut self.format {
            Format::Unknown => Ok(0),
            Format::Iolog(iolog) => iolog.feed(bytes, last, &self.shape, &mut self.names, steps),
            Format::Blktrace(trace) => trace.feed(bytes, &self.shape, &mut self.names, steps),
        }
    }

    /// Say that the end was reached, with `left` bytes that belong to nothing
    /// whole. A remark about them, if there is one.
    ///
    /// # Errors
    /// If there was no recording at all.
    pub fn finish(&self, left: usize) -> Result<Option<String>, LogError> {
        match &self.format {
            Format::Iolog(iolog) => iolog.finish().map(|()| None),
            Format::Blktrace(_) if left > 0 => {
                Ok(Some(format!("ends {left} bytes into a record, which is left out")))
            }
            Format::Blktrace(_) | Format::Unknown => Ok(None),
        }
    }

    /// What the recording calls its files, by the numbers in its steps. One
    /// name, the first, where all are one.
    pub fn names(&self) -> &[Name] {
        &self.names
    }
}
