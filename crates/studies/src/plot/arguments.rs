//! The command line of `iosonde plot`.

use crate::trials::figures::Figure;
use clap::{Args, ValueEnum, ValueHint};
use iosonde_logs::LogType;
use std::path::PathBuf;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Reads logs of fio and iosonde (write_bw_log, write_iops_log, write_lat_log,
write_hist_log; plain, gzip or zlib) and their results as JSON, and writes one
HTML page that works offline. Logs are read as a stream, of any length.

Logs of one type are drawn together; the jobs of a run, RUN_bw.1.log and
RUN_bw.2.log, are added up. With --x, figures of results are drawn against an
option of their jobs: --x iodepth --y read.iops,read.p99 --by bs.";

/// The command line of `iosonde plot`.
#[derive(Args, Clone, Debug)]
pub struct PlotArgs {
    /// Logs, and results as JSON
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
    /// Draw each log by itself
    #[arg(long, conflicts_with = "together")]
    pub each: bool,
    /// Draw logs of one type together (the default)
    #[arg(long)]
    pub together: bool,
    /// Write the page to FILE instead of plot.html
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Draw figures of results against this option of their jobs
    #[arg(long, value_name = "OPTION")]
    pub x: Option<String>,
    /// Draw these figures: iops, bw, p99, read.p99.9, sync.p99 ...
    #[arg(long, value_name = "FIGURE,...", value_delimiter = ',')]
    pub y: Vec<String>,
    /// A column for each value of this option
    #[arg(long, value_name = "OPTION")]
    pub by: Option<String>,
    /// Draw only jobs with this option and value; repeatable
    #[arg(long, value_name = "OPTION=VALUE")]
    pub filter: Vec<String>,
    /// Windows of a second
    #[arg(long)]
    pub per_second: bool,
    /// Write the numbers as CSV instead of a page; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// The unit of latencies in logs: us for logs of fio 2
    #[arg(long, value_name = "UNIT", value_enum, default_value = "ns")]
    pub latency_unit: LogLatencyUnit,
    /// The type of logs whose names do not say it
    #[arg(long = "type", value_name = "TYPE", value_enum)]
    pub log_type: Option<LogTypeWord>,
    /// Overwrite FILE if it exists
    #[arg(long)]
    pub force: bool,
}

/// The unit of latencies in logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLatencyUnit {
    /// Nanoseconds: fio 3 and iosonde
    Ns,
    /// Microseconds: fio 2
    Us,
    /// Milliseconds
    Ms,
}

impl LogLatencyUnit {
    /// In nanoseconds.
    pub fn ns(self) -> u64 {
        match self {
            LogLatencyUnit::Ns => 1,
            LogLatencyUnit::Us => 1_000,
            LogLatencyUnit::Ms => 1_000_000,
        }
    }
}

/// A type of logs, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum LogTypeWord {
    Bw,
    Iops,
    Lat,
    Clat,
    Slat,
    Hist,
}

impl LogTypeWord {
    /// What it means.
    pub fn log_type(self) -> LogType {
        match self {
            LogTypeWord::Bw => LogType::Bandwidth,
            LogTypeWord::Iops => LogType::Iops,
            LogTypeWord::Lat => LogType::Lat,
            LogTypeWord::Clat => LogType::Clat,
            LogTypeWord::Slat => LogType::Slat,
            LogTypeWord::Hist => LogType::Histogram,
        }
    }
}

/// What is asked of results.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotQuestion {
    /// The option whose values are the groups.
    pub x: String,
    /// The figures: a chart each.
    pub figures: Vec<Figure>,
    /// The option whose values are the columns of a group.
    pub by: Option<String>,
    /// Options and their values that a job must have.
    pub filter: Vec<(String, String)>,
}

impl PlotArgs {
    /// What is asked of results, if anything.
    ///
    /// # Errors
    /// A sentence.
    pub fn question(&self) -> Result<Option<PlotQuestion>, String> {
        let Some(x) = &self.x else {
            let given = [
                ("--y", !self.y.is_empty()),
                ("--by", self.by.is_some()),
                ("--filter", !self.filter.is_empty()),
            ];
            return match given.iter().find(|(_, is_given)| *is_given) {
                Some((option, _)) => Err(format!("{option} needs --x OPTION")),
                None => Ok(None),
            };
        };
        let figures = if self.y.is_empty() {
            vec!["iops".to_owned(), "p99".to_owned()]
        } else {
            self.y.clone()
        };
        let figures = figures.iter().map(|word| Figure::parse(word));
        let filter = |word: &String| match word.split_once('=') {
            Some((option, value)) if !option.is_empty() => {
                Ok((option.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err(format!("--filter {word:?}: use OPTION=VALUE, as rw=randread")),
        };
        Ok(Some(PlotQuestion {
            x: x.clone(),
            figures: figures.collect::<Result<_, _>>().map_err(|why| format!("--y: {why}"))?,
            by: self.by.clone(),
            filter: self.filter.iter().map(filter).collect::<Result<_, _>>()?,
        }))
    }
}
