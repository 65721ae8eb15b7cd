//! Which columns the rows of a log have.
//!
//! fio(1), "LOG FILE FORMATS": time, value, direction, block size, offset
//! (with `log_offset`), priority; before 3.x no priority, before 2.x no block
//! size; other tools leave out more. In newer versions
//! `log_window_value=both` adds the largest behind the value, and
//! `log_issue_time` a last column. Rows do not say which columns they have, so
//! the first rows decide: the layout that most of them agree with.

use crate::row::{LogRow, RowFault, RowNumbers};
use iosonde_base::Dir;

/// Which columns there are behind time and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLayout {
    /// The largest of a window behind its mean.
    pub has_most: bool,
    /// The direction.
    pub has_dir: bool,
    /// The block size.
    pub has_block: bool,
    /// The offset.
    pub has_offset: bool,
    /// The priority.
    pub has_priority: bool,
    /// The time of issue, last.
    pub has_issue: bool,
}

const fn layout(columns: [bool; 6]) -> LogLayout {
    let [has_most, has_dir, has_block, has_offset, has_priority, has_issue] = columns;
    LogLayout { has_most, has_dir, has_block, has_offset, has_priority, has_issue }
}

/// All that are written by some fio, by rows agreed with equally the likelier first.
const LAYOUTS: [LogLayout; 12] = [
    layout([false; 6]),
    layout([false, true, false, false, false, false]),
    layout([false, true, true, false, false, false]),
    layout([false, true, true, false, true, false]),
    layout([false, true, true, true, false, false]),
    layout([false, true, true, true, true, false]),
    layout([true, true, true, false, true, false]),
    layout([false, true, true, false, true, true]),
    layout([false, true, true, true, true, true]),
    layout([true, true, true, true, true, false]),
    layout([true, true, true, false, true, true]),
    layout([true; 6]),
];

impl LogLayout {
    /// The layout that most of some rows agree with; `None` if none agrees with any.
    pub(crate) fn of(rows: &[RowNumbers]) -> Option<LogLayout> {
        let agreeing = |layout: &LogLayout| rows.iter().filter(|row| layout.agrees(row)).count();
        let mut best = (0, None);
        for layout in LAYOUTS {
            let rows = agreeing(&layout);
            if rows > best.0 {
                best = (rows, Some(layout));
            }
        }
        best.1
    }

    /// How many columns it has.
    pub fn columns(self) -> usize {
        let more = [
            self.has_most,
            self.has_dir,
            self.has_block,
            self.has_offset,
            self.has_priority,
            self.has_issue,
        ];
        2 + more.into_iter().filter(|&has| has).count()
    }

    /// Whether a row may be of this layout.
    fn agrees(self, row: &RowNumbers) -> bool {
        if row.count != self.columns() {
            return false;
        }
        let mut at = 2;
        let mut next = |has: bool| {
            at += usize::from(has);
            has.then(|| (row.values[at - 1], row.hexadecimal[at - 1]))
        };
        let most = next(self.has_most);
        let dir = next(self.has_dir);
        let block = next(self.has_block);
        next(self.has_offset);
        let priority = next(self.has_priority);
        // Windows have no block size.
        let is_window = most.is_none_or(|(most, _)| most >= row.values[1])
            && (most.is_none() || block.is_none_or(|(block, _)| block == 0));
        let is_priority =
            priority.is_none_or(|(value, is_hex)| value <= 1 || is_hex && value <= 0xffff);
        is_window
            && dir.is_none_or(|(dir, _)| dir <= 2)
            && block.is_none_or(|(block, _)| block <= u32::MAX.into())
            && is_priority
            && row.hexadecimal.iter().filter(|&&is_hex| is_hex).count() <= 1
    }

    /// The row of columns that are as many as the layout's.
    pub(crate) fn row(self, columns: &RowNumbers) -> Result<LogRow, RowFault> {
        let mut at = 2;
        let mut next = |has: bool| {
            at += usize::from(has);
            has.then(|| columns.values[at - 1])
        };
        let (time_ms, value) = (columns.values[0], columns.values[1]);
        let most = next(self.has_most).unwrap_or(value).max(value);
        let dir = match next(self.has_dir) {
            None | Some(0) => Dir::Read,
            Some(1) => Dir::Write,
            Some(2) => Dir::Trim,
            Some(other) => return Err(RowFault::Direction(other)),
        };
        let block = next(self.has_block).unwrap_or(0);
        if block > u32::MAX.into() {
            return Err(RowFault::Block(block));
        }
        Ok(LogRow { time_ms, value, most, dir, block, offset: next(self.has_offset) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> LogLayout {
        let rows: Vec<RowNumbers> =
            text.lines().map(|line| RowNumbers::of(line.as_bytes()).unwrap()).collect();
        LogLayout::of(&rows).unwrap()
    }

    fn row(text: &str) -> LogRow {
        let first = text.lines().next().unwrap();
        LogRow::of(first.as_bytes(), of(text)).unwrap()
    }

    #[test]
    fn each_form_of_fio_is_recognised() {
        let read = |value, most, block, offset| LogRow {
            time_ms: 5,
            value,
            most,
            dir: Dir::Read,
            block,
            offset,
        };
        assert_eq!(row("5, 70"), read(70, 70, 0, None));
        assert_eq!(row("5, 70, 0"), read(70, 70, 0, None));
        assert_eq!(row("5, 70, 0, 4096"), read(70, 70, 4096, None));
        assert_eq!(row("5, 70, 0, 4096, 0\n6, 7, 1, 4096, 1"), read(70, 70, 4096, None));
        // fio 2.x with log_offset.
        assert_eq!(row("5, 70, 0, 4096, 0\n6, 7, 1, 4096, 8192"), read(70, 70, 4096, Some(0)));
        assert_eq!(row("5, 70, 0, 4096, 12288, 0"), read(70, 70, 4096, Some(12288)));
        assert_eq!(row("5, 70, 0, 4096, 12288, 0x4004"), read(70, 70, 4096, Some(12288)));
        // log_window_value=both.
        assert_eq!(row("5, 70, 90, 0, 0, 0"), read(70, 90, 0, None));
        assert_eq!(row("5, 70, 90, 0, 0, 0, 0"), read(70, 90, 0, Some(0)));
        // log_issue_time, without and with log_offset.
        assert_eq!(
            row("5, 70, 0, 4096, 0, 4930\n6, 7, 0, 4096, 0, 5990"),
            read(70, 70, 4096, None)
        );
        assert_eq!(row("5, 70, 0, 4096, 8192, 0, 4930"), read(70, 70, 4096, Some(8192)));
        assert_eq!(row("5, 70, 90, 0, 0, 0, 0, 0"), read(70, 90, 0, Some(0)));
    }

    #[test]
    fn most_rows_decide_and_not_the_first() {
        let layout = of("5, 70\n5, 70, 0, 4096, 0\n6, 70, 1, 4096, 0");
        assert_eq!(layout.columns(), 5);
        let other = LogRow::of(b"5, 70", layout).unwrap_err();
        assert_eq!(other, RowFault::Columns { found: 2, wanted: 5 });
        let direction = LogRow::of(b"5, 70, 3, 4096, 0", layout).unwrap_err();
        assert_eq!(direction, RowFault::Direction(3));
        assert!(LogLayout::of(&[RowNumbers::of(b"1,2,3,4,5,6,7,8,9").unwrap()]).is_none());
    }
}
