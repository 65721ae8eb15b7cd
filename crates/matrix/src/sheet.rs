//! The results: a cell for each kind and block size, as plain data.

use crate::cell::Access;
use crate::target::TargetFacts;
use crate::witness::Flushes;

/// All that is printed.
#[derive(Clone, Debug)]
pub struct Results {
    /// The target.
    pub about: TargetFacts,
    /// The block sizes in bytes, ascending: the columns.
    pub sizes: Vec<u32>,
    /// The rows.
    pub kinds: Vec<Access>,
    /// For each of `kinds` as many cells as `sizes`.
    pub rows: Vec<Vec<ResultCell>>,
    /// Bytes from the start of the target that are written and read.
    pub span: u64,
    /// The most time a cell was to take, in seconds.
    pub seconds_a_cell: f64,
    /// When it began, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// The command line that measures it again.
    pub command: String,
    /// It was stopped before all was measured.
    pub stopped: bool,
    /// Notes beside the figures, a sentence each.
    pub notes: Vec<String>,
    /// Flushes sent for the syncs, where they are counted.
    pub flushes: Option<Flushes>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultCell {
    /// A figure.
    Measured(Measured),
    /// None, and why.
    Not(NoFigure),
}

/// The figure of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Bytes per second: the median of the slices.
    pub rate: f64,
    /// The true median is above this with a confidence of 95 %, or this is the
    /// slowest slice where there were too few.
    pub low: f64,
    /// And below this.
    pub high: f64,
    /// The interval is within 5 % of the median.
    pub settled: bool,
    /// How many slices the median is of.
    pub slices: usize,
    /// Blocks that each slice moved; in the amortized modes those that share a sync.
    pub blocks: u64,
}

impl Measured {
    /// Whether it is slower than another: `None` if so. If that cannot be told, how many
    /// times as long the two would have to be measured: intervals narrow with the
    /// square root of the time.
    pub fn slower_than(&self, other: &Measured) -> Option<f64> {
        let apart = self.high < other.low;
        if apart && self.settled && other.settled {
            return None;
        }
        let width = |figure: &Measured| (figure.high - figure.low) / 2.0;
        let overlap = (width(self) + width(other)) / (other.rate - self.rate).max(f64::EPSILON);
        let widest = (overlap * overlap).max(self.to_settle()).max(other.to_settle());
        Some(widest.max(2.0))
    }

    /// How many times as long it would have to be measured to settle.
    pub fn to_settle(&self) -> f64 {
        /// A figure is settled when its interval is within this share of it.
        const SETTLED: f64 = 0.05;
        let widest = (self.high - self.low) / 2.0 / (self.rate * SETTLED);
        widest * widest
    }
}

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoFigure {
    /// The target does not do what the name says, or it cannot be known; the reason.
    NotHonoured(String),
    /// The run was stopped first.
    Stopped,
    /// An error, in words.
    Failed(String),
}

impl NoFigure {
    /// In words.
    pub fn words(&self) -> &str {
        match self {
            NoFigure::NotHonoured(words) | NoFigure::Failed(words) => words,
            NoFigure::Stopped => "the run was stopped first",
        }
    }
}

impl ResultCell {
    /// Bytes per second, if there is a figure.
    pub fn rate(&self) -> Option<f64> {
        match self {
            ResultCell::Measured(measured) => Some(measured.rate),
            ResultCell::Not(_) => None,
        }
    }
}

/// A block size and the rate it reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// Index of the row.
    pub row: usize,
    /// Bytes of a block.
    pub size: u32,
    /// Bytes per second.
    pub rate: f64,
}

impl Results {
    /// The cells of one kind, with their block sizes; none if the kind is not
    /// among the rows.
    pub fn row(&self, kind: Access) -> impl Iterator<Item = Best> + '_ {
        let row = self.kinds.iter().position(|&other| other == kind);
        row.into_iter().flat_map(|row| self.found_in(row))
    }

    /// The figure behind a rate.
    pub fn figure(&self, found: &Best) -> Option<&Measured> {
        let column = self.sizes.iter().position(|&size| size == found.size)?;
        match &self.rows[found.row][column] {
            ResultCell::Measured(measured) => Some(measured),
            ResultCell::Not(_) => None,
        }
    }

    /// The figure of a kind at the smallest block that has one.
    pub fn measured(&self, kind: Access) -> Option<(u32, &Measured)> {
        let row = self.kinds.iter().position(|&other| other == kind)?;
        self.sizes.iter().zip(&self.rows[row]).find_map(|(&size, cell)| match cell {
            ResultCell::Measured(measured) => Some((size, measured)),
            ResultCell::Not(_) => None,
        })
    }

    fn found_in(&self, row: usize) -> impl Iterator<Item = Best> + '_ {
        let cells = self.sizes.iter().zip(&self.rows[row]);
        cells.filter_map(move |(&size, cell)| Some(Best { row, size, rate: cell.rate()? }))
    }

    /// The fastest of all cells of the kinds that `wanted` names.
    pub fn best(&self, wanted: impl Fn(Access) -> bool) -> Option<Best> {
        let rows = (0..self.kinds.len()).filter(|&row| wanted(self.kinds[row]));
        fastest(rows.flat_map(|row| self.found_in(row)))
    }

    /// Whether the cell is the fastest of its row: the block size that suits
    /// this mode best.
    pub fn is_best_of_row(&self, row: usize, column: usize) -> bool {
        fastest(self.found_in(row)).is_some_and(|best| best.size == self.sizes[column])
    }

    /// Whether the cell is the fastest of its column among its like: of the
    /// durable writes, or of the reads that do not come from memory.
    pub fn is_best_of_column(&self, row: usize, column: usize) -> bool {
        let like = |kind: Access| if kind.writes() { kind.is_durable() } else { !kind.is_memory() };
        let kind = self.kinds[row];
        let rivals = (0..self.kinds.len()).filter(|&other| {
            like(self.kinds[other]) && self.kinds[other].writes() == kind.writes()
        });
        let best = fastest(rivals.filter_map(|other| {
            let rate = self.rows[other][column].rate()?;
            Some(Best { row: other, size: self.sizes[column], rate })
        }));
        like(kind) && best.is_some_and(|best| best.row == row)
    }

    /// Each reason for which cells have no figure, with the rows it holds for,
    /// and how many cells.
    pub fn reasons(&self) -> Vec<(String, Vec<Access>, usize)> {
        let mut reasons: Vec<(String, Vec<Access>, usize)> = Vec::new();
        for (kind, row) in self.kinds.iter().zip(&self.rows) {
            for cell in row {
                let ResultCell::Not(why) = cell else { continue };
                let at = reasons.iter().position(|(words, ..)| words == why.words());
                let at = at.unwrap_or_else(|| {
                    reasons.push((why.words().to_owned(), Vec::new(), 0));
                    reasons.len() - 1
                });
                let (_, kinds, cells) = &mut reasons[at];
                if !kinds.contains(kind) {
                    kinds.push(*kind);
                }
                *cells += 1;
            }
        }
        reasons
    }

    /// How many cells have a figure that is not settled, and how many have one.
    pub fn unsettled(&self) -> (usize, usize) {
        let cells = self.rows.iter().flatten();
        cells.fold((0, 0), |(unsettled, all), cell| match cell {
            ResultCell::Measured(measured) => (unsettled + usize::from(!measured.settled), all + 1),
            ResultCell::Not(_) => (unsettled, all),
        })
    }

    /// Whether any cell met an error.
    pub fn has_failed(&self) -> bool {
        self.rows.iter().flatten().any(|cell| matches!(cell, ResultCell::Not(NoFigure::Failed(_))))
    }
}

/// The one with the highest rate.
pub(crate) fn fastest(found: impl Iterator<Item = Best>) -> Option<Best> {
    found.max_by(|a, b| a.rate.total_cmp(&b.rate))
}
