//! Which cell is the fastest, as far as this run can tell.

use crate::cell::Access;
use crate::phrases::{advice, named};
use crate::sheet::{Best, Results, fastest};

/// The fastest cell of some kinds, and those of other rows that may be as fast.
pub(crate) struct Fastest {
    pub(crate) best: Best,
    /// None where this run can tell.
    pub(crate) rivals: Option<Rivals>,
}

/// Cells that this run cannot tell from the fastest.
pub(crate) struct Rivals {
    /// The fastest of them; none where the fastest cell itself did not settle.
    closest: Option<Best>,
    /// In how many rows.
    rows: usize,
    /// How many times as long a run would have to measure each cell.
    longer: f64,
}

impl Fastest {
    /// Of the kinds that `wanted` names; none if none of them has a figure.
    pub(crate) fn of(sheet: &Results, wanted: impl Fn(Access) -> bool) -> Option<Fastest> {
        let best = sheet.best(&wanted)?;
        let figure = sheet.figure(&best)?;
        let others = (0..sheet.kinds.len()).filter(|&row| row != best.row);
        let rivals: Vec<(Best, f64)> = others
            .filter(|&row| wanted(sheet.kinds[row]))
            .filter_map(|row| {
                let cells = sheet.row(sheet.kinds[row]);
                let close = cells
                    .filter_map(|cell| Some((cell, sheet.figure(&cell)?.slower_than(figure)?)));
                close.max_by(|a, b| a.0.rate.total_cmp(&b.0.rate))
            })
            .collect();
        let closest = fastest(rivals.iter().map(|(rival, _)| *rival));
        let longer = rivals.iter().map(|(_, longer)| *longer).fold(figure.to_settle(), f64::max);
        let is_sure = rivals.is_empty() && figure.settled;
        let rivals = (!is_sure).then_some(Rivals { closest, rows: rivals.len(), longer });
        Some(Fastest { best, rivals })
    }
}

impl Rivals {
    /// Both with their figures, and which run may tell.
    pub(crate) fn words(&self, sheet: &Results, best: &Best) -> String {
        let best = named(sheet, best);
        let more = match self.rows {
            0 | 1 => String::new(),
            rows => format!(", nor from {} more", rows - 1),
        };
        let rival = match &self.closest {
            Some(rival) => format!("does not differ measurably from {}{more}", named(sheet, rival)),
            None => "did not settle".to_owned(),
        };
        format!("{best}, {rival}; {}", advice(sheet, self.longer.max(2.0)))
    }
}
