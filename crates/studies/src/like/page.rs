//! The page of a workload: what the terminal shows on top, then the runs.

use super::findings::with_runs;
use super::preset::{LikeReading, Preset, StepResult};
use iosonde_html::{PlotCell, PlotPart, PlotTable, StudyAnswer, StudyGoal, plot_page};
use iosonde_report::finding::FindingCounts;

/// The page.
pub fn page(
    preset: &Preset,
    reading: &LikeReading,
    findings: &FindingCounts,
    results: &[StepResult],
) -> String {
    let is_wrong = findings.is_wrong();
    let goal = |goal: &super::LikeGoal| StudyGoal {
        words: format!("{}: {}, goal {}", preset.name, reading.sentence, goal.words),
        outcome: goal.outcome(is_wrong).to_owned(),
        is_met: goal.is_met && !is_wrong,
    };
    let goals: Vec<StudyGoal> = reading.goal.iter().map(goal).collect();
    let lines = if reading.table.is_empty() { reading.lines.clone() } else { Vec::new() };
    let answer = StudyAnswer {
        sentence: if goals.is_empty() {
            format!("{}: {}", preset.name, reading.sentence)
        } else {
            String::new()
        },
        is_bad: is_wrong || goals.iter().any(|goal| !goal.is_met),
        goals,
        lines,
        findings: with_runs(findings),
        ..StudyAnswer::default()
    };
    let mut parts = vec![PlotPart::Answer(answer)];
    let mut rows = reading.table.iter();
    if let Some(heads) = rows.next() {
        let cells = |row: &Vec<String>| row.iter().map(PlotCell::plain).collect();
        parts.push(PlotPart::Table(PlotTable {
            heads: heads.clone(),
            rows: rows.map(cells).collect(),
        }));
    }
    parts.extend(results.iter().map(|step| PlotPart::Run(step.page_run())));
    plot_page(&title(preset.name), &parts)
}

/// The page of a workload that has no figures, and why.
pub fn without_figures(name: &str, why: &str) -> String {
    let answer = StudyAnswer { sentence: why.to_owned(), is_bad: true, ..StudyAnswer::default() };
    plot_page(&title(name), &[PlotPart::Answer(answer)])
}

fn title(name: &str) -> String {
    format!("iosonde like {name}")
}
