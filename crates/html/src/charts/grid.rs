//! A heat map of two options: a cell for each combination, with its number.

use super::colour::{ColourScale, hex, ink, shade};
use super::frame::{Chart, RIGHT, at, cut, width};
use crate::unit::FigureUnit;
use maud::{Markup, html};

/// Cells at most: more would be too many for a page, and too small to be read.
pub(crate) const CELLS_MOST: usize = 1024;
/// Letters of a row's name at most.
const NAME_LETTERS: usize = 32;
const HIGH: f64 = 25.0;
const TOP: f64 = 40.0;

/// One cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct GridCell {
    /// What its colour shows; `None` where there is no figure.
    pub value: Option<f64>,
    /// Its number.
    pub text: String,
    /// Shown for a pointer on it: the figure in full, or why it is missing.
    pub detail: String,
    /// It has a frame.
    pub is_framed: bool,
    /// Its number is underlined.
    pub is_underlined: bool,
}

/// The map.
pub(crate) struct GridChart<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub finding: String,
    /// The option from left to right, and its values.
    pub column_name: &'a str,
    pub columns: Vec<String>,
    /// The option from top to bottom, and its values.
    pub row_name: &'a str,
    pub rows: Vec<String>,
    /// For each row as many cells as columns.
    pub cells: Vec<Vec<GridCell>>,
    /// Of the values.
    pub unit: FigureUnit,
    pub table: (Vec<&'a str>, Vec<Vec<String>>),
}

impl GridChart<'_> {
    /// The map, if a cell has a figure and there are not too many.
    pub(crate) fn markup(self) -> Option<Markup> {
        let scale = ColourScale::of(self.cells.iter().flatten().filter_map(|cell| cell.value))?;
        if self.rows.len() * self.columns.len() > CELLS_MOST {
            return None;
        }
        let names = self.rows.iter().map(|row| width(&cut(row, NAME_LETTERS)));
        let left = names.fold(width(&cut(self.row_name, NAME_LETTERS)), f64::max) + 14.0;
        let wide = ((RIGHT - left) / self.columns.len().max(1) as f64).min(92.0);
        let bottom = TOP + HIGH * self.rows.len() as f64;
        let letters = if wide < 46.0 { 10.0 } else { 12.0 };
        // A name may be somewhat wider than its column.
        let most = (((wide + 10.0) / 6.4) as usize).max(4);
        let names = self.columns.iter().map(|name| width(&cut(name, most)));
        let room = names.fold(0.0, f64::max) * letters / 12.0 + 4.0;
        // Names that would touch are left out.
        let named_each = (room / wide).ceil().max(1.0) as usize;
        let drawing = html! {
            text.name x=(at(left - 8.0)) y=(at(TOP - 8.0)) text-anchor="end" { (cut(self.row_name, NAME_LETTERS)) }
            text.name x=(at(left)) y="13" { (self.column_name) }
            @for (column, name) in self.columns.iter().enumerate().step_by(named_each) {
                text x=(at(left + wide * (column as f64 + 0.5))) y=(at(TOP - 8.0)) text-anchor="middle"
                    style={ "font-size:" (letters) "px" } {
                    (cut(name, most))
                }
            }
            @for (row, (name, cells)) in self.rows.iter().zip(&self.cells).enumerate() {
                @let y = TOP + HIGH * row as f64;
                text x=(at(left - 8.0)) y=(at(y + 16.0)) text-anchor="end" { (cut(name, NAME_LETTERS)) }
                @for (column, one) in cells.iter().enumerate() {
                    (cell(one, (left + wide * column as f64, y, wide), &scale))
                }
            }
            (legend(left, bottom + 14.0, &scale, self.unit))
        };
        let finding = format!("{} Equal steps of the colours are equal ratios.", self.finding);
        let (id, title, table) = (self.id, self.title, self.table);
        Some(Chart { id, title, finding, height: bottom + 46.0, drawing, table }.markup())
    }
}

fn cell(cell: &GridCell, (x, y, wide): (f64, f64, f64), scale: &ColourScale) -> Markup {
    let (room, height) = (wide - 2.0, HIGH - 2.0);
    let colour = cell.value.map(|value| shade(scale.share(value)));
    // Letters that would not fit are left to the tooltip and the table.
    let bold = if cell.is_underlined { 1.12 } else { 1.0 };
    let wanted = |size: f64| width(&cell.text) * bold * size / 12.0;
    let size = [12.0, 11.0, 10.0, 9.0, 8.0].into_iter().find(|size| wanted(*size) <= room - 2.0);
    html! {
        @match colour {
            Some(colour) => rect x=(at(x)) y=(at(y)) width=(at(room)) height=(at(height)) fill=(hex(colour)) {
                title { (cell.detail) }
            },
            None => rect.none x=(at(x)) y=(at(y)) width=(at(room)) height=(at(height)) {
                title { (cell.detail) }
            },
        }
        @let ink = colour.map_or("var(--text)", ink);
        @if cell.is_framed {
            rect.frame x=(at(x + 1.0)) y=(at(y + 1.0)) width=(at(room - 2.0)) height=(at(height - 2.0))
                style={ "stroke:" (ink) } {}
        }
        @if let Some(size) = size {
            text.cell x=(at(x + room / 2.0)) y=(at(y + 16.0)) text-anchor="middle"
                style={ "fill:" (ink) ";font-size:" (at(size)) "px"
                    @if cell.is_underlined { ";text-decoration:underline;font-weight:700" } } {
                (cell.text)
            }
        }
    }
}

/// What the colours mean: logarithmic between the ends.
fn legend(left: f64, top: f64, scale: &ColourScale, unit: FigureUnit) -> Markup {
    const STEPS: usize = 24;
    let width = 8.0;
    let end = left + width * STEPS as f64;
    html! {
        @for step in 0..STEPS {
            rect x=(at(left + width * step as f64)) y=(at(top)) width=(at(width + 0.4)) height="10"
                fill=(hex(shade(step as f64 / (STEPS - 1) as f64))) {}
        }
        text x=(at(left)) y=(at(top + 24.0)) { (unit.text(scale.at(0.0))) }
        text x=(at(end)) y=(at(top + 24.0)) text-anchor="end" { (unit.text(scale.at(1.0))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rows: usize, columns: usize) -> Option<String> {
        let cell = |at: usize| GridCell {
            value: (at > 0).then_some(at as f64),
            text: if at > 0 { at.to_string() } else { "-".into() },
            detail: "<why>".into(),
            ..GridCell::default()
        };
        let chart = GridChart {
            id: "map",
            title: "map",
            finding: String::new(),
            column_name: "bs",
            columns: (0..columns).map(|at| at.to_string()).collect(),
            row_name: "iodepth",
            rows: (0..rows).map(|at| at.to_string()).collect(),
            cells: (0..rows)
                .map(|row| (0..columns).map(|at| cell(row * columns + at)).collect())
                .collect(),
            unit: FigureUnit::Count,
            table: (Vec::new(), Vec::new()),
        };
        chart.markup().map(Markup::into_string)
    }

    #[test]
    fn each_cell_has_its_number_or_a_reason() {
        let page = map(2, 3).unwrap();
        assert!(
            page.contains(">5</text>")
                && page.contains("&lt;why&gt;")
                && page.contains("class=\"none\"")
        );
    }

    #[test]
    fn a_map_without_figures_or_with_too_many_is_not_drawn() {
        assert!(map(1, 1).is_none());
        assert!(map(33, 32).is_none());
        assert!(map(32, 32).is_some());
    }
}
