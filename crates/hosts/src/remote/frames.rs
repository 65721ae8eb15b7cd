//! Frames between a client and a server, by their kind.

use crate::group::message::Message;
use serde::{Deserialize, Serialize};

const MESSAGE: u8 = 0;
const GATE: u8 = 1;
const OUTPUT: u8 = 2;
const ERROR: u8 = 3;
const FILE: u8 = 4;
const PIECE: u8 = 5;
const FILE_END: u8 = 6;
const ABOUT: u8 = 7;

/// A line's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// The name of a file that follows in pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileName(pub String);

/// What goes over a connection.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Frame {
    /// Of the group.
    Message(Message),
    /// At the gate; from the client: it opens.
    Gate,
    /// A line of text.
    Text(TextStream, String),
    /// A file begins.
    File(FileName),
    /// The next bytes of it.
    Piece(Vec<u8>),
    /// It is complete.
    FileEnd,
    /// What the server is.
    About(String),
}

impl Frame {
    pub fn into_bytes(self) -> (u8, Vec<u8>) {
        match self {
            Frame::Message(message) => (MESSAGE, message.to_bytes()),
            Frame::Gate => (GATE, Vec::new()),
            Frame::Text(TextStream::Output, line) => (OUTPUT, line.into_bytes()),
            Frame::Text(TextStream::Error, line) => (ERROR, line.into_bytes()),
            Frame::File(name) => (FILE, name.0.into_bytes()),
            Frame::Piece(bytes) => (PIECE, bytes),
            Frame::FileEnd => (FILE_END, Vec::new()),
            Frame::About(line) => (ABOUT, line.into_bytes()),
        }
    }

    /// The frame; `None` if the bytes are none.
    pub fn from_bytes((kind, bytes): (u8, Vec<u8>)) -> Option<Frame> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(match kind {
            MESSAGE => Frame::Message(Message::from_bytes(&bytes)?),
            GATE => Frame::Gate,
            OUTPUT => Frame::Text(TextStream::Output, text(&bytes)),
            ERROR => Frame::Text(TextStream::Error, text(&bytes)),
            FILE => Frame::File(FileName(String::from_utf8(bytes).ok()?)),
            PIECE => Frame::Piece(bytes),
            FILE_END => Frame::FileEnd,
            ABOUT => Frame::About(text(&bytes)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_arrive_as_they_were_and_others_are_none() {
        for frame in [
            Frame::Message(Message::Ping),
            Frame::Gate,
            Frame::Text(TextStream::Output, "a".to_owned()),
            Frame::Text(TextStream::Error, "b".to_owned()),
            Frame::File(FileName("c".to_owned())),
            Frame::Piece(vec![0, 255]),
            Frame::FileEnd,
            Frame::About("d".to_owned()),
        ] {
            assert_eq!(Frame::from_bytes(frame.clone().into_bytes()), Some(frame));
        }
        assert_eq!(Frame::from_bytes((MESSAGE, b"{".to_vec())), None);
        assert_eq!(Frame::from_bytes((FILE, vec![0xff])), None);
        assert_eq!(Frame::from_bytes((99, Vec::new())), None);
    }
}
