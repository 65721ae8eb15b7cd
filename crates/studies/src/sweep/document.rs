//! A sweep for programs: sweep.json and sweep.csv.

use super::results::{KneeKind, PointResult, SweepResults};
use super::search::SearchResult;
use super::text::{knee_words, phase_name};
use crate::trials::figures::{Figure, Measure};
use iosonde_base::text::csv_cell;
use iosonde_judge::SloOutcome;
use serde_json::{Map, Value, json};

/// Meanings of the keys change with this number.
const SCHEMA: u32 = 1;

/// The sweep as one JSON object; docs/sweep.md describes its keys.
pub fn document(results: &SweepResults, seed: u64) -> Value {
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "sweep",
        "schema": SCHEMA,
        "seed": seed,
        "axes": results.axes,
        "rounds": results.rounds,
        "points": results.points.iter().map(point).collect::<Value>(),
        "knees": results.knees.iter().map(|found| {
            let mut value = match &found.kind {
                KneeKind::Load(Ok(knee)) => json!({
                    "load": knee.load,
                    "low": knee.interval.map(|ends| ends.0),
                    "high": knee.interval.map(|ends| ends.1),
                    "iops_most": knee.rate_most,
                    "ns_least": knee.seconds_least * 1e9,
                }),
                KneeKind::Paced(Some(rate)) => json!({ "iops": rate }),
                KneeKind::Load(Err(_)) | KneeKind::Paced(None) => json!({ "none": knee_words(found) }),
            };
            value["at"] = found.at.clone().into();
            value
        }).collect::<Value>(),
    })
}

fn point(point: &PointResult) -> Value {
    let settings: Map<String, Value> =
        point.settings.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let figures: Map<String, Value> = point
        .figures
        .iter()
        .map(|one| {
            let value = json!({ "value": one.value, "low": one.range.0, "high": one.range.1 });
            (one.figure.key(), value)
        })
        .collect();
    json!({
        "settings": settings,
        "load": point.load,
        "runs": point.files.len(),
        "files": point.files,
        "figures": figures,
        "findings": point.findings,
        "failed": point.failure,
    })
}

/// A row for each point.
pub fn csv(results: &SweepResults) -> String {
    let mut figures: Vec<Figure> = Vec::new();
    for one in results.points.iter().flat_map(|point| &point.figures) {
        if !figures.contains(&one.figure) {
            figures.push(one.figure);
        }
    }
    let has_range = |figure: &Figure| {
        matches!(figure.measure, Measure::Iops | Measure::Bandwidth | Measure::Durable)
    };
    let mut head: Vec<String> = results.axes.clone();
    head.push("runs".into());
    for figure in &figures {
        let key = figure.key();
        head.push(key.clone());
        if has_range(figure) {
            head.extend([format!("{key}.low"), format!("{key}.high")]);
        }
    }
    head.push("findings".into());
    let mut out = line(&head);
    for point in &results.points {
        let mut cells: Vec<String> =
            point.settings.iter().map(|(_, value)| value.clone()).collect();
        cells.push(point.files.len().to_string());
        for figure in &figures {
            let found = point.figure(&figure.key());
            cells.push(found.map_or(String::new(), |one| one.value.to_string()));
            if has_range(figure) {
                let (low, high) = found.map_or_else(Default::default, |one| {
                    (one.range.0.to_string(), one.range.1.to_string())
                });
                cells.extend([low, high]);
            }
        }
        cells.push(point.findings.join(" "));
        out.push_str(&line(&cells));
    }
    out
}

/// Cells as RFC 4180 has them.
fn line(cells: &[String]) -> String {
    cells.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(",") + "\n"
}

/// A search as one JSON object.
pub fn search_document(search: &SearchResult, seed: u64) -> Value {
    let probes: Value = search
        .probes
        .iter()
        .map(|probe| {
            json!({
                (search.find.as_str()): probe.value,
                "phase": phase_name(probe.phase),
                "values": probe.values,
                "kept": probe.kept,
                "file": probe.file,
            })
        })
        .collect();
    let (answer, fails_at) = match search.outcome {
        Some(SloOutcome::Met { rate, fails_at }) => (Some(rate), fails_at),
        Some(SloOutcome::Impossible { rate }) => (None, Some(rate)),
        None => (None, None),
    };
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "slo",
        "schema": SCHEMA,
        "seed": seed,
        "promises": search.promises,
        "option": search.find,
        "answer": answer,
        "fails_at": fails_at,
        "ended": search.outcome.is_some(),
        "probes": probes,
    })
}

/// A row for each probe.
pub fn search_csv(search: &SearchResult) -> String {
    let mut out =
        line(&[search.find.as_str(), "phase", "values", "kept", "file"].map(str::to_owned));
    let document = search_document(search, 0);
    for probe in document["probes"].as_array().into_iter().flatten() {
        let values: Vec<&str> =
            probe["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        out.push_str(&line(&[
            probe[search.find.as_str()].to_string(),
            probe["phase"].as_str().unwrap_or_default().to_owned(),
            values.join("; "),
            probe["kept"].to_string(),
            probe["file"].as_str().unwrap_or_default().to_owned(),
        ]));
    }
    out
}
