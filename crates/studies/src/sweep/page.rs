//! A sweep or a search as an HTML page.

use super::document::{document, search_document};
use super::grid::number;
use super::results::{FoundKnee, KneeKind, PointFigure, PointResult, SweepResults};
use super::runs::SweepRuns;
use super::search::SearchResult;
use super::text::{
    BestPoint, answer_words, best_points, conclusion, design_words, failed_words, knee_words,
    phase_name, tainted,
};
use crate::trials::figures::{FigureLane, Measure};
use crate::trials::page::{command_line, unit};
use iosonde_html::{
    AxisValue, KneePlace, SearchPage, SearchedProbe, StudyAnswer, StudyCard, StudyGoal, SweepPage,
    SweptFigure, SweptKind, SweptKnee, SweptPoint, search_page, sweep_page,
};
use iosonde_judge::SloOutcome;
use iosonde_report::Report;
use iosonde_session::RunEnd;

/// The page of a grid; `end` is why it ended early, if it did.
pub fn page(results: &SweepResults, runs: &SweepRuns<'_>, end: Option<&RunEnd>) -> String {
    let reports = runs.points.iter().flat_map(|point| point.runs.iter().flatten());
    let report = reports.map(|run| &run.result.report).next();
    let measured = results.points.iter().filter(|point| !point.files.is_empty());
    sweep_page(&SweepPage {
        jobs: jobs_words(report),
        design: design_words(results, runs.seed, runs.progress()),
        axes: results.axes.clone(),
        load_axis: results.load_axis,
        points: measured.map(swept).collect(),
        answer: answer(results, end),
        knees: results.knees.iter().map(swept_knee).collect(),
        missing: missing(results, runs),
        result: report,
        command: command_line(),
        json: serde_json::to_string(&document(results, runs.seed)).ok(),
    })
}

/// Cards at most.
const CARDS_MOST: usize = 4;

/// Failed points first, then what the points show.
fn answer(results: &SweepResults, end: Option<&RunEnd>) -> StudyAnswer {
    let failed = end.map(end_words).or_else(|| failed_words(results));
    let is_bad = failed.is_some();
    let mut lines = failed.into_iter().chain(conclusion(results));
    let card = |one: BestPoint| StudyCard {
        title: one.name,
        figures: vec![(String::new(), one.value)],
        note: format!("at {}", one.place),
    };
    StudyAnswer {
        sentence: lines.next().unwrap_or_else(|| "No point has a figure.".to_owned()),
        is_bad,
        is_doubtful: tainted(results).is_some(),
        lines: lines.collect(),
        cards: best_points(results).into_iter().take(CARDS_MOST).map(card).collect(),
        ..StudyAnswer::default()
    }
}

/// Why a sweep ended early.
fn end_words(end: &RunEnd) -> String {
    match end {
        RunEnd::Failed(_) => format!("FAILED: {}", end.to_string().replace("FAILED: ", "")),
        RunEnd::Stopped { .. } => {
            "Stopped by a signal: these are the results until then.".to_owned()
        }
    }
}

/// What the jobs are, in words; of several their number.
fn jobs_words(report: Option<&Report>) -> String {
    let Some(report) = report else { return String::new() };
    match &report.ours.jobs[..] {
        [one] => format!("{} (of the first point)", one.what),
        many => format!("{} jobs", many.len()),
    }
}

fn swept(point: &PointResult) -> SweptPoint {
    let value =
        |(_, text): &(String, String)| AxisValue { text: text.clone(), number: number(text) };
    SweptPoint {
        values: point.settings.iter().map(value).collect(),
        load: point.load,
        runs: point.files.len(),
        figures: point.figures.iter().map(figure).collect(),
        findings: point.findings.clone(),
    }
}

fn figure(one: &PointFigure) -> SweptFigure {
    SweptFigure {
        lane: one.figure.lane.map_or("", FigureLane::name).to_owned(),
        kind: match one.figure.measure {
            Measure::Iops => SweptKind::Iops,
            Measure::Bandwidth => SweptKind::Bandwidth,
            Measure::Latency(percent) => SweptKind::Latency(percent),
            Measure::Response(percent) => SweptKind::Response(percent),
            _ => SweptKind::Other,
        },
        label: one.figure.label(),
        unit: unit(&one.figure),
        value: one.value,
        range: one.range,
    }
}

fn swept_knee(found: &FoundKnee) -> SweptKnee {
    let place = match &found.kind {
        KneeKind::Load(Ok(knee)) => Some(KneePlace {
            load: knee.load,
            interval: knee.interval,
            iops_most: knee.rate_most,
            ns_least: knee.seconds_least * 1e9,
        }),
        _ => None,
    };
    SweptKnee { words: knee_words(found), at: found.at.clone(), place }
}

/// Points without all of their runs, and why.
fn missing(results: &SweepResults, runs: &SweepRuns<'_>) -> Vec<(String, String)> {
    let cut = if runs.is_cut() {
        "not run: the budget of time or writes is through"
    } else {
        "not run: the sweep was stopped first"
    };
    let of_point = |point: &PointResult| {
        let why = match &point.failure {
            Some(why) => format!("failed: {why}"),
            None if point.files.is_empty() => cut.to_owned(),
            None => return None,
        };
        Some((point.text(), why))
    };
    let skipped = runs
        .left_out
        .iter()
        .map(|point| (point.clone(), "skipped: --where does not hold".to_owned()));
    results.points.iter().filter_map(of_point).chain(skipped).collect()
}

/// The page of a search; `result` is one of its results, `end` why it ended early, if it did.
pub fn page_of_search(
    search: &SearchResult,
    seed: u64,
    result: Option<&Report>,
    end: Option<&RunEnd>,
) -> String {
    let probes = search.probes.iter().map(|probe| SearchedProbe {
        rate: probe.value,
        phase: phase_name(probe.phase),
        values: probe.values.clone(),
        is_kept: probe.kept,
    });
    search_page(&SearchPage {
        jobs: jobs_words(result),
        promises: search.promises.clone(),
        option: search.find.clone(),
        answer: search_answer(search, end),
        rate: match search.outcome {
            Some(SloOutcome::Met { rate, .. }) => Some(rate),
            _ => None,
        },
        probes: probes.collect(),
        result,
        command: command_line(),
        json: serde_json::to_string(&search_document(search, seed)).ok(),
    })
}

/// The promises and the rate that keeps them, or that none does.
fn search_answer(search: &SearchResult, end: Option<&RunEnd>) -> StudyAnswer {
    let goal = |outcome: &SloOutcome| {
        let is_met = matches!(outcome, SloOutcome::Met { .. });
        StudyGoal {
            words: format!("{}: {}", search.promises.join(" and "), answer_words(search)),
            outcome: if is_met { "kept" } else { "not kept" }.to_owned(),
            is_met,
        }
    };
    let goals: Vec<StudyGoal> = search.outcome.iter().map(goal).collect();
    let early = || format!("{}: {}", search.promises.join(" and "), answer_words(search));
    StudyAnswer {
        sentence: match end {
            Some(end) => end_words(end),
            None if goals.is_empty() => early(),
            None => String::new(),
        },
        is_bad: end.is_some() || goals.iter().any(|goal| !goal.is_met),
        goals,
        ..StudyAnswer::default()
    }
}
