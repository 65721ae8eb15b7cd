//! A comparison as an HTML page.

use super::comparison::{JudgedFigure, RunDesign, SideComparison};
use super::document::document;
use super::likeness::RunPart;
use super::text::{
    change, conclusion, decision_words, design_words, interval_words, label, remarks,
};
use crate::trials::page::{command_line, unit};
use iosonde_html::{
    ComparedFigure, ComparedJob, ComparedSide, ComparisonPage, FigureVerdict, PartRow, RunPlace,
    comparison_page,
};
use iosonde_judge::{Decision, PairOrder};

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
        conclusion: conclusion(comparison),
        warnings: likeness.warnings(),
        remarks: remarks(comparison),
        margin: comparison.margin.ratio(),
        figures: comparison.figures.iter().map(|one| figure(comparison, one)).collect(),
        jobs: comparison.jobs.iter().map(job).collect(),
        order: order(comparison),
        same: names(&likeness.same),
        differences: likeness.differences.iter().map(difference).collect(),
        unknown: names(&likeness.unknown),
        gate: gate.map(str::to_owned),
        command: command_line(),
        json: serde_json::to_string(&document(comparison, seed, gate)).ok(),
    })
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
