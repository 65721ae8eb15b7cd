//! Heat maps of a sweep: two options, a cell for each combination.

use super::{AxisValue, SweepPage, SweptFigure, SweptKind, axis_values, kind_name, percentiles};
use crate::charts::grid::{GridCell, GridChart};
use maud::Markup;

/// Heat maps of the first two axes, for each combination of the others.
pub(super) fn maps(sweep: &SweepPage<'_>, lane: &str) -> Vec<Markup> {
    if sweep.axes.len() < 2 {
        return Vec::new();
    }
    let mut rest: Vec<Vec<AxisValue>> = Vec::new();
    for point in &sweep.points {
        let others = point.values.get(2..).unwrap_or_default().to_vec();
        if !rest.contains(&others) {
            rest.push(others);
        }
    }
    let tail = percentiles(sweep, lane).pop();
    let kinds = [Some(SweptKind::Iops), Some(SweptKind::Bandwidth), tail];
    let kinds: Vec<SweptKind> = kinds.into_iter().flatten().collect();
    let mut maps = Vec::new();
    for (number, others) in rest.iter().take(super::MAPS_MOST).enumerate() {
        for (at, &kind) in kinds.iter().enumerate() {
            let id = format!("map-{lane}-{number}-{at}");
            maps.extend(map(sweep, (lane, kind), others, &id));
        }
    }
    maps
}

fn map(
    sweep: &SweepPage<'_>,
    (lane, kind): (&str, SweptKind),
    others: &[AxisValue],
    id: &str,
) -> Option<Markup> {
    let (rows, columns) = (axis_values(sweep, 0), axis_values(sweep, 1));
    let at = |row: &AxisValue, column: &AxisValue| {
        let mut points = sweep.points.iter();
        let point = points.find(|point| {
            point.values.first() == Some(row)
                && point.values.get(1) == Some(column)
                && point.values.get(2..).unwrap_or_default() == others
        });
        cell(point.and_then(|point| point.figure(lane, kind)))
    };
    let cells: Vec<Vec<GridCell>> =
        rows.iter().map(|row| columns.iter().map(|column| at(row, column)).collect()).collect();
    let figures = || sweep.points.iter().filter_map(|point| point.figure(lane, kind));
    let unit = figures().next()?.unit;
    let fixed = sweep.axes.iter().skip(2).zip(others);
    let fixed: String = fixed.map(|(name, value)| format!(", {name}={}", value.text)).collect();
    let heads: Vec<String> = std::iter::once(format!("{} / {}", sweep.axes[0], sweep.axes[1]))
        .chain(texts(&columns))
        .collect();
    let body = rows.iter().zip(&cells).map(|(row, cells)| {
        std::iter::once(row.text.clone())
            .chain(cells.iter().map(|cell| cell.detail.clone()))
            .collect()
    });
    let table = (heads.iter().map(String::as_str).collect(), body.collect());
    let chart = GridChart {
        id,
        title: &format!(
            "{lane} {} by {} and {}{fixed}",
            kind_name(kind),
            sweep.axes[0],
            sweep.axes[1]
        ),
        finding: "The median of the rounds, of percentiles that of all I/Os. Hatched: no figure."
            .to_owned(),
        column_name: &sweep.axes[1],
        columns: texts(&columns),
        row_name: &sweep.axes[0],
        rows: texts(&rows),
        cells,
        unit,
        table,
    };
    chart.markup()
}

fn texts(values: &[AxisValue]) -> Vec<String> {
    values.iter().map(|value| value.text.clone()).collect()
}

fn cell(figure: Option<&SweptFigure>) -> GridCell {
    match figure {
        Some(figure) => {
            let (low, high) = figure.range;
            let text = figure.unit.text(figure.value);
            GridCell {
                value: Some(figure.value),
                detail: format!("{text} ({} .. {})", figure.unit.text(low), figure.unit.text(high)),
                text,
                ..GridCell::default()
            }
        }
        None => GridCell { text: "-".into(), detail: "no figure".into(), ..GridCell::default() },
    }
}
