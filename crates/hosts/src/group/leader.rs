//! What rank 0 does: it greets, compares, lets go and collects.

use super::message::Message;
use super::rates::RankRates;
use super::wait::{StopAsked, nothing};
use super::{Departure, FIRST_TIME_OVER, FIRST_WAVE, HostGroup, LAID_OUT, Member, PINGS};
use crate::merge::first_difference;
use crate::transport::Transport;
use iosonde_base::time::unix_ns;
use iosonde_report::hosts::ClockOffset;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// Results that are on their way at a time.
const TAKEN_AT_ONCE: usize = 32;
/// Where ranks share processors a start is so far ahead: who sleeps is to have heard of it.
const START_AHEAD: Duration = Duration::from_millis(20);
const START_AHEAD_PER_RANK: Duration = Duration::from_millis(2);

impl<T: Transport> HostGroup<T> {
    /// Learn who is there, and how far the clocks are from this one.
    pub(super) fn greet(&mut self, own: &Member) -> Result<(), String> {
        let mut another = None;
        self.await_each(&mut nothing, |group, from, message| {
            let Message::Hello(member) = message else { return None };
            if member.build != own.build {
                another.get_or_insert((member.name.clone(), member.build.clone()));
            }
            group.names[from].clone_from(&member.name);
            group.members[from] = member;
            Some(Ok(()))
        })?;
        if let Some((name, build)) = another {
            let why = format!(
                "{name} has another build of iosonde ({build}) than {} ({}): install the same on all hosts",
                own.name, own.build
            );
            self.stop_all(&why);
            return Err(why);
        }
        self.find_machines();
        self.measure_clocks()
    }

    /// Wait until each other rank has sent a message that counts, or one objects: `counts` is
    /// `None` for messages that are neither.
    fn await_each(
        &mut self,
        asked: &mut StopAsked<'_>,
        mut counts: impl FnMut(&mut Self, usize, Message) -> Option<Result<(), String>>,
    ) -> Result<(), String> {
        let mut missing = self.ranks() - 1;
        if missing == 0 {
            return Ok(());
        }
        self.wait(asked, |group, from, message| {
            let counted = counts(group, from, message)?;
            missing -= 1;
            (missing == 0 || counted.is_err()).then_some(counted)
        })?
    }

    /// The offset of each clock: of the shortest round trip, right within half of it. Ranks on
    /// one machine have one clock.
    fn measure_clocks(&mut self) -> Result<(), String> {
        for rank in self.clock_ranks() {
            let clock = self.ping(rank)?;
            self.set_clock(rank, clock);
        }
        Ok(())
    }

    /// Note which ranks are on one machine; ranks on one host are told apart by their numbers.
    fn find_machines(&mut self) {
        let mut named: HashMap<&str, u32> = HashMap::new();
        self.members.iter().for_each(|member| *named.entry(&member.name).or_default() += 1);
        for (rank, member) in self.members.iter().enumerate() {
            if named.get(member.name.as_str()).is_some_and(|&ranks| ranks > 1) {
                self.names[rank] = format!("{}:{rank}", member.name);
            }
        }
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (rank, member) in self.members.iter().enumerate() {
            self.first_there[rank] = match member.machine.as_str() {
                "" => rank,
                machine => *first.entry(machine).or_insert(rank),
            };
        }
    }

    /// The first rank of each machine but rank 0's.
    fn clock_ranks(&self) -> Vec<usize> {
        (1..self.ranks()).filter(|&rank| self.first_there[rank] == rank).collect()
    }

    /// The clock of a rank is that of all on its machine.
    fn set_clock(&mut self, rank: usize, clock: ClockOffset) {
        let there = self.first_there.iter().enumerate().filter(|(_, first)| **first == rank);
        there.for_each(|(other, _)| self.clocks[other] = clock);
    }

    /// Whether a machine has more ranks than processors: waiting awake for a start, they would
    /// keep each other from it.
    fn is_crowded(&self) -> bool {
        let mut there = vec![0; self.ranks()];
        self.first_there.iter().for_each(|&first| there[first] += 1);
        let processors = self.members.iter().map(|member| member.processors);
        there.iter().zip(processors).any(|(&ranks, known)| known > 0 && ranks > known)
    }

    /// The moment at which all start a wave, by the clock of rank 0: asleep until then.
    fn start_moment(&self) -> u64 {
        let ahead = START_AHEAD + START_AHEAD_PER_RANK * self.ranks() as u32;
        unix_ns() + ahead.as_nanos() as u64
    }

    fn ping(&mut self, rank: usize) -> Result<ClockOffset, String> {
        let mut best: Option<(u64, ClockOffset)> = None;
        for _ in 0..PINGS {
            let sent = unix_ns();
            self.send(rank, &Message::Ping);
            let theirs = self.wait(&mut nothing, |_, from, message| match message {
                Message::Pong(ns) if from == rank => Some(ns),
                _ => None,
            })?;
            let took = unix_ns().saturating_sub(sent);
            if best.is_none_or(|(shortest, _)| took < shortest) {
                let middle = sent + took / 2;
                let offset_ns = theirs.wrapping_sub(middle).cast_signed();
                best = Some((took, ClockOffset { offset_ns, error_ns: took / 2 + 1 }));
            }
        }
        Ok(best.map(|(_, clock)| clock).unwrap_or_default())
    }

    /// Wait until all ranks are at a point, and let all go; or end the run for all.
    pub(super) fn lead_to(
        &mut self,
        point: u32,
        (agree, mut most): (&str, u64),
        own: Result<(), String>,
        asked: &mut StopAsked<'_>,
    ) -> Result<Departure, String> {
        let own = own.map_err(|why| format!("{}: {why}", self.names[0]));
        let come = own.and_then(|()| {
            self.await_each(asked, |group, from, message| {
                if let Message::Ready { point: at, most: theirs, .. } = &message
                    && *at == point
                {
                    most = most.max(*theirs);
                }
                group.arrival(point, agree, from, message)
            })
        });
        if let Err(why) = &come {
            self.stop_others(why);
            self.ended.get_or_insert_with(|| why.clone());
        }
        come?;
        if point == LAID_OUT {
            self.rates.fill(RankRates::default());
        }
        let is_start = (FIRST_WAVE..FIRST_TIME_OVER).contains(&point);
        let start = (is_start && self.is_crowded()).then(|| self.start_moment());
        for rank in 1..self.ranks() {
            let offset_ns = self.clocks[rank].offset_ns;
            let at_unix_ns = start.map(|ns| ns.saturating_add_signed(offset_ns));
            self.send(rank, &Message::Go { point, at_unix_ns, most });
        }
        Ok(Departure { at_unix_ns: start, most })
    }

    /// What a message of a rank means for a point: it is there, or why it does not come.
    fn arrival(
        &self,
        point: u32,
        agree: &str,
        from: usize,
        message: Message,
    ) -> Option<Result<(), String>> {
        let name = &self.names[from];
        let (at, theirs, failed) = match message {
            Message::Ready { point, agree, failed, .. } => (point, agree, failed),
            Message::Done => return Some(Err(format!("{name} ended before the others started"))),
            _ => return None,
        };
        if at != point {
            return None;
        }
        Some(match failed {
            Some(why) => Err(format!("{name}: {why}")),
            None if theirs != agree => {
                let (there, here) = first_difference(&theirs, agree);
                Err(format!("{name} has another job: {there}, and {} {here}", self.names[0]))
            }
            None => Ok(()),
        })
    }

    /// The results of all others, one at a time, once the jobs of all have ended. Who is
    /// silent is left out.
    pub(super) fn collect(
        &mut self,
        mut take: impl FnMut(usize, String),
        asked: &mut StopAsked<'_>,
    ) -> Result<(), String> {
        let mut missing = self.wait_for_done(asked);
        // After a signal launchers soon kill what is left: results first.
        let drifting = if self.has_stopped_all { Vec::new() } else { self.clock_ranks() };
        for rank in drifting {
            if let Err(why) = self.note_drift(rank) {
                missing.get_or_insert(why);
            }
        }
        if let Err(why) = self.take_results(&mut take) {
            missing.get_or_insert(why);
        }
        self.send_all(&Message::Bye);
        self.flush();
        missing.map_or(Ok(()), Err)
    }

    /// Ask for the results of all that are not lost, some at a time.
    fn take_results(&mut self, take: &mut impl FnMut(usize, String)) -> Result<(), String> {
        let mut to_ask: VecDeque<usize> = (1..self.ranks()).collect();
        let mut asked: Vec<usize> = Vec::new();
        let mut missing = None;
        loop {
            to_ask.retain(|&rank| !self.lost[rank]);
            asked.retain(|&rank| !self.lost[rank]);
            let room = TAKEN_AT_ONCE.saturating_sub(asked.len()).min(to_ask.len());
            for rank in to_ask.drain(..room) {
                self.send(rank, &Message::Take);
                asked.push(rank);
            }
            if asked.is_empty() {
                return missing.map_or(Ok(()), Err);
            }
            let result = self.wait(&mut nothing, |_, from, message| match message {
                Message::Result(text) if asked.contains(&from) => Some((from, text)),
                _ => None,
            });
            match result {
                Ok((rank, text)) => {
                    asked.retain(|&other| other != rank);
                    take(rank, text);
                }
                Err(why) => {
                    if !self.lose_silent() {
                        asked.iter().for_each(|&rank| self.lost[rank] = true);
                    }
                    missing.get_or_insert(why);
                }
            }
        }
    }

    /// Wait until all have ended, or are lost; the words for those.
    fn wait_for_done(&mut self, asked: &mut StopAsked<'_>) -> Option<String> {
        let mut missing = None;
        while !self.all_have_ended() {
            let ended = self.wait(asked, |group, _, _| group.all_have_ended().then_some(()));
            if let Err(why) = ended {
                missing.get_or_insert(why);
                if !self.lose_silent() {
                    // Not for their silence: nobody is waited for any longer.
                    self.is_broken = true;
                    self.lost = self.done.iter().map(|done| !done).collect();
                }
            }
        }
        missing
    }

    fn all_have_ended(&self) -> bool {
        (1..self.ranks()).all(|rank| self.done[rank] || self.lost[rank])
    }

    /// Do not wait any longer for ranks that are silent; whether there are any.
    fn lose_silent(&mut self) -> bool {
        let silent = self.silent(Instant::now());
        silent.iter().for_each(|&rank| self.lost[rank] = true);
        !silent.is_empty()
    }

    /// What a clock drifted apart while the jobs ran is an error of its first offset.
    fn note_drift(&mut self, rank: usize) -> Result<(), String> {
        if self.lost[rank] {
            return Ok(());
        }
        let clock = self.ping(rank).inspect_err(|_| {
            self.lose_silent();
            self.lost[rank] = true;
        })?;
        let before = self.clocks[rank];
        let drift = clock.offset_ns.abs_diff(before.offset_ns);
        let error_ns = before.error_ns.max(clock.error_ns).saturating_add(drift);
        self.set_clock(rank, ClockOffset { error_ns, ..before });
        Ok(())
    }
}
