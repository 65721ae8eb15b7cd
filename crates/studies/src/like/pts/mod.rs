//! SNIA's Performance Test Specification: purge, precondition, rounds until the
//! state is steady.

mod kinds;
mod page;
mod steady;
mod words;

use super::findings;
use super::{FAILED_GOAL, LikeArgs, target};
use crate::trials::figures::percentile;
use iosonde_base::exit;
use iosonde_base::{DIRS, Dir};
use iosonde_command::page_file::PageFile;
use iosonde_direct::Device;
use iosonde_html::tested_rows;
use iosonde_report::finding::FindingCounts;
use iosonde_report::{LatencyReport, Report};
use iosonde_session::RunLine;
use iosonde_session::jobs::checked;
use iosonde_session::{RunEnd, Session};
use iosonde_sys::standard_output::print;
use kinds::{PtsCell, PtsKind};
use std::fs::File;
use std::time::{Duration, Instant};
use steady::PtsWindow;

pub use kinds::PtsKind as Kind;

/// The names and summaries of the tests, for the list.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    PtsKind::ALL.into_iter().map(|kind| (kind.name(), kind.summary()))
}

/// Random writes go on to so many times the capacity.
const SATURATION_CAPACITIES: u64 = 4;
/// Or for so long.
const SATURATION_TIME: Duration = Duration::from_secs(24 * 3600);

/// The figures of a cell in one round.
#[derive(Clone, Debug)]
struct CellFigures {
    iops: f64,
    bytes_per_s: f64,
    bytes: u64,
    latencies: Vec<LatencyReport>,
}

impl CellFigures {
    fn of(report: &Report) -> CellFigures {
        let dirs = || report.jobs.iter().flat_map(|job| DIRS.map(|dir| &job.dirs[dir]));
        let used = dirs().filter(|dir| dir.total_ios > 0);
        CellFigures {
            iops: dirs().map(|dir| dir.iops()).sum(),
            bytes_per_s: dirs()
                .map(|dir| dir.io_bytes as f64 * 1000.0 / dir.runtime_ms.max(1) as f64)
                .sum(),
            bytes: report.jobs.iter().map(|job| job.dirs[Dir::Write].io_bytes).sum(),
            latencies: used.map(|dir| dir.shown_latency().clone()).collect(),
        }
    }

    /// The mean latency.
    fn mean_ns(&self) -> f64 {
        let n = self.latencies.iter().map(|latency| latency.n).sum::<u64>();
        let sum =
            self.latencies.iter().map(|latency| latency.mean_ns * latency.n as f64).sum::<f64>();
        sum / n.max(1) as f64
    }
}

/// The figures of each cell, and what was tested.
type PtsRound = (Vec<CellFigures>, Option<Vec<(&'static str, String)>>);

/// A test that has ended.
struct PtsRun {
    kind: PtsKind,
    device: String,
    cells: Vec<PtsCell>,
    /// For each round the figures of each cell.
    rounds: Vec<Vec<CellFigures>>,
    notes: Vec<String>,
    /// The machine and the device, for the page.
    tested: Option<Vec<(&'static str, String)>>,
}

impl PtsRun {
    /// The figure of each round that shows whether the state is steady.
    fn tracked(&self) -> Vec<f64> {
        let Some(cell) = self.cells.iter().position(|cell| self.kind.is_tracked(cell)) else {
            return Vec::new();
        };
        let value = |round: &Vec<CellFigures>| match self.kind {
            PtsKind::Throughput => round[cell].bytes_per_s,
            PtsKind::Latency => round[cell].mean_ns(),
            _ => round[cell].iops,
        };
        self.rounds.iter().map(value).collect()
    }

    fn window(&self) -> Option<PtsWindow> {
        PtsWindow::of(&self.tracked())
    }

    fn is_steady(&self) -> bool {
        self.window().is_some_and(|window| window.is_steady())
    }

    /// The rounds of the window: what is measured.
    fn measured(&self) -> &[Vec<CellFigures>] {
        &self.rounds[self.rounds.len().saturating_sub(steady::WINDOW)..]
    }

    /// The mean of a figure of a cell over the measured rounds.
    fn mean(&self, cell: usize, value: impl Fn(&CellFigures) -> f64) -> f64 {
        let rounds = self.measured();
        rounds.iter().map(|round| value(&round[cell])).sum::<f64>() / rounds.len().max(1) as f64
    }

    /// A percentile of a cell over the I/Os of all measured rounds.
    fn percentile(&self, cell: usize, percent: f64) -> Option<f64> {
        let all: Vec<&LatencyReport> =
            self.measured().iter().flat_map(|round| &round[cell].latencies).collect();
        percentile(&all, percent)
    }

    fn longest_ns(&self, cell: usize) -> u64 {
        let all = self.measured().iter().flat_map(|round| &round[cell].latencies);
        all.map(|latency| latency.max_ns).max().unwrap_or(0)
    }

    fn written_bytes(&self) -> u64 {
        self.rounds.iter().flatten().map(|figures| figures.bytes).sum()
    }
}

/// The jobs of a test, for `--print`.
pub fn job_text(kind: PtsKind, arguments: &LikeArgs) -> String {
    words::job_text(kind, arguments)
}

/// Run a test on a device, and print what it comes to; the exit code.
///
/// # Errors
/// The target is no device that may lose its data, a job fails, or a signal comes.
pub fn run(kind: PtsKind, arguments: &LikeArgs) -> Result<u8, RunEnd> {
    let failed = RunEnd::failed;
    let page_file = PageFile::at(arguments.html.as_deref(), arguments.force).map_err(failed)?;
    let session = Session::listening()?;
    let named = |why: String| failed(format!("{}: {why}", arguments.target.display()));
    let path = &arguments.target;
    let found = iosonde_sys::files::status(path).map_err(|error| named(error.to_string()))?;
    if !found.file_type().is_block_device() {
        return Err(named("SNIA's tests are of a whole device: name a block device".to_owned()));
    }
    target::may_erase(path, arguments.erase.as_deref()).map_err(named)?;
    let device = File::open(path).and_then(|file| Device::of(&file));
    let device = device.map_err(|error| named(error.to_string()))?;
    let mut test = PtsTest { arguments, session: &session, findings: FindingCounts::default() };
    let ran = test.all(kind, device.bytes, u64::from(device.logical_sector))?;
    print(&words::report(&ran, arguments, &test.findings));
    if let Some(file) = page_file {
        file.write(&page::page(&ran, arguments, &test.findings)).map_err(failed)?;
    }
    let is_met = kind == PtsKind::WriteSaturation || ran.is_steady();
    Ok(if is_met && !test.findings.is_wrong() { exit::OK } else { FAILED_GOAL })
}

struct PtsTest<'a> {
    arguments: &'a LikeArgs,
    session: &'a Session,
    findings: FindingCounts,
}

impl PtsTest<'_> {
    fn all(&mut self, kind: PtsKind, capacity: u64, block_bytes: u64) -> Result<PtsRun, RunEnd> {
        let mut run = PtsRun {
            kind,
            device: self.arguments.target.display().to_string(),
            cells: kind.cells(),
            rounds: Vec::new(),
            notes: Vec::new(),
            tested: None,
        };
        run.cells.retain(|cell| cell.block % block_bytes == 0);
        if run.cells.len() < kind.cells().len() {
            run.notes.push(format!(
                "cells below the device's blocks of {block_bytes} bytes are left out"
            ));
        }
        // A drive that takes no TRIM cannot be purged this way.
        match self.job(&words::purge(), "purge") {
            Ok(_) => {}
            Err(RunEnd::Failed(_)) => {
                run.notes.push("the device takes no TRIM: it was not purged".to_owned());
            }
            Err(stopped) => return Err(stopped),
        }
        if kind != PtsKind::WriteSaturation {
            self.job(&words::precondition(), "precondition")?;
        }
        let begun = Instant::now();
        let limit = capacity.saturating_mul(SATURATION_CAPACITIES);
        loop {
            let (round, tested) = self.round(&run.cells, run.rounds.len() + 1)?;
            run.rounds.push(round);
            run.tested = tested;
            let is_done = match kind {
                PtsKind::WriteSaturation => {
                    run.written_bytes() >= limit || begun.elapsed() >= SATURATION_TIME
                }
                _ => run.is_steady() || run.rounds.len() >= self.arguments.rounds as usize,
            };
            if is_done {
                return Ok(run);
            }
        }
    }

    fn round(&mut self, cells: &[PtsCell], number: usize) -> Result<PtsRound, RunEnd> {
        let (mut figures, mut tested) = (Vec::new(), None);
        for cell in cells {
            let lead = format!("round {number}: {} {}", cell.mix(), cell.block);
            let report = self.job(&words::cell(cell, self.arguments.cell), &lead)?;
            self.findings.add(findings::of(&report));
            figures.push(CellFigures::of(&report));
            tested = report.ours.ledger.as_ref().map(|ledger| tested_rows(ledger));
        }
        Ok((figures, tested))
    }

    /// Run a job of these options on the device.
    fn job(&self, options: &[String], lead: &str) -> Result<Report, RunEnd> {
        let failed = RunEnd::failed;
        let target = target::escaped(&self.arguments.target).map_err(failed)?;
        let mut words = vec!["--name=pts".to_owned(), format!("--filename={target}")];
        words.extend(words::common().into_iter().chain(options.to_vec()));
        words.extend(self.arguments.with.iter().map(|word| format!("--{word}")));
        words.extend(self.arguments.erase.iter().map(|word| format!("--erase={word}")));
        let parsed = checked(&words).map_err(RunEnd::Failed)?;
        self.session.measure_typed(&parsed, &RunLine::new(lead)).map(|ran| ran.report())
    }
}
