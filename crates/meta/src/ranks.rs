//! Several hosts: this rank's place among them, phases that start together on all, and their
//! results at rank 0.

use crate::result::{PhaseResult, RankShare, RowName};
use crate::watch::DiskRequests;
use iosonde_base::Nanos;
use iosonde_hosts::group::{HostGroup, Limits, Member, StopRequest};
use iosonde_hosts::mpi::Mpi;
use iosonde_run::conductor::{MeetingPoint, Peers};
use iosonde_session::Session;
use iosonde_stats::HistogramSnapshot;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Ranks send their counts so often where a line of them is asked for.
const BEAT_FOR_A_LINE: Duration = Duration::from_secs(1);

/// The ranks of a run.
pub struct Ranks {
    group: HostGroup<Mpi>,
    own: Member,
}

/// What a rank did, as it goes to rank 0.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RankResult {
    name: String,
    machine: String,
    rounds: Vec<Vec<RankPhase>>,
    stopped: bool,
    error: Option<String>,
}

/// A phase of a rank.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RankPhase {
    operations: u64,
    threads: usize,
    began_unix_ns: u64,
    first_done_ns: u64,
    last_done_ns: u64,
    longest_ns: u64,
    bins: Vec<(u64, u64)>,
    synced_ns: Option<u64>,
    fetched: Option<u64>,
    during: Option<DiskRequests>,
    after: Option<DiskRequests>,
    found: Option<(u64, u64)>,
    partial: bool,
}

impl Ranks {
    /// Meet the others.
    ///
    /// # Errors
    /// There is no launcher or no MPI, or a rank is silent or of another build.
    pub fn begin(is_live: bool) -> Result<Ranks, String> {
        let mpi = Mpi::begin().map_err(|why| format!("--mpi: {why}"))?;
        let own = Member::here();
        let mut limits = Limits::default();
        if is_live {
            limits.beat_every = BEAT_FOR_A_LINE;
        }
        let group = HostGroup::begin(mpi, &own, limits)?;
        Ok(Ranks { group, own })
    }

    /// This rank, and how many there are.
    pub fn place(&self) -> (u32, u32) {
        (self.group.rank() as u32, self.group.ranks() as u32)
    }

    /// Whether this rank prints.
    pub fn speaks(&self) -> bool {
        self.group.rank() == 0
    }

    /// The others, for the conductor.
    pub fn peers(&mut self) -> &mut dyn Peers {
        &mut self.group
    }

    /// The directory of rank 0, at each rank. All must have been given the same words.
    ///
    /// # Errors
    /// It could not be made, a rank is silent, or has other words.
    pub fn share_root(
        &mut self,
        own: Result<Option<PathBuf>, String>,
        words: &[String],
    ) -> Result<PathBuf, String> {
        if let Err(why) = &own {
            let words = format!("{}: {why}", self.own.name);
            self.group.stop_all(&words);
        }
        let own = own?.map(|path| path.display().to_string());
        let root = self.group.share(own)?;
        self.group.agree(&words.join("; "), Ok(()), &mut || None)?;
        Ok(PathBuf::from(root))
    }

    /// Come to the start of a phase without anything to do in it, or for a reason not.
    ///
    /// # Errors
    /// Why the run ends.
    pub fn pass(
        &mut self,
        own: Result<(), String>,
        wears_out: bool,
        session: &Session,
    ) -> Result<(), String> {
        let mut stopped = || session.is_stopped().then(|| "stopped by a signal".to_owned());
        self.group.meet(MeetingPoint::LaidOut, own, &mut stopped)?;
        self.group.meet(MeetingPoint::Wave(0), Ok(()), &mut stopped)?;
        if wears_out {
            self.group.most(0, 0, &mut stopped)?;
        }
        Ok(())
    }

    /// End the run on all ranks.
    pub fn stop_all(&mut self, why: &str) {
        self.group.stop_all(why);
    }

    /// Bring the results of all to rank 0, by rank; none elsewhere.
    ///
    /// # Errors
    /// A rank is silent: what the others have is there all the same.
    pub fn gather(
        &mut self,
        own: &RankResult,
        session: &Session,
    ) -> (Vec<RankResult>, Result<(), String>) {
        let mut results = Vec::new();
        let mut asked =
            || session.is_stopped().then(|| StopRequest::EndJobs("stopped by a signal".to_owned()));
        // Texts and numbers always become JSON.
        let text = serde_json::to_string(own).unwrap_or_default();
        let taken = self.group.finish(&text, |rank, text| results.push((rank, text)), &mut asked);
        iosonde_base::sort_by_key(&mut results, |(rank, _)| *rank);
        let mut missing = taken;
        let mut read = Vec::new();
        for (rank, text) in results {
            match serde_json::from_str::<RankResult>(&text) {
                Ok(result) => {
                    let name = self.group.names()[rank].clone();
                    let result = result.by_the_clock(self.group.clock(rank).offset_ns);
                    read.push(RankResult { name, ..result });
                }
                Err(why) => missing = Err(format!("{}: {why}", self.group.names()[rank])),
            }
        }
        (read, missing)
    }

    /// The result of this rank, without phases.
    pub fn result(&self) -> RankResult {
        let Member { name, machine, .. } = self.own.clone();
        RankResult { name, machine, ..RankResult::default() }
    }

    /// The end of MPI.
    pub fn end(self, code: u8) {
        let within = self.group.limits().at_ends(self.group.ranks());
        let (mpi, is_whole) = self.group.into_transport();
        mpi.end(is_whole, within, code);
    }
}

impl RankResult {
    /// Note what this rank did, phase by phase.
    pub fn note(&mut self, rounds: &[Vec<PhaseResult>], (stopped, error): (bool, Option<String>)) {
        let of = |phases: &Vec<PhaseResult>| phases.iter().map(RankPhase::of).collect();
        self.rounds = rounds.iter().map(of).collect();
        (self.stopped, self.error) = (stopped, error);
    }

    fn by_the_clock(mut self, offset_ns: i64) -> RankResult {
        for phase in self.rounds.iter_mut().flatten() {
            let began = phase.began_unix_ns;
            phase.began_unix_ns = began.saturating_add_signed(offset_ns.saturating_neg());
        }
        self
    }
}

impl RankPhase {
    fn of(phase: &PhaseResult) -> RankPhase {
        RankPhase {
            operations: phase.operations,
            threads: phase.threads,
            began_unix_ns: phase.began_unix_ns,
            first_done_ns: phase.first_done.0,
            last_done_ns: phase.last_done.0,
            longest_ns: phase.longest.0,
            bins: phase.latency.bins().collect(),
            synced_ns: phase.synced.map(|synced| synced.0),
            fetched: phase.fetched,
            during: phase.during,
            after: phase.after,
            found: phase.found,
            partial: phase.partial,
        }
    }
}

/// The phases of all ranks: each from the first rank's start to the last rank's end.
pub fn merged(rows: &[RowName], results: &[RankResult]) -> Vec<Vec<PhaseResult>> {
    let rounds = results.iter().map(|result| result.rounds.len()).max().unwrap_or(0);
    let round = |round: usize| -> Vec<PhaseResult> {
        let of = |(at, &row): (usize, &RowName)| {
            let ranks: Vec<(&RankResult, &RankPhase)> = results
                .iter()
                .filter_map(|result| Some((result, result.rounds.get(round)?.get(at)?)))
                .collect();
            // Not all came to the end of it.
            let is_partial = ranks.len() < results.len();
            (!ranks.is_empty()).then(|| {
                let all = added(row, &ranks);
                PhaseResult { partial: all.partial || is_partial, ..all }
            })
        };
        rows.iter().enumerate().map_while(of).collect()
    };
    (0..rounds).map(round).collect()
}

fn added(row: RowName, ranks: &[(&RankResult, &RankPhase)]) -> PhaseResult {
    let worked = || ranks.iter().filter(|(_, phase)| phase.threads > 0);
    let began = worked().map(|(_, phase)| phase.began_unix_ns).min().unwrap_or(0);
    let since = |phase: &RankPhase, ns: u64| Nanos(phase.began_unix_ns - began + ns);
    let shares: Vec<RankShare> = worked()
        .map(|(result, phase)| RankShare {
            name: result.name.clone(),
            operations: phase.operations,
            began: since(phase, 0),
            first_done: since(phase, phase.first_done_ns),
            last_done: since(phase, phase.last_done_ns),
        })
        .collect();
    let mut latency = HistogramSnapshot::default();
    for (_, phase) in ranks {
        latency.merge(&HistogramSnapshot::of_bins(phase.bins.iter().copied()));
    }
    let sum = |part: fn(&RankPhase) -> Option<u64>| {
        ranks.iter().map(|(_, phase)| part(phase)).sum::<Option<u64>>()
    };
    let requests = |part: fn(&RankPhase) -> Option<DiskRequests>| of_machines(ranks, part);
    PhaseResult {
        row,
        operations: ranks.iter().map(|(_, phase)| phase.operations).sum(),
        threads: ranks.iter().map(|(_, phase)| phase.threads).sum(),
        began_unix_ns: began,
        first_done: shares.iter().map(|share| share.first_done).min().unwrap_or_default(),
        last_done: shares.iter().map(|share| share.last_done).max().unwrap_or_default(),
        latency,
        longest: Nanos(ranks.iter().map(|(_, phase)| phase.longest_ns).max().unwrap_or(0)),
        synced: ranks.iter().filter_map(|(_, phase)| phase.synced_ns).max().map(Nanos),
        fetched: sum(|phase| phase.fetched),
        during: requests(|phase| phase.during),
        after: requests(|phase| phase.after),
        dentries: None,
        found: ranks
            .iter()
            .filter_map(|(_, phase)| phase.found)
            .reduce(|one, other| (one.0 + other.0, one.1 + other.1)),
        partial: ranks.iter().any(|(_, phase)| phase.partial),
        ranks: shares,
    }
}

/// Requests of the disks of all machines: ranks on one have the same disks.
fn of_machines(
    ranks: &[(&RankResult, &RankPhase)],
    part: fn(&RankPhase) -> Option<DiskRequests>,
) -> Option<DiskRequests> {
    let mut all: Option<DiskRequests> = None;
    let mut seen: Vec<&str> = Vec::new();
    for (result, phase) in ranks {
        let Some(requests) = part(phase).filter(|_| !seen.contains(&result.machine.as_str()))
        else {
            continue;
        };
        seen.push(&result.machine);
        let sum = all.get_or_insert_default();
        sum.reads += requests.reads;
        sum.writes += requests.writes;
        sum.written += requests.written;
        sum.flushes += requests.flushes;
    }
    all
}

/// Why the run ended early, by rank; and whether a signal did it.
pub fn ending(results: &[RankResult]) -> (bool, Option<String>) {
    let stopped = results.iter().any(|result| result.stopped);
    let error = results.iter().find_map(|result| result.error.clone());
    (stopped, error)
}

/// Whether a rank sees the directory that rank 0 made.
pub fn sees(root: &Path) -> bool {
    std::fs::symlink_metadata(root).is_ok_and(|found| found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(name: &str, began_unix_ns: u64, last_done_ns: u64) -> RankResult {
        let phase = RankPhase {
            operations: 100,
            threads: 2,
            began_unix_ns,
            first_done_ns: last_done_ns / 2,
            last_done_ns,
            longest_ns: 5000,
            bins: vec![(1000, 99), (5000, 1)],
            during: Some(DiskRequests { writes: 7, ..DiskRequests::default() }),
            ..RankPhase::default()
        };
        let (name, machine) = (name.to_owned(), "m".to_owned());
        RankResult { name, machine, rounds: vec![vec![phase]], ..RankResult::default() }
    }

    #[test]
    fn a_phase_of_all_ranks_lasts_from_the_first_start_to_the_last_end() {
        let results = [rank("h0", 1000, 400), rank("h1", 1100, 900)];
        let merged = merged(&[RowName::alone("stat")], &results);
        let phase = &merged[0][0];
        assert_eq!((phase.operations, phase.threads), (200, 4));
        assert_eq!((phase.first_done, phase.last_done), (Nanos(200), Nanos(1000)));
        assert_eq!(phase.latency.total(), 200);
        // The ranks are on one machine, whose disk was sent 7 requests.
        assert_eq!(phase.during.unwrap().writes, 7);
        assert_eq!(phase.slowest().unwrap().name, "h1");
        let ahead = rank("h1", 1100, 900).by_the_clock(100);
        assert_eq!(ahead.rounds[0][0].began_unix_ns, 1000);
        // One that a rank did not come to the end of is of the others.
        let mut short = rank("h2", 0, 1);
        short.rounds[0].clear();
        let merged = super::merged(&[RowName::alone("stat")], &[rank("h0", 0, 1), short]);
        assert_eq!((merged[0][0].operations, merged[0][0].partial), (100, true));
    }
}
