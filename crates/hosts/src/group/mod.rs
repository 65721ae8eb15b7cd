//! A run on several hosts, from the first message to the last. Rank 0 decides; each other
//! rank talks with it alone, so that whoever is missing has a name.
//!
//! While jobs run nothing is exchanged but a few bytes every [`Limits::beat_every`]; waiting
//! sleeps, except for the instant before a start.

mod leader;
pub(crate) mod message;
mod rates;
mod wait;

pub use wait::{StopAsked, StopRequest};

use crate::transport::Transport;
use iosonde_base::time::since_1970;
use iosonde_report::hosts::ClockOffset;
use iosonde_run::conductor::{HostCounts, MeetingPoint, OtherHosts, Peers};
use message::Message;
use rates::RankRates;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use wait::nothing;

/// Limits of time between the hosts of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A host that is not heard of for so long is taken for lost.
    pub silence: Duration,
    /// How often each lets the others know that it lives.
    pub beat_every: Duration,
}

impl Limits {
    /// How long a host may be silent before all have started, and after their end: many ranks on
    /// few processors take long to start and to end MPI.
    pub fn at_ends(&self, ranks: usize) -> Duration {
        self.silence + self.silence * ranks as u32 / RANKS_PER_SILENCE
    }
}

/// At its ends a run has the time of silence once more for so many ranks.
const RANKS_PER_SILENCE: u32 = 32;

impl Default for Limits {
    fn default() -> Limits {
        Limits { silence: Duration::from_secs(30), beat_every: Duration::from_secs(5) }
    }
}

/// Round trips from which the shortest gives the offset of a clock.
const PINGS: usize = 12;
/// While a host sleeps until a start, signals are listened for so often.
const LISTEN_EVERY: Duration = Duration::from_millis(20);
/// While jobs run, others are listened to so often: after Ctrl-C Open MPI leaves rank 0 a second, and
/// it tells the ranks of other hosts later.
const HEAR_EVERY: Duration = Duration::from_millis(200);
/// Once more that time for so many ranks: hundreds may share a machine.
const RANKS_PER_HEARING: u32 = 64;
/// A transport pauses for so long where another rank seems to be gone: longer than launchers take to
/// end the others.
const PAUSE_MOST: Duration = Duration::from_secs(10);
/// Points of the protocol before those of the run.
const PLANNED: u32 = 0;
const LAID_OUT: u32 = 1;
pub(crate) const FIRST_WAVE: u32 = 2;
/// The end of the time of the first wave's jobs; then of the second ...
pub(crate) const FIRST_TIME_OVER: u32 = 1 << 30;

/// A rank's end of a run on several hosts.
pub struct HostGroup<T: Transport> {
    transport: T,
    names: Vec<String>,
    limits: Limits,
    heard: Vec<Instant>,
    last_beat: Instant,
    /// After a pause of its own this host has listened; nobody has been heard since.
    has_listened: bool,
    last_message: Instant,
    inbox: VecDeque<(usize, Message)>,
    /// Why the run ends, once it does.
    ended: Option<String>,
    /// Clocks of the ranks, at rank 0.
    clocks: Vec<ClockOffset>,
    /// What the jobs of the ranks do, at rank 0.
    rates: Vec<RankRates>,
    /// Ranks whose jobs have ended, at rank 0.
    done: Vec<bool>,
    /// Ranks that are waited for no longer.
    lost: Vec<bool>,
    /// Ranks that sent what is no message.
    garbled: Vec<usize>,
    /// Rank 0 has been heard of: all have started.
    has_begun: bool,
    /// At rank 0: who is there, by rank, and the first rank on the machine of each.
    members: Vec<Member>,
    first_there: Vec<usize>,
    /// The jobs of this rank have ended: nothing ends them any more.
    finishing: bool,
    /// The others know that the run ends early.
    has_stopped_all: bool,
    /// A rank is lost.
    is_broken: bool,
}

/// Who takes part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The host's name.
    pub name: String,
    /// Version and identity of the program.
    pub build: String,
    /// The identity of its running kernel: ranks with the same have one clock.
    #[serde(default)]
    pub machine: String,
    /// Processors of the machine; 0 if that is not known.
    #[serde(default)]
    pub processors: u32,
}

/// How ranks go on from a point.
struct Departure {
    /// At this moment of this host's clock; else at once.
    at_unix_ns: Option<u64>,
    /// The largest number that a rank came with.
    most: u64,
}

impl<T: Transport> HostGroup<T> {
    /// Meet the other ranks: rank 0 learns their names, and refuses other builds.
    ///
    /// # Errors
    /// A rank is silent, or of another build.
    pub fn begin(transport: T, member: &Member, limits: Limits) -> Result<HostGroup<T>, String> {
        let (ranks, now) = (transport.ranks(), Instant::now());
        let mut group = HostGroup {
            transport,
            names: (0..ranks).map(|rank| format!("rank {rank}")).collect(),
            limits,
            heard: vec![now; ranks],
            last_beat: now,
            has_listened: false,
            last_message: now,
            inbox: VecDeque::new(),
            ended: None,
            clocks: vec![ClockOffset::default(); ranks],
            rates: vec![RankRates::default(); ranks],
            done: vec![false; ranks],
            lost: vec![false; ranks],
            garbled: Vec::new(),
            has_begun: false,
            members: vec![Member::default(); ranks],
            first_there: (0..ranks).collect(),
            finishing: false,
            has_stopped_all: false,
            is_broken: false,
        };
        let rank = group.rank();
        group.names[rank].clone_from(&member.name);
        group.members[rank].clone_from(member);
        if rank == 0 {
            group.greet(member)?;
        } else {
            group.send(0, &Message::Hello(member.clone()));
        }
        Ok(group)
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many there are.
    pub fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    /// Names of the ranks as far as they are known here: those of their hosts, with the rank where
    /// a host has several.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Names of the hosts by rank, at rank 0.
    pub fn hosts(&self) -> Vec<String> {
        self.members.iter().map(|member| member.name.clone()).collect()
    }

    /// Rank 0's text for all: its own on rank 0, what came on the others.
    ///
    /// # Errors
    /// A rank is silent, or has ended the run.
    pub fn share(&mut self, own: Option<String>) -> Result<String, String> {
        if let Some(own) = own.filter(|_| self.rank() == 0) {
            let setup = Message::Setup(own.clone());
            self.send_all(&setup);
            self.has_begun = true;
            return Ok(own);
        }
        let text = self.wait(&mut nothing, |_, _, message| match message {
            Message::Setup(text) => Some(text),
            _ => None,
        });
        self.has_begun = true;
        text
    }

    /// Agree on the job: all are ready to run it, and it is the same on all.
    ///
    /// # Errors
    /// It is another on one host, or refused there.
    pub fn agree(
        &mut self,
        job: &str,
        own: Result<(), String>,
        asked: &mut StopAsked<'_>,
    ) -> Result<(), String> {
        self.come_to(PLANNED, (job, 0), own, asked)?;
        // The others are not to take the pause for silence.
        self.transport.guard_results(PAUSE_MOST.min(self.limits.silence / 2));
        Ok(())
    }

    /// End the run on all ranks.
    pub fn stop_all(&mut self, why: &str) {
        self.has_stopped_all = true;
        let stop = Message::Stop(why.to_owned());
        match self.rank() {
            0 => self.send_all(&stop),
            _ => self.send(0, &stop),
        }
        self.flush();
    }

    /// Come to a point with what all must agree in and a number of this rank's, and go on when
    /// all have.
    fn come_to(
        &mut self,
        point: u32,
        (agree, most): (&str, u64),
        own: Result<(), String>,
        asked: &mut StopAsked<'_>,
    ) -> Result<Departure, String> {
        if self.rank() == 0 {
            return self.lead_to(point, (agree, most), own, asked);
        }
        let failed = own.err();
        self.send(0, &Message::Ready { point, agree: agree.to_owned(), failed, most });
        self.wait(asked, |_, _, message| match message {
            Message::Go { point: at, at_unix_ns, most } if at == point => {
                Some(Departure { at_unix_ns, most })
            }
            _ => None,
        })
    }

    /// This rank's jobs have ended; its result goes to rank 0, which gets those of all, each as
    /// soon as it comes: in any order. `own` is also what is sent. Where the run ended early, the jobs of
    /// the others are ended, too.
    ///
    /// # Errors
    /// Ranks are silent: which. Or they are waited for no longer: the run is ended and one of them is gone.
    pub fn finish(
        &mut self,
        own: &str,
        mut take: impl FnMut(usize, String),
        asked: &mut StopAsked<'_>,
    ) -> Result<(), String> {
        self.finishing = true;
        let pauses = self.transport.results_are_saved();
        if let Some(why) = pauses.filter(|_| asked().is_some()) {
            self.is_broken = true;
            if self.rank() == 0 {
                take(0, own.to_owned());
            }
            return Err(why);
        }
        let ended = self.ended.take();
        if self.rank() == 0 {
            if let Some(why) = ended {
                self.stop_others(&why);
            }
            take(0, own.to_owned());
            return self.collect(take, asked);
        }
        self.send(0, &Message::Done);
        let taken = self.wait(asked, |group, _, message| match message {
            Message::Take => {
                group.send(0, &Message::Result(own.to_owned()));
                None
            }
            Message::Bye => Some(()),
            _ => None,
        });
        self.is_broken |= taken.is_err();
        taken
    }

    /// End the run on all ranks, unless they know already.
    fn stop_others(&mut self, why: &str) {
        if !self.has_stopped_all {
            self.stop_all(why);
        }
    }

    /// What the group was made over; and whether all ranks are known to have come to its
    /// end, without which they must not be waited for.
    pub fn into_transport(self) -> (T, bool) {
        (self.transport, !self.is_broken)
    }

    /// The limits of time of this run.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What the group was made over.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
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
}

impl<T: Transport> Peers for HostGroup<T> {
    fn beat_every(&self) -> Option<Duration> {
        let every = HEAR_EVERY + HEAR_EVERY * self.ranks() as u32 / RANKS_PER_HEARING;
        Some(self.limits.beat_every.min(every))
    }

    fn beat(&mut self, own: &HostCounts) -> Result<(), String> {
        self.take_messages();
        let alive = self.keep_alive(Some(own));
        self.ended.clone().map_or(alive, Err)
    }

    fn others(&self) -> Option<OtherHosts> {
        (self.rank() == 0).then(|| rates::sum(self.rates[1..].iter()))
    }

    fn most(
        &mut self,
        wave: usize,
        own: u64,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<u64, String> {
        let asked = &mut || stopped().map(StopRequest::GiveUp);
        let point = FIRST_TIME_OVER + wave as u32;
        self.come_to(point, ("", own), Ok(()), asked).map(|met| met.most)
    }

    fn meet(
        &mut self,
        at: MeetingPoint,
        own: Result<(), String>,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        let asked = &mut || stopped().map(StopRequest::GiveUp);
        match at {
            MeetingPoint::LaidOut => self.come_to(LAID_OUT, ("", 0), own, asked).map(drop),
            MeetingPoint::Wave(wave) => {
                let met = self.come_to(FIRST_WAVE + wave as u32, ("", 0), own, asked)?;
                if let Some(unix_ns) = met.at_unix_ns {
                    return sleep_until(unix_ns, stopped);
                }
                let met = self.transport.barrier(self.limits.silence, stopped);
                if let Err(why) = &met {
                    self.is_broken = true;
                    self.stop_others(&self.own_words(why));
                }
                met
            }
        }
    }
}

/// Sleep until a moment of the clock of the day.
fn sleep_until(unix_ns: u64, stopped: &mut dyn FnMut() -> Option<String>) -> Result<(), String> {
    while let Some(left) = Duration::from_nanos(unix_ns).checked_sub(since_1970()) {
        if let Some(why) = stopped() {
            return Err(why);
        }
        std::thread::sleep(left.min(LISTEN_EVERY));
    }
    Ok(())
}
