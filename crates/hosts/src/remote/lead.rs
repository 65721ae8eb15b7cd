//! What a client does: it lets servers go when all are ready, and takes what they send. It runs
//! no jobs itself. Before the first start one server that fails ends the run of all; afterwards
//! the others go on.

use super::frames::{FileName, Frame, TextStream};
use super::server::{Server, ServerStage};
use crate::group::message::Message;
use crate::group::{FIRST_TIME_OVER, FIRST_WAVE, Limits, StopAsked, StopRequest};
use crate::wire::{Channel, await_readable};
use iosonde_base::text::short_duration;
use iosonde_report::hosts::ClockOffset;
use std::time::{Duration, Instant};

/// Signals and silence are looked for so often.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A server that refuses says so, and ends.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(2);

/// Something that came of a server.
#[derive(Debug)]
pub enum RemoteEvent {
    /// What it is: a line.
    About(String),
    /// A line that it printed.
    Line(TextStream, String),
    /// A file begins.
    File(FileName),
    /// The next bytes of it.
    Piece(Vec<u8>),
    /// It is complete.
    FileEnd,
    /// The result, the last that comes.
    Result(String),
    /// It is lost: why.
    Lost(String),
}

/// Who sees what comes.
pub trait RemoteView {
    /// Something came of a server, the first is 0.
    fn see(&mut self, server: usize, event: RemoteEvent);
}

/// A run on servers.
pub struct RemoteRun {
    servers: Vec<Server>,
    build: String,
    limits: Limits,
    last_beat: Instant,
    /// The jobs of the first wave have started.
    started: bool,
    /// Why it ends before they have.
    refused: Option<String>,
    /// The jobs of all have been ended.
    is_stopped: bool,
}

impl RemoteRun {
    /// Over connections, each with the server's name; `build` is this program's.
    pub fn new(channels: Vec<(Channel, String)>, build: &str, limits: Limits) -> RemoteRun {
        let servers = channels.into_iter().map(|(channel, name)| Server::new(channel, name));
        RemoteRun {
            servers: servers.collect(),
            build: build.to_owned(),
            limits,
            last_beat: Instant::now(),
            started: false,
            refused: None,
            is_stopped: false,
        }
    }

    /// How far a server's clock is from this one.
    pub fn clock(&self, server: usize) -> ClockOffset {
        self.servers[server].clock
    }

    /// Give each server its order, and see what comes until all have ended.
    ///
    /// # Errors
    /// Nothing has run: why. Or nobody is waited for any longer.
    pub fn run(
        &mut self,
        orders: Vec<String>,
        view: &mut dyn RemoteView,
        asked: &mut StopAsked<'_>,
    ) -> Result<(), String> {
        for (server, order) in self.servers.iter_mut().zip(orders) {
            server.order = order;
        }
        while self.servers.iter().any(Server::is_awaited) {
            self.take(view);
            if let Some(why) = self.refused.take() {
                self.stop_all(&why);
                self.hear_last_words(view);
                return Err(why);
            }
            self.let_go();
            match asked() {
                None => {}
                Some(StopRequest::EndJobs(why)) if self.started => self.end_jobs(&why),
                Some(StopRequest::EndJobs(why) | StopRequest::GiveUp(why)) => {
                    self.stop_all(&why);
                    self.flush();
                    return Err(why);
                }
            }
            self.keep_alive(view);
            let awaited = self.servers.iter().filter(|server| server.is_awaited());
            let channels: Vec<&Channel> = awaited.map(|server| &server.channel).collect();
            await_readable(&channels, LOOK_EVERY);
        }
        self.flush();
        Ok(())
    }

    /// What has come of each.
    fn take(&mut self, view: &mut dyn RemoteView) {
        for at in 0..self.servers.len() {
            while self.servers[at].is_awaited() {
                let Some(bytes) = self.servers[at].channel.receive() else { break };
                self.servers[at].heard = Instant::now();
                if let Some(frame) = Frame::from_bytes(bytes) {
                    self.heard(at, frame, view);
                }
            }
        }
    }

    fn heard(&mut self, at: usize, frame: Frame, view: &mut dyn RemoteView) {
        let message = match frame {
            Frame::Message(message) => message,
            Frame::Gate => {
                if matches!(self.servers[at].stage, ServerStage::LetGo) {
                    self.servers[at].stage = ServerStage::AtGate;
                }
                return;
            }
            Frame::Text(stream, line) => return view.see(at, RemoteEvent::Line(stream, line)),
            Frame::File(name) => return view.see(at, RemoteEvent::File(name)),
            Frame::Piece(bytes) => return view.see(at, RemoteEvent::Piece(bytes)),
            Frame::FileEnd => return view.see(at, RemoteEvent::FileEnd),
            Frame::About(line) => return view.see(at, RemoteEvent::About(line)),
        };
        let server = &mut self.servers[at];
        match (message, &server.stage) {
            (Message::Hello(member), ServerStage::Greeting) if member.build == self.build => {
                server.compare_clock(ServerStage::Comparing);
            }
            (Message::Hello(member), ServerStage::Greeting) => {
                self.refused = Some(format!(
                    "{} has {}, and this client {}: install the same on all hosts",
                    server.name, member.build, self.build
                ));
            }
            (Message::Pong(ns), _) => server.pong(ns),
            (Message::Ready { point, agree, failed, most }, ServerStage::Working) => {
                server.most = most;
                if point == 0 {
                    server.job = agree;
                }
                server.stage = ServerStage::At(point);
                if let Some(why) = failed {
                    self.failed(at, &why);
                }
            }
            (Message::Stop(why), _) => self.failed(at, &why),
            (Message::Done, _) => server.compare_clock(ServerStage::Ended),
            (Message::Result(text), ServerStage::Giving) => {
                server.send(Message::Bye);
                server.stage = ServerStage::Over;
                view.see(at, RemoteEvent::Result(text));
            }
            _ => {}
        }
    }

    /// A server cannot go on: before the start that ends the run of all; later its own, with a
    /// result that says why.
    fn failed(&mut self, at: usize, why: &str) {
        let server = &mut self.servers[at];
        if self.started {
            server.send(Message::Stop(why.to_owned()));
            if matches!(server.stage, ServerStage::At(_) | ServerStage::AtGate) {
                server.stage = ServerStage::Working;
            }
        } else {
            let why = format!("{}: {why}", server.name);
            self.refused.get_or_insert(why);
        }
    }

    /// Let those go that all the others are with: to a point, then through the gate.
    fn let_go(&mut self) {
        if self.started && !self.is_one_job() {
            self.present_mut().for_each(|server| {
                server.go(server.most);
                server.open_gate();
            });
            return;
        }
        if self.all_are_at_one_point() {
            let most = self.present().map(|server| server.most).max().unwrap_or(0);
            self.present_mut().for_each(|server| server.go(most));
        }
        if self.present().count() > 0 && self.present().all(Server::is_at_gate) {
            self.started = true;
            self.present_mut().for_each(Server::open_gate);
        }
    }

    fn all_are_at_one_point(&self) -> bool {
        let point = |server: &Server| match server.stage {
            ServerStage::At(point) => Some(point),
            _ => None,
        };
        let first = self.present().next().and_then(point);
        first.is_some() && self.present().all(|server| point(server) == first)
    }

    /// Those whose jobs have not ended.
    fn present(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.is_present())
    }

    fn present_mut(&mut self) -> impl Iterator<Item = &mut Server> {
        self.servers.iter_mut().filter(|server| server.is_present())
    }

    /// Whether all have the same jobs, so that their waves are the same.
    fn is_one_job(&self) -> bool {
        self.servers.windows(2).all(|pair| pair[0].job == pair[1].job)
    }

    /// Send signs of life if it is time, and find who is gone or silent.
    fn keep_alive(&mut self, view: &mut dyn RemoteView) {
        let now = Instant::now();
        let paused = now.duration_since(self.last_beat);
        let beats = paused >= self.limits.beat_every;
        if beats {
            self.last_beat = now;
        }
        for (at, server) in self.servers.iter_mut().enumerate() {
            if !server.is_awaited() {
                continue;
            }
            if beats {
                server.send(Message::Beat);
            }
            // A client that was itself stopped for long has heard nobody: it listens first.
            if paused >= self.limits.silence {
                server.heard = now;
            }
            let silent = now.duration_since(server.heard) >= self.limits.silence;
            let why = match server.channel.ended() {
                Some(why) => why.to_owned(),
                None if silent => {
                    format!("silent for {}", short_duration(self.limits.silence.as_nanos() as u64))
                }
                None => continue,
            };
            server.stage = ServerStage::Lost;
            if !self.started {
                self.refused.get_or_insert(format!("{}: {why}", server.name));
            }
            view.see(at, RemoteEvent::Lost(why));
        }
    }

    /// What servers still print of a run that has ended before its start, for a moment.
    fn hear_last_words(&mut self, view: &mut dyn RemoteView) {
        let until = Instant::now() + LAST_WORDS_WITHIN;
        while self.servers.iter().any(Server::is_awaited) && Instant::now() < until {
            self.take(view);
            for server in &mut self.servers {
                if server.channel.ended().is_some() {
                    server.stage = ServerStage::Lost;
                }
            }
            let awaited = self.servers.iter().filter(|server| server.is_awaited());
            let channels: Vec<&Channel> = awaited.map(|server| &server.channel).collect();
            await_readable(&channels, LOOK_EVERY);
        }
    }

    /// End the jobs of all, once: their results are still to come.
    fn end_jobs(&mut self, why: &str) {
        if !std::mem::replace(&mut self.is_stopped, true) {
            self.stop_all(why);
        }
    }

    fn stop_all(&mut self, why: &str) {
        for server in self.servers.iter_mut().filter(|server| server.is_awaited()) {
            server.send(Message::Stop(why.to_owned()));
        }
    }

    fn flush(&mut self) {
        self.servers.iter_mut().for_each(|server| server.channel.flush(Duration::from_secs(1)));
    }
}

impl Server {
    /// Whether its jobs have not ended.
    fn is_present(&self) -> bool {
        use ServerStage::*;
        matches!(self.stage, Greeting | Comparing(_) | Working | At(_) | LetGo | AtGate)
    }

    fn is_at_gate(&self) -> bool {
        matches!(self.stage, ServerStage::AtGate)
    }

    /// Go on from the point at which it waits, to which all came with `most` at most.
    fn go(&mut self, most: u64) {
        if let ServerStage::At(point) = self.stage {
            let is_start = (FIRST_WAVE..FIRST_TIME_OVER).contains(&point);
            self.stage = if is_start { ServerStage::LetGo } else { ServerStage::Working };
            self.send(Message::Go { point, at_unix_ns: None, most });
        }
    }

    fn open_gate(&mut self) {
        if self.is_at_gate() {
            self.stage = ServerStage::Working;
            self.put(Frame::Gate);
        }
    }
}
