//! Reading logs into groups: those that one chart shows.

use super::arguments::PlotArgs;
use super::inputs::{PlotLog, open};
use iosonde_logs::{
    DotSample, LogContent, LogStart, LogSum, LogType, ReadPlan, TimeWindows, read as read_log,
};
use iosonde_report::series::RunSeries;
use iosonde_sys::standard_error::print_error;

/// Times from here on are of a clock and not of a run: a first row comes sooner
/// than after a day.
const CLOCK_LEAST_MS: u64 = 24 * 3_600_000;
/// Windows of a page.
const WINDOWS_PAGE: usize = 600;
/// I/Os of a column of a heat map, and windows that there are at least.
const HEAT_IOS: u64 = 200;
const WINDOWS_LEAST: u64 = 40;
/// Windows of a second in CSV: 36 hours.
const WINDOWS_CSV: usize = 1 << 17;

/// Logs of one type, with windows or with I/Os.
pub struct LogGroup {
    /// What their values are.
    pub log_type: LogType,
    /// A row is an I/O.
    pub is_per_io: bool,
    /// The logs.
    pub logs: Vec<ReadLog>,
    /// What they add up to.
    pub sum: LogSum,
    /// Where their times begin, if they are of a clock.
    pub clock_ms: Option<u64>,
    /// Windows are of a second.
    pub per_second: bool,
}

/// A log that was read.
pub struct ReadLog {
    /// The file.
    pub path: String,
    /// Its run: what its name begins with.
    pub run: String,
    /// The number of its job.
    pub job: Option<u32>,
    /// How far apart its rows are; 0 where each is an I/O.
    pub interval_ms: u64,
    /// What is in it.
    pub content: LogContent,
}

impl LogGroup {
    /// Windows with latencies, so long that there are some I/Os in each.
    pub fn series(&self) -> RunSeries {
        let series = self.sum.windows.series();
        if self.is_per_io && !self.per_second { with_ios(&series, HEAT_IOS) } else { series }
    }
}

/// The same in windows so long that as many I/Os are in each on average.
pub fn with_ios(series: &RunSeries, ios: u64) -> RunSeries {
    let dirs = series.windows.iter().flat_map(|window| &window.dirs.0);
    let total = dirs.map(|dir| dir.ios).sum::<u64>();
    series.in_at_most((total / ios).clamp(WINDOWS_LEAST, WINDOWS_PAGE as u64) as usize)
}

/// Read the logs; rows that are broken are reported on standard error.
///
/// # Errors
/// For each log that is refused a sentence.
pub fn read(arguments: &PlotArgs, logs: &[PlotLog]) -> Result<Vec<LogGroup>, Vec<String>> {
    let mut groups: Vec<Vec<(&PlotLog, &LogStart)>> = Vec::new();
    for log in logs {
        let Some(start) = &log.start else {
            print_error(&format!("iosonde: plot: {}: it is empty", log.path));
            continue;
        };
        let same = |group: &&mut Vec<(&PlotLog, &LogStart)>| {
            group.iter().any(|(known, other)| {
                known.log_type == log.log_type && other.is_per_io == start.is_per_io
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) if !arguments.each => group.push((log, start)),
            _ => groups.push(vec![(log, start)]),
        }
    }
    let (mut read, mut reasons) = (Vec::new(), Vec::new());
    if groups.is_empty() && !logs.is_empty() {
        reasons.push("there is no row in any log".to_owned());
    }
    for group in groups {
        match read_group(arguments, &group) {
            Ok(group) => read.push(group),
            Err(why) => reasons.extend(why),
        }
    }
    if reasons.is_empty() { Ok(read) } else { Err(reasons) }
}

fn read_group(
    arguments: &PlotArgs,
    logs: &[(&PlotLog, &LogStart)],
) -> Result<LogGroup, Vec<String>> {
    let clock_ms = clock(logs).map_err(|why| vec![why])?;
    let (first, start) = logs[0];
    let interval_ms = logs.iter().map(|(_, start)| start.interval_ms).max().unwrap_or(0);
    let window_ms = if arguments.per_second { 1000 } else { interval_ms.max(1) };
    let windows_most =
        if arguments.per_second && arguments.csv.is_some() { WINDOWS_CSV } else { WINDOWS_PAGE };
    let origin_ms = clock_ms.unwrap_or(0);
    let plan = ReadPlan {
        log_type: first.log_type,
        origin_ms,
        latency_unit_ns: arguments.latency_unit.ns(),
        window_ms: if arguments.per_second { 1000 } else { 1 },
        windows_most,
    };
    let windows = TimeWindows::new(origin_ms, window_ms, windows_most);
    let mut sum = LogSum { windows, dots: DotSample::default() };
    let (mut read, mut reasons) = (Vec::new(), Vec::new());
    for (log, start) in logs {
        match read_one(log, start, &plan, &mut sum) {
            Ok(log) => read.push(log),
            Err(why) => reasons.push(format!("{}: {why}", log.path)),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let is_per_io = start.is_per_io;
    let per_second = arguments.per_second;
    Ok(LogGroup { log_type: first.log_type, is_per_io, logs: read, sum, clock_ms, per_second })
}

fn read_one(
    log: &PlotLog,
    start: &LogStart,
    plan: &ReadPlan,
    sum: &mut LogSum,
) -> Result<ReadLog, String> {
    let mut text = open(&log.path)?;
    let content = read_log(&mut text, start, plan, sum).map_err(|error| error.to_string())?;
    for row in &content.broken.first {
        print_error(&format!("iosonde: plot: {}:{}: {}; skipped", log.path, row.line, row.fault));
    }
    let more = content.broken.count - content.broken.first.len() as u64;
    if more > 0 {
        print_error(&format!("iosonde: plot: {}: {more} more rows skipped", log.path));
    }
    Ok(ReadLog {
        path: log.path.clone(),
        run: log.name.run.clone(),
        job: log.name.job,
        interval_ms: start.interval_ms,
        content,
    })
}

/// Where the times of some logs begin if they are of a clock (`log_unix_epoch`);
/// `None` where they begin with the job.
fn clock(logs: &[(&PlotLog, &LogStart)]) -> Result<Option<u64>, String> {
    let is_clock = |start: &LogStart| start.first_ms >= CLOCK_LEAST_MS;
    let (of_clock, of_job): (Vec<_>, Vec<_>) = logs.iter().partition(|(_, start)| is_clock(start));
    if let (Some((one, _)), Some((other, _))) = (of_clock.first(), of_job.first()) {
        return Err(format!(
            "the times of {} are of a clock (log_unix_epoch), those of {} begin with the job: \
             use --each",
            one.path, other.path
        ));
    }
    // The first row of windows is of the time before it.
    let begins = of_clock.iter().map(|(_, start)| start.first_ms.saturating_sub(start.interval_ms));
    Ok(begins.min())
}
