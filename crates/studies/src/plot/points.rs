//! Logs as points over time, and the sums of several.

use super::logs::{LogGroup, ReadLog, with_ios};
use iosonde_base::{DIRS, Dir};
use iosonde_html::LinePoint;
use iosonde_logs::LogType;

/// I/Os of a point, so that it is no scatter of single ones.
const LINE_IOS: u64 = 100;

/// A line of a log, or of several added up.
#[derive(Clone)]
pub struct LogLine {
    /// The file, or the run of several.
    pub name: String,
    /// The direction.
    pub dir: Dir,
    /// What the names of the run's logs begin with.
    pub run: String,
    /// It is the sum of the jobs of a run.
    pub is_sum: bool,
    /// Values against seconds, or against the bytes moved until then.
    pub points: Vec<LinePoint>,
    /// Points that are further apart are not joined.
    pub gap: f64,
}

/// The lines of a group: of each log and direction, behind the sums of runs.
pub fn lines(group: &LogGroup) -> Vec<LogLine> {
    let each = |log: &ReadLog| DIRS.map(|dir| line(log, group, dir));
    let each: Vec<LogLine> = group.logs.iter().flat_map(each).flatten().collect();
    let mut sums = Vec::new();
    // Means of latencies do not add up.
    if !group.log_type.is_latency() {
        for dir in DIRS {
            sums.extend(runs(group).into_iter().filter_map(|run| sum(&run, &each, group, dir)));
        }
    }
    sums.into_iter().chain(each).collect()
}

/// The runs of a group, each once.
fn runs(group: &LogGroup) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for log in &group.logs {
        if !runs.contains(&log.run) {
            runs.push(log.run.clone());
        }
    }
    runs
}

fn line(log: &ReadLog, group: &LogGroup, dir: Dir) -> Option<LogLine> {
    let (points, gap_ms) = match &log.content.windows {
        Some(windows) => {
            let series = if group.per_second {
                windows.series()
            } else {
                with_ios(&windows.series(), LINE_IOS)
            };
            let width_s = series.interval_ns as f64 / 1e9;
            if series.windows.iter().all(|window| window.dirs[dir].ios == 0) {
                return None;
            }
            let point = |(index, window): (usize, &iosonde_report::series::SeriesWindow)| {
                let counts = &window.dirs[dir];
                let amount =
                    if group.log_type == LogType::Bandwidth { counts.bytes } else { counts.ios };
                let seconds = series.rate_seconds(index)?;
                Some(LinePoint::single(series.middle_s(index), amount as f64 / seconds))
            };
            let points: Vec<_> = series.windows.iter().enumerate().filter_map(point).collect();
            (points, width_s * 1500.0)
        }
        None => {
            let bins = &log.content.dirs[dir].values;
            let point = |bin: &iosonde_logs::ValueBin| LinePoint {
                x: bin.time_ms() / 1000.0,
                y: bin.mean(),
                low: bin.least as f64,
                high: bin.most as f64,
            };
            let (interval, width) = (log.interval_ms as f64, bins.width_ms() as f64);
            let gap_ms = if width <= interval { interval * 1.6 } else { width * 2.0 };
            (bins.iter().map(point).collect(), gap_ms)
        }
    };
    (!points.is_empty()).then(|| LogLine {
        name: log.path.clone(),
        run: log.run.clone(),
        dir,
        is_sum: false,
        points,
        gap: gap_ms / 1000.0,
    })
}

/// The jobs of a run added up, in windows long enough for each job to have a
/// row in it. A job that has none, while others have, did nothing.
fn sum(run: &str, each: &[LogLine], group: &LogGroup, dir: Dir) -> Option<LogLine> {
    let logs: Vec<&ReadLog> = group.logs.iter().filter(|log| log.run == run).collect();
    let is_of_run =
        |line: &&LogLine| line.dir == dir && logs.iter().any(|log| log.path == line.name);
    let lines: Vec<&LogLine> = each.iter().filter(is_of_run).collect();
    if lines.len() < 2 {
        return None;
    }
    let end =
        lines.iter().flat_map(|line| line.points.last()).map(|point| point.x).fold(0.0, f64::max);
    let width = lines.iter().map(|line| line.gap / 1.5).fold(end / 600.0, f64::max).max(0.001);
    let windows = (end / width) as usize + 1;
    let mut sums: Vec<Option<f64>> = vec![None; windows];
    for line in &lines {
        let mut means = vec![(0.0, 0u32); windows];
        for point in &line.points {
            let mean = &mut means[((point.x / width) as usize).min(windows - 1)];
            *mean = (mean.0 + point.y, mean.1 + 1);
        }
        for (sum, (total, count)) in sums.iter_mut().zip(means).filter(|(_, mean)| mean.1 > 0) {
            *sum = Some(sum.unwrap_or(0.0) + total / f64::from(count));
        }
    }
    let point = |(index, sum): (usize, Option<f64>)| {
        Some(LinePoint::single((index as f64 + 0.5) * width, sum?))
    };
    Some(LogLine {
        name: format!("{}: sum of {} jobs", run.trim_start_matches("./"), logs.len()),
        run: run.to_owned(),
        dir,
        is_sum: true,
        points: sums.into_iter().enumerate().filter_map(point).collect(),
        gap: width * 1.5,
    })
}

impl LogLine {
    /// The rate against the bytes moved until then.
    pub fn against_bytes(self) -> LogLine {
        let mut bytes = 0.0;
        let mut before = 0.0;
        let point = |point: &LinePoint| {
            // Of a gap nothing is known, so nothing is added for it.
            let length = (point.x - before).clamp(0.0, self.gap);
            before = point.x;
            bytes += point.y * length;
            LinePoint { x: bytes, ..*point }
        };
        let points: Vec<LinePoint> = self.points.iter().map(point).collect();
        let steps = points.windows(2).map(|pair| pair[1].x - pair[0].x);
        LogLine { gap: steps.fold(0.0, f64::max) * 1.5, points, ..self }
    }
}
