//! Figures of results against an option of their jobs.

use super::arguments::PlotQuestion;
use super::inputs::ReadResult;
use super::options::{NOT_SET, is_same, order, value};
use crate::trials::figures::{BetterWhen, Figure, FigureLane, Measure};
use crate::trials::page::unit;
use iosonde_base::median;
use iosonde_html::{COLUMN_SERIES_MOST, Column, ColumnsChart, PlotPart, StudyAnswer};
use iosonde_report::Report;

/// The answer: figures, groups and columns.
pub struct ResultColumns {
    /// The option of the groups.
    pub x: String,
    /// The option of the columns, and its values; one empty value without it.
    pub by: (Option<String>, Vec<String>),
    /// The values of the option of the groups.
    pub groups: Vec<String>,
    /// Each figure with its values for each group and column.
    pub figures: Vec<(Figure, Vec<Vec<Vec<f64>>>)>,
}

/// Some jobs of a result that have the same values of the options.
struct ResultPoint {
    x: String,
    by: String,
    report: Report,
}

/// Find the figures.
///
/// # Errors
/// There is no such option or figure, or there are too many columns.
pub fn answer(question: &PlotQuestion, results: &[ReadResult]) -> Result<ResultColumns, String> {
    let points: Vec<ResultPoint> =
        results.iter().flat_map(|result| points(question, result)).collect();
    if points.is_empty() {
        return Err("no job of the results has what --filter wants".to_owned());
    }
    if points.iter().all(|point| point.x == NOT_SET) {
        return Err(format!("no job of the results sets {}", question.x));
    }
    let groups = values(points.iter().map(|point| &point.x));
    let columns = values(points.iter().map(|point| &point.by));
    if columns.len() > COLUMN_SERIES_MOST {
        let by = question.by.as_deref().unwrap_or_default();
        return Err(format!(
            "--by {by}: {} values, of which a chart shows {COLUMN_SERIES_MOST} at most: use --filter",
            columns.len()
        ));
    }
    let figures = figures(question, &points);
    if figures.is_empty() {
        return Err("no result has the figures that --y names".to_owned());
    }
    let of = |figure: &Figure, group: &String, column: &String| -> Vec<f64> {
        let same = |point: &&ResultPoint| is_same(&point.x, group) && is_same(&point.by, column);
        points.iter().filter(same).filter_map(|point| figure.value(&point.report)).collect()
    };
    let table = |figure: &Figure| -> Vec<Vec<Vec<f64>>> {
        let row = |group| columns.iter().map(|column| of(figure, group, column)).collect();
        groups.iter().map(row).collect()
    };
    let figures = figures.into_iter().map(|figure| (figure, table(&figure))).collect();
    Ok(ResultColumns { x: question.x.clone(), by: (question.by.clone(), columns), groups, figures })
}

/// The jobs of a result that pass the filter, together where they have the same values.
fn points(question: &PlotQuestion, result: &ReadResult) -> Vec<ResultPoint> {
    let report = &result.stored.report;
    let mut found: Vec<(String, String, Vec<usize>)> = Vec::new();
    for job in 0..report.jobs.len() {
        let passes = |(name, wanted): &(String, String)| is_same(&value(result, job, name), wanted);
        if !question.filter.iter().all(passes) {
            continue;
        }
        let x = value(result, job, &question.x);
        let by = question.by.as_ref().map_or(String::new(), |by| value(result, job, by));
        match found.iter_mut().find(|known| known.0 == x && known.1 == by) {
            Some(known) => known.2.push(job),
            None => found.push((x, by, vec![job])),
        }
    }
    let point = |(x, by, jobs): (String, String, Vec<usize>)| ResultPoint {
        x,
        by,
        report: only(report, &jobs),
    };
    found.into_iter().map(point).collect()
}

/// A report of some of its jobs.
fn only(report: &Report, jobs: &[usize]) -> Report {
    if jobs.len() == report.jobs.len() {
        return report.clone();
    }
    let mut part = report.clone();
    let is_kept = |at: &usize| jobs.contains(at);
    let mut at = 0..;
    part.jobs.retain(|_| at.next().is_some_and(|at| is_kept(&at)));
    let mut at = 0..;
    part.ours.jobs.retain(|_| at.next().is_some_and(|at| is_kept(&at)));
    // It is of all jobs together.
    part.ours.ledger = None;
    part
}

/// Each value once, in order.
fn values<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in all {
        if !values.iter().any(|known| is_same(known, value)) {
            values.push(value.clone());
        }
    }
    iosonde_base::sort_by(&mut values, |one, other| order(one, other));
    values
}

/// The figures that are meant; without a direction, those of each.
fn figures(question: &PlotQuestion, points: &[ResultPoint]) -> Vec<Figure> {
    let mut lanes: Vec<FigureLane> = Vec::new();
    for lane in points.iter().flat_map(|point| FigureLane::used(&point.report)) {
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    let each = question.figures.iter().flat_map(|figure| {
        let is_whole = matches!(
            figure.measure,
            Measure::SyncLatency(_) | Measure::Durable | Measure::CpuPerIo
        );
        match figure.lane {
            None if !is_whole => {
                lanes.iter().map(|&lane| Figure { lane: Some(lane), ..*figure }).collect()
            }
            _ => vec![*figure],
        }
    });
    let has_value =
        |figure: &Figure| points.iter().any(|point| figure.value(&point.report).is_some());
    each.filter(has_value).collect()
}

/// The middle one of some values, with the smallest and the largest.
pub fn column(values: &[f64]) -> Option<Column> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(Column { value: median(values), low, high })
}

impl ResultColumns {
    /// A chart for each figure.
    pub fn parts(&self) -> Vec<PlotPart<'static>> {
        self.figures
            .iter()
            .map(|(figure, table)| PlotPart::Columns(self.chart(figure, table)))
            .collect()
    }

    /// Where each figure is best: `read IOPS: highest 47.9k at iodepth=16`.
    pub fn answer(&self) -> StudyAnswer {
        let mut lines = self.figures.iter().filter_map(|(figure, table)| {
            let (word, sign) = match figure.better() {
                BetterWhen::Higher => ("highest", 1.0),
                BetterWhen::Lower => ("lowest", -1.0),
            };
            let cells = table.iter().zip(&self.groups).flat_map(|(row, group)| {
                row.iter().zip(&self.by.1).map(move |(values, by)| (values, group, by))
            });
            let found =
                cells.filter_map(|(values, group, by)| Some((column(values)?.value, group, by)));
            let (value, group, by) =
                found.max_by(|one, other| (one.0 * sign).total_cmp(&(other.0 * sign)))?;
            let by = self.by.0.as_ref().map_or(String::new(), |option| format!(" {option}={by}"));
            Some(format!(
                "{}: {word} {} at {}={group}{by}",
                figure.label(),
                figure.text(value),
                self.x
            ))
        });
        StudyAnswer {
            sentence: lines.next().unwrap_or_default(),
            lines: lines.collect(),
            ..StudyAnswer::default()
        }
    }

    fn chart(&self, figure: &Figure, table: &[Vec<Vec<f64>>]) -> ColumnsChart {
        let by = |name: &String| match &self.by.0 {
            Some(option) => format!("{option}={name}"),
            None => String::new(),
        };
        let several = table.iter().flatten().any(|values| values.len() > 1);
        let finding = if several {
            "The median of several results; lines go from the smallest to the largest."
        } else {
            "One result each."
        };
        ColumnsChart {
            id: format!("columns-{}", figure.key().replace('.', "-")),
            title: format!("{} against {}", figure.label(), self.x),
            finding: finding.to_owned(),
            x_name: self.x.clone(),
            groups: self.groups.clone(),
            series: self.by.1.iter().map(by).collect(),
            y: unit(figure),
            columns: table
                .iter()
                .map(|row| row.iter().map(|values| column(values)).collect())
                .collect(),
        }
    }
}
