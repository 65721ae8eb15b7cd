//! The results, as plain data.

use crate::arguments::MetaOptions;
use crate::watch::DiskRequests;
use iosonde_base::Nanos;
use iosonde_stats::HistogramSnapshot;
use serde::Serialize;

/// The name of a row of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowName {
    /// The phase.
    pub word: &'static str,
    /// It was done beside others (`--mix`).
    pub is_mixed: bool,
}

impl RowName {
    /// A phase by itself.
    pub const fn alone(word: &'static str) -> RowName {
        RowName { word, is_mixed: false }
    }

    /// For tables and documents.
    pub fn text(self) -> String {
        format!("{}{}", if self.is_mixed { "mix:" } else { "" }, self.word)
    }
}

/// A phase that was measured.
#[derive(Clone, Debug)]
pub struct PhaseResult {
    /// What was done.
    pub row: RowName,
    /// How often, over all threads.
    pub operations: u64,
    /// Threads that took part.
    pub threads: usize,
    /// When it began, in nanoseconds of Unix time.
    pub began_unix_ns: u64,
    /// From the common start until the first thread was done.
    pub first_done: Nanos,
    /// Until the last one was.
    pub last_done: Nanos,
    /// Latencies of single operations, in nanoseconds.
    pub latency: HistogramSnapshot,
    /// The longest.
    pub longest: Nanos,
    /// How long syncfs(2) took afterwards; `None` for a phase that changes nothing.
    pub synced: Option<Nanos>,
    /// Bytes that our threads had read from storage for it: data, directories,
    /// inodes. `None` where the kernel does not count them (/proc/self/io).
    pub fetched: Option<u64>,
    /// What the disks did in the phase, for all processes; `None` where there is no
    /// disk.
    pub during: Option<DiskRequests>,
    /// What they did in the syncfs(2) afterwards.
    pub after: Option<DiskRequests>,
    /// How many dentries the kernel kept before and after.
    pub dentries: Option<(u64, u64)>,
    /// Names that `find` examined, and files that matched.
    pub found: Option<(u64, u64)>,
    /// It was ended before all was done.
    pub partial: bool,
    /// What each rank did that took part; none in a run of one.
    pub ranks: Vec<RankShare>,
}

/// What a rank did in a phase, in time since the first rank's start of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankShare {
    /// The name of its host.
    pub name: String,
    /// Its operations.
    pub operations: u64,
    /// When it started.
    pub began: Nanos,
    /// When its first thread was done.
    pub first_done: Nanos,
    /// When its last thread was.
    pub last_done: Nanos,
}

impl RankShare {
    /// Operations per second of its own time.
    pub fn rate(&self) -> f64 {
        per_second(self.operations, Nanos(self.last_done.0.saturating_sub(self.began.0)))
    }
}

impl PhaseResult {
    /// The rank with the lowest rate, of two or more.
    pub fn slowest(&self) -> Option<&RankShare> {
        let order = |one: &&RankShare, other: &&RankShare| one.rate().total_cmp(&other.rate());
        self.ranks.iter().min_by(order).filter(|_| self.ranks.len() > 1)
    }

    /// From the first to the last rank's start.
    pub fn start_skew(&self) -> Nanos {
        self.ranks.iter().map(|rank| rank.began).max().unwrap_or_default()
    }

    /// The rate of the median rank.
    pub fn median_rate(&self) -> f64 {
        iosonde_base::median(&self.ranks.iter().map(RankShare::rate).collect::<Vec<f64>>())
    }

    /// Operations per second until the last thread was done.
    pub fn rate(&self) -> f64 {
        per_second(self.operations, self.last_done)
    }

    /// The same until all of it was on storage, where the phase changes something.
    pub fn durable_rate(&self) -> Option<f64> {
        self.synced.map(|synced| per_second(self.operations, Nanos(self.last_done.0 + synced.0)))
    }
}

fn per_second(operations: u64, time: Nanos) -> f64 {
    if time.0 == 0 { 0.0 } else { operations as f64 / time.secs_f64() }
}

/// A run.
#[derive(Clone, Debug)]
pub struct MetaResult {
    /// `4 threads, a tree each ...`, for people.
    pub title: String,
    /// The type of the file system, if it is known.
    pub file_system: Option<String>,
    /// The disks below.
    pub disks: Vec<String>,
    /// What was asked for.
    pub options: MetaOptions,
    /// The phases of each repetition; of the last one those that were measured.
    pub rounds: Vec<Vec<PhaseResult>>,
    /// A signal ended it.
    pub stopped: bool,
    /// The error that ended it.
    pub error: Option<String>,
}

/// Rates of a phase over all repetitions, in operations per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateSummary {
    /// The mean.
    pub mean: f64,
    /// The lowest.
    #[serde(rename = "min")]
    pub least: f64,
    /// The highest.
    #[serde(rename = "max")]
    pub most: f64,
    /// The standard deviation; 0 for a single one.
    #[serde(rename = "stddev")]
    pub deviation: f64,
}

impl RateSummary {
    /// Of at least one rate.
    pub fn of(rates: &[f64]) -> RateSummary {
        let count = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        let deviation = if rates.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        RateSummary { mean, least, most, deviation }
    }
}

impl MetaResult {
    /// Each row that was measured at least once, with all its results.
    pub fn by_row(&self) -> Vec<(RowName, Vec<&PhaseResult>)> {
        let mut phases: Vec<(RowName, Vec<&PhaseResult>)> = Vec::new();
        for result in self.rounds.iter().flatten() {
            match phases.iter_mut().find(|(row, _)| *row == result.row) {
                Some((_, results)) => results.push(result),
                None => phases.push((result.row, vec![result])),
            }
        }
        phases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_repetitions_are_summed_up() {
        let summary = RateSummary::of(&[10.0, 14.0, 12.0]);
        assert_eq!((summary.mean, summary.least, summary.most), (12.0, 10.0, 14.0));
        assert_eq!(summary.deviation, 2.0);
        assert_eq!(RateSummary::of(&[5.0]).deviation, 0.0);
    }
}
