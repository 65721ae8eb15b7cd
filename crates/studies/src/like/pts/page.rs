//! The plots that SNIA's specification wants: convergence, verification,
//! measurement, saturation.

use super::super::LikeArgs;
use super::super::findings::with_runs;
use super::kinds::PtsKind;
use super::words::{grid, sentence, tracked_words};
use super::{CellFigures, PtsRun, steady};
use iosonde_base::text::{duration, short_size};
use iosonde_html::{
    ChartLine, FigureUnit, LinePoint, LineStyle, LinesChart, MarkedRange, PlotCell, PlotPart,
    PlotTable, StudyAnswer, StudyGoal, plot_page,
};
use iosonde_report::finding::FindingCounts;

/// The page of a test.
pub fn page(run: &PtsRun, arguments: &LikeArgs, findings: &FindingCounts) -> String {
    let is_met = run.kind == PtsKind::WriteSaturation || run.is_steady();
    let sentence = sentence(run, arguments, findings);
    // A saturation has no goal.
    let goal = (run.kind != PtsKind::WriteSaturation).then(|| {
        let (words, outcome) = sentence.rsplit_once("   ").unwrap_or((&sentence, ""));
        StudyGoal {
            words: format!("{}: {words}, goal: steady state", run.kind.name()),
            outcome: outcome.to_owned(),
            is_met: is_met && !findings.is_wrong(),
        }
    });
    let (goals, sentence): (Vec<StudyGoal>, String) = match goal {
        Some(goal) => (vec![goal], String::new()),
        None => (Vec::new(), sentence),
    };
    let mut lines = vec![format!("Device {}.", run.device)];
    lines.extend(run.notes.iter().cloned());
    let answer = StudyAnswer {
        is_bad: !is_met || findings.is_wrong(),
        sentence,
        goals,
        lines,
        findings: with_runs(findings),
        ..StudyAnswer::default()
    };
    let mut parts = vec![PlotPart::Answer(answer)];
    if run.kind == PtsKind::WriteSaturation {
        parts.push(PlotPart::Lines(saturation(run)));
    } else {
        parts.push(PlotPart::Lines(convergence(run)));
        parts.extend(verification(run).map(PlotPart::Lines));
    }
    parts.push(PlotPart::Table(measurement(run)));
    if run.kind != PtsKind::Iops {
        parts.push(PlotPart::Table(latencies(run)));
    }
    parts.extend(run.tested.clone().map(PlotPart::Tested));
    plot_page(&format!("iosonde like {}", run.kind.name()), &parts)
}

fn unit(kind: PtsKind) -> FigureUnit {
    match kind {
        PtsKind::Throughput => FigureUnit::BytesPerSecond,
        PtsKind::Latency => FigureUnit::Nanoseconds,
        _ => FigureUnit::Count,
    }
}

fn figure(kind: PtsKind, figures: &CellFigures) -> f64 {
    match kind {
        PtsKind::Throughput => figures.bytes_per_s,
        PtsKind::Latency => figures.mean_ns(),
        _ => figures.iops,
    }
}

/// What is tracked, in words.
fn tracked_name(kind: PtsKind) -> &'static str {
    match kind {
        PtsKind::Throughput => "Throughput of sequential writes",
        PtsKind::Latency => "Mean latency of random writes",
        _ => "IOPS of random writes",
    }
}

fn chart(
    run: &PtsRun,
    id: &str,
    title: String,
    finding: String,
    lines: Vec<ChartLine>,
) -> LinesChart {
    LinesChart {
        id: id.to_owned(),
        title,
        finding,
        x: (FigureUnit::Count, "round".to_owned()),
        y: unit(run.kind),
        is_log: false,
        lines,
        range: None,
        table: (Vec::new(), Vec::new()),
    }
}

fn line(name: String, style: LineStyle, points: Vec<LinePoint>) -> ChartLine {
    ChartLine { name, style, points, gap: f64::INFINITY }
}

/// The writes of each block size against the round.
fn convergence(run: &PtsRun) -> LinesChart {
    let writes = run.cells.iter().enumerate().filter(|(_, cell)| cell.reads == 0);
    let lines = writes.enumerate().map(|(series, (at, cell))| {
        let point = |(round, figures): (usize, &Vec<CellFigures>)| {
            LinePoint::single(round as f64 + 1.0, figure(run.kind, &figures[at]))
        };
        let points = run.rounds.iter().enumerate().map(point).collect();
        line(short_size(cell.block), LineStyle::Series(series), points)
    });
    let title = format!("{}: convergence", tracked_name(run.kind));
    let finding = "A line for each block size.".to_owned();
    chart(run, "convergence", title, finding, lines.collect())
}

/// The tracked figure in the window, with the range that is steady around its mean, and the
/// best-fit line.
fn verification(run: &PtsRun) -> Option<LinesChart> {
    let window = run.window()?;
    let tracked = run.tracked();
    let first = tracked.len() - steady::WINDOW;
    let point = |(at, &value): (usize, &f64)| LinePoint::single((first + at) as f64 + 1.0, value);
    let points: Vec<LinePoint> = tracked[first..].iter().enumerate().map(point).collect();
    let ends =
        [(first as f64 + 1.0, window.start), (tracked.len() as f64, window.start + window.slope)];
    let fit = ends.map(|(x, y)| LinePoint::single(x, y)).to_vec();
    let lines = vec![
        line("tracked".to_owned(), LineStyle::Sum, points),
        line("best fit".to_owned(), LineStyle::Series(1), fit),
    ];
    let finding = format!(
        "Mean {}, range {:.1} %, slope {:.1} % of it: at most 20 % and 10 % are steady.",
        tracked_words(run, window.mean),
        100.0 * window.range / window.mean,
        100.0 * window.slope / window.mean
    );
    let title = format!("{}: steady state", tracked_name(run.kind));
    let range = MarkedRange {
        low: window.mean * 0.9,
        high: window.mean * 1.1,
        name: "a range of 20 % around the mean".to_owned(),
    };
    Some(LinesChart { range: Some(range), ..chart(run, "verification", title, finding, lines) })
}

/// IOPS against what was written.
fn saturation(run: &PtsRun) -> LinesChart {
    let mut written = 0.0;
    let point = |round: &Vec<CellFigures>| {
        written += round[0].bytes as f64;
        LinePoint::single(written, round[0].iops)
    };
    let points = run.rounds.iter().map(point).collect();
    let lines = vec![line("4 KiB random writes".to_owned(), LineStyle::Sum, points)];
    let title = "Write saturation".to_owned();
    let finding =
        format!("IOPS over {}.", iosonde_base::text::counted(run.rounds.len() as u64, "round"));
    let x = (FigureUnit::Bytes, "written".to_owned());
    LinesChart { x, ..chart(run, "saturation", title, finding, lines) }
}

/// IOPS of each cell over the measured rounds.
fn measurement(run: &PtsRun) -> PlotTable {
    let mut rows = grid(run).into_iter();
    let heads = rows.next().unwrap_or_default();
    let cells = |row: Vec<String>| row.into_iter().map(PlotCell::plain).collect();
    PlotTable { heads, rows: rows.map(cells).collect() }
}

/// Latencies of each cell over the measured rounds.
fn latencies(run: &PtsRun) -> PlotTable {
    let heads = ["reads/writes", "block", "mean", "p50", "p99", "p99.9", "p99.99", "max"];
    let row = |(at, cell): (usize, &super::PtsCell)| {
        let time = |percent: f64| {
            run.percentile(at, percent).map_or("-".to_owned(), |ns| duration(ns.round() as u64))
        };
        let words = [
            cell.mix(),
            short_size(cell.block),
            duration(run.mean(at, CellFigures::mean_ns).round() as u64),
            time(50.0),
            time(99.0),
            time(99.9),
            time(99.99),
            duration(run.longest_ns(at)),
        ];
        words.into_iter().map(PlotCell::plain).collect()
    };
    PlotTable {
        heads: heads.map(str::to_owned).into(),
        rows: run.cells.iter().enumerate().map(row).collect(),
    }
}
