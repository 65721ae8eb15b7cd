//! The values of `iosonde matrix`'s options: sizes, durations, modes, formats.

use crate::cell::Access;
use iosonde_base::text::time;
pub use iosonde_options::command_line::size;
use iosonde_options::nearest;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest block, in bytes: one write(2) moves at most just below 2 GiB on Linux.
const BLOCK_MAX: u64 = 1 << 30;

/// A shorter time measures nothing.
const CELL_TIME_LEAST: Duration = Duration::from_millis(1);
/// Who types a longer one means something else.
const CELL_TIME_MOST: Duration = Duration::from_secs(86_400);

/// Block sizes in bytes, ascending, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes(pub Vec<u32>);

/// Rows, in the order of the table, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessList(pub Vec<Access>);

/// A file of results, and the format its name ends in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFile {
    pub path: PathBuf,
    pub format: ResultFormat,
}

/// The formats of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    /// For people.
    Table,
    /// One line a cell, as the benchmark of @ronomon/direct-io prints them.
    Lines,
    /// docs/matrix.md has the keys.
    Json,
    /// One line a cell with all its figures.
    Csv,
    /// A heat map.
    Svg,
    /// A page with charts.
    Html,
}

impl ResultFormat {
    const NAMES: [(&str, ResultFormat); 6] = [
        ("table", ResultFormat::Table),
        ("lines", ResultFormat::Lines),
        ("json", ResultFormat::Json),
        ("csv", ResultFormat::Csv),
        ("svg", ResultFormat::Svg),
        ("html", ResultFormat::Html),
    ];

    /// The format of this name, in any case.
    pub fn named(text: &str) -> Result<ResultFormat, String> {
        let found = ResultFormat::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|&(_, format)| format).ok_or_else(|| {
            format!("unknown format {text:?}: use table, lines, json, csv, svg or html")
        })
    }

    /// The format that a file's name ends in.
    fn of_file(path: &Path) -> Result<ResultFormat, String> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "txt" => Ok(ResultFormat::Table),
            "table" => Err(()),
            other => ResultFormat::named(other).map_err(drop),
        }
        .map_err(|()| {
            let path = path.display();
            format!("unknown format of {path}: end it in .txt, .lines, .json, .csv, .svg or .html")
        })
    }
}

/// A file of results: its name says which format.
pub fn output(text: &str) -> Result<ResultFile, String> {
    let path = PathBuf::from(text);
    let format = ResultFormat::of_file(&path)?;
    Ok(ResultFile { path, format })
}

/// `4k,64k`, `4k..1m`, or both.
pub fn block_sizes(text: &str) -> Result<BlockSizes, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => all.push(block(part)?),
            Some((low, high)) => {
                let (low, high) = (block(low)?, block(high)?);
                if low > high {
                    return Err(format!("invalid range {part:?}: give the smaller size first"));
                }
                let doubled = |&size: &u32| size.checked_mul(2).filter(|&size| size <= high);
                all.extend(std::iter::successors(Some(low), doubled));
            }
        }
    }
    iosonde_base::sort(&mut all);
    all.dedup();
    Ok(BlockSizes(all))
}

fn block(text: &str) -> Result<u32, String> {
    let bytes = size(text)?;
    match u32::try_from(bytes) {
        Ok(block) if (1..=BLOCK_MAX).contains(&bytes) => Ok(block),
        _ => Err(format!("invalid block size {text:?}: use 1 byte to 1 GiB")),
    }
}

/// `500ms`, `2s`, `0.5`, `1m`, `1h`.
pub fn cell_time(text: &str) -> Result<Duration, String> {
    let span = time(text)?;
    if (CELL_TIME_LEAST..=CELL_TIME_MOST).contains(&span) {
        Ok(span)
    } else {
        Err(format!("invalid time {text:?}: use a value between 1ms and a day"))
    }
}

/// Names of lines or groups, in any case, with or without blanks.
pub fn kinds(text: &str) -> Result<AccessList, String> {
    let plain = |text: &str| text.to_ascii_uppercase().replace(' ', "");
    let mut wanted = Vec::new();
    for part in text.split(',') {
        let word = plain(part);
        let matches = |kind: &Access| {
            let group = kind.group();
            word == group || word == plain(&kind.name()) || word == "WRITE" && kind.writes()
        };
        // A group's name is also that of its plain line: the group is meant.
        let found: Vec<Access> = Access::all().into_iter().filter(matches).collect();
        if found.is_empty() {
            let mut names: Vec<String> = Access::all().into_iter().map(Access::name).collect();
            names.push("READ".into());
            let near = nearest(&word, names.iter().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean {near}?"),
                None => "docs/matrix.md lists them".to_owned(),
            };
            return Err(format!("unknown mode {part:?}: {help}"));
        }
        wanted.extend(found);
    }
    Ok(AccessList(Access::all().into_iter().filter(|kind| wanted.contains(kind)).collect()))
}
