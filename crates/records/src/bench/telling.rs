//! How a run is told: layout, logger, unit, where rows and metrics go.

use crate::words::{Refused, Words};
use std::path::PathBuf;

/// How a run is told.
#[derive(Clone, Debug)]
pub struct Telling {
    /// The lines' layout.
    pub format: Format,
    /// What the run is told by.
    pub logger: Logger,
    /// Unit of latencies.
    pub unit: Unit,
    /// Latencies outside are left out of percentiles; in `unit`, both included.
    pub keep: (u64, u64),
    /// Requests are counted apart from completions.
    pub requests: bool,
    /// A row for every line.
    pub csv: Option<PathBuf>,
    /// Where metrics are answered.
    pub metrics: Option<Context>,
}

/// Layout of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SBK 0.77's.
    Old,
    /// Today's.
    Today,
}

/// What a run is told by.
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
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl Unit {
    /// Nanoseconds of one.
    pub fn ns(self) -> u64 {
        match self {
            Unit::Millis => 1_000_000,
            Unit::Micros => 1000,
            Unit::Nanos => 1,
        }
    }

    /// What SBK's lines call it.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Millis => "ms",
            Unit::Micros => "mcs",
            Unit::Nanos => "ns",
        }
    }

    /// What SBK's tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Millis => "MILLISECONDS",
            Unit::Micros => "MICROSECONDS",
            Unit::Nanos => "NANOSECONDS",
        }
    }
}

/// Where metrics are answered: an address, and the path of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// `127.0.0.1:9718`.
    pub address: String,
    /// `/metrics`.
    pub path: String,
}

/// What was typed about it.
pub(super) fn telling(words: &Words) -> Result<Telling, Refused> {
    let logger = logger(words)?;
    let by_time = words.get("time").is_some_and(|text| text.parse::<f64>().is_ok());
    let unit = match words.text("time") {
        _ if by_time => Unit::Millis,
        "ms" => Unit::Millis,
        "mcs" => Unit::Micros,
        "ns" => Unit::Nanos,
        other => {
            return Err(Refused::because(format!(
                "Invalid value for option '-time', valid values [ms, mcs, ns], or seconds to run: \
                 {other:?}"
            )));
        }
    };
    let format = match words.get("format") {
        Some("0.77") => Format::Old,
        Some("10") => Format::Today,
        None if words.has("flush") || by_time => Format::Old,
        None => Format::Today,
        Some(other) => {
            return Err(Refused::because(format!("--format={other}: 0.77 or 10 is wanted")));
        }
    };
    let most = match words.get("maxlatency") {
        Some(_) => words.count("maxlatency", u64::MAX >> 1)?,
        None => 180_000 * (Unit::Millis.ns() / unit.ns()),
    };
    let csv = words.get("csvfile").filter(|&path| path != "no").map(PathBuf::from);
    if csv.is_some() && !matches!(logger, Logger::Csv | Logger::Prometheus) {
        return Err(Refused {
            code: 2,
            said: "Unrecognized option: -csvfile: it is for -out CSVLogger and PrometheusLogger"
                .to_owned(),
        });
    }
    if words.has("context") && logger != Logger::Prometheus {
        let said = "Unrecognized option: -context: it is for -out PrometheusLogger".to_owned();
        return Err(Refused { code: 2, said });
    }
    Ok(Telling {
        format,
        logger,
        unit,
        keep: (words.count("minlatency", u64::MAX >> 1)?, most),
        requests: words.yes("wq")? || words.yes("rq")?,
        csv,
        metrics: match logger {
            Logger::Prometheus => context(words.text("context"))?,
            _ => None,
        },
    })
}

fn logger(words: &Words) -> Result<Logger, Refused> {
    let name = words.text("out");
    match name.to_ascii_lowercase().as_str() {
        "systemlogger" => Ok(Logger::System),
        "sl4jlogger" => Ok(Logger::Sl4j),
        "csvlogger" => Ok(Logger::Csv),
        "prometheuslogger" => Ok(Logger::Prometheus),
        "json" => Ok(Logger::Json),
        "grpclogger" | "weblogger" => Err(Refused::because(format!(
            "-out {name} is not offered here: it talks to programs of SBK; take SystemLogger, \
             CSVLogger, PrometheusLogger or JSON"
        ))),
        _ => Err(Refused::because(format!(
            "Instantiation of logger class '{name}' failed! SystemLogger, Sl4jLogger, CSVLogger, \
             PrometheusLogger or JSON"
        ))),
    }
}

/// `9718/metrics`, `0.0.0.0:9718/metrics`, `no`.
fn context(text: &str) -> Result<Option<Context>, Refused> {
    if text == "no" {
        return Ok(None);
    }
    let wrong = || Refused::because(format!("-context {text}: [HOST:]PORT/PATH or no is wanted"));
    let (address, path) = text.split_once('/').unwrap_or((text, "metrics"));
    let (host, port) = address.rsplit_once(':').unwrap_or(("127.0.0.1", address));
    let port: u16 = port.parse().map_err(|_| wrong())?;
    if host.is_empty() {
        return Err(wrong());
    }
    Ok(Some(Context { address: format!("{host}:{port}"), path: format!("/{path}") }))
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
