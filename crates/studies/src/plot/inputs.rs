//! Which of the files are logs, and which results.

use super::arguments::PlotArgs;
use iosonde_command::stored;
use iosonde_logs::{LogName, LogStart, LogText, LogType};
use iosonde_report::finding::Finding;
use iosonde_result::StoredResult;
use std::fs::File;
use std::io::Read;

/// The files of a command line.
pub struct PlotInputs {
    /// Logs that are not read yet.
    pub logs: Vec<PlotLog>,
    /// Results.
    pub results: Vec<ReadResult>,
}

/// A log, with the first rows looked at.
#[derive(Clone, Debug)]
pub struct PlotLog {
    /// The file.
    pub path: String,
    /// What its name says.
    pub name: LogName,
    /// What its values are.
    pub log_type: LogType,
    /// Its form; `None` if it is empty.
    pub start: Option<LogStart>,
}

/// A result that was read.
pub struct ReadResult {
    /// The file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it says.
    pub stored: StoredResult,
    /// What `audit` finds in a result of fio.
    pub findings: Vec<Finding>,
}

impl PlotInputs {
    /// The files, logs first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let logs = self.logs.iter().map(|log| log.path.as_str());
        logs.chain(self.results.iter().map(|one| one.name.as_str()))
    }
}

/// Look at each file.
///
/// # Errors
/// For each that is neither a log nor a result a sentence.
pub fn sort(arguments: &PlotArgs) -> Result<PlotInputs, Vec<String>> {
    let mut inputs = PlotInputs { logs: Vec::new(), results: Vec::new() };
    let mut reasons = Vec::new();
    for path in &arguments.files {
        let looked = match kind(path, arguments) {
            Ok(InputKind::Log(log_type)) => log(path, log_type).map(|log| inputs.logs.push(log)),
            Ok(InputKind::Result) => stored::read_text(path).map(|(text, stored)| {
                let findings = stored.audited();
                inputs.results.push(ReadResult { name: path.clone(), text, stored, findings });
            }),
            Err(why) => Err(why),
        };
        if let Err(why) = looked {
            reasons.push(format!("{path}: {why}"));
        }
    }
    // A page that lacks a file would pass for all of them.
    if reasons.is_empty() { Ok(inputs) } else { Err(reasons) }
}

enum InputKind {
    Log(Option<LogType>),
    Result,
}

/// The kind of a file: by its name, else by its beginning.
fn kind(path: &str, arguments: &PlotArgs) -> Result<InputKind, String> {
    if path.ends_with(".json") {
        return Ok(InputKind::Result);
    }
    let typed = arguments.log_type.map(|word| word.log_type());
    if let Some(log_type) = LogName::of(path).log_type.or(typed) {
        return Ok(InputKind::Log(Some(log_type)));
    }
    let mut first = [0; 512];
    let read = File::open(path).and_then(|mut file| file.read(&mut first));
    let length = read.map_err(|error| format!("cannot read it: {error}"))?;
    let first = first[..length].trim_ascii_start();
    let is_log =
        first.first().is_some_and(|byte| byte.is_ascii_digit() || *byte < b' ' || *byte == b'x');
    Ok(if is_log { InputKind::Log(None) } else { InputKind::Result })
}

/// Look at the first rows of a log.
fn log(path: &str, log_type: Option<LogType>) -> Result<PlotLog, String> {
    let text = open(path)?;
    let log_type = match log_type {
        Some(log_type) => log_type,
        None if LogStart::is_of_histograms(&text) => LogType::Histogram,
        None => {
            return Err("its name does not say what its values are, as RUN_bw.1.log does: \
                        give --type=bw, iops, lat, clat or slat"
                .to_owned());
        }
    };
    let start = LogStart::of(&text, log_type).map_err(|error| error.to_string())?;
    Ok(PlotLog { path: path.to_owned(), name: LogName::of(path), log_type, start })
}

/// A log, to be read from its beginning.
///
/// # Errors
/// A sentence that fits behind the file's name.
pub fn open(path: &str) -> Result<LogText, String> {
    let file = File::open(path).map_err(|error| format!("cannot read it: {error}"))?;
    LogText::new(file).map_err(|error| error.to_string())
}
