//! A comparison as an HTML page.

use super::comparison::{JudgedFigure, RunDesign, SideComparison};
use super::document::document;
use super::gate::GateResult;
use super::likeness::RunPart;
use super::text::{
    change, conclusion, decision_words, design_words, failed, finding_rows, interval_words, label,
    ratio_name, remarks, side_words, tainted,
};
use crate::trials::page::{command_line, unit};
use iosonde_html::{
    ComparedFigure, ComparedJob, ComparedSide, ComparisonPage, FigureVerdict, PartRow, RunPlace,
    StudyAnswer, StudyCard, StudyGoal, comparison_page,
};
use iosonde_judge::{Decision, PairOrder};
use iosonde_report::finding::Severity;

/// Figures of the cards at most.
const CARD_FIGURES_MOST: usize = 3;

/// The page; `gate` is what the gate shows, if there is one.
pub fn page(comparison: &SideComparison, seed: Option<u64>, gate: Option<&str>) -> String {
    let side = |at: usize| {
        let side = &comparison.sides[at];
        ComparedSide {
            name: side.name.clone(),
            reports: side.runs.iter().map(|run| run.report()).collect(),
            files: side.runs.iter().map(|run| run.file.clone()).collect(),
        }
    };
    let likeness = &comparison.likeness;
    let names = |parts: &[RunPart]| parts.iter().map(|part| part.name().to_owned()).collect();
    let difference = |one: &super::likeness::PartDifference| PartRow {
        part: one.part.name().to_owned(),
        what: one.what.clone(),
        values: [one.a.clone(), one.b.clone()],
        is_meant: one.is_meant,
    };
    let job = |job: &super::comparison::JudgedJob| ComparedJob {
        name: job.name.clone(),
        note: job.note.clone(),
        figures: job.figures.iter().map(|one| figure(comparison, one)).collect(),
    };
    comparison_page(&ComparisonPage {
        sides: [side(0), side(1)],
        design: design_words(comparison, seed),
        answer: answer(comparison, gate),
        ratio_name: ratio_name(comparison),
        margin: comparison.margin.ratio(),
        figures: comparison.figures.iter().map(|one| figure(comparison, one)).collect(),
        findings: finding_rows(comparison)
            .into_iter()
            .map(|(id, runs)| (id.to_owned(), runs))
            .collect(),
        jobs: comparison.jobs.iter().map(job).collect(),
        order: order(comparison),
        same: names(&likeness.same),
        differences: likeness.differences.iter().map(difference).collect(),
        unknown: names(&likeness.unknown),
        command: command_line(),
        json: serde_json::to_string(&document(comparison, seed, gate)).ok(),
    })
}

/// The conclusion, the figures of both sides, and what makes them doubtful.
fn answer(comparison: &SideComparison, gate: Option<&str>) -> StudyAnswer {
    let mut lines = conclusion(comparison).into_iter();
    let of_gate = |word: &str| StudyGoal {
        words: format!("gate of {}", label(comparison.primary())),
        outcome: word.to_owned(),
        is_met: word == GateResult::Passed.word(),
    };
    let warning = |line: String| match line.strip_prefix("note: ") {
        Some(note) => (Severity::Note, note.to_owned()),
        None => (Severity::Warning, line.trim_start_matches("warning: ").to_owned()),
    };
    let remarks = remarks(comparison).into_iter().map(|remark| (Severity::Note, remark));
    StudyAnswer {
        sentence: lines.next().unwrap_or_default(),
        is_bad: failed(comparison).is_some(),
        is_doubtful: tainted(comparison).is_some() || comparison.is_unreliable,
        goals: gate.map(of_gate).into_iter().collect(),
        lines: lines.collect(),
        cards: cards(comparison),
        findings: comparison.likeness.warnings().into_iter().map(warning).chain(remarks).collect(),
    }
}

/// A card of A, of B, and of the change.
fn cards(comparison: &SideComparison) -> Vec<StudyCard> {
    let some = || comparison.figures.iter().take(CARD_FIGURES_MOST);
    let side = |(at, letter): (usize, &str)| {
        let value =
            |one: &JudgedFigure| (label(one), one.figure.text(if at == 0 { one.a } else { one.b }));
        StudyCard {
            title: format!("{letter}: {}", comparison.sides[at].name),
            figures: some().map(value).collect(),
            note: side_words(comparison, at),
        }
    };
    let ratio = StudyCard {
        title: ratio_name(comparison).to_owned(),
        figures: some().map(|one| (label(one), change(one.ratio))).collect(),
        note: String::new(),
    };
    [(0, "A"), (1, "B")].map(side).into_iter().chain([ratio]).collect()
}

fn figure(comparison: &SideComparison, figure: &JudgedFigure) -> ComparedFigure {
    ComparedFigure {
        label: label(figure),
        unit: unit(&figure.figure),
        values: [figure.figure.text(figure.a), figure.figure.text(figure.b)],
        ratio: figure.ratio,
        interval: figure
            .judged
            .map(|judged| (judged.interval.low.exp(), judged.interval.high.exp())),
        change: change(figure.ratio),
        interval_text: interval_words(figure),
        verdict: match figure.decision() {
            Decision::Differs => FigureVerdict::Differs,
            Decision::Same => FigureVerdict::Same,
            Decision::CannotTell => FigureVerdict::CannotTell,
        },
        words: decision_words(comparison, figure),
        b_is_better: figure.b_is_better,
        runs: figure.values.clone(),
    }
}

/// The runs in the order in which they were made: of pairs as they were drawn;
/// results that were made before as they were named, A first.
fn order(comparison: &SideComparison) -> Vec<RunPlace> {
    match &comparison.design {
        RunDesign::Pairs { orders, .. } => orders
            .iter()
            .enumerate()
            .flat_map(|(index, order)| {
                let sides = match order {
                    PairOrder::AFirst => [0, 1],
                    PairOrder::BFirst => [1, 0],
                };
                sides.map(|side| RunPlace { side, index })
            })
            .collect(),
        _ => [0, 1]
            .into_iter()
            .flat_map(|side| {
                (0..comparison.sides[side].runs.len()).map(move |index| RunPlace { side, index })
            })
            .collect(),
    }
}
