//! Frames of bytes over a connected socket: never waiting, encrypted once there is a key.
//!
//! A frame is its length (4 bytes, least significant first), its kind (1 byte) and its bytes. With
//! a key the stream of frames is cut into records of Noise: a length of 2 bytes, and what is sealed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use snow::TransportState;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// A longer frame is refused: no report of a host comes near it.
pub const FRAME_BYTES_MOST: usize = 256 << 20;
const HEAD_BYTES: usize = 5;
/// Noise's largest record, and the tag in it.
const RECORD_BYTES: usize = 65_535;
const TAG_BYTES: usize = 16;
const READ_BYTES: usize = 64 << 10;

/// One end of a connection.
pub struct Channel {
    socket: OwnedFd,
    seal: Option<Box<TransportState>>,
    /// What has come, as it came.
    raw: Vec<u8>,
    /// The frames that it holds, from the first that is not complete.
    plain: Vec<u8>,
    arrived: VecDeque<(u8, Vec<u8>)>,
    /// What is still to leave.
    leaving: Vec<u8>,
    left: usize,
    ended: Option<String>,
}

impl Channel {
    /// Over a socket that does not block; encrypted with a key.
    pub(super) fn new(socket: OwnedFd, seal: Option<TransportState>) -> Channel {
        Channel {
            socket,
            seal: seal.map(Box::new),
            raw: Vec::new(),
            plain: Vec::new(),
            arrived: VecDeque::new(),
            leaving: Vec::new(),
            left: 0,
            ended: None,
        }
    }

    /// Over a socket that does not block, without encryption: between processes of one program.
    pub fn open(socket: OwnedFd) -> Channel {
        Channel::new(socket, None)
    }

    /// Send a frame: as much as leaves at once, the rest with what follows.
    pub fn send(&mut self, kind: u8, bytes: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        let Ok(length) = u32::try_from(bytes.len()) else {
            self.ended = Some("a message is longer than 4 GiB".to_owned());
            return;
        };
        let mut frame = Vec::with_capacity(HEAD_BYTES + bytes.len());
        frame.extend_from_slice(&length.to_le_bytes());
        frame.push(kind);
        frame.extend_from_slice(bytes);
        match &mut self.seal {
            None => self.leaving.append(&mut frame),
            Some(seal) => {
                let mut record = vec![0; RECORD_BYTES];
                for part in frame.chunks(RECORD_BYTES - TAG_BYTES) {
                    match seal.write_message(part, &mut record) {
                        Ok(length) => {
                            self.leaving.extend_from_slice(&(length as u16).to_le_bytes());
                            self.leaving.extend_from_slice(&record[..length]);
                        }
                        Err(error) => self.ended = Some(format!("cannot encrypt: {error}")),
                    }
                }
            }
        }
        self.leave();
    }

    /// The next frame that has come: its kind and bytes; does not wait.
    pub fn receive(&mut self) -> Option<(u8, Vec<u8>)> {
        if self.arrived.is_empty() && self.ended.is_none() {
            self.leave();
            self.take();
        }
        self.arrived.pop_front()
    }

    /// Why nothing comes any more, once all that has come was received.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref().filter(|_| self.arrived.is_empty())
    }

    /// All that was sent has left.
    pub fn is_idle(&mut self) -> bool {
        self.leave();
        self.left == self.leaving.len() || self.ended.is_some()
    }

    /// Bytes that are still to leave.
    pub fn waiting_bytes(&self) -> usize {
        self.leaving.len() - self.left
    }

    /// Wait until all has left.
    pub fn flush(&mut self, within: Duration) {
        let until = Instant::now() + within;
        while !self.is_idle() && Instant::now() < until {
            let mut sockets = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::OUT)];
            // What is wrong with the socket is found when it is written to.
            let _ = poll(&mut sockets, Some(&timespec(Duration::from_millis(50))));
        }
    }

    /// For waiting until something comes.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn end(&mut self, why: impl Into<String>) {
        self.ended.get_or_insert(why.into());
    }

    fn leave(&mut self) {
        while self.left < self.leaving.len() && self.ended.is_none() {
            match send(&self.socket, &self.leaving[self.left..], SendFlags::empty()) {
                Ok(written) => self.left += written,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return,
                // What the other end has said before it went is still to be read.
                Err(error) if is_gone(error) => break,
                Err(error) => self.end(io::Error::from(error).to_string()),
            }
        }
        self.leaving.clear();
        self.left = 0;
    }

    /// Take what has come and make frames of it.
    fn take(&mut self) {
        let mut buffer = vec![0; READ_BYTES];
        while self.arrived.is_empty() && self.ended.is_none() {
            match received(&self.socket, &mut buffer) {
                Ok(0) => self.end("the connection was closed"),
                Ok(read) => self.feed(&buffer[..read]),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return,
                Err(error) => self.end(io::Error::from(error).to_string()),
            }
        }
    }

    /// What has come over the socket, or in a test of it.
    fn feed(&mut self, bytes: &[u8]) {
        let fed = match &mut self.seal {
            None => {
                self.plain.extend_from_slice(bytes);
                Ok(())
            }
            Some(seal) => {
                self.raw.extend_from_slice(bytes);
                open_records(seal, &mut self.raw, &mut self.plain)
            }
        };
        if let Err(why) = fed.and_then(|()| take_frames(&mut self.plain, &mut self.arrived)) {
            self.end(why);
        }
    }
}

/// What has come, into the buffer.
pub(super) fn received(socket: &OwnedFd, buffer: &mut [u8]) -> rustix::io::Result<usize> {
    recv(socket, buffer, RecvFlags::empty()).map(|(read, _)| read)
}

/// The other end is gone.
fn is_gone(error: Errno) -> bool {
    matches!(
        std::io::Error::from(error).kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
    )
}

/// Decrypt the records that are complete.
fn open_records(
    seal: &mut TransportState,
    raw: &mut Vec<u8>,
    plain: &mut Vec<u8>,
) -> Result<(), String> {
    let mut at = 0;
    let mut opened = vec![0; RECORD_BYTES];
    while let Some(head) = raw.get(at..at + 2) {
        let length = usize::from(u16::from_le_bytes([head[0], head[1]]));
        let Some(record) = raw.get(at + 2..at + 2 + length) else { break };
        let read = seal.read_message(record, &mut opened);
        let read = read.map_err(|_| "what came was not encrypted by the other end")?;
        plain.extend_from_slice(&opened[..read]);
        at += 2 + length;
    }
    raw.drain(..at);
    Ok(())
}

/// Take the frames that are complete.
fn take_frames(plain: &mut Vec<u8>, arrived: &mut VecDeque<(u8, Vec<u8>)>) -> Result<(), String> {
    let mut at = 0;
    while let Some(head) = plain.get(at..at + HEAD_BYTES) {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if length > FRAME_BYTES_MOST {
            return Err(format!("a message of {length} bytes is refused"));
        }
        let kind = head[4];
        let Some(bytes) = plain.get(at + HEAD_BYTES..at + HEAD_BYTES + length) else { break };
        arrived.push_back((kind, bytes.to_vec()));
        at += HEAD_BYTES + length;
    }
    plain.drain(..at);
    Ok(())
}

/// Wait until one of these has something, or for so long.
pub fn await_readable<'c>(channels: &[&'c Channel], within: Duration) {
    // What has come already needs no waiting.
    if channels.iter().any(|channel| !channel.arrived.is_empty()) {
        return;
    }
    let polled = |channel: &&'c Channel| {
        let leaving = if channel.waiting_bytes() > 0 { PollFlags::OUT } else { PollFlags::empty() };
        PollFd::from_borrowed_fd(channel.socket(), PollFlags::IN | leaving)
    };
    let mut polled: Vec<PollFd<'c>> = channels.iter().map(polled).collect();
    // A signal ends it early, which the caller looks for.
    let _ = poll(&mut polled, Some(&timespec(within)));
}

pub(super) fn timespec(duration: Duration) -> Timespec {
    // Of 32 bits on some systems, which less than a second fits in.
    Timespec { tv_sec: duration.as_secs() as _, tv_nsec: duration.subsec_nanos() as _ }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn pair() -> (Channel, Channel) {
        let (one, other) = UnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        other.set_nonblocking(true).unwrap();
        (Channel::new(one.into(), None), Channel::new(other.into(), None))
    }

    #[test]
    fn frames_arrive_whole_and_in_order_however_the_stream_is_cut() {
        let (mut one, mut other) = pair();
        let long = vec![7; 1 << 20];
        one.send(1, b"");
        one.send(2, &long);
        one.send(255, b"end");
        let mut come = Vec::new();
        while come.len() < 3 {
            one.is_idle();
            come.extend(other.receive());
        }
        assert_eq!(come, [(1, vec![]), (2, long), (255, b"end".to_vec())]);
        assert_eq!((other.receive(), other.ended()), (None, None));
        drop(one);
        assert_eq!(other.receive(), None);
        assert_eq!(other.ended(), Some("the connection was closed"));
    }

    #[test]
    fn what_was_said_before_the_end_is_heard() {
        let (mut one, mut other) = pair();
        one.send(1, b"last words");
        drop(one);
        other.send(1, b"to nobody");
        assert_eq!(other.ended(), None);
        assert_eq!(other.receive(), Some((1, b"last words".to_vec())));
        assert_eq!(other.receive(), None);
        assert!(other.ended().is_some());
    }

    #[test]
    fn a_frame_that_is_too_long_ends_the_connection_before_it_is_awaited() {
        let (_one, mut other) = pair();
        let length = (FRAME_BYTES_MOST as u32 + 1).to_le_bytes();
        other.feed(&length);
        other.feed(&[0]);
        assert!(other.ended().unwrap().contains("is refused"));
        assert!(other.plain.capacity() < 4096);
    }
}
