//! A frame of some rows below what is on the terminal, drawn over itself.
//!
//! The alternate screen is not used, so that the last frame stays above the
//! report. Places are relative: where the cursor is is never asked, as the
//! answer would come among the keys.

use crossterm::cursor::{Hide, MoveToColumn, MoveUp, Show};
use crossterm::style::{Attribute, Print, ResetColor, SetAttribute, SetForegroundColor};
use crossterm::terminal::{Clear, ClearType};
use crossterm::{QueueableCommand, style};
use ratatui_core::buffer::{Buffer, Cell, CellWidth};
use ratatui_core::style::{Color, Modifier};
use std::io::{self, Write};

/// Draws frames.
pub struct Painter<W> {
    out: W,
    /// Rows on the terminal, each with its text and its columns.
    shown: Vec<(Vec<u8>, u16)>,
    columns: u16,
    /// Something else is being printed.
    is_held: bool,
}

impl<W: Write> Painter<W> {
    /// Nothing is drawn.
    pub fn new(out: W) -> Painter<W> {
        Painter { out, shown: Vec::new(), columns: 0, is_held: false }
    }

    /// Draw the first `rows` rows of a buffer on a terminal of `columns`
    /// columns, over the frame before. The cursor is hidden, and below it.
    ///
    /// # Errors
    /// The terminal cannot be written to.
    pub fn paint(&mut self, buffer: &Buffer, rows: u16, columns: u16) -> io::Result<()> {
        if self.is_held {
            return Ok(());
        }
        let mut text = Vec::new();
        if columns != self.columns {
            self.erase_into(&mut text, columns)?;
            self.columns = columns;
        }
        text.queue(Hide)?;
        up(&mut text, self.shown.len())?;
        let mut shown = Vec::new();
        for row in 0..rows.min(buffer.area.height) {
            let (row_text, width) = row_text(buffer, row)?;
            let old = self.shown.get(usize::from(row));
            if old.is_none_or(|(old, _)| *old != row_text) {
                text.extend_from_slice(&row_text);
                text.queue(Clear(ClearType::UntilNewLine))?;
            }
            text.extend_from_slice(b"\r\n");
            shown.push((row_text, width));
        }
        if shown.len() < self.shown.len() {
            text.queue(Clear(ClearType::FromCursorDown))?;
        }
        self.shown = shown;
        self.write(&text)
    }

    /// Take the frame away, and draw none until [`Painter::release`]: what is
    /// printed next is where it began.
    ///
    /// # Errors
    /// The terminal cannot be written to.
    pub fn hold(&mut self) -> io::Result<()> {
        self.is_held = true;
        if self.shown.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        self.erase_into(&mut text, self.columns)?;
        text.queue(Show)?;
        self.write(&text)
    }

    /// Frames may be drawn again.
    pub fn release(&mut self) {
        self.is_held = false;
    }

    /// Leave the frame where it is; the next one is drawn below.
    ///
    /// # Errors
    /// The terminal cannot be written to.
    pub fn leave(&mut self) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        self.shown.clear();
        let mut text = Vec::new();
        text.queue(Show)?;
        self.write(&text)
    }

    /// Of a terminal that has this many columns now: one that has become narrower
    /// has wrapped the rows that do not fit any more.
    fn erase_into(&mut self, text: &mut Vec<u8>, columns: u16) -> io::Result<()> {
        let wraps = |width: u16| usize::from(width.max(1)).div_ceil(columns.max(1).into());
        up(text, self.shown.iter().map(|(_, width)| wraps(*width)).sum())?;
        if !self.shown.is_empty() {
            text.queue(Clear(ClearType::FromCursorDown))?;
        }
        self.shown.clear();
        Ok(())
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(text)?;
        self.out.flush()
    }
}

fn up(text: &mut Vec<u8>, rows: usize) -> io::Result<()> {
    text.queue(MoveToColumn(0))?;
    if let Some(rows) = u16::try_from(rows).ok().filter(|&rows| rows > 0) {
        text.queue(MoveUp(rows))?;
    }
    Ok(())
}

/// A row with its styles, without the blanks at its end; and its columns.
fn row_text(buffer: &Buffer, row: u16) -> io::Result<(Vec<u8>, u16)> {
    let area = buffer.area;
    let cell = |x: u16| &buffer[(area.x + x, area.y + row)];
    let is_blank = |cell: &Cell| cell.symbol() == " ";
    let width = (0..area.width).rev().find(|&x| !is_blank(cell(x))).map_or(0, |last| last + 1);
    let mut text = Vec::new();
    let mut style = (Color::Reset, Modifier::empty());
    let mut x = 0;
    while x < width {
        let cell = cell(x);
        if (cell.fg, cell.modifier) != style {
            style = (cell.fg, cell.modifier);
            set_style(&mut text, style)?;
        }
        text.queue(Print(cell.symbol()))?;
        // The cells behind a wide character are there for its width.
        x += cell.cell_width().max(1);
    }
    if style != (Color::Reset, Modifier::empty()) {
        set_style(&mut text, (Color::Reset, Modifier::empty()))?;
    }
    Ok((text, width))
}

fn set_style(text: &mut Vec<u8>, (colour, modifier): (Color, Modifier)) -> io::Result<()> {
    text.queue(SetAttribute(Attribute::Reset))?;
    for (is, attribute) in [(Modifier::BOLD, Attribute::Bold), (Modifier::DIM, Attribute::Dim)] {
        if modifier.contains(is) {
            text.queue(SetAttribute(attribute))?;
        }
    }
    match colour {
        Color::Red => text.queue(SetForegroundColor(style::Color::DarkRed))?,
        Color::Yellow => text.queue(SetForegroundColor(style::Color::DarkYellow))?,
        _ => text.queue(ResetColor)?,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::style::Style;

    fn buffer(lines: &[&str], columns: u16) -> Buffer {
        let area = ratatui_core::layout::Rect::new(0, 0, columns, lines.len() as u16);
        let mut buffer = Buffer::empty(area);
        for (row, line) in (0..).zip(lines) {
            buffer.set_string(0, row, line, Style::new());
        }
        buffer
    }

    /// What is written by painting these lines.
    fn painted(painter: &mut Painter<Vec<u8>>, lines: &[&str], columns: u16) -> String {
        painter.out.clear();
        painter.paint(&buffer(lines, columns), lines.len() as u16, columns).unwrap();
        String::from_utf8(painter.out.clone()).unwrap()
    }

    #[test]
    fn only_rows_that_differ_are_written_again() {
        let mut painter = Painter::new(Vec::new());
        let first = painted(&mut painter, &["one", "two"], 20);
        assert!(first.contains("one") && first.contains("two") && !first.contains("\u{1b}[1A"));
        let second = painted(&mut painter, &["one", "TWO"], 20);
        assert!(second.contains("\u{1b}[2A") && second.contains("TWO"), "{second:?}");
        assert!(!second.contains("one"), "{second:?}");
        let third = painted(&mut painter, &["one"], 20);
        assert!(third.ends_with("\u{1b}[J"), "the second row is cleared: {third:?}");
    }

    #[test]
    fn a_narrower_terminal_has_wrapped_the_rows() {
        let mut painter = Painter::new(Vec::new());
        painted(&mut painter, &["0123456789012345678", "short"], 20);
        let narrow = painted(&mut painter, &["new"], 10);
        // Two rows for the first line, one for the second.
        assert!(narrow.contains("\u{1b}[3A") && narrow.contains("\u{1b}[J"), "{narrow:?}");
    }

    #[test]
    fn held_it_draws_nothing_and_what_is_printed_meanwhile_stays_above() {
        let mut painter = Painter::new(Vec::new());
        painted(&mut painter, &["one", "two"], 20);
        painter.out.clear();
        painter.hold().unwrap();
        let erased = String::from_utf8(painter.out.clone()).unwrap();
        assert!(erased.contains("\u{1b}[2A") && erased.contains("\u{1b}[J"), "{erased:?}");
        assert_eq!(painted(&mut painter, &["three"], 20), "");
        painter.release();
        let again = painted(&mut painter, &["three"], 20);
        assert!(again.contains("three") && !again.contains("A"), "{again:?}");
    }

    #[test]
    fn a_wide_character_takes_its_columns_once() {
        let mut painter = Painter::new(Vec::new());
        let text = painted(&mut painter, &["a\u{6f22}b"], 20);
        assert!(text.contains("a\u{6f22}b\u{1b}[K"), "{text:?}");
    }
}
