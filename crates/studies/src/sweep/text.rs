//! A sweep as text: a table of the points, and the knee.

use super::results::{FoundKnee, KneeKind, PointFigure, PointResult, SweepResults};
use super::search::SearchResult;
use crate::trials::figures::Measure;
use iosonde_base::text::{count, counted, duration, percent};
use iosonde_command::format::{printable, wrapped};
use iosonde_judge::{NoKnee, SloOutcome, SloPhase};
use std::fmt::Write;

/// The sweep for a person.
pub fn text(results: &SweepResults, seed: u64, ended: (usize, usize)) -> String {
    let mut out = String::new();
    if let Some(failed) = failed_words(results) {
        wrapped(&mut out, "", &failed);
        out.push('\n');
    }
    wrapped(&mut out, "sweep     ", &design_words(results, seed, ended));
    out.push('\n');
    table(&mut out, results);
    out.push('\n');
    for line in conclusion(results) {
        wrapped(&mut out, " ", &line);
    }
    for point in &results.points {
        if let Some(why) = &point.failure {
            wrapped(&mut out, " ", &format!("{}: failed: {why}", point.text()));
        }
        if !point.findings.is_empty() {
            let line = format!("{}: [{}]", point.text(), point.findings.join("] ["));
            wrapped(&mut out, " ", &line);
        }
    }
    out
}

/// What the points show: the knees, or the best points where no axis is a load.
pub fn conclusion(results: &SweepResults) -> Vec<String> {
    let mut lines: Vec<String> = results.knees.iter().map(knee_words).collect();
    if lines.is_empty() {
        let best = best_points(results);
        let words = best.iter().map(|one| format!("{} {} at {}", one.name, one.value, one.place));
        lines.extend(Some(words.collect::<Vec<_>>().join("; ")).filter(|line| !line.is_empty()));
    }
    if let (Some(first), Some(words)) = (lines.first_mut(), tainted(results)) {
        let _ = write!(first, "; doubtful: {words}");
    }
    lines
}

/// Findings of most of the points: what they show may be of that.
pub fn tainted(results: &SweepResults) -> Option<String> {
    let measured = results.points.iter().filter(|point| !point.files.is_empty());
    let all = measured.clone().count();
    let mut ids: Vec<(&str, usize)> = Vec::new();
    for id in measured.flat_map(|point| &point.findings) {
        match ids.iter_mut().find(|(known, _)| known == id) {
            Some((_, number)) => *number += 1,
            None => ids.push((id, 1)),
        }
    }
    ids.retain(|(_, number)| number * 2 > all);
    let words = ids.iter().map(|(id, number)| format!("{id} in {number} of {all} points"));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The best value of a figure, and the point that has it.
pub struct BestPoint {
    /// `highest read IOPS`.
    pub name: String,
    /// The value.
    pub value: String,
    /// `iodepth=8 bs=4k`.
    pub place: String,
}

/// Of each direction the highest rates and the lowest p99.
pub fn best_points(results: &SweepResults) -> Vec<BestPoint> {
    let mut best = Vec::new();
    for column in columns(results) {
        let is_rate = column.figure.measure == Measure::Iops;
        let is_p99 = matches!(column.figure.measure,
            Measure::Latency(percent) | Measure::Response(percent) if percent == 99.0);
        if !is_rate && !is_p99 {
            continue;
        }
        let found = results
            .points
            .iter()
            .filter_map(|point| Some((point, point.figure(&column.figure.key())?.value)));
        let order =
            |one: &(&PointResult, f64), other: &(&PointResult, f64)| one.1.total_cmp(&other.1);
        let point = if is_rate { found.max_by(order) } else { found.min_by(order) };
        best.extend(point.map(|(point, value)| BestPoint {
            name: format!(
                "{} {}",
                if is_rate { "highest" } else { "lowest" },
                column.figure.label()
            ),
            value: column.figure.text(value),
            place: point.text(),
        }));
    }
    best
}

/// Points that failed, and why the first did: what is said before all else.
pub fn failed_words(results: &SweepResults) -> Option<String> {
    let failed =
        || results.points.iter().filter_map(|point| Some((point, point.failure.as_deref()?)));
    let (point, why) = failed().next()?;
    let why = why.strip_prefix("FAILED: ").unwrap_or(why);
    let all = counted(results.points.len() as u64, "point");
    Some(format!("FAILED: {} of {all}: {}: {why}", failed().count(), point.text()))
}

/// How the points were run.
pub fn design_words(results: &SweepResults, seed: u64, (runs, all): (usize, usize)) -> String {
    format!(
        "{}, {} in random order (seed {seed}){}",
        counted(results.points.len() as u64, "point"),
        counted(results.rounds as u64, "round"),
        if runs < all { format!(", {runs} of {all} runs") } else { String::new() }
    )
}

/// The columns: rates, p50 and p99 of each direction.
fn columns(results: &SweepResults) -> Vec<PointFigure> {
    let mut columns: Vec<PointFigure> = Vec::new();
    for figure in results.points.iter().flat_map(|point| &point.figures) {
        let is_shown = match figure.figure.measure {
            Measure::Iops | Measure::CpuPerIo => true,
            Measure::Latency(percent) | Measure::Response(percent) => percent <= 99.0,
            _ => false,
        };
        if is_shown && !columns.iter().any(|known| known.figure == figure.figure) {
            columns.push(figure.clone());
        }
    }
    columns
}

fn table(out: &mut String, results: &SweepResults) {
    let columns = columns(results);
    let mut lines: Vec<Vec<String>> = vec![results.axes.clone()];
    for column in &columns {
        lines[0].push(column.figure.label());
        if column.figure.measure == Measure::Iops {
            lines[0].push("low .. high".to_owned());
        }
    }
    for point in &results.points {
        lines.push(row(point, &columns));
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| {
            lines
                .iter()
                .filter_map(|line| line.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}"));
        let _ = writeln!(out, " {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

fn row(point: &PointResult, columns: &[PointFigure]) -> Vec<String> {
    let mut cells: Vec<String> = point.settings.iter().map(|(_, value)| printable(value)).collect();
    for column in columns {
        let found = point.figure(&column.figure.key());
        let figure = column.figure;
        cells.push(found.map_or("-".to_owned(), |one| figure.text(one.value)));
        if figure.measure == Measure::Iops {
            let range = |one: &PointFigure| {
                format!("{} .. {}", figure.text(one.range.0), figure.text(one.range.1))
            };
            cells.push(found.map_or("-".to_owned(), range));
        }
    }
    cells
}

/// A knee in words.
pub fn knee_words(found: &FoundKnee) -> String {
    let at = if found.at.is_empty() { String::new() } else { format!("{}: ", found.at) };
    let words = match &found.kind {
        KneeKind::Load(Ok(knee)) => {
            let interval = knee.interval.map_or(String::new(), |(low, high)| {
                format!(" ({} .. {})", count(low.round()), count(high.round()))
            });
            format!(
                "knee at {} I/Os in flight{interval}: {} IOPS at most, {} at least for an I/O",
                count(knee.load.round()),
                count(knee.rate_most),
                duration((knee.seconds_least * 1e9) as u64)
            )
        }
        KneeKind::Load(Err(why)) => no_knee(why),
        KneeKind::Paced(Some(rate)) => format!(
            "knee at {} IOPS: the highest rate that was kept with a p99 of at most twice that of the \
             lowest",
            count(*rate)
        ),
        KneeKind::Paced(None) => "no knee: the lowest rate was not kept".to_owned(),
    };
    format!("{at}{words}")
}

fn no_knee(why: &NoKnee) -> String {
    match why {
        NoKnee::TooFewLoads => "no knee: at least three loads with I/Os are needed".to_owned(),
        NoKnee::NoSmallLoad => {
            "no knee: it takes a load of at most 4 I/Os in flight to show what an I/O takes alone"
                .to_owned()
        }
        NoKnee::StillGrows { load, gain } => format!(
            "no knee up to {}: the last doubling still gained {}",
            count(*load),
            percent(*gain)
        ),
        NoKnee::Overlaps { load, gain } => format!(
            "whether there is a knee up to {} is unknown: the last doubling gained {} in the middle, \
             and its rounds overlap; set --rounds higher",
            count(*load),
            percent(*gain)
        ),
        NoKnee::Unclear { bounds, power } => format!(
            "no clear knee: the bounds meet at {}, and rate over latency is best at {}",
            count(bounds.round()),
            count(*power)
        ),
    }
}

/// A search for the highest rate, for a person.
pub fn search_text(search: &SearchResult) -> String {
    let mut out = String::new();
    wrapped(&mut out, "slo       ", &format!("{}; {}", search.promises.join(" and "), search.find));
    out.push('\n');
    for phase in [SloPhase::Grow, SloPhase::Halve, SloPhase::Confirm] {
        let name = phase_name(phase);
        let probes = search.probes.iter().filter(|probe| probe.phase == phase);
        let words: Vec<String> = probes
            .map(|probe| {
                let kept = if probe.kept { "ok" } else { "no" };
                format!("{} ({}) {kept}", count(probe.value), probe.values.join(", "))
            })
            .collect();
        if !words.is_empty() {
            wrapped(&mut out, &format!(" {name:<9}"), &words.join("; "));
        }
    }
    wrapped(&mut out, " answer   ", &answer_words(search));
    out
}

/// A part of a search in a word.
pub fn phase_name(phase: SloPhase) -> &'static str {
    match phase {
        SloPhase::Grow => "grow",
        SloPhase::Halve => "halve",
        SloPhase::Confirm => "confirm",
    }
}

/// How a search ended.
pub fn answer_words(search: &SearchResult) -> String {
    let probes = iosonde_base::text::counted(search.probes.len() as u64, "probe");
    match search.outcome {
        Some(SloOutcome::Met { rate, fails_at }) => {
            let fails =
                fails_at.map_or(String::new(), |rate| format!("; fails at {}", count(rate)));
            format!("{} {}{fails}; {probes}", search.find, count(rate))
        }
        Some(SloOutcome::Impossible { rate }) => {
            format!("none: {} {} does not keep it either; {probes}", search.find, count(rate))
        }
        None => format!("none yet: stopped after {probes}"),
    }
}
