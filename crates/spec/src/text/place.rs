//! Where something was written: `file:line:column`.

use std::fmt;
use std::sync::Arc;

/// A place in a job file or on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a job file.
    File {
        /// The file's path as it was asked for; `-` is standard input.
        path: Arc<str>,
        /// From 1; 0 is the file as a whole.
        line: u32,
        /// From 1, in characters; 0 is the line as a whole.
        column: u32,
    },
    /// On the command line.
    Argument {
        /// The argument, counted from 1 after the program's name.
        index: usize,
    },
}

impl Place {
    /// The file as a whole.
    pub fn of_file(path: &str) -> Self {
        Place::File { path: path.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { path, line: 0, .. } => write!(f, "{path}"),
            Place::File { path, line, column: 0 } => write!(f, "{path}:{line}"),
            Place::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Place::Argument { index } => write!(f, "argument {index}"),
        }
    }
}
