//! What the first rows of a log say about all of it.

use crate::row::{RowNumbers, number};
use crate::{LogLayout, LogReadError, LogText, LogType};

/// Rows that are looked at.
const ROWS: usize = 2000;
/// Rows of one direction that follow each other faster are of single I/Os.
const INTERVAL_LEAST_MS: u64 = 10;
/// The length of windows where a log has too few to tell.
const INTERVAL_USUAL_MS: u64 = 1000;

/// The form of a log, from its first rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStart {
    /// The columns of a row.
    pub form: LogForm,
    /// The time of the first row.
    pub first_ms: u64,
    /// A row is an I/O; else a window.
    pub is_per_io: bool,
    /// How far apart the rows of windows are; 0 where each is an I/O.
    pub interval_ms: u64,
}

/// The columns of a row of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// A value in these columns.
    Values(LogLayout),
    /// A histogram in this many bins, `1 << coarseness` of fio's joined in each.
    Bins {
        /// How many.
        bins: usize,
        /// How many of fio's are joined, as a power of 2.
        coarseness: u32,
        /// Nanoseconds of a unit: fio 2 has bins of microseconds.
        unit_ns: u64,
    },
}

/// fio's bins: of nanoseconds since 3.0, of microseconds before.
const FIO_BINS: [(usize, u64); 2] = [(1856, 1), (1216, 1000)];
/// The largest `log_hist_coarseness`.
const COARSENESS_MOST: u32 = 6;

impl LogForm {
    /// The form of histograms with so many bins.
    pub(crate) fn of_bins(bins: usize) -> Option<LogForm> {
        let all = FIO_BINS
            .into_iter()
            .flat_map(|fio| (0..=COARSENESS_MOST).map(move |coarseness| (fio, coarseness)));
        let mut same = all.filter(|((fio_bins, _), coarseness)| fio_bins >> coarseness == bins);
        let ((_, unit_ns), coarseness) = same.next()?;
        Some(LogForm::Bins { bins, coarseness, unit_ns })
    }
}

impl LogStart {
    /// Of a log that is not read yet; `None` if it is empty.
    ///
    /// # Errors
    /// Its first rows are not those of a log.
    pub fn of(text: &LogText, log_type: LogType) -> Result<Option<LogStart>, LogReadError> {
        if text.first_lines().next().is_none() {
            return Ok(None);
        }
        let found = match log_type {
            LogType::Histogram => of_histograms(text),
            _ => of_values(text, log_type),
        };
        match found {
            Some(start) => Ok(Some(start)),
            None => Err(no_log(text, log_type)),
        }
    }

    /// Whether the first rows are those of a histogram log.
    pub fn is_of_histograms(text: &LogText) -> bool {
        of_histograms(text).is_some()
    }
}

fn no_log(text: &LogText, log_type: LogType) -> LogReadError {
    let first = text.first_lines().next().unwrap_or_default();
    let first: String = String::from_utf8_lossy(first).chars().take(60).collect();
    let wanted = match log_type {
        LogType::Histogram => {
            "time, direction, block size and 1856 bins or a half, a quarter ... of them"
        }
        _ => "2 to 8 whole numbers with commas: time, value, direction ...",
    };
    LogReadError::NoLog(format!(
        "it is no {} log: a row has {wanted}; the first line is {first:?}",
        log_type.word()
    ))
}

fn of_values(text: &LogText, log_type: LogType) -> Option<LogStart> {
    let rows: Vec<RowNumbers> =
        text.first_lines().take(ROWS).filter_map(|line| RowNumbers::of(line).ok()).collect();
    let layout = LogLayout::of(&rows)?;
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| row.count == layout.columns())
        .filter_map(|row| layout.row(row).ok())
        .collect();
    let first_ms = rows.first()?.time_ms;
    let interval_ms = interval(rows.iter().map(|row| (row.time_ms, row.dir as usize)));
    let is_per_io = if layout.has_block {
        rows.iter().filter(|row| row.block > 0).count() * 2 > rows.len()
    } else {
        log_type.is_latency() && interval_ms.is_some_and(|ms| ms < INTERVAL_LEAST_MS)
    };
    let interval_ms = if is_per_io { 0 } else { interval_ms.unwrap_or(INTERVAL_USUAL_MS).max(1) };
    Some(LogStart { form: LogForm::Values(layout), first_ms, is_per_io, interval_ms })
}

fn of_histograms(text: &LogText) -> Option<LogStart> {
    let columns = |line: &[u8]| line.iter().filter(|&&byte| byte == b',').count() + 1;
    let counts: Vec<usize> = text.first_lines().take(ROWS).map(columns).collect();
    let usual =
        counts.iter().max_by_key(|&one| counts.iter().filter(|&other| other == one).count());
    let form = LogForm::of_bins(usual?.checked_sub(3)?)?;
    let times: Vec<(u64, usize)> = text
        .first_lines()
        .take(ROWS)
        .filter_map(|line| {
            let mut columns = line.split(|&byte| byte == b',');
            let time = number(columns.next()?)?.0;
            Some((time, usize::try_from(number(columns.next()?)?.0).ok()?))
        })
        .collect();
    let first_ms = times.first()?.0;
    let interval_ms = interval(times.into_iter()).unwrap_or(INTERVAL_USUAL_MS).max(1);
    Some(LogStart { form, first_ms, is_per_io: false, interval_ms })
}

/// How far apart rows of one direction are: the median.
fn interval(rows: impl Iterator<Item = (u64, usize)>) -> Option<u64> {
    let mut last: [Option<u64>; 3] = [None; 3];
    let mut steps = Vec::new();
    for (time, dir) in rows.filter(|row| row.1 < 3) {
        if let Some(before) = last[dir] {
            steps.push(time.saturating_sub(before));
        }
        last[dir] = Some(time);
    }
    iosonde_base::sort(&mut steps);
    steps.get(steps.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn start(text: &str, log_type: LogType) -> Option<LogStart> {
        let text = LogText::new(Cursor::new(text.as_bytes().to_vec())).unwrap();
        LogStart::of(&text, log_type).unwrap()
    }

    #[test]
    fn windows_and_single_ios_are_told_apart() {
        let windows =
            start("252, 9, 0, 0, 0\n252, 9, 1, 0, 0\n502, 9, 0, 0, 0\n", LogType::Bandwidth);
        let windows = windows.unwrap();
        assert_eq!((windows.is_per_io, windows.interval_ms, windows.first_ms), (false, 250, 252));
        let ios = start("0, 9, 0, 4096, 0\n0, 9, 0, 4096, 0\n", LogType::Clat).unwrap();
        assert_eq!((ios.is_per_io, ios.interval_ms), (true, 0));
        let old = start("0, 9\n0, 9\n1, 9\n", LogType::Clat).unwrap();
        assert!(old.is_per_io);
        let old = start("0, 9\n500, 9\n1000, 9\n", LogType::Clat).unwrap();
        assert_eq!((old.is_per_io, old.interval_ms), (false, 500));
        assert_eq!(start("\n\n", LogType::Clat), None);
    }

    #[test]
    fn the_number_of_bins_is_the_coarseness() {
        let row = |bins: usize| format!("1000, 0, 4096{}\n", ", 1".repeat(bins));
        for (bins, coarseness, unit_ns) in
            [(1856, 0, 1), (29, 6, 1), (1216, 0, 1000), (19, 6, 1000)]
        {
            let start = start(&row(bins), LogType::Histogram).unwrap();
            assert_eq!(start.form, LogForm::Bins { bins, coarseness, unit_ns });
        }
        let text = LogText::new(Cursor::new(row(30).into_bytes())).unwrap();
        let refused = LogStart::of(&text, LogType::Histogram).unwrap_err().to_string();
        assert!(refused.starts_with("it is no hist log"), "{refused}");
    }
}
