//! What rank 0 does: it greets, compares, lets go and collects.

use super::message::Message;
use super::{Member, PINGS, Session, unix_ns};
use crate::merge::first_difference;
use crate::transport::Transport;
use iosonde_report::hosts::ClockOffset;

impl<T: Transport> Session<T> {
    /// Learn who is there, and how far the clocks are from this one.
    pub(super) fn greet(&mut self, own: &Member) -> Result<(), String> {
        let mut missing = self.ranks() - 1;
        let mut another = None;
        if missing > 0 {
            self.wait(&mut || None, |session, from, message| {
                let Message::Hello { name, build } = message else { return None };
                if build != own.build {
                    another.get_or_insert((name.clone(), build));
                }
                session.names[from] = name;
                missing -= 1;
                (missing == 0).then_some(())
            })?;
        }
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
            let theirs = self.wait(&mut || None, |_, from, message| match message {
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
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        let own = own.map_err(|why| format!("{}: {why}", self.names[0]));
        if let Err(why) = own {
            self.stop_all(&why);
            return Err(why);
        }
        let mut missing = self.ranks() - 1;
        let mut objection = None;
        let come = match missing {
            0 => Ok(()),
            _ => self.wait(stopped, |session, from, message| {
                let name = &session.names[from];
                let (at, theirs, failed) = match message {
                    Message::Ready { point, agree, failed } => (point, agree, failed),
                    Message::Done => {
                        objection = Some(format!("{name} ended before the others started"));
                        return Some(());
                    }
                    _ => return None,
                };
                if at != point {
                    return None;
                }
                let why = match failed {
                    Some(why) => Some(format!("{name}: {why}")),
                    None if theirs != agree => {
                        let (there, here) = first_difference(&theirs, agree);
                        let first = &session.names[0];
                        Some(format!("{name} has another job: {there}, and {first} {here}"))
                    }
                    None => None,
                };
                if let Some(why) = why {
                    objection.get_or_insert(why);
                    return Some(());
                }
                missing -= 1;
                (missing == 0).then_some(())
            }),
        };
        let why = come.err().or(objection);
        match why {
            None => {
                self.send_all(&Message::Go { point });
                Ok(())
            }
            Some(why) => {
                self.stop_all(&why);
                self.ended.get_or_insert(why.clone());
                Err(why)
            }
        }
    }

    /// The results of all others, one at a time, once the jobs of all have ended. Who is
    /// silent is left out.
    pub(super) fn collect(&mut self, mut take: impl FnMut(usize, Vec<u8>)) -> Result<(), String> {
        let mut missing = self.wait_for_done();
        for rank in 1..self.ranks() {
            if self.lost[rank] {
                continue;
            }
            match self.take_from(rank) {
                Ok(result) => take(rank, result),
                Err(why) => {
                    let silent = self.silent(std::time::Instant::now());
                    silent.into_iter().for_each(|rank| self.lost[rank] = true);
                    self.lost[rank] = true;
                    missing.get_or_insert(why);
                }
            }
        }
        self.send_all(&Message::Bye);
        self.flush();
        missing.map_or(Ok(()), Err)
    }

    fn take_from(&mut self, rank: usize) -> Result<Vec<u8>, String> {
        let clock = self.ping(rank)?;
        let before = self.clocks[rank];
        // What the clocks drifted apart meanwhile is an error of the first offset.
        let drift = clock.offset_ns.abs_diff(before.offset_ns);
        let error_ns = before.error_ns.max(clock.error_ns).saturating_add(drift);
        self.clocks[rank] = ClockOffset { error_ns, ..before };
        self.send(rank, &Message::Take);
        self.wait(&mut || None, |_, from, message| match message {
            Message::Result(bytes) if from == rank => Some(bytes),
            _ => None,
        })
    }

    /// Wait until all have ended, or are lost; the words for those.
    fn wait_for_done(&mut self) -> Option<String> {
        let mut missing = None;
        let mut sleep = super::SLEEP_LEAST;
        loop {
            self.take_messages();
            self.inbox.clear();
            if let Err(why) = self.keep_alive() {
                let silent = self.silent(std::time::Instant::now());
                silent.into_iter().for_each(|rank| self.lost[rank] = true);
                missing.get_or_insert(why);
            }
            if (1..self.ranks()).all(|rank| self.done[rank] || self.lost[rank]) {
                return missing;
            }
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(super::SLEEP_MOST);
        }
    }
}
