//! The results of both settings: one table, or one JSON document.

use super::device::{CacheFacts, words_of};
use super::text;
use super::workload::{JobResultSummary, RunSummary, Workload, percentile};
use iosonde_base::text::{count, counted, duration};
use iosonde_command::format::{printable, wrapped};
use iosonde_direct::{Fact, WriteCache};
use iosonde_stats::LaneSnapshot;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A setting, as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingIndex {
    /// Write back.
    Back,
    /// Write through.
    Through,
}

impl SettingIndex {
    /// Both.
    pub const ALL: [SettingIndex; 2] = [SettingIndex::Back, SettingIndex::Through];

    fn word(self) -> &'static str {
        match self {
            SettingIndex::Back => "back",
            SettingIndex::Through => "through",
        }
    }
}

/// One workload: its runs under each setting, in order.
#[derive(Clone, Debug)]
struct CacheModeRow {
    workload: &'static str,
    runs: [Vec<RunSummary>; 2],
}

/// All runs of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    path: PathBuf,
    before: CacheFacts,
    rounds: u32,
    rows: Vec<CacheModeRow>,
    /// Whether it ended early.
    pub stopped: bool,
    /// Whether the setting was restored.
    pub restored: bool,
}

/// The runs of one job under one setting, together.
struct ComparisonCell {
    job: String,
    /// Writes a second: the mean of the rounds, and each.
    iops: f64,
    each: Vec<f64>,
    writes: LaneSnapshot,
    syncs: LaneSnapshot,
    /// Of all rounds; of all jobs that run together.
    flushes: Option<u64>,
}

/// A smaller difference is not reported: runs of the same job differ by as much
/// on a quiet machine.
const NOTHING: f64 = 0.05;

impl Comparison {
    /// Before anything has run.
    pub fn new(path: &Path, before: CacheFacts, rounds: u32, workloads: &[Workload]) -> Comparison {
        let row = |workload: &Workload| CacheModeRow {
            workload: workload.name,
            runs: Default::default(),
        };
        let rows = workloads.iter().map(row).collect();
        Comparison { path: path.into(), before, rounds, rows, stopped: false, restored: false }
    }

    /// Take up a run of workload number `at`.
    pub fn add(&mut self, at: usize, mode: SettingIndex, run: RunSummary) {
        self.rows[at].runs[mode as usize].push(run);
    }

    /// Whether any workload ran under both settings.
    pub fn has_pairs(&self) -> bool {
        self.rows.iter().any(CacheModeRow::is_pair)
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let lead = format!(
            "{}: write back and write through, {}",
            printable(&self.path),
            counted(u64::from(self.rounds), "round")
        );
        let cut = if self.stopped { ", stopped early" } else { "" };
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
        for sentence in self.rows.iter().flat_map(CacheModeRow::sentences) {
            wrapped(&mut out, "  ", &sentence);
        }
        if self.rounds == 1 {
            let says = "one round does not show how much of a difference is chance; use --rounds=3";
            wrapped(&mut out, "  ", says);
        }
        let through =
            CacheFacts { kernel: Fact::Known(WriteCache::Through), ..self.before.clone() };
        wrapped(&mut out, "  ", &format!("under write through, {}", text::meaning(&through)));
        let was = self.before.kernel.get().map_or("unknown", words_of);
        let again = if self.restored {
            format!("{} is {was} again", self.before.disk)
        } else {
            format!("{} was {was} and was NOT restored", self.before.disk)
        };
        wrapped(&mut out, "  ", &again);
        out
    }

    /// As JSON.
    pub fn document(&self) -> Value {
        let mut head = text::head("compare", &self.path);
        head["device"] = text::disk(&self.before);
        head["restored"] = self.restored.into();
        head["stopped"] = self.stopped.into();
        head["rounds"] = self.rounds.into();
        head["workloads"] = self.rows.iter().map(CacheModeRow::document).collect();
        head
    }
}

impl CacheModeRow {
    fn is_pair(&self) -> bool {
        self.runs.iter().all(|runs| !runs.is_empty())
    }

    /// The jobs under one setting.
    fn cells(&self, mode: SettingIndex) -> Vec<ComparisonCell> {
        let runs = &self.runs[mode as usize];
        let Some(first) = runs.first() else { return Vec::new() };
        let flushes = runs.iter().map(|run| run.flushes).sum();
        let of = |at: usize| -> Vec<&JobResultSummary> {
            runs.iter().filter_map(|run| run.jobs.get(at)).collect()
        };
        let cell = |(at, job): (usize, &JobResultSummary)| {
            let (mut writes, mut syncs) = (LaneSnapshot::default(), LaneSnapshot::default());
            for result in of(at) {
                writes.merge(&result.writes);
                syncs.merge(&result.syncs);
            }
            let each: Vec<f64> = of(at).iter().map(|result| result.iops).collect();
            let iops = each.iter().sum::<f64>() / each.len().max(1) as f64;
            ComparisonCell { job: job.job.clone(), iops, each, writes, syncs, flushes }
        };
        first.jobs.iter().enumerate().map(cell).collect()
    }

    fn lines(&self, out: &mut String) {
        let cells = SettingIndex::ALL.map(|mode| self.cells(mode));
        let jobs = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..jobs {
            if jobs > 1 {
                let name = cells.iter().find_map(|cells| cells.get(at)).map(|cell| &cell.job);
                let _ = writeln!(out, "  {}", printable(name.map_or("", String::as_str)));
            }
            let mut lead = self.workload;
            for (mode, cells) in SettingIndex::ALL.into_iter().zip(&cells) {
                if let Some(cell) = cells.get(at) {
                    let flushes = if at == 0 { flushes(cell.flushes) } else { String::new() };
                    cell.line(out, lead, mode, &flushes);
                    lead = "";
                }
            }
        }
        if jobs == 0 {
            let _ = writeln!(out, "  {:<15}not run", self.workload);
        }
    }

    /// The effect of the setting on it.
    fn sentences(&self) -> Vec<String> {
        let [back, through] = SettingIndex::ALL.map(|mode| self.cells(mode));
        let mut lines = Vec::new();
        for (back, through) in back.iter().zip(&through) {
            let name = match back.job.as_str() {
                _ if self.runs[0][0].jobs.len() < 2 => self.workload.to_owned(),
                job => format!("{}, {}", printable(job), self.workload),
            };
            lines.push(format!("{name}: {}", compared(back, through)));
        }
        if let (Some(back), Some(through)) = (back.first(), through.first()) {
            let syncs = back.syncs.ios;
            if back.flushes == Some(0) && syncs > 0 {
                lines.push(format!(
                    "{}: no flush reached the device under write back either, for {syncs} \
                     syncs: a layer above does not pass them on",
                    self.workload
                ));
            }
            if through.flushes.is_some_and(|flushes| flushes > 0) {
                lines.push(format!(
                    "{}: flushes were counted under write through, which sends none: the \
                     setting was changed meanwhile",
                    self.workload
                ));
            }
        }
        lines
    }

    fn document(&self) -> Value {
        let side = |mode: SettingIndex| -> Value {
            let jobs: Vec<Value> = self.cells(mode).iter().map(ComparisonCell::document).collect();
            let flushes: Vec<Value> = self.runs[mode as usize]
                .iter()
                .map(|run| run.flushes.map_or_else(|| json!({ "unknown": UNCOUNTED }), Into::into))
                .collect();
            json!({ "jobs": jobs, "flushes_per_round": flushes })
        };
        json!({
            "workload": self.workload,
            "back": side(SettingIndex::Back),
            "through": side(SettingIndex::Through),
        })
    }
}

const UNCOUNTED: &str = "the kernel does not count flushes of this device";

fn flushes(count: Option<u64>) -> String {
    count.map_or_else(|| "?".to_owned(), |count| count.to_string())
}

/// Two cells, in words.
fn compared(back: &ComparisonCell, through: &ComparisonCell) -> String {
    // Of a run that was stopped there may be fewer than were asked for.
    let rounds = back.each.len().min(through.each.len());
    let ratio = through.iops / back.iops.max(1e-9);
    let range = |each: &[f64]| {
        let least = each.iter().copied().fold(f64::INFINITY, f64::min);
        (least, each.iter().copied().fold(0.0, f64::max))
    };
    let (back_range, through_range) = (range(&back.each), range(&through.each));
    let overlap = back_range.0 <= through_range.1 && through_range.0 <= back_range.1;
    let mut lines = match ratio {
        _ if rounds > 1 && overlap => "no difference larger than that between rounds".into(),
        ratio if (ratio - 1.0).abs() <= NOTHING => "no difference (5 % or less)".into(),
        ratio => format!("{ratio:.2} times the writes under write through"),
    };
    if rounds > 1 {
        let text = |(least, most)| format!("{} to {}", count(least), count(most));
        let _ = write!(
            lines,
            "; rounds of {} a second under write back, {} under write through",
            text(back_range),
            text(through_range)
        );
    }
    lines
}

impl ComparisonCell {
    fn line(&self, out: &mut String, workload: &str, mode: SettingIndex, flushes: &str) {
        let latency = |lane: &LaneSnapshot, percent| {
            percentile(lane, percent).map_or_else(|| "-".to_owned(), duration)
        };
        let line = format!(
            "  {workload:<15}{:<8}{:>7}{:>9}{:>9}{:>9}{:>9}{flushes:>8}",
            mode.word(),
            count(self.iops),
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
            "iops_per_round": self.each,
            "writes": lane(&self.writes),
            "syncs": lane(&self.syncs),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(each: &[f64]) -> ComparisonCell {
        ComparisonCell {
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
        let lines = |back: &[f64], through: &[f64]| compared(&cell(back), &cell(through));
        assert!(lines(&[100.0], &[104.0]).starts_with("no difference (5 %"));
        assert!(lines(&[100.0], &[250.0]).starts_with("2.50 times"));
        let overlapping = lines(&[100.0, 200.0], &[150.0, 250.0]);
        assert!(overlapping.starts_with("no difference larger"), "{overlapping}");
        let apart = lines(&[100.0, 110.0], &[50.0, 55.0]);
        assert!(apart.starts_with("0.50 times") && apart.contains("100 to 110"), "{apart}");
    }
}
