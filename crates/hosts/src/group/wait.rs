//! Waiting for other ranks: asleep as far as that goes, never for one that is silent.

use super::HostGroup;
use super::message::Message;
use crate::transport::Transport;
use iosonde_base::text::short_duration;
use iosonde_base::time::unix_ns;
use iosonde_run::conductor::HostCounts;
use std::time::{Duration, Instant};

/// The shortest and the longest sleep of a wait, and the longest once it has lasted.
const SLEEP_LEAST: Duration = Duration::from_micros(2);
const SLEEP_MOST: Duration = Duration::from_millis(1);
/// Who waits for long wakes seldom: of 256 ranks on two processors that each looked for a message
/// every millisecond, nobody came to anything.
const LONG_WAIT: Duration = Duration::from_millis(50);
const LONG_SLEEP: Duration = Duration::from_millis(10);
/// After a message the next is awaited without sleep for so long: round trips are short.
const AWAKE: Duration = Duration::from_micros(300);

/// What a signal asks of a host that waits for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// All jobs are to end, wherever they still run; results are waited for all the same.
    EndJobs(String),
    /// Nobody is waited for any longer.
    GiveUp(String),
}

/// Asked while a host waits: whether it is to end, and why.
pub type StopAsked<'a> = dyn FnMut() -> Option<StopRequest> + 'a;

/// Nothing ends a wait but its own time.
pub(super) fn nothing() -> Option<StopRequest> {
    None
}

impl<T: Transport> HostGroup<T> {
    /// What has come since; beats and pings are answered here.
    pub(super) fn take_messages(&mut self) {
        while let Some((from, bytes)) = self.transport.receive() {
            let now = Instant::now();
            self.heard[from] = now;
            self.has_listened = false;
            let message = match Message::from_bytes(&bytes) {
                Some(Message::Beat) => continue,
                Some(Message::Counts(counts)) => {
                    self.rates[from].hear(counts.into());
                    continue;
                }
                Some(message) => message,
                None => {
                    self.garbled.push(from);
                    continue;
                }
            };
            self.last_message = now;
            match message {
                Message::Ping => self.send(from, &Message::Pong(unix_ns())),
                Message::Stop(why) => self.stopped_by(from, why),
                other => {
                    match other {
                        // What it did is known until all begin something else.
                        Message::Ready { .. } => self.rates[from].pause(),
                        Message::Done => self.rates[from].end(),
                        _ => {}
                    }
                    self.done[from] |= other == Message::Done;
                    self.inbox.push_back((from, other));
                }
            }
        }
    }

    /// A rank has ended the run. Rank 0 tells the others.
    fn stopped_by(&mut self, from: usize, why: String) {
        let why = match from {
            0 => why,
            _ => format!("{}: {why}", self.names[from]),
        };
        if self.rank() == 0 {
            self.stop_others(&why);
        }
        if !self.finishing {
            self.ended.get_or_insert(why);
        }
    }

    /// Send signs of life, if it is time, with the counts of jobs that run; who is silent for too
    /// long ends the run.
    pub(super) fn keep_alive(&mut self, own: Option<&HostCounts>) -> Result<(), String> {
        let now = Instant::now();
        let paused = now.duration_since(self.last_beat);
        if paused >= self.limits.beat_every {
            self.last_beat = now;
            match self.rank() {
                0 => self.send_all(&Message::Beat),
                _ => {
                    let counts = own.map(|counts| Message::Counts(counts.into()));
                    self.send(0, &counts.unwrap_or(Message::Beat));
                }
            }
            // A host that was itself stopped for long has heard nobody: it listens first, once.
            if paused >= self.silence() && !self.has_listened {
                self.has_listened = true;
                self.heard.fill(now);
            }
        }
        let gone = self.transport.gone(0).filter(|_| self.rank() > 0);
        let silent = self.silent(now);
        let why = match gone {
            Some(why) => why,
            None if silent.is_empty() => return Ok(()),
            None => self.silence_words(&silent),
        };
        self.is_broken = true;
        if !self.finishing {
            self.ended.get_or_insert_with(|| why.clone());
        }
        Err(why)
    }

    /// For how long a rank may be silent.
    fn silence(&self) -> Duration {
        // At the end rank 0 has the results of all to take.
        let waits_for_first = self.finishing && self.rank() > 0;
        if self.has_begun && !waits_for_first {
            self.limits.silence
        } else {
            self.limits.at_ends(self.ranks())
        }
    }

    /// Whether what a rank sent is not what it said: nothing more can be expected of it.
    fn is_garbled(&self, rank: usize) -> bool {
        self.garbled.contains(&rank) || self.transport.broken().contains(&rank)
    }

    /// Ranks that are not heard of, or not to be understood, any longer.
    pub(super) fn silent(&self, now: Instant) -> Vec<usize> {
        let others = match self.rank() {
            0 => 1..self.ranks(),
            _ => 0..1,
        };
        let limit = self.silence();
        let is_silent = |&rank: &usize| {
            let is_late = now.duration_since(self.heard[rank]) >= limit;
            !self.lost[rank] && (is_late || self.is_garbled(rank))
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
        let named = named.join(", ");
        if silent.iter().any(|&rank| self.is_garbled(rank)) {
            return format!("no progress: a message of {named}{more} was lost or arrived damaged");
        }
        let time = short_duration(self.silence().as_nanos() as u64);
        format!("{named}{more} silent for {time} (--mpi-timeout)")
    }

    /// Wait for what `done` makes of a message, asleep as far as that goes.
    pub(super) fn wait<R>(
        &mut self,
        asked: &mut StopAsked<'_>,
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
            match asked() {
                None => {}
                Some(StopRequest::EndJobs(why)) => self.stop_others(&self.own_words(&why)),
                Some(StopRequest::GiveUp(why)) => {
                    self.stop_others(&self.own_words(&why));
                    return Err(why);
                }
            }
            self.keep_alive(None)?;
            if self.last_message.elapsed() < AWAKE {
                sleep = SLEEP_LEAST;
                std::hint::spin_loop();
                continue;
            }
            std::thread::sleep(sleep);
            let is_long = self.last_message.elapsed() > LONG_WAIT;
            sleep = (sleep * 2).min(if is_long { LONG_SLEEP } else { SLEEP_MOST });
        }
    }

    /// This host's reason as others are told: rank 0 adds the names of all.
    pub(super) fn own_words(&self, why: &str) -> String {
        match self.rank() {
            0 => format!("{}: {why}", self.names[0]),
            _ => why.to_owned(),
        }
    }

    /// Wait until what was sent has left, for a moment at most.
    pub(super) fn flush(&mut self) {
        let until = Instant::now() + Duration::from_secs(1);
        while !self.transport.is_idle() && Instant::now() < until {
            std::thread::sleep(SLEEP_MOST);
        }
    }
}
