//! A comparison for programs: JSON and CSV.

use super::comparison::{JudgedFigure, JudgedJob, RunDesign, SideComparison};
use super::likeness::{PartDifference, RunPart};
use super::side::CompareSide;
use super::text::{conclusion, remarks};
use iosonde_judge::{Decision, PairOrder};
use serde::Serialize;
use std::fmt::Write;

/// Meanings of the keys change with this number.
const SCHEMA: u32 = 1;

/// The comparison as one JSON object; docs/compare.md describes its keys.
#[derive(Serialize)]
struct CompareDocument<'a> {
    iosonde: &'static str,
    report: &'static str,
    schema: u32,
    design: DesignDocument<'a>,
    margin: f64,
    a: SideDocument<'a>,
    b: SideDocument<'a>,
    same: &'a [RunPart],
    differences: &'a [PartDifference],
    not_described: &'a [RunPart],
    figures: Vec<FigureDocument<'a>>,
    jobs: Vec<JobDocument<'a>>,
    not_in_all: &'a [String],
    unreliable: bool,
    gate: Option<&'a str>,
    conclusion: Vec<String>,
    remarks: Vec<String>,
}

/// How the results came about.
#[derive(Serialize)]
#[serde(tag = "kind")]
enum DesignDocument<'a> {
    #[serde(rename = "pairs")]
    Pairs { pairs: usize, seed: Option<u64>, order: Vec<&'static str>, alpha: f64, robust: bool },
    #[serde(rename = "not interleaved")]
    Unordered,
    #[serde(rename = "sessions")]
    Sessions { runs_of_sessions: &'a [usize] },
    #[serde(rename = "one run each")]
    Single { noise: Option<f64> },
}

#[derive(Serialize)]
struct SideDocument<'a> {
    name: &'a str,
    files: Vec<&'a str>,
}

#[derive(Serialize)]
struct JobDocument<'a> {
    name: &'a str,
    note: &'a Option<String>,
    figures: Vec<FigureDocument<'a>>,
}

#[derive(Serialize)]
struct FigureDocument<'a> {
    figure: String,
    a: f64,
    b: f64,
    a_runs: &'a [f64],
    b_runs: &'a [f64],
    median_of_percentiles: bool,
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    p_adjusted: Option<f64>,
    better: Option<&'static str>,
    decision: &'static str,
    detectable: Option<f64>,
    scatter: Option<f64>,
    pairs_needed: Option<usize>,
}

/// The comparison for programs.
pub fn document<'a>(
    comparison: &'a SideComparison,
    seed: Option<u64>,
    gate: Option<&'a str>,
) -> impl Serialize + 'a {
    let likeness = &comparison.likeness;
    let job = |job: &'a JudgedJob| JobDocument {
        name: &job.name,
        note: &job.note,
        figures: job.figures.iter().map(figure).collect(),
    };
    CompareDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        report: "compare",
        schema: SCHEMA,
        design: design(comparison, seed),
        margin: comparison.margin.ratio(),
        a: side(&comparison.sides[0]),
        b: side(&comparison.sides[1]),
        same: &likeness.same,
        differences: &likeness.differences,
        not_described: &likeness.unknown,
        figures: comparison.figures.iter().map(figure).collect(),
        jobs: comparison.jobs.iter().map(job).collect(),
        not_in_all: &comparison.incomplete,
        unreliable: comparison.is_unreliable,
        gate,
        conclusion: conclusion(comparison),
        remarks: remarks(comparison),
    }
}

fn design(comparison: &SideComparison, seed: Option<u64>) -> DesignDocument<'_> {
    let order = |order: &PairOrder| match order {
        PairOrder::AFirst => "ab",
        PairOrder::BFirst => "ba",
    };
    match &comparison.design {
        RunDesign::Pairs { orders, alpha, robust } => DesignDocument::Pairs {
            pairs: comparison.count(),
            seed,
            order: orders.iter().map(order).collect(),
            alpha: *alpha,
            robust: *robust,
        },
        RunDesign::Unordered => DesignDocument::Unordered,
        RunDesign::Sessions(runs) => DesignDocument::Sessions { runs_of_sessions: runs },
        RunDesign::Single(noise) => DesignDocument::Single { noise: *noise },
    }
}

fn side(side: &CompareSide) -> SideDocument<'_> {
    let files = side.runs.iter().map(|run| run.file.as_str()).collect();
    SideDocument { name: &side.name, files }
}

fn figure(figure: &JudgedFigure) -> FigureDocument<'_> {
    let judged = figure.judged.as_ref();
    FigureDocument {
        figure: figure.figure.key(),
        a: figure.a,
        b: figure.b,
        a_runs: &figure.values[0],
        b_runs: &figure.values[1],
        median_of_percentiles: figure.is_median,
        ratio: figure.ratio,
        ratio_low: judged.map(|judged| judged.interval.low.exp()),
        ratio_high: judged.map(|judged| judged.interval.high.exp()),
        p_adjusted: judged.map(|judged| judged.adjusted_p),
        better: judged.map(|_| if figure.b_is_better { "b" } else { "a" }),
        decision: decision(figure),
        detectable: figure.detectable,
        scatter: figure.scatter,
        pairs_needed: figure.pairs_needed,
    }
}

fn decision(figure: &JudgedFigure) -> &'static str {
    match figure.decision() {
        Decision::Differs => "differs",
        Decision::Same => "same",
        Decision::CannotTell => "cannot tell",
    }
}

/// A row for each figure.
pub fn csv(comparison: &SideComparison) -> String {
    let mut out = "figure,a,b,ratio,ratio_low,ratio_high,decision\n".to_owned();
    for figure in &comparison.figures {
        let end = |of: fn(&iosonde_judge::ConfidenceInterval) -> f64| {
            figure.judged.map_or(String::new(), |judged| of(&judged.interval).exp().to_string())
        };
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{}",
            figure.figure.key(),
            figure.a,
            figure.b,
            figure.ratio,
            end(|interval| interval.low),
            end(|interval| interval.high),
            decision(figure)
        );
    }
    out
}
