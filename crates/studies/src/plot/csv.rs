//! The numbers of charts as CSV (RFC 4180): exact, in base units.

use super::arguments::PlotArgs;
use super::inputs::ReadResult;
use super::log_charts::summary;
use super::logs::LogGroup;
use super::points::lines;
use super::results::{ResultColumns, column};
use iosonde_base::DIRS;
use iosonde_base::text::csv_cell;
use iosonde_logs::LogType;
use iosonde_report::LatencyReport;
use iosonde_report::formats;
use std::fmt::Write;

/// The numbers of the page.
///
/// # Errors
/// Logs and results at once: their columns differ.
pub fn text(
    arguments: &PlotArgs,
    groups: &[LogGroup],
    answer: Option<&ResultColumns>,
    results: &[ReadResult],
) -> Result<String, String> {
    if !groups.is_empty() && !results.is_empty() {
        return Err("--csv: logs and results have different columns: name one kind".to_owned());
    }
    Ok(match (answer, groups) {
        (Some(answer), _) => of_answer(answer),
        (None, []) => of_results(results),
        (None, groups) if arguments.per_second => per_second(groups),
        (None, groups) => of_logs(groups),
    })
}

/// A row of each figure, group and column.
fn of_answer(answer: &ResultColumns) -> String {
    let by = answer.by.0.as_deref().unwrap_or("by");
    let mut text = format!(
        "figure,{},{},results,median,smallest,largest\r\n",
        csv_cell(&answer.x),
        csv_cell(by)
    );
    for (figure, table) in &answer.figures {
        for (group, row) in answer.groups.iter().zip(table) {
            for (name, values) in answer.by.1.iter().zip(row) {
                let Some(column) = column(values) else { continue };
                let (group, name) = (csv_cell(group), csv_cell(name));
                let _ = write!(text, "{},{group},{name},{},", figure.key(), values.len());
                let _ =
                    write!(text, "{:.3},{:.3},{:.3}\r\n", column.value, column.low, column.high);
            }
        }
    }
    text
}

/// As `iosonde report --format=csv`, each with its file.
fn of_results(results: &[ReadResult]) -> String {
    let mut text = String::new();
    for (number, one) in results.iter().enumerate() {
        let table = formats::csv(&one.stored.report);
        let mut rows = table.split_inclusive("\r\n");
        let head = rows.next().unwrap_or_default();
        if number == 0 {
            let _ = write!(text, "file,{head}");
        }
        rows.for_each(|row| {
            let _ = write!(text, "{},{row}", csv_cell(&one.name));
        });
    }
    text
}

/// A row of each log and direction.
fn of_logs(groups: &[LogGroup]) -> String {
    let mut text = String::from(
        "log,run,job,type,direction,unit,values,min,mean,max,deviation,p50,p90,p95,p99,p99.9\r\n",
    );
    for group in groups {
        let kind = group.log_type.word();
        for log in &group.logs {
            let job = log.job.map_or(String::new(), |job| job.to_string());
            let place = format!("{},{},{job},{kind}", csv_cell(&log.path), csv_cell(&log.run));
            for dir in DIRS {
                let Some(latency) = &log.content.dirs[dir].latency else { continue };
                let row = latency_row(latency);
                let _ = write!(text, "{place},{},ns,{row}\r\n", dir.name());
            }
        }
        for line in lines(group) {
            let log = group.logs.iter().find(|log| log.path == line.name && !line.is_sum);
            let job = log.and_then(|log| log.job).map_or(String::new(), |job| job.to_string());
            let [min, mean, max, deviation] = summary(group, &line);
            let values = log.map_or(line.points.len() as u64, |log| match log.content.windows {
                Some(_) => line.points.len() as u64,
                None => log.content.dirs[line.dir].moments.n,
            });
            let (name, dir) = (csv_cell(&line.name), line.dir.name());
            let _ = write!(
                text,
                "{name},{},{job},{kind},{dir},{},",
                csv_cell(&line.run),
                unit(group.log_type)
            );
            let _ = write!(text, "{values},{min:.0},{mean:.3},{max:.0},{deviation:.3},,,,,\r\n");
        }
    }
    text
}

fn latency_row(latency: &LatencyReport) -> String {
    let at = |percent| latency.at(percent).map_or(String::new(), |ns| ns.to_string());
    format!(
        "{},{},{:.3},{},{:.3},{},{},{},{},{}",
        latency.n,
        latency.min_ns,
        latency.mean_ns,
        latency.max_ns,
        latency.stddev_ns,
        at(50.0),
        at(90.0),
        at(95.0),
        at(99.0),
        at(99.9)
    )
}

/// The unit of a type's values, as they are written here.
fn unit(log_type: LogType) -> &'static str {
    match log_type {
        LogType::Bandwidth => "bytes/s",
        LogType::Iops => "1/s",
        _ => "ns",
    }
}

/// A row of each second: of each log its values, of all logs of a type their
/// latencies together.
fn per_second(groups: &[LogGroup]) -> String {
    let mut text =
        String::from("log,type,direction,second,unit,values,min,mean,max,p50,p90,p99,p99.9\r\n");
    for group in groups {
        let kind = group.log_type.word();
        for line in lines(group) {
            let name = csv_cell(&line.name);
            for point in &line.points {
                let second = point.x.floor();
                let _ = write!(
                    text,
                    "{name},{kind},{},{second},{},",
                    line.dir.name(),
                    unit(group.log_type)
                );
                let _ = write!(text, ",{:.0},{:.3},{:.0},,,,\r\n", point.low, point.y, point.high);
            }
        }
        if group.logs.iter().all(|log| log.content.dirs.0.iter().all(|dir| dir.latency.is_none())) {
            continue;
        }
        let series = group.series();
        for (index, window) in series.windows.iter().enumerate().filter(|(_, one)| one.sampled) {
            for dir in DIRS {
                let latency = &window.dirs[dir].latency;
                let at = |percent| {
                    series.percentile(latency, percent).map_or(String::new(), |ns| ns.to_string())
                };
                if latency.total() == 0 {
                    continue;
                }
                let second = series.begin_ns(index) as f64 / 1e9;
                let _ =
                    write!(text, "all,{kind},{},{second},ns,{},,,", dir.name(), latency.total());
                let _ = write!(text, ",{},{},{},{}\r\n", at(50.0), at(90.0), at(99.0), at(99.9));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::log_charts::merged;

    #[test]
    fn the_sum_of_logs_has_the_percentiles_of_all_values() {
        let of = |ns: u64, n: u64| LatencyReport {
            n,
            min_ns: ns,
            max_ns: ns,
            mean_ns: ns as f64,
            bins: vec![(ns, n)],
            ..LatencyReport::default()
        };
        let both = merged(&[of(100, 900), of(10_000, 100)]);
        assert_eq!((both.n, both.at(50.0), both.at(95.0)), (1000, Some(100), Some(10_000)));
        assert!(latency_row(&both).starts_with("1000,100,1090.000,10000,"));
    }
}
