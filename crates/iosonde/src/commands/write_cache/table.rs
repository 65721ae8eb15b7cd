//! What runs under both views came to: one table, or one document.

use super::device::{Told, words_of};
use super::tell;
use super::work::{Did, Ran, Work, percentile};
use crate::commands::words::{plural, shown, wrapped};
use iosonde_direct::{Fact, WriteCache};
use iosonde_report::formats::{count_words, time_words};
use iosonde_stats::LaneSnapshot;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A view, as a place in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Write back.
    Back,
    /// Write through.
    Through,
}

impl Mode {
    /// Both.
    pub const ALL: [Mode; 2] = [Mode::Back, Mode::Through];

    fn word(self) -> &'static str {
        match self {
            Mode::Back => "back",
            Mode::Through => "through",
        }
    }
}

/// One work: its runs under each view, in the order they were done.
#[derive(Clone, Debug)]
struct Row {
    work: &'static str,
    runs: [Vec<Ran>; 2],
}

/// All runs of a comparison.
#[derive(Clone, Debug)]
pub struct Sheet {
    path: PathBuf,
    before: Told,
    rounds: u32,
    rows: Vec<Row>,
    /// Whether it ended before all was run.
    pub stopped: bool,
    /// Whether the view is again what it was.
    pub restored: bool,
}

/// The runs of one job under one view, together.
struct Cell {
    job: String,
    /// Writes a second: the mean of the rounds, and each.
    iops: f64,
    each: Vec<f64>,
    writes: LaneSnapshot,
    syncs: LaneSnapshot,
    /// Of all rounds; of all jobs that ran together.
    flushes: Option<u64>,
}

/// A difference smaller than this is not told as one: runs of the same thing
/// differ by as much on a quiet machine.
const NOTHING: f64 = 0.05;

impl Sheet {
    /// Before anything has run.
    pub fn new(path: &Path, before: Told, rounds: u32, works: &[Work]) -> Sheet {
        let row = |work: &Work| Row { work: work.name, runs: Default::default() };
        let rows = works.iter().map(row).collect();
        Sheet { path: path.into(), before, rounds, rows, stopped: false, restored: false }
    }

    /// Take up a run of work number `at`.
    pub fn add(&mut self, at: usize, mode: Mode, ran: Ran) {
        self.rows[at].runs[mode as usize].push(ran);
    }

    /// Whether anything can be set beside anything.
    pub fn has_pairs(&self) -> bool {
        self.rows.iter().any(Row::is_pair)
    }

    /// For a person.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let rounds = self.rounds;
        let lead = format!(
            "{}: write back against write through, {rounds} round{}",
            shown(&self.path),
            plural(rounds)
        );
        let cut = if self.stopped { ", stopped before its end" } else { "" };
        let _ = writeln!(out, "{lead}{cut}\n");
        let _ = writeln!(
            out,
            "                         writes       write latency      sync latency\n  workload       view         \
             /s      p50      p99      p50      p99 flushes"
        );
        for row in &self.rows {
            row.lines(&mut out);
        }
        out.push('\n');
        for sentence in self.rows.iter().flat_map(Row::sentences) {
            wrapped(&mut out, "  ", &sentence);
        }
        if self.rounds == 1 {
            let says = "of one round it is unknown how much of a difference is chance: --rounds=3";
            wrapped(&mut out, "  ", says);
        }
        let through = Told { kernel: Fact::Known(WriteCache::Through), ..self.before.clone() };
        wrapped(&mut out, "  ", &format!("under write through, {}", tell::meaning(&through)));
        let was = self.before.kernel.get().map_or("unknown", words_of);
        let again = match self.restored {
            true => format!("{} is {was} again, as it was", self.before.disk),
            false => format!("{} was {was}; it was NOT put back", self.before.disk),
        };
        wrapped(&mut out, "  ", &again);
        out
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let mut head = tell::head("around", &self.path);
        head["device"] = tell::disk(&self.before);
        head["restored"] = self.restored.into();
        head["stopped"] = self.stopped.into();
        head["rounds"] = self.rounds.into();
        head["workloads"] = self.rows.iter().map(Row::document).collect();
        head
    }
}

impl Row {
    fn is_pair(&self) -> bool {
        self.runs.iter().all(|runs| !runs.is_empty())
    }

    /// The jobs under one view.
    fn cells(&self, mode: Mode) -> Vec<Cell> {
        let runs = &self.runs[mode as usize];
        let Some(first) = runs.first() else { return Vec::new() };
        let flushes = runs.iter().map(|run| run.flushes).sum();
        let of =
            |at: usize| -> Vec<&Did> { runs.iter().filter_map(|ran| ran.jobs.get(at)).collect() };
        let cell = |(at, job): (usize, &Did)| {
            let (mut writes, mut syncs) = (LaneSnapshot::default(), LaneSnapshot::default());
            for did in of(at) {
                writes.merge(&did.writes);
                syncs.merge(&did.syncs);
            }
            let each: Vec<f64> = of(at).iter().map(|did| did.iops).collect();
            let iops = each.iter().sum::<f64>() / each.len().max(1) as f64;
            Cell { job: job.job.clone(), iops, each, writes, syncs, flushes }
        };
        first.jobs.iter().enumerate().map(cell).collect()
    }

    fn lines(&self, out: &mut String) {
        let cells = Mode::ALL.map(|mode| self.cells(mode));
        let jobs = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..jobs {
            if jobs > 1 {
                let name = cells.iter().find_map(|cells| cells.get(at)).map(|cell| &cell.job);
                let _ = writeln!(out, "  {}", shown(name.map_or("", String::as_str)));
            }
            let mut lead = self.work;
            for (mode, cells) in Mode::ALL.into_iter().zip(&cells) {
                if let Some(cell) = cells.get(at) {
                    let flushes = if at == 0 { flushes(cell.flushes) } else { String::new() };
                    cell.line(out, lead, mode, &flushes);
                    lead = "";
                }
            }
        }
        if jobs == 0 {
            let _ = writeln!(out, "  {:<15}was not run", self.work);
        }
    }

    /// What the views did to it.
    fn sentences(&self) -> Vec<String> {
        let [back, through] = Mode::ALL.map(|mode| self.cells(mode));
        let mut said = Vec::new();
        for (back, through) in back.iter().zip(&through) {
            let name = match back.job.as_str() {
                _ if self.runs[0][0].jobs.len() < 2 => self.work.to_owned(),
                job => format!("{}, {}", shown(job), self.work),
            };
            said.push(format!("{name}: {}", compared(back, through)));
        }
        if let (Some(back), Some(through)) = (back.first(), through.first()) {
            let syncs = back.syncs.ios;
            if back.flushes == Some(0) && syncs > 0 {
                said.push(format!(
                    "{}: no flush was counted at the device under write back either, for {syncs} \
                     syncs: something above it does not pass them on",
                    self.work
                ));
            }
            if through.flushes.is_some_and(|flushes| flushes > 0) {
                said.push(format!(
                    "{}: flushes were counted under write through, which sends none: somebody \
                     changed the view meanwhile",
                    self.work
                ));
            }
        }
        said
    }

    fn document(&self) -> Value {
        let side = |mode: Mode| -> Value {
            let jobs: Vec<Value> = self.cells(mode).iter().map(Cell::document).collect();
            let flushes: Vec<Value> = self.runs[mode as usize]
                .iter()
                .map(|ran| ran.flushes.map_or_else(|| json!({ "unknown": UNCOUNTED }), Into::into))
                .collect();
            json!({ "jobs": jobs, "flushes_of_rounds": flushes })
        };
        json!({
            "workload": self.work,
            "back": side(Mode::Back),
            "through": side(Mode::Through),
        })
    }
}

const UNCOUNTED: &str = "the kernel does not count what this device does";

fn flushes(count: Option<u64>) -> String {
    count.map_or_else(|| "?".to_owned(), |count| count.to_string())
}

/// Two cells, in words.
fn compared(back: &Cell, through: &Cell) -> String {
    // Of a run that was stopped there may be fewer than were asked for.
    let rounds = back.each.len().min(through.each.len());
    let ratio = through.iops / back.iops.max(1e-9);
    let range = |each: &[f64]| {
        let least = each.iter().copied().fold(f64::INFINITY, f64::min);
        (least, each.iter().copied().fold(0.0, f64::max))
    };
    let (back_range, through_range) = (range(&back.each), range(&through.each));
    let overlap = back_range.0 <= through_range.1 && through_range.0 <= back_range.1;
    let mut said = match ratio {
        _ if rounds > 1 && overlap => "no difference that is larger than that of the rounds".into(),
        ratio if (ratio - 1.0).abs() <= NOTHING => "no difference (5 % or less)".into(),
        ratio => format!("{ratio:.2} times the writes under write through"),
    };
    if rounds > 1 {
        let text = |(least, most)| format!("{} to {}", count_words(least), count_words(most));
        let _ = write!(
            said,
            "; rounds of {} a second under write back, {} under write through",
            text(back_range),
            text(through_range)
        );
    }
    said
}

impl Cell {
    fn line(&self, out: &mut String, work: &str, mode: Mode, flushes: &str) {
        let latency = |lane: &LaneSnapshot, percent| {
            percentile(lane, percent).map_or_else(|| "-".to_owned(), time_words)
        };
        let line = format!(
            "  {work:<15}{:<8}{:>7}{:>9}{:>9}{:>9}{:>9}{flushes:>8}",
            mode.word(),
            count_words(self.iops),
            latency(&self.writes, 50.0),
            latency(&self.writes, 99.0),
            latency(&self.syncs, 50.0),
            latency(&self.syncs, 99.0),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }

    fn document(&self) -> Value {
        let latency = |lane: &LaneSnapshot, percent| match percentile(lane, percent) {
            Some(ns) => ns.into(),
            None => json!({ "unknown": "none was measured" }),
        };
        let lane = |lane: &LaneSnapshot| {
            json!({
                "ios": lane.ios,
                "latency_ns_p50": latency(lane, 50.0),
                "latency_ns_p99": latency(lane, 99.0),
            })
        };
        json!({
            "name": self.job,
            "iops": self.iops,
            "iops_of_rounds": self.each,
            "writes": lane(&self.writes),
            "syncs": lane(&self.syncs),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(each: &[f64]) -> Cell {
        Cell {
            job: "j".into(),
            iops: each.iter().sum::<f64>() / each.len() as f64,
            each: each.to_vec(),
            writes: LaneSnapshot::default(),
            syncs: LaneSnapshot::default(),
            flushes: None,
        }
    }

    #[test]
    fn what_may_be_chance_is_not_called_a_difference() {
        let said = |back: &[f64], through: &[f64]| compared(&cell(back), &cell(through));
        assert!(said(&[100.0], &[104.0]).starts_with("no difference (5 %"));
        assert!(said(&[100.0], &[250.0]).starts_with("2.50 times"));
        let overlapping = said(&[100.0, 200.0], &[150.0, 250.0]);
        assert!(overlapping.starts_with("no difference that is larger"), "{overlapping}");
        let apart = said(&[100.0, 110.0], &[50.0, 55.0]);
        assert!(apart.starts_with("0.50 times") && apart.contains("100 to 110"), "{apart}");
    }
}
