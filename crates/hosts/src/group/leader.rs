//! What rank 0 does: it greets, compares, lets go and collects.

use super::message::Message;
use super::wait::{StopAsked, nothing};
use super::{HostGroup, Member, PINGS};
use crate::merge::first_difference;
use crate::transport::Transport;
use iosonde_base::time::unix_ns;
use iosonde_report::hosts::ClockOffset;
use std::time::Instant;

impl<T: Transport> HostGroup<T> {
    /// Learn who is there, and how far the clocks are from this one.
    pub(super) fn greet(&mut self, own: &Member) -> Result<(), String> {
        let mut another = None;
        self.await_each(&mut nothing, |group, from, message| {
            let Message::Hello { name, build } = message else { return None };
            if build != own.build {
                another.get_or_insert((name.clone(), build));
            }
            group.names[from] = name;
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

    /// The offset of each clock: of the shortest round trip, right within half of it.
    fn measure_clocks(&mut self) -> Result<(), String> {
        for rank in 1..self.ranks() {
            self.clocks[rank] = self.ping(rank)?;
        }
        Ok(())
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
        agree: &str,
        own: Result<(), String>,
        asked: &mut StopAsked<'_>,
    ) -> Result<(), String> {
        let own = own.map_err(|why| format!("{}: {why}", self.names[0]));
        let come = own.and_then(|()| {
            self.await_each(asked, |group, from, message| {
                group.arrival(point, agree, from, message)
            })
        });
        match &come {
            Ok(()) => self.send_all(&Message::Go { point }),
            Err(why) => {
                self.stop_others(why);
                self.ended.get_or_insert_with(|| why.clone());
            }
        }
        come
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
            Message::Ready { point, agree, failed } => (point, agree, failed),
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
        for rank in 1..self.ranks() {
            if self.lost[rank] {
                continue;
            }
            match self.take_from(rank) {
                Ok(result) => take(rank, result),
                Err(why) => {
                    self.lose_silent();
                    self.lost[rank] = true;
                    missing.get_or_insert(why);
                }
            }
        }
        self.send_all(&Message::Bye);
        self.flush();
        missing.map_or(Ok(()), Err)
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

    fn take_from(&mut self, rank: usize) -> Result<String, String> {
        let clock = self.ping(rank)?;
        let before = self.clocks[rank];
        // What the clocks drifted apart meanwhile is an error of the first offset.
        let drift = clock.offset_ns.abs_diff(before.offset_ns);
        let error_ns = before.error_ns.max(clock.error_ns).saturating_add(drift);
        self.clocks[rank] = ClockOffset { error_ns, ..before };
        self.send(rank, &Message::Take);
        self.wait(&mut nothing, |_, from, message| match message {
            Message::Result(text) if from == rank => Some(text),
            _ => None,
        })
    }
}
