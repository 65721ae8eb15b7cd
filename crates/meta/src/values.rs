//! Values of the command line that are not numbers or words alone.

use crate::live::LiveMode;
use crate::phase::{PHASES, also};
use iosonde_engine::tree::{TreeFileSizes, TreeList, TreeOperation};
use iosonde_options::{command_line, nearest};
use std::path::{Path, PathBuf};

/// The order in which files are visited, once they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOrder {
    /// Each once, in random order: neighbours in a directory do not follow one another.
    Random,
    /// As they were created.
    Sequential,
}

/// Phases, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseList(pub Vec<TreeOperation>);

/// A tree that a file lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTree {
    /// The file.
    pub path: PathBuf,
    /// The bytes of all files in it.
    pub bytes: u64,
}

/// A number, with a suffix for thousands (k, m, g).
pub fn count(text: &str) -> Result<u64, String> {
    let refused =
        || format!("{text:?} is no count: use a number from 1 up, or one such as 10k or 1m");
    let lower = text.trim().to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if lower.ends_with('k') => (digits, 1_000),
        Some(digits) if lower.ends_with('m') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (lower.as_str(), 1),
    };
    let number: u64 = digits.parse().map_err(|_| refused())?;
    number.checked_mul(unit).filter(|&count| count > 0).ok_or_else(refused)
}

pub fn sizes(text: &str) -> Result<TreeFileSizes, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let weighted: Result<Vec<(u64, u64)>, String> = parts
        .iter()
        .map(|part| match part.split_once('/') {
            Some((size, weight)) => Ok((command_line::size(size)?, count(weight)?)),
            None if parts.len() == 1 => Ok((command_line::size(part)?, 1)),
            None => Err(format!("{part:?} has no weight: write sizes as in 4k/3:1m/1")),
        })
        .collect();
    weighted.map(TreeFileSizes::weighted)
}

/// The tree of a list.
pub fn list_of(path: &Path) -> Result<(std::sync::Arc<TreeList>, ListedTree), String> {
    let list = TreeList::read(path).map_err(|why| format!("--tree-file={why}"))?;
    let bytes = list.files().iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
    Ok((list, ListedTree { path: path.to_owned(), bytes }))
}

pub fn live(text: &str) -> Result<LiveMode, String> {
    match text {
        "line" => Ok(LiveMode::Line),
        "plain" => Ok(LiveMode::Plain),
        "no" => Ok(LiveMode::No),
        _ => Err(format!("unknown word {text:?}: use line, plain or no")),
    }
}

/// Sizes and their counts from a file.
pub fn sizes_of(path: &Path) -> Result<TreeFileSizes, String> {
    /// A longer file is no histogram.
    const BYTES_MOST: u64 = 16 << 20;
    let refused = |why: String| format!("--sizes-from={}: {why}", path.display());
    let about = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !about.is_file() || about.len() > BYTES_MOST {
        return Err(refused("it is not a file of lines `SIZE COUNT`".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let mut weighted = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why: &str| format!("{}:{number}: {why}", path.display());
        let (size, times) = line
            .split_once(|letter: char| letter.is_whitespace() || letter == ',')
            .ok_or_else(|| wrong("a line is a size and how often it comes: `4k 1200`"))?;
        let size = command_line::size(size.trim()).map_err(|why| wrong(&why))?;
        let times: u64 = times.trim().parse().map_err(|_| wrong("the count is not a number"))?;
        weighted.push((size, times));
    }
    if weighted.iter().all(|&(_, times)| times == 0) {
        return Err(refused("it holds no size that comes at all".to_owned()));
    }
    Ok(TreeFileSizes::weighted(weighted))
}

pub fn phases(text: &str) -> Result<PhaseList, String> {
    let mut chosen = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match TreeOperation::from_word(word) {
            _ if word == "all" => chosen.extend(PHASES),
            Some(operation) => chosen.extend(also(operation).iter().chain([&operation])),
            None => {
                let words = PHASES.map(TreeOperation::word);
                let near = nearest(word, words.iter().copied());
                let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
                return Err(format!("there is no phase {word:?}: {}{near}", words.join(", ")));
            }
        }
    }
    Ok(PhaseList(PHASES.into_iter().filter(|operation| chosen.contains(operation)).collect()))
}

pub fn order(text: &str) -> Result<VisitOrder, String> {
    match text.to_ascii_lowercase().as_str() {
        "random" => Ok(VisitOrder::Random),
        "sequential" => Ok(VisitOrder::Sequential),
        _ => Err(format!("unknown order {text:?}: use random or sequential")),
    }
}
