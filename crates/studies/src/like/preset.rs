//! A workload: a job file, its steps, and what their results mean.

use crate::trials::promise::{Promise, PromiseResult};
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
        PageRun {
            name: &self.name,
            report: &self.report,
            json: Some(&self.document),
            notes: &[],
            findings: &[],
        }
    }
}

/// What figures mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LikeReading {
    /// The conclusion.
    pub sentence: String,
    /// Figures and remarks, a line each.
    pub lines: Vec<String>,
    /// The lines as a table, where they are one: the first row has the heads.
    pub table: Vec<Vec<String>>,
    /// A public bound, or the user's, and whether it is met.
    pub goal: Option<LikeGoal>,
}

/// A public bound, or the user's.
#[derive(Clone, Debug, PartialEq)]
pub struct LikeGoal {
    /// As `< 10 ms`.
    pub words: String,
    /// Whether it is met.
    pub is_met: bool,
}

impl LikeGoal {
    /// In a word; figures that are not of what was to be measured meet nothing.
    pub fn outcome(&self, is_wrong: bool) -> &'static str {
        match (self.is_met, is_wrong) {
            (false, _) => "FAIL",
            (true, false) => "PASS",
            (true, true) => "NO PASS: the figures are not of what was to be measured",
        }
    }

    /// What the user wants: each must be met by each step that has its figure, and
    /// by one at least.
    pub fn of(goals: &[Promise], results: &[StepResult]) -> LikeGoal {
        let judged = |goal: &Promise| {
            let figures: Vec<(&str, PromiseResult)> = results
                .iter()
                .map(|step| (step.name.as_str(), goal.judge(&step.report)))
                .filter(|(_, judged)| judged.is_known)
                .collect();
            let broken = figures.iter().find(|(_, judged)| !judged.kept);
            match (broken, figures.as_slice()) {
                (_, []) => (false, format!("{} (nothing has that figure)", goal.text)),
                (Some((step, judged)), _) => {
                    (false, format!("{} ({} in {step})", goal.text, judged.value))
                }
                (None, [(_, judged)]) => (true, format!("{} ({})", goal.text, judged.value)),
                (None, _) => (true, goal.text.clone()),
            }
        };
        let all: Vec<(bool, String)> = goals.iter().map(judged).collect();
        let words: Vec<&str> = all.iter().map(|(_, words)| words.as_str()).collect();
        LikeGoal { words: words.join(" and "), is_met: all.iter().all(|(is_met, _)| *is_met) }
    }
}
