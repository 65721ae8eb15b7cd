//! A server's end: rank 1 of a group whose rank 0 is the client, with what it prints beside the
//! messages.

use super::frames::{FileName, Frame, TextStream};
use crate::group::message::Message;
use crate::transport::Transport;
use crate::wire::{Channel, await_readable};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// At the gate signals are listened for so often.
const LISTEN_EVERY: Duration = Duration::from_millis(5);
/// Bytes of a file in a frame, and how many may wait to leave before the next is read.
const PIECE_BYTES: usize = 256 << 10;
const WAITING_MOST: usize = 4 << 20;

/// Lines of a server's output, sent with the next message.
pub type Outgoing = Sender<(TextStream, String)>;

/// A server's connection with its client.
pub struct ServerLink {
    channel: Channel,
    lines: Receiver<(TextStream, String)>,
    messages: VecDeque<Vec<u8>>,
    gate_is_open: bool,
}

impl ServerLink {
    /// Over a connection; what is sent into the other part goes over it as well.
    pub fn new(channel: Channel) -> (ServerLink, Outgoing) {
        let (sender, lines) = self::channel();
        let link = ServerLink { channel, lines, messages: VecDeque::new(), gate_is_open: false };
        (link, sender)
    }

    /// Send what this server is: a line.
    pub fn send_about(&mut self, line: &str) {
        self.put(Frame::About(line.to_owned()));
    }

    /// Send a file, as fast as the client takes it.
    ///
    /// # Errors
    /// It cannot be read. Whether the client is there is known later.
    pub fn send_file(&mut self, name: &str, mut file: impl Read) -> io::Result<()> {
        self.put(Frame::File(FileName(name.to_owned())));
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                break;
            }
            self.put(Frame::Piece(piece[..read].to_vec()));
            while self.channel.waiting_bytes() > WAITING_MOST && self.channel.ended().is_none() {
                self.channel.flush(LISTEN_EVERY);
            }
        }
        self.put(Frame::FileEnd);
        Ok(())
    }

    /// Send what is left, for so long at most.
    pub fn flush(&mut self, within: Duration) {
        self.send_lines();
        self.channel.flush(within);
    }

    fn put(&mut self, frame: Frame) {
        self.send_lines();
        let (kind, bytes) = frame.into_bytes();
        self.channel.send(kind, &bytes);
    }

    fn send_lines(&mut self) {
        while let Ok((stream, line)) = self.lines.try_recv() {
            let (kind, bytes) = Frame::Text(stream, line).into_bytes();
            self.channel.send(kind, &bytes);
        }
    }

    fn take(&mut self) {
        while let Some(bytes) = self.channel.receive() {
            match Frame::from_bytes(bytes) {
                Some(Frame::Message(message)) => self.messages.push_back(message.to_bytes()),
                Some(Frame::Gate) => self.gate_is_open = true,
                // A client sends nothing else.
                _ => {}
            }
        }
    }

    fn is_stopped(&self) -> bool {
        let stops = |bytes: &Vec<u8>| matches!(Message::from_bytes(bytes), Some(Message::Stop(_)));
        self.messages.iter().any(stops)
    }
}

impl Transport for ServerLink {
    fn rank(&self) -> usize {
        1
    }

    fn ranks(&self) -> usize {
        2
    }

    fn send(&mut self, _: usize, message: Vec<u8>) {
        if let Some(message) = Message::from_bytes(&message) {
            self.put(Frame::Message(message));
        }
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        self.send_lines();
        self.take();
        self.messages.pop_front().map(|message| (0, message))
    }

    /// One round trip: the client opens the gate of all servers when all are at it.
    fn barrier(
        &mut self,
        within: Duration,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        self.put(Frame::Gate);
        let until = Instant::now() + within;
        loop {
            self.take();
            if std::mem::take(&mut self.gate_is_open) {
                return Ok(());
            }
            // Why is in the message, which the group takes.
            if self.is_stopped() {
                return Err("the client has ended the run".to_owned());
            }
            if let Some(why) = stopped() {
                return Err(why);
            }
            if let Some(why) = self.gone(0) {
                return Err(why);
            }
            if Instant::now() >= until {
                return Err("the client is silent before the start".to_owned());
            }
            await_readable(&[&self.channel], LISTEN_EVERY);
        }
    }

    fn gone(&self, _: usize) -> Option<String> {
        let why = self.channel.ended().filter(|_| self.messages.is_empty())?;
        Some(format!("the client is gone: {why}"))
    }

    fn is_idle(&mut self) -> bool {
        self.channel.is_idle()
    }
}
