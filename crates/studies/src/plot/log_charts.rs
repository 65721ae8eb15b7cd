//! The charts and tables of a group of logs.

use super::logs::{LogGroup, ReadLog};
use super::points::{LogLine, lines};
use iosonde_base::text::{bytes, count, counted, duration, percent, short_duration};
use iosonde_base::{DIRS, Dir};
use iosonde_html::{
    ChartLine, DotsChart, FigureUnit, LinePoint, LineStyle, LinesChart, PlotCell, PlotPart,
    PlotTable,
};
use iosonde_logs::LogType;
use iosonde_report::LatencyReport;
use iosonde_report::series::{RunSeries, SeriesWindow};
use iosonde_stats::mean_changes;
use std::collections::BTreeMap;

/// Lines of a chart at most; the table has all.
const LINES_MOST: usize = 10;
/// Curves of percentiles at most.
const CURVES_MOST: usize = 5;
/// I/Os of a window of percentiles, so that ten lie above its p99.9.
const PERCENTILE_IOS: u64 = 12_000;
/// Below this no cache of a drive shows.
const CLIFF_BYTES_LEAST: f64 = (1u64 << 30) as f64;
/// Rows of the numbers below a chart of lines.
const NUMBERS_MOST: usize = 60;

/// The parts of a page. `number` distinguishes groups in links.
pub fn parts<'a>(number: usize, group: &LogGroup, series: &'a RunSeries) -> Vec<PlotPart<'a>> {
    let mut parts = vec![heading(group)];
    match group.log_type {
        LogType::Bandwidth => rates(number, group, FigureUnit::BytesPerSecond, &mut parts),
        LogType::Iops => rates(number, group, FigureUnit::Count, &mut parts),
        LogType::Histogram => latencies(number, group, series, &mut parts),
        _ if group.is_per_io => latencies(number, group, series, &mut parts),
        _ => rates(number, group, FigureUnit::Nanoseconds, &mut parts),
    }
    parts
}

/// What the values of a type are.
pub fn title(log_type: LogType) -> &'static str {
    match log_type {
        LogType::Bandwidth => "Bandwidth",
        LogType::Iops => "IOPS",
        LogType::Lat => "Latency (lat)",
        LogType::Clat => "Completion latency (clat)",
        LogType::Slat => "Submission latency (slat)",
        LogType::Histogram => "Completion latency (histograms)",
    }
}

fn heading(group: &LogGroup) -> PlotPart<'static> {
    let rows = group.logs.iter().map(|log| log.content.rows).sum::<u64>();
    let of = match (group.log_type, group.is_per_io) {
        (_, true) => "an I/O each",
        (LogType::Histogram, _) => "a histogram of a window each",
        _ => "the mean of a window each",
    };
    let mut words = vec![format!(
        "{} with {}, {of}.",
        counted(group.logs.len() as u64, "log"),
        counted(rows, "row")
    )];
    if group.log_type.is_latency() && !group.is_per_io && group.log_type != LogType::Histogram {
        words.push(
            "These are means of windows: no percentile can be computed from them. Log each I/O \
             (log_avg_msec=0) or histograms (write_hist_log, log_hist_msec) for percentiles."
                .to_owned(),
        );
    }
    if let Some(ms) = group.clock_ms {
        words.push(format!("Times are of a clock; 0 s in the charts is {ms} ms of it."));
    }
    let broken = group.logs.iter().map(|log| log.content.broken.count).sum::<u64>();
    if broken > 0 {
        words.push(format!("{} could not be read and were skipped.", counted(broken, "row")));
    }
    let title = match &group.logs[..] {
        [one] => format!("{}: {}", title(group.log_type), one.path),
        _ => title(group.log_type).to_owned(),
    };
    PlotPart::Heading { title, words }
}

/// Lines over time, the rate against bytes, and the table.
fn rates(number: usize, group: &LogGroup, unit: FigureUnit, parts: &mut Vec<PlotPart<'_>>) {
    let all = lines(group);
    let shown: Vec<&LogLine> = all.iter().take(LINES_MOST).collect();
    let drawn = styled(&shown, group);
    let what = title(group.log_type);
    parts.push(PlotPart::Lines(LinesChart {
        id: format!("lines-{number}"),
        title: format!("{what} over time"),
        finding: finding(&all, &shown, unit),
        x: (FigureUnit::Count, "seconds".to_owned()),
        y: unit,
        is_log: false,
        table: numbers(&drawn, unit),
        lines: drawn,
        range: None,
    }));
    if group.log_type == LogType::Bandwidth {
        parts.extend(cliff(number, group, &all).map(PlotPart::Lines));
    }
    parts.push(PlotPart::Table(value_table(group, &all, unit)));
}

/// Lines in their styles: of one log by direction, of several each its own.
fn styled(lines: &[&LogLine], group: &LogGroup) -> Vec<ChartLine> {
    let is_single = group.logs.len() == 1;
    let sums = lines.iter().filter(|line| line.is_sum).count();
    let dirs = |name: &str| lines.iter().filter(|line| line.name == name).count();
    let style = |(index, line): (usize, &&LogLine)| {
        let style = match (is_single, line.is_sum && sums == 1) {
            (true, _) => LineStyle::Dir(line.dir),
            (_, true) => LineStyle::Sum,
            _ => LineStyle::Series(index),
        };
        let name = match (is_single, dirs(&line.name)) {
            (true, _) => line.dir.name().to_owned(),
            (_, 1) => line.name.clone(),
            _ => format!("{} {}", line.name, line.dir.name()),
        };
        ChartLine { name, style, points: line.points.clone(), gap: line.gap }
    };
    lines.iter().enumerate().map(style).collect()
}

fn finding(all: &[LogLine], shown: &[&LogLine], unit: FigureUnit) -> String {
    let mut words = Vec::new();
    if let [one] = all {
        words.extend(change(&one.points, unit, |at| duration((at * 1e9) as u64)));
    }
    let sums = shown.iter().filter(|line| line.is_sum).count() as u64;
    if sums > 0 {
        words.push(format!("{} over the jobs of a run.", counted(sums, "sum")));
    }
    if shown.len() < all.len() {
        words.push(format!("The first {} of {} lines; the table has all.", shown.len(), all.len()));
    }
    if let [first, ..] = all {
        let most =
            all.iter().flat_map(|line| &line.points).map(|point| point.high).fold(0.0, f64::max);
        let least = first.points.iter().map(|point| point.low).fold(f64::MAX, f64::min);
        let least =
            all.iter().flat_map(|line| &line.points).map(|point| point.low).fold(least, f64::min);
        words.push(format!("From {} to {}.", unit.text(least), unit.text(most)));
    }
    if all.len() <= 3 && all.iter().any(|line| line.points.iter().any(|p| p.low < p.high)) {
        words.push("Shaded: least and most of the rows that a point stands for.".to_owned());
    }
    words.join(" ")
}

/// Where the mean of a line changes most surely, in a sentence.
fn change(points: &[LinePoint], unit: FigureUnit, at: impl Fn(f64) -> String) -> Option<String> {
    let values: Vec<f64> = points.iter().map(|point| point.y).collect();
    let changes = mean_changes(&values);
    let change = changes.iter().max_by(|one, other| one.stat.total_cmp(&other.stat))?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (before, after) = (mean(&values[..change.at]), mean(&values[change.at..]));
    let verb = if after < before { "fell" } else { "rose" };
    Some(format!(
        "The mean {verb} by {} after {}: {} before, {} after.",
        percent((after - before).abs() / before.max(f64::MIN_POSITIVE)),
        at(points[change.at].x),
        unit.text(before),
        unit.text(after)
    ))
}

/// The write rate against the bytes written, where that may show a cache.
fn cliff(number: usize, group: &LogGroup, all: &[LogLine]) -> Option<LinesChart> {
    let writes: Vec<&LogLine> = all.iter().filter(|line| line.dir == Dir::Write).collect();
    let has_sum = writes.iter().any(|line| line.is_sum);
    let writes: Vec<LogLine> = writes
        .into_iter()
        .filter(|line| line.is_sum || !has_sum)
        .map(|line| line.clone().against_bytes())
        .filter(|line| line.points.last().is_some_and(|point| point.x >= CLIFF_BYTES_LEAST))
        .take(LINES_MOST)
        .collect();
    let lines = styled(&writes.iter().collect::<Vec<_>>(), group);
    let first = lines.first()?;
    let words = change(&first.points, FigureUnit::BytesPerSecond, |at| bytes(at as u64));
    let finding = match (lines.len(), words) {
        (1, Some(words)) => format!("{words} That is the size of a fast cache, if it fell."),
        (1, None) => "The mean did not change.".to_owned(),
        _ => "A rate that falls after the same number of bytes is a cache that is full.".to_owned(),
    };
    Some(LinesChart {
        id: format!("cliff-{number}"),
        title: "Write rate against bytes written".to_owned(),
        finding,
        x: (FigureUnit::Bytes, "written since the first row".to_owned()),
        y: FigureUnit::BytesPerSecond,
        is_log: false,
        table: (Vec::new(), Vec::new()),
        lines,
        range: None,
    })
}

/// The numbers of a chart of lines: the time, and each line.
fn numbers(lines: &[ChartLine], unit: FigureUnit) -> (Vec<String>, Vec<Vec<String>>) {
    let [one] = lines else { return (Vec::new(), Vec::new()) };
    let step = one.points.len().div_ceil(NUMBERS_MOST).max(1);
    let heads = ["seconds", "mean", "least", "most"].map(str::to_owned).into();
    let row = |points: &[LinePoint]| {
        let mean = points.iter().map(|point| point.y).sum::<f64>() / points.len() as f64;
        let low = points.iter().map(|point| point.low).fold(f64::MAX, f64::min);
        let high = points.iter().map(|point| point.high).fold(0.0, f64::max);
        vec![count(points[0].x), unit.text(mean), unit.text(low), unit.text(high)]
    };
    (heads, one.points.chunks(step).map(row).collect())
}

/// Least, mean, most and deviation of each line, with bars on one scale.
fn value_table(group: &LogGroup, all: &[LogLine], unit: FigureUnit) -> PlotTable {
    let figures: Vec<[f64; 4]> = all.iter().map(|line| summary(group, line)).collect();
    let most = figures.iter().map(|row| row[2]).fold(f64::MIN_POSITIVE, f64::max);
    let row = |(line, figures): (&LogLine, &[f64; 4])| {
        let mut cells = vec![PlotCell::plain(line.name.clone()), PlotCell::plain(line.dir.name())];
        cells.extend(
            figures.map(|value| PlotCell { words: unit.text(value), share: Some(value / most) }),
        );
        cells
    };
    PlotTable {
        heads: ["log", "direction", "min", "mean", "max", "deviation"].map(str::to_owned).into(),
        rows: all.iter().zip(&figures).map(row).collect(),
    }
}

/// Of the rows of a log; of I/Os and of sums, of the points that are drawn.
pub fn summary(group: &LogGroup, line: &LogLine) -> [f64; 4] {
    let log = group.logs.iter().find(|log| log.path == line.name && !line.is_sum);
    if let Some(log) = log.filter(|log| log.content.windows.is_none()) {
        let moments = log.content.dirs[line.dir].moments;
        return [moments.least() as f64, moments.mean(), moments.max as f64, moments.deviation()];
    }
    let values = || line.points.iter().map(|point| point.y);
    let n = line.points.len().max(1) as f64;
    let mean = values().sum::<f64>() / n;
    let squares = values().map(|value| (value - mean).powi(2)).sum::<f64>();
    let deviation = (squares / (n - 1.0).max(1.0)).sqrt();
    [values().fold(f64::MAX, f64::min), mean, values().fold(0.0, f64::max), deviation]
}

/// Latencies of I/Os: over time, by percentile, one by one, and the table.
fn latencies<'a>(
    number: usize,
    group: &LogGroup,
    series: &'a RunSeries,
    parts: &mut Vec<PlotPart<'a>>,
) {
    let has_log = |log: &ReadLog, dir: Dir| log.content.dirs[dir].latency.is_some();
    let used = DIRS.into_iter().filter(|&dir| group.logs.iter().any(|log| has_log(log, dir)));
    for dir in used.clone() {
        parts.push(PlotPart::Heat {
            id: format!("heat-{number}-{}", dir.name()),
            title: format!("Latency of {}s over time", dir.name()),
            series,
            dir,
        });
        parts.extend(percentiles_over_time(number, series, dir).map(PlotPart::Lines));
    }
    parts.push(PlotPart::Percentiles {
        id: format!("percentiles-{number}"),
        latencies: curves(group),
    });
    for dir in used {
        parts.extend(dots(number, group, dir).into_iter().map(PlotPart::Dots));
    }
    parts.push(PlotPart::Table(latency_table(group)));
}

/// Percentiles of windows, where they rest on ten I/Os or more.
fn percentiles_over_time(number: usize, series: &RunSeries, dir: Dir) -> Option<LinesChart> {
    let ios = series.windows.iter().map(|window| window.dirs[dir].ios).sum::<u64>();
    let few = series.in_at_most((ios / PERCENTILE_IOS).clamp(10, 120) as usize);
    let seconds = few.interval_ns as f64 / 1e9;
    let line = |(index, (name, percent)): (usize, (&str, f64))| {
        let point = |(at, window): (usize, &SeriesWindow)| {
            let latency = &window.dirs[dir].latency;
            let beyond = latency.total() as f64 * (1.0 - percent / 100.0);
            let ns = few.percentile(latency, percent).filter(|_| beyond >= 10.0)?;
            Some(LinePoint::single(few.middle_s(at), ns as f64))
        };
        let points: Vec<LinePoint> = few.windows.iter().enumerate().filter_map(point).collect();
        ChartLine {
            name: name.to_owned(),
            style: LineStyle::Series(index),
            points,
            gap: seconds * 1.5,
        }
    };
    let lines = [("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)].into_iter().enumerate().map(line);
    let lines: Vec<ChartLine> = lines.filter(|line| line.points.len() > 1).collect();
    if lines.is_empty() {
        return None;
    }
    Some(LinesChart {
        id: format!("percentiles-over-time-{number}-{}", dir.name()),
        title: format!("Percentiles of {}s over time", dir.name()),
        finding: format!(
            "Of windows of {}, within 10 %; none where fewer than 10 I/Os lie above.",
            short_duration(few.interval_ns)
        ),
        x: (FigureUnit::Count, "seconds".to_owned()),
        y: FigureUnit::Nanoseconds,
        is_log: true,
        lines,
        range: None,
        table: (Vec::new(), Vec::new()),
    })
}

/// All I/Os of a direction together, and each log where they are few.
fn curves(group: &LogGroup) -> Vec<(String, LineStyle, LatencyReport)> {
    let of = |log: &ReadLog, dir: Dir| log.content.dirs[dir].latency.clone();
    let mut all = Vec::new();
    for dir in DIRS {
        let each: Vec<LatencyReport> = group.logs.iter().filter_map(|log| of(log, dir)).collect();
        if !each.is_empty() {
            let name = match group.logs.len() {
                1 => dir.name().to_owned(),
                _ => format!("all {}s", dir.name()),
            };
            all.push((name, LineStyle::Dir(dir), merged(&each)));
        }
    }
    let used = DIRS.into_iter().filter(|&dir| group.logs.iter().any(|log| of(log, dir).is_some()));
    let used: Vec<Dir> = used.collect();
    if group.logs.len() > 1 && all.len() + group.logs.len() * used.len() <= CURVES_MOST {
        let labels = labels(group);
        for (log, label) in group.logs.iter().zip(&labels) {
            for &dir in &used {
                let Some(latency) = of(log, dir) else { continue };
                let name =
                    if used.len() > 1 { format!("{label} {}", dir.name()) } else { label.clone() };
                // Series 0 to 2 look as the directions do.
                all.push((name, LineStyle::Series(3 + all.len() - used.len()), latency));
            }
        }
    }
    all
}

/// Several latencies as one: counts and bins added up.
pub fn merged(all: &[LatencyReport]) -> LatencyReport {
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for (ns, count) in all.iter().flat_map(|latency| &latency.bins) {
        *bins.entry(*ns).or_default() += count;
    }
    let n = all.iter().map(|latency| latency.n).sum::<u64>();
    let sum = all.iter().map(|latency| latency.mean_ns * latency.n as f64).sum::<f64>();
    LatencyReport {
        n,
        min_ns: all.iter().map(|latency| latency.min_ns).min().unwrap_or(0),
        max_ns: all.iter().map(|latency| latency.max_ns).max().unwrap_or(0),
        mean_ns: sum / n.max(1) as f64,
        bins: bins.into_iter().collect(),
        ..LatencyReport::default()
    }
}

/// The part in which the logs' names differ.
fn labels(group: &LogGroup) -> Vec<String> {
    let names: Vec<Vec<char>> = group.logs.iter().map(|log| log.path.chars().collect()).collect();
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    let same = |at: &dyn Fn(&Vec<char>) -> char| names.iter().all(|name| at(name) == at(&names[0]));
    let front = (0..shortest).take_while(|&at| same(&|name| name[at])).count();
    let back =
        (0..shortest - front).take_while(|&at| same(&|name| name[name.len() - 1 - at])).count();
    let middle = |name: &Vec<char>| name[front..name.len() - back].iter().collect::<String>();
    names
        .iter()
        .map(middle)
        .map(|label| if label.is_empty() { "-".into() } else { label })
        .collect()
}

/// I/Os of a direction one by one: when, and where if that is known.
fn dots(number: usize, group: &LogGroup, dir: Dir) -> Vec<DotsChart> {
    let sample = &group.sum.dots;
    let all: Vec<_> = sample.dots().into_iter().filter(|dot| dot.dir == dir).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let finding = match sample.all_from_ns() {
        None => format!("All {}.", counted(all.len() as u64, "I/O")),
        Some(ns) => format!(
            "{} of {}: all that took {} or longer, and of the others as many taken at random.",
            count(sample.dots().len() as f64),
            counted(sample.seen(), "I/O"),
            duration(ns)
        ),
    };
    let by_time = DotsChart {
        id: format!("dots-{number}-{}", dir.name()),
        title: format!("{}s one by one", capitalised(dir.name())),
        finding: finding.clone(),
        x: (FigureUnit::Count, "seconds".to_owned()),
        dir,
        dots: all.iter().map(|dot| (dot.time_ms as f64 / 1000.0, dot.ns)).collect(),
    };
    let places: Vec<(f64, u64)> =
        all.iter().filter_map(|dot| Some((dot.offset? as f64, dot.ns))).collect();
    let has_places = places.iter().any(|place| place.0 > 0.0);
    let by_offset = has_places.then(|| DotsChart {
        id: format!("offsets-{number}-{}", dir.name()),
        title: format!("{}s by offset", capitalised(dir.name())),
        finding,
        x: (FigureUnit::Bytes, "offset in the file or device".to_owned()),
        dir,
        dots: places,
    });
    std::iter::once(by_time).chain(by_offset).collect()
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn latency_table(group: &LogGroup) -> PlotTable {
    let heads = ["log", "direction", "I/Os", "min", "mean", "p50", "p90", "p99", "p99.9", "max"];
    let each = group.logs.iter().flat_map(|log| {
        DIRS.into_iter().filter_map(|dir| {
            Some((log.path.as_str(), dir, log.content.dirs[dir].latency.clone()?))
        })
    });
    let mut all: Vec<(&str, Dir, LatencyReport)> = each.collect();
    if group.logs.len() > 1 {
        for dir in DIRS {
            let of: Vec<LatencyReport> = all
                .iter()
                .filter(|row| row.1 == dir && row.0 != "all")
                .map(|row| row.2.clone())
                .collect();
            if of.len() > 1 {
                all.push(("all", dir, merged(&of)));
            }
        }
    }
    let row = |(name, dir, latency): &(&str, Dir, LatencyReport)| {
        let at = |percent| latency.at(percent).map_or("-".to_owned(), duration);
        let words = [
            (*name).to_owned(),
            dir.name().to_owned(),
            latency.n.to_string(),
            duration(latency.min_ns),
            duration(latency.mean_ns.round() as u64),
            at(50.0),
            at(90.0),
            at(99.0),
            at(99.9),
            duration(latency.max_ns),
        ];
        words.into_iter().map(PlotCell::plain).collect()
    };
    PlotTable { heads: heads.map(str::to_owned).into(), rows: all.iter().map(row).collect() }
}
