//! Reading a log: each row into windows, histograms, values.

use crate::row::{not_number, number};
use crate::start::LogForm;
use crate::{
    DotSample, LogDot, LogLayout, LogReadError, LogRow, LogStart, LogText, LogType, RowFault,
    TimeWindows, ValueBins,
};
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::LatencyReport;
use iosonde_stats::{Histogram, Moments, MomentsSnapshot, bucket, middle};

/// Broken rows that are kept.
const BROKEN_KEPT: usize = 10;
/// How logs are read.
#[derive(Clone, Copy, Debug)]
pub struct ReadPlan {
    /// What the values are.
    pub log_type: LogType,
    /// The time from which on is drawn, in milliseconds of the log.
    pub origin_ms: u64,
    /// Nanoseconds of a unit of latency: 1, or 1000 for logs of fio 2.
    pub latency_unit_ns: u64,
    /// Windows and bins of values are at least so long.
    pub window_ms: u64,
    /// There are at most so many of them; they become longer instead.
    pub windows_most: usize,
}

/// What logs of one type add up to.
#[derive(Clone, Debug)]
pub struct LogSum {
    /// I/Os, bytes and latencies over time.
    pub windows: TimeWindows,
    /// I/Os to be drawn one by one.
    pub dots: DotSample,
}

/// A row that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRow {
    /// Its line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: RowFault,
}

/// Rows that were skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokenRows {
    /// How many.
    pub count: u64,
    /// The first ones.
    pub first: Vec<BrokenRow>,
}

/// A log that was read.
#[derive(Clone, Debug)]
pub struct LogContent {
    /// Rows that were taken.
    pub rows: u64,
    /// Rows that were not.
    pub broken: BrokenRows,
    /// Each direction.
    pub dirs: PerDir<LogDir>,
    /// I/Os and bytes over time, of a log of bandwidth or IOPS with each I/O.
    pub windows: Option<TimeWindows>,
    /// The last time since the origin.
    pub last_ms: u64,
}

/// A direction of a log.
#[derive(Clone, Debug)]
pub struct LogDir {
    /// Its rows: bytes a second, I/Os a second, nanoseconds. Of a log of each I/O
    /// only latencies are values.
    pub moments: MomentsSnapshot,
    /// Values of windows over time.
    pub values: ValueBins,
    /// The latencies of all I/Os; `None` where the rows are means of windows, or no
    /// latencies.
    pub latency: Option<LatencyReport>,
}

/// Read a log to its end. Latencies of its I/Os are added to `sum`, too.
///
/// # Errors
/// It cannot be read, or more than 1 % of its rows are broken.
pub fn read(
    text: &mut LogText,
    start: &LogStart,
    plan: &ReadPlan,
    sum: &mut LogSum,
) -> Result<LogContent, LogReadError> {
    let mut reading = LogReading::new(start, plan);
    let mut rows = 0;
    let mut broken = BrokenRows::default();
    while let Some((line, content)) = text.next_line()? {
        if content.is_some_and(<[u8]>::is_empty) {
            continue;
        }
        rows += 1;
        let taken = match content {
            Some(row) => reading.take(row, sum),
            None => Err(RowFault::TooLong),
        };
        if let Err(fault) = taken {
            broken.count += 1;
            if broken.first.len() < BROKEN_KEPT {
                broken.first.push(BrokenRow { line, fault });
            }
        }
    }
    match broken.first.first() {
        Some(first) if broken.count * 100 > rows => {
            Err(LogReadError::Broken { broken: broken.count, rows, first: first.clone() })
        }
        _ => Ok(reading.content(rows - broken.count, broken, sum)),
    }
}

/// What is known of a direction meanwhile.
struct DirReading {
    moments: Moments,
    values: ValueBins,
    histogram: Histogram,
    last_ms: Option<u64>,
}

struct LogReading<'a> {
    start: &'a LogStart,
    plan: &'a ReadPlan,
    /// The fine bucket of each column of bins.
    buckets: Vec<usize>,
    counted: Vec<(usize, u64)>,
    dirs: PerDir<DirReading>,
    windows: Option<TimeWindows>,
    first_ms: u64,
    last_ms: u64,
}

impl LogReading<'_> {
    fn new<'a>(start: &'a LogStart, plan: &'a ReadPlan) -> LogReading<'a> {
        let dir = || DirReading {
            moments: Moments::default(),
            values: ValueBins::new(plan.origin_ms, plan.window_ms, plan.windows_most),
            histogram: Histogram::default(),
            last_ms: None,
        };
        let is_rate = start.is_per_io && !plan.log_type.is_latency();
        let windows = || TimeWindows::new(plan.origin_ms, plan.window_ms, plan.windows_most);
        LogReading {
            start,
            plan,
            buckets: buckets(&start.form),
            counted: Vec::new(),
            dirs: PerDir([dir(), dir(), dir()]),
            windows: is_rate.then(windows),
            first_ms: u64::MAX,
            last_ms: 0,
        }
    }

    fn take(&mut self, line: &[u8], sum: &mut LogSum) -> Result<(), RowFault> {
        let time_ms = match self.start.form {
            LogForm::Values(layout) => self.value(line, layout, sum)?,
            LogForm::Bins { bins, .. } => self.bins(line, bins, sum)?,
        };
        self.first_ms = self.first_ms.min(time_ms);
        self.last_ms = self.last_ms.max(time_ms);
        Ok(())
    }

    fn value(&mut self, line: &[u8], layout: LogLayout, sum: &mut LogSum) -> Result<u64, RowFault> {
        let row = LogRow::of(line, layout)?;
        let dir = &mut self.dirs[row.dir];
        if let Some(windows) = &mut self.windows {
            windows.add_io(&row, None);
        } else if self.start.is_per_io {
            let ns = row.value.saturating_mul(self.plan.latency_unit_ns);
            dir.moments.add(ns);
            dir.histogram.add_many(ns, 1);
            sum.windows.add_io(&row, Some(ns));
            let time_ms = row.time_ms.saturating_sub(self.plan.origin_ms);
            sum.dots.add(LogDot { ns, time_ms, offset: row.offset, dir: row.dir });
        } else {
            let unit = match self.plan.log_type {
                LogType::Bandwidth => 1024,
                LogType::Iops => 1,
                _ => self.plan.latency_unit_ns,
            };
            let (value, most) = (row.value.saturating_mul(unit), row.most.saturating_mul(unit));
            dir.moments.add(value);
            dir.values.add(row.time_ms, value, most);
        }
        Ok(row.time_ms)
    }

    fn bins(&mut self, line: &[u8], bins: usize, sum: &mut LogSum) -> Result<u64, RowFault> {
        let mut columns = line.split(|&byte| byte == b',');
        let mut at = 0;
        let mut next = || {
            at += 1;
            let text =
                columns.next().ok_or(RowFault::Columns { found: at - 1, wanted: bins + 3 })?;
            number(text).map(|(value, _)| value).ok_or_else(|| not_number(at, text))
        };
        let (time_ms, dir, block) = (next()?, next()?, next()?);
        let dir = *usize::try_from(dir)
            .ok()
            .and_then(|at| DIRS.get(at))
            .ok_or(RowFault::Direction(dir))?;
        if block > u32::MAX.into() {
            return Err(RowFault::Block(block));
        }
        self.counted.clear();
        for &bucket in &self.buckets {
            let count = next()?;
            if count > u32::MAX.into() {
                return Err(not_number(at, count.to_string().as_bytes()));
            }
            if count > 0 {
                self.counted.push((bucket, count));
            }
        }
        let more = columns.count();
        if more > 0 {
            return Err(RowFault::Columns { found: bins + 3 + more, wanted: bins + 3 });
        }
        self.count_bins(time_ms, dir, block, sum);
        Ok(time_ms)
    }

    /// A whole row of bins: of the window that ends at its time.
    fn count_bins(&mut self, time_ms: u64, dir: Dir, block: u64, sum: &mut LogSum) {
        let interval = self.start.interval_ms;
        let known = &mut self.dirs[dir];
        // A window without a row is not covered by this one.
        let near = |&before: &u64| before < time_ms && time_ms - before <= interval * 3 / 2;
        let from_ms = known.last_ms.filter(near).unwrap_or(time_ms.saturating_sub(interval));
        let middle_ms = from_ms + (time_ms - from_ms) / 2;
        known.last_ms = Some(time_ms);
        for &(bucket, count) in &self.counted {
            known.histogram.add_many(middle(bucket), count);
            known.moments.add_many(middle(bucket), count);
        }
        sum.windows.add_buckets(middle_ms, dir, block, &self.counted);
        // fio's times are off by some milliseconds: the next window is not begun.
        let margin = (time_ms - from_ms) / 8;
        sum.windows.cover(from_ms + margin, time_ms - margin);
    }

    fn content(mut self, rows: u64, broken: BrokenRows, sum: &mut LogSum) -> LogContent {
        if self.start.is_per_io && rows > 0 {
            let windows = self.windows.as_mut().unwrap_or(&mut sum.windows);
            windows.cover(self.first_ms, self.last_ms.saturating_add(1));
        }
        let has_latency = self.start.is_per_io && self.plan.log_type.is_latency()
            || self.plan.log_type == LogType::Histogram;
        let dir = |dir: DirReading| {
            let moments = dir.moments.snapshot();
            let latency = || LatencyReport::new(&moments, Some(&dir.histogram.snapshot()), None);
            let latency = (has_latency && moments.n > 0).then(latency);
            LogDir { moments, values: dir.values, latency }
        };
        LogContent {
            rows,
            broken,
            dirs: PerDir(self.dirs.0.map(dir)),
            windows: self.windows,
            last_ms: self.last_ms.saturating_sub(self.plan.origin_ms),
        }
    }
}

/// For each column of bins the fine bucket that stands for it: of joined ones
/// the middle.
fn buckets(form: &LogForm) -> Vec<usize> {
    let LogForm::Bins { bins, coarseness, unit_ns } = *form else { return Vec::new() };
    let place = |column: usize| {
        let fine = (column << coarseness) + (1 << coarseness) / 2;
        match unit_ns {
            1 => fine,
            unit_ns => bucket(middle(fine) * unit_ns),
        }
    };
    (0..bins).map(place).collect()
}
