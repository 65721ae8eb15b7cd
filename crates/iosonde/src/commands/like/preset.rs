//! A workload: a job file, its steps, and what their results mean.

use iosonde_html::PageRun;
use iosonde_report::Report;

/// A workload.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, for the list.
    pub summary: &'static str,
    /// Its job file.
    pub job: &'static str,
    /// It writes.
    pub writes: bool,
    /// What is run.
    pub steps: PresetSteps,
    /// What the figures mean.
    pub read: fn(&[StepResult]) -> LikeReading,
}

/// What is run of a job file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetSteps {
    /// All of it, once.
    Whole,
    /// These sections together, for each step.
    Sections(&'static [&'static [&'static str]]),
    /// Once for each of these queue depths.
    Depths(&'static [&'static str]),
    /// Each section by itself, several times, with pauses.
    Loops(&'static [&'static str]),
}

/// The tests of `desktop`, each reading and writing.
pub const DESKTOP_TESTS: [&str; 4] = ["SEQ1M-Q8T1", "SEQ1M-Q1T1", "RND4K-Q32T1", "RND4K-Q1T1"];

/// The result of a step.
pub struct StepResult {
    /// The step: sections, or a depth.
    pub name: String,
    /// The report.
    pub report: Report,
    /// The same as JSON.
    pub document: String,
}

impl StepResult {
    /// For a page.
    pub fn page_run(&self) -> PageRun<'_> {
        PageRun { name: &self.name, report: &self.report, json: Some(&self.document), notes: &[] }
    }
}

/// What figures mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LikeReading {
    /// The conclusion.
    pub sentence: String,
    /// Figures and remarks, a line each.
    pub lines: Vec<String>,
    /// A public bound, and whether it is met.
    pub goal: Option<LikeGoal>,
}

/// A public bound.
#[derive(Clone, Debug, PartialEq)]
pub struct LikeGoal {
    /// As `< 10 ms`.
    pub words: String,
    /// Whether it is met.
    pub is_met: bool,
}
