//! A run on several hosts, from the first message to the last. Rank 0 decides; each other
//! rank talks with it alone, so that whoever is missing has a name.
//!
//! While jobs run nothing is exchanged but a few bytes every [`Limits::beat_every`]; waiting
//! sleeps, except for the instant before a start.

mod leader;
mod message;

use crate::transport::Transport;
use iosonde_base::text::duration;
use iosonde_report::hosts::ClockOffset;
use iosonde_run::conductor::{MeetingPoint, Peers};
use message::Message;
use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Times of a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A host that is not heard of for so long is taken for lost.
    pub silence: Duration,
    /// How often each lets the others know that it lives.
    pub beat_every: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { silence: Duration::from_secs(30), beat_every: Duration::from_secs(5) }
    }
}

/// Round trips from which the shortest gives the offset of a clock.
const PINGS: usize = 12;
/// The shortest and the longest sleep of a wait.
const SLEEP_LEAST: Duration = Duration::from_micros(2);
const SLEEP_MOST: Duration = Duration::from_millis(1);
/// After a message the next is awaited without sleep for so long: round trips are short.
const AWAKE: Duration = Duration::from_micros(300);
/// Points of the protocol before those of the run.
const PLANNED: u32 = 0;
const LAID_OUT: u32 = 1;
const FIRST_WAVE: u32 = 2;

/// A rank's end of a run on several hosts.
pub struct Session<T: Transport> {
    transport: T,
    names: Vec<String>,
    limits: Limits,
    heard: Vec<Instant>,
    last_beat: Instant,
    last_message: Instant,
    inbox: VecDeque<(usize, Message)>,
    /// Why the run ends, once it does.
    ended: Option<String>,
    /// Clocks of the ranks, at rank 0.
    clocks: Vec<ClockOffset>,
    /// Ranks whose jobs have ended, at rank 0.
    done: Vec<bool>,
    /// Ranks that are waited for no longer.
    lost: Vec<bool>,
    /// The jobs of this rank have ended: nothing ends them any more.
    finishing: bool,
    /// A rank is lost.
    is_broken: bool,
}

/// Who takes part.
#[derive(Clone, Debug)]
pub struct Member {
    /// The host's name.
    pub name: String,
    /// Version and identity of the program.
    pub build: String,
}

impl<T: Transport> Session<T> {
    /// Meet the other ranks: rank 0 learns their names, and refuses other builds.
    ///
    /// # Errors
    /// A rank is silent, or of another build.
    pub fn begin(transport: T, member: &Member, limits: Limits) -> Result<Session<T>, String> {
        let (ranks, now) = (transport.ranks(), Instant::now());
        let mut session = Session {
            transport,
            names: (0..ranks).map(|rank| format!("rank {rank}")).collect(),
            limits,
            heard: vec![now; ranks],
            last_beat: now,
            last_message: now,
            inbox: VecDeque::new(),
            ended: None,
            clocks: vec![ClockOffset::default(); ranks],
            done: vec![false; ranks],
            lost: vec![false; ranks],
            finishing: false,
            is_broken: false,
        };
        let rank = session.rank();
        session.names[rank].clone_from(&member.name);
        if rank == 0 {
            session.greet(member)?;
        } else {
            let Member { name, build } = member.clone();
            session.send(0, &Message::Hello { name, build });
        }
        Ok(session)
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many there are.
    pub fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    /// Names of the hosts by rank, as far as they are known here.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Rank 0's text for all: its own on rank 0, what came on the others.
    ///
    /// # Errors
    /// A rank is silent, or has ended the run.
    pub fn share(&mut self, own: Option<Vec<u8>>) -> Result<Vec<u8>, String> {
        if let Some(own) = own.filter(|_| self.rank() == 0) {
            let setup = Message::Setup(own.clone());
            self.send_all(&setup);
            return Ok(own);
        }
        self.wait(&mut || None, |_, _, message| match message {
            Message::Setup(text) => Some(text),
            _ => None,
        })
    }

    /// Agree on the job: all are ready to run it, and it is the same on all.
    ///
    /// # Errors
    /// It is another on one host, or refused there.
    pub fn agree(&mut self, job: &str, own: Result<(), String>) -> Result<(), String> {
        self.come_to(PLANNED, job, own, &mut || None)
    }

    /// End the run on all ranks.
    pub fn stop_all(&mut self, why: &str) {
        let stop = Message::Stop(why.to_owned());
        match self.rank() {
            0 => self.send_all(&stop),
            _ => self.send(0, &stop),
        }
        self.flush();
    }

    /// Come to a point, and go on when all have.
    fn come_to(
        &mut self,
        point: u32,
        agree: &str,
        own: Result<(), String>,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        if self.rank() == 0 {
            return self.lead_to(point, agree, own, stopped);
        }
        let failed = own.err();
        self.send(0, &Message::Ready { point, agree: agree.to_owned(), failed });
        self.wait(stopped, |_, _, message| match message {
            Message::Go { point: at } if at == point => Some(()),
            _ => None,
        })
    }

    /// This rank's jobs have ended; its result goes to rank 0, which gets those of all, each as
    /// soon as it comes. `own` is also what is sent.
    ///
    /// # Errors
    /// Ranks are silent: which.
    pub fn finish(
        &mut self,
        own: &[u8],
        mut take: impl FnMut(usize, Vec<u8>),
    ) -> Result<(), String> {
        (self.finishing, self.ended) = (true, None);
        if self.rank() == 0 {
            take(0, own.to_vec());
            return self.collect(take);
        }
        self.send(0, &Message::Done);
        self.wait(&mut || None, |session, _, message| match message {
            Message::Take => {
                session.send(0, &Message::Result(own.to_vec()));
                None
            }
            Message::Bye => Some(()),
            _ => None,
        })
    }

    /// What the session was made over; and whether all ranks are known to have come to its
    /// end, without which they must not be waited for.
    pub fn into_transport(self) -> (T, bool) {
        (self.transport, !self.is_broken)
    }

    /// The offset of a rank's clock from that of rank 0, at rank 0.
    pub fn clock(&self, rank: usize) -> ClockOffset {
        self.clocks.get(rank).copied().unwrap_or_default()
    }

    fn send(&mut self, to: usize, message: &Message) {
        self.transport.send(to, message.to_bytes());
    }

    fn send_all(&mut self, message: &Message) {
        for to in 1..self.ranks() {
            self.transport.send(to, message.to_bytes());
        }
    }

    /// What has come since; beats and pings are answered here.
    fn take_messages(&mut self) {
        while let Some((from, bytes)) = self.transport.receive() {
            let now = Instant::now();
            (self.heard[from], self.last_message) = (now, now);
            match Message::from_bytes(&bytes) {
                Some(Message::Beat) | None => {}
                Some(Message::Ping) => self.send(from, &Message::Pong(unix_ns())),
                Some(Message::Stop(_)) if self.finishing => {}
                Some(Message::Stop(why)) => {
                    let why = match from {
                        0 => why,
                        _ => format!("{}: {why}", self.names[from]),
                    };
                    self.ended.get_or_insert(why);
                }
                Some(Message::Done) => {
                    self.done[from] = true;
                    self.inbox.push_back((from, Message::Done));
                }
                Some(other) => self.inbox.push_back((from, other)),
            }
        }
    }

    /// Send signs of life, if it is time; who is silent for too long ends the run.
    fn keep_alive(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let paused = now.duration_since(self.last_beat);
        if paused >= self.limits.beat_every {
            self.last_beat = now;
            match self.rank() {
                0 => self.send_all(&Message::Beat),
                _ => self.send(0, &Message::Beat),
            }
            // A host that was itself stopped for long has heard nobody: it listens first.
            if paused >= self.limits.silence {
                self.heard.fill(now);
            }
        }
        let silent = self.silent(now);
        if silent.is_empty() {
            return Ok(());
        }
        self.is_broken = true;
        Err(self.silence_words(&silent))
    }

    fn silent(&self, now: Instant) -> Vec<usize> {
        let others = match self.rank() {
            0 => 1..self.ranks(),
            _ => 0..1,
        };
        let is_silent = |&rank: &usize| {
            !self.lost[rank] && now.duration_since(self.heard[rank]) >= self.limits.silence
        };
        others.filter(is_silent).collect()
    }

    fn silence_words(&self, silent: &[usize]) -> String {
        const NAMED: usize = 8;
        let named: Vec<String> =
            silent.iter().take(NAMED).map(|&rank| self.names[rank].clone()).collect();
        let more = match silent.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let time = duration(self.limits.silence.as_nanos() as u64);
        format!("{}{more} silent for {time}", named.join(", "))
    }

    /// Wait for what `done` makes of a message, asleep as far as that goes.
    fn wait<R>(
        &mut self,
        stopped: &mut dyn FnMut() -> Option<String>,
        mut done: impl FnMut(&mut Self, usize, Message) -> Option<R>,
    ) -> Result<R, String> {
        let mut sleep = SLEEP_LEAST;
        self.last_message = Instant::now();
        loop {
            self.take_messages();
            while let Some((from, message)) = self.inbox.pop_front() {
                if let Some(result) = done(self, from, message) {
                    return Ok(result);
                }
            }
            if let Some(why) = &self.ended {
                return Err(why.clone());
            }
            if let Some(why) = stopped() {
                self.stop_all(&why);
                return Err(why);
            }
            self.keep_alive()?;
            if self.last_message.elapsed() < AWAKE {
                sleep = SLEEP_LEAST;
                std::hint::spin_loop();
                continue;
            }
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(SLEEP_MOST);
        }
    }

    /// Wait until what was sent has left, for a moment at most.
    fn flush(&mut self) {
        let until = Instant::now() + Duration::from_secs(1);
        while !self.transport.is_idle() && Instant::now() < until {
            std::thread::sleep(SLEEP_MOST);
        }
    }
}

impl<T: Transport> Peers for Session<T> {
    fn beat_every(&self) -> Option<Duration> {
        Some(self.limits.beat_every)
    }

    fn beat(&mut self) -> Result<(), String> {
        self.take_messages();
        self.ended.clone().map_or(Ok(()), Err)?;
        self.keep_alive()
    }

    fn meet(
        &mut self,
        at: MeetingPoint,
        own: Result<(), String>,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        match at {
            MeetingPoint::LaidOut => self.come_to(LAID_OUT, "", own, stopped),
            MeetingPoint::Wave(wave) => {
                self.come_to(FIRST_WAVE + wave as u32, "", own, stopped)?;
                let met = self.transport.barrier(self.limits.silence);
                self.is_broken |= met.is_err();
                met
            }
        }
    }
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |elapsed| elapsed.as_nanos() as u64)
}
