//! A sweep for programs: sweep.json and sweep.csv.

use super::results::{FoundKnee, KneeKind, PointFigure, PointResult, SweepResults};
use super::search::{SearchResult, SloProbe};
use super::text::{knee_words, phase_name};
use crate::trials::figures::{Figure, Measure};
use iosonde_base::text::csv_cell;
use iosonde_command::document::Members;
use iosonde_judge::SloOutcome;
use serde::Serialize;
use serde_json::Value;

/// Meanings of the keys change with this number.
const SCHEMA: u32 = 1;

/// The sweep as one JSON object; docs/sweep.md describes its keys.
#[derive(Serialize)]
struct SweepDocument<'a> {
    iosonde: &'static str,
    report: &'static str,
    schema: u32,
    seed: u64,
    axes: &'a [String],
    rounds: usize,
    points: Vec<PointDocument<'a>>,
    knees: Vec<KneeDocument<'a>>,
}

#[derive(Serialize)]
struct PointDocument<'a> {
    settings: Members<String>,
    load: f64,
    runs: usize,
    files: &'a [String],
    figures: Members<FigureDocument>,
    findings: &'a [String],
    failed: &'a Option<String>,
}

#[derive(Serialize)]
struct FigureDocument {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct KneeDocument<'a> {
    #[serde(flatten)]
    kind: KneeFigures,
    at: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum KneeFigures {
    Load { load: f64, low: Option<f64>, high: Option<f64>, iops_most: f64, ns_least: f64 },
    Paced { iops: f64 },
    None { none: String },
}

/// The sweep for programs.
pub fn document(results: &SweepResults, seed: u64) -> impl Serialize {
    SweepDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        report: "sweep",
        schema: SCHEMA,
        seed,
        axes: &results.axes,
        rounds: results.rounds,
        points: results.points.iter().map(point).collect(),
        knees: results.knees.iter().map(knee).collect(),
    }
}

fn point(point: &PointResult) -> PointDocument<'_> {
    let figure = |one: &PointFigure| {
        let (low, high) = one.range;
        (one.figure.key(), FigureDocument { value: one.value, low, high })
    };
    PointDocument {
        settings: Members(point.settings.clone()),
        load: point.load,
        runs: point.files.len(),
        files: &point.files,
        figures: Members(point.figures.iter().map(figure).collect()),
        findings: &point.findings,
        failed: &point.failure,
    }
}

fn knee(found: &FoundKnee) -> KneeDocument<'_> {
    let kind = match &found.kind {
        KneeKind::Load(Ok(knee)) => KneeFigures::Load {
            load: knee.load,
            low: knee.interval.map(|ends| ends.0),
            high: knee.interval.map(|ends| ends.1),
            iops_most: knee.rate_most,
            ns_least: knee.seconds_least * 1e9,
        },
        KneeKind::Paced(Some(iops)) => KneeFigures::Paced { iops: *iops },
        KneeKind::Load(Err(_)) | KneeKind::Paced(None) => {
            KneeFigures::None { none: knee_words(found) }
        }
    };
    KneeDocument { kind, at: &found.at }
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
#[derive(Serialize)]
struct SearchDocument<'a> {
    iosonde: &'static str,
    report: &'static str,
    schema: u32,
    seed: u64,
    promises: &'a [String],
    option: &'a str,
    answer: Option<f64>,
    fails_at: Option<f64>,
    ended: bool,
    probes: Vec<ProbeDocument<'a>>,
}

#[derive(Serialize)]
struct ProbeDocument<'a> {
    /// The option that is searched, with its value.
    #[serde(flatten)]
    tried: Members<f64>,
    phase: &'static str,
    values: &'a [String],
    kept: bool,
    file: &'a str,
}

/// The search for programs.
pub fn search_document<'a>(search: &'a SearchResult, seed: u64) -> impl Serialize + 'a {
    let probe = |probe: &'a SloProbe| ProbeDocument {
        tried: Members(vec![(search.find.clone(), probe.value)]),
        phase: phase_name(probe.phase),
        values: &probe.values,
        kept: probe.kept,
        file: &probe.file,
    };
    let (answer, fails_at) = match search.outcome {
        Some(SloOutcome::Met { rate, fails_at }) => (Some(rate), fails_at),
        Some(SloOutcome::Impossible { rate }) => (None, Some(rate)),
        None => (None, None),
    };
    SearchDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        report: "slo",
        schema: SCHEMA,
        seed,
        promises: &search.promises,
        option: &search.find,
        answer,
        fails_at,
        ended: search.outcome.is_some(),
        probes: search.probes.iter().map(probe).collect(),
    }
}

/// A row for each probe.
pub fn search_csv(search: &SearchResult) -> String {
    let mut out =
        line(&[search.find.as_str(), "phase", "values", "kept", "file"].map(str::to_owned));
    for probe in &search.probes {
        out.push_str(&line(&[
            // As JSON writes it.
            Value::from(probe.value).to_string(),
            phase_name(probe.phase).to_owned(),
            probe.values.join("; "),
            probe.kept.to_string(),
            probe.file.clone(),
        ]));
    }
    out
}
