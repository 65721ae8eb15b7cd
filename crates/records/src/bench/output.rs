//! Output of a run: layout, logger, unit, where rows and metrics go.

use crate::words::{OptionValues, UsageError};
use std::path::PathBuf;

/// Output of a run.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// The lines' layout.
    pub format: LineFormat,
    /// The logger.
    pub logger: Logger,
    /// Unit of latencies.
    pub unit: LatencyUnit,
    /// Latencies outside are left out of percentiles; in `unit`, both included.
    pub keep: (u64, u64),
    /// Requests are counted apart from completions.
    pub requests: bool,
    /// A row for every line.
    pub csv: Option<PathBuf>,
    /// Where metrics are answered.
    pub metrics: Option<MetricsAddress>,
}

/// Layout of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFormat {
    /// SBK 0.77's.
    Old,
    /// Today's.
    Today,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logger {
    /// Lines on standard output.
    System,
    /// The same without the date.
    Sl4j,
    /// Lines, and a CSV file if one is named.
    Csv,
    /// Lines, and metrics over HTTP.
    Prometheus,
    /// The common result file.
    Json,
}

/// Unit of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl LatencyUnit {
    /// Nanoseconds of one.
    pub fn ns(self) -> u64 {
        match self {
            LatencyUnit::Millis => 1_000_000,
            LatencyUnit::Micros => 1000,
            LatencyUnit::Nanos => 1,
        }
    }

    /// Its name in SBK's lines.
    pub fn word(self) -> &'static str {
        match self {
            LatencyUnit::Millis => "ms",
            LatencyUnit::Micros => "mcs",
            LatencyUnit::Nanos => "ns",
        }
    }

    /// Its name in SBK's tables.
    pub fn name(self) -> &'static str {
        match self {
            LatencyUnit::Millis => "MILLISECONDS",
            LatencyUnit::Micros => "MICROSECONDS",
            LatencyUnit::Nanos => "NANOSECONDS",
        }
    }
}

/// Where metrics are answered: an address, and the path of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsAddress {
    /// `127.0.0.1:9718`.
    pub address: String,
    /// `/metrics`.
    pub path: String,
}

/// The output options of the arguments.
pub(super) fn output(words: &OptionValues) -> Result<OutputOptions, UsageError> {
    let logger = logger(words)?;
    let by_time = words.get("time").is_some_and(|text| text.parse::<f64>().is_ok());
    let unit = match words.text("time") {
        _ if by_time => LatencyUnit::Millis,
        "ms" => LatencyUnit::Millis,
        "mcs" => LatencyUnit::Micros,
        "ns" => LatencyUnit::Nanos,
        other => {
            return Err(UsageError::because(format!(
                "Invalid value for option '-time', valid values [ms, mcs, ns], or seconds to run: \
                 {other:?}"
            )));
        }
    };
    let format = match words.get("format") {
        Some("0.77") => LineFormat::Old,
        Some("10") => LineFormat::Today,
        None if words.has("flush") || by_time => LineFormat::Old,
        None => LineFormat::Today,
        Some(other) => {
            return Err(UsageError::because(format!("unknown --format {other:?}: use 0.77 or 10")));
        }
    };
    let most = match words.get("maxlatency") {
        Some(_) => words.count("maxlatency", u64::MAX >> 1)?,
        None => 180_000 * (LatencyUnit::Millis.ns() / unit.ns()),
    };
    let least = words.count("minlatency", u64::MAX >> 1)?;
    if least > most {
        return Err(UsageError::because(format!(
            "-minlatency {least} is above -maxlatency {most}: no latency is between them"
        )));
    }
    let csv = words.get("csvfile").filter(|&path| path != "no").map(PathBuf::from);
    if csv.is_some() && !matches!(logger, Logger::Csv | Logger::Prometheus) {
        return Err(UsageError {
            code: 2,
            message: "Unrecognized option: -csvfile: it is for -out CSVLogger and PrometheusLogger"
                .to_owned(),
        });
    }
    if words.has("context") && logger != Logger::Prometheus {
        let message = "Unrecognized option: -context: it is for -out PrometheusLogger".to_owned();
        return Err(UsageError { code: 2, message });
    }
    Ok(OutputOptions {
        format,
        logger,
        unit,
        keep: (least, most),
        requests: words.yes("wq")? || words.yes("rq")?,
        csv,
        metrics: match logger {
            Logger::Prometheus => context(words.text("context"))?,
            _ => None,
        },
    })
}

fn logger(words: &OptionValues) -> Result<Logger, UsageError> {
    let name = words.text("out");
    match name.to_ascii_lowercase().as_str() {
        "systemlogger" => Ok(Logger::System),
        "sl4jlogger" => Ok(Logger::Sl4j),
        "csvlogger" => Ok(Logger::Csv),
        "prometheuslogger" => Ok(Logger::Prometheus),
        "json" => Ok(Logger::Json),
        "grpclogger" | "weblogger" => Err(UsageError::because(format!(
            "-out {name} is not offered here: it talks to programs of SBK; use SystemLogger, \
             CSVLogger, PrometheusLogger or JSON"
        ))),
        _ => Err(UsageError::because(format!(
            "Instantiation of logger class '{name}' failed! SystemLogger, Sl4jLogger, CSVLogger, \
             PrometheusLogger or JSON"
        ))),
    }
}

/// `9718/metrics`, `0.0.0.0:9718/metrics`, `no`.
fn context(text: &str) -> Result<Option<MetricsAddress>, UsageError> {
    if text == "no" {
        return Ok(None);
    }
    let wrong = || UsageError::because(format!("-context {text}: use [HOST:]PORT/PATH or no"));
    let (address, path) = text.split_once('/').unwrap_or((text, "metrics"));
    let (host, port) = address.rsplit_once(':').unwrap_or(("127.0.0.1", address));
    let port: u16 = port.parse().map_err(|_| wrong())?;
    if host.is_empty() {
        return Err(wrong());
    }
    Ok(Some(MetricsAddress { address: format!("{host}:{port}"), path: format!("/{path}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_on_loopback_unless_it_names_a_host() {
        let of = |text| context(text).unwrap().map(|at| (at.address, at.path));
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(of("9718/metrics"), pair("127.0.0.1:9718", "/metrics"));
        assert_eq!(of("0.0.0.0:80/a/b"), pair("0.0.0.0:80", "/a/b"));
        assert_eq!(of("no"), None);
    }
}
