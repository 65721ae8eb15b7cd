//! A comparison for programs: JSON and CSV.

use super::comparison::{JudgedFigure, RunDesign, SideComparison};
use super::text::{conclusion, remarks};
use iosonde_judge::{Decision, PairOrder};
use serde_json::{Value, json};
use std::fmt::Write;

/// Meanings of the keys change with this number.
const SCHEMA: u32 = 1;

/// The comparison as one JSON object; docs/compare.md describes its keys.
pub fn document(comparison: &SideComparison, seed: Option<u64>, gate: Option<&str>) -> Value {
    let likeness = &comparison.likeness;
    let names = |parts: &[super::likeness::RunPart]| -> Value {
        parts.iter().map(|part| part.name()).collect()
    };
    let differences: Value = likeness
        .differences
        .iter()
        .map(|one| {
            json!({
                "part": one.part.name(),
                "what": one.what,
                "a": one.a,
                "b": one.b,
                "intended": one.is_meant,
            })
        })
        .collect();
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "compare",
        "schema": SCHEMA,
        "design": design(comparison, seed),
        "margin": comparison.margin.ratio(),
        "a": side(comparison, 0),
        "b": side(comparison, 1),
        "same": names(&likeness.same),
        "differences": differences,
        "not_described": names(&likeness.unknown),
        "figures": comparison.figures.iter().map(figure).collect::<Value>(),
        "jobs": comparison.jobs.iter().map(|job| json!({
            "name": job.name,
            "note": job.note,
            "figures": job.figures.iter().map(figure).collect::<Value>(),
        })).collect::<Value>(),
        "not_in_all": comparison.incomplete,
        "unreliable": comparison.is_unreliable,
        "gate": gate,
        "conclusion": conclusion(comparison),
        "remarks": remarks(comparison),
    })
}

fn design(comparison: &SideComparison, seed: Option<u64>) -> Value {
    match &comparison.design {
        RunDesign::Pairs { orders, alpha, robust } => json!({
            "kind": "pairs",
            "pairs": comparison.count(),
            "seed": seed,
            "order": orders.iter().map(|order| match order {
                PairOrder::AFirst => "ab",
                PairOrder::BFirst => "ba",
            }).collect::<Value>(),
            "alpha": alpha,
            "robust": robust,
        }),
        RunDesign::Unordered => json!({ "kind": "not interleaved" }),
        RunDesign::Sessions(runs) => json!({ "kind": "sessions", "runs_of_sessions": runs }),
        RunDesign::Single(noise) => json!({ "kind": "one run each", "noise": noise }),
    }
}

fn side(comparison: &SideComparison, at: usize) -> Value {
    let side = &comparison.sides[at];
    let files: Vec<&str> = side.runs.iter().map(|run| run.file.as_str()).collect();
    json!({ "name": side.name, "files": files })
}

fn figure(figure: &JudgedFigure) -> Value {
    let ratio = |logarithm: f64| logarithm.exp();
    json!({
        "figure": figure.figure.key(),
        "a": figure.a,
        "b": figure.b,
        "a_runs": figure.values[0],
        "b_runs": figure.values[1],
        "median_of_percentiles": figure.is_median,
        "ratio": figure.ratio,
        "ratio_low": figure.judged.map(|judged| ratio(judged.interval.low)),
        "ratio_high": figure.judged.map(|judged| ratio(judged.interval.high)),
        "p_adjusted": figure.judged.map(|judged| judged.adjusted_p),
        "better": figure.judged.map(|_| if figure.b_is_better { "b" } else { "a" }),
        "decision": decision(figure),
        "detectable": figure.detectable,
        "scatter": figure.scatter,
        "pairs_needed": figure.pairs_needed,
    })
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
