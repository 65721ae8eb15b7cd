//! Results that were made before: files, a session against earlier ones, a
//! directory of pairs.

use super::arguments::CompareArgs;
use super::comparison::{JudgeRequest, RunDesign, SideComparison};
use super::jobs;
use super::likeness::Likeness;
use super::pairs::varied;
use super::side::{CompareSide, SideRun};
use super::sides::side;
use crate::trials::folder;
use iosonde_judge::{ALPHA, LookSchedule, pair_orders};
use iosonde_sys::standard_error::print_error;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A comparison, and the seed of its order where it has one.
pub type JudgedRuns = Result<(SideComparison, Option<u64>), String>;

/// Results of A and of B.
pub fn results(
    sides: [CompareSide; 2],
    arguments: &CompareArgs,
    request: &JudgeRequest,
) -> JudgedRuns {
    let likeness = Likeness::of(&sides, &varied(arguments));
    let design = if sides.iter().all(|side| side.runs.len() == 1) {
        RunDesign::Single(arguments.noise)
    } else {
        RunDesign::Unordered
    };
    Ok((jobs::judge(sides, design, likeness, request)?, None))
}

/// A session against the stored ones of `--baseline`.
pub fn session(today: CompareSide, arguments: &CompareArgs, request: &JudgeRequest) -> JudgedRuns {
    let path = arguments.baseline.as_deref().unwrap_or(Path::new("."));
    let mut runs: Vec<SideRun> = Vec::new();
    let mut counts = Vec::new();
    for entry in entries(path)? {
        let files = if entry.is_dir() { entries(&entry)? } else { vec![entry.clone()] };
        let files: Vec<String> = files
            .iter()
            .filter(|file| is_json(file))
            .map(|file| file.display().to_string())
            .collect();
        if files.is_empty() {
            continue;
        }
        let stored = side("A", &files)?;
        let both = [stored, today.clone()];
        let stops = Likeness::of(&both, &varied(arguments)).stops;
        if let Some(stop) = stops.first() {
            print_error(&format!("iosonde: compare: {}: left out: {stop}", entry.display()));
            continue;
        }
        let [stored, _] = both;
        counts.push(stored.runs.len());
        runs.extend(stored.runs);
    }
    if runs.is_empty() {
        return Err(format!(
            "--baseline={}: it holds no session of the same thing: store results there, a file or a \
             directory of files for each session",
            path.display()
        ));
    }
    let stored = CompareSide { name: path.display().to_string(), runs };
    let sides = [stored, today];
    let likeness = Likeness::of(&sides, &varied(arguments));
    let design = RunDesign::Sessions(counts);
    Ok((jobs::judge(sides, design, likeness, request)?, None))
}

/// The contents of a directory, in the order of the names.
fn entries(path: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("cannot read {}: {error}", path.display());
    let read = std::fs::read_dir(path).map_err(failed)?;
    let mut entries: Vec<PathBuf> = read
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    iosonde_base::sort(&mut entries);
    Ok(entries)
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// A directory of pairs that were run before.
pub fn folder(path: &str, arguments: &CompareArgs, request: &JudgeRequest) -> JudgedRuns {
    let earlier = folder::read(Path::new(path))?;
    let header = &earlier.header;
    if header["report"] != "compare runs" {
        return Err(format!("{path}: it holds no runs of compare: name the -o directory of one"));
    }
    let of_side = |letter: &str| -> Result<CompareSide, String> {
        let lines =
            earlier.runs.iter().filter(|line| line["side"] == letter && line["counted"] == true);
        let mut files: Vec<(u64, String)> = lines
            .filter_map(|line| Some((line["pair"].as_u64()?, line["file"].as_str()?.to_owned())))
            .map(|(pair, file)| (pair, Path::new(path).join(file).display().to_string()))
            .collect();
        iosonde_base::sort(&mut files);
        let files: Vec<String> = files.into_iter().map(|(_, file)| file).collect();
        let name = header[letter]["name"].as_str().unwrap_or(letter).to_owned();
        Ok(CompareSide { name, ..side(letter, &files)? })
    };
    let mut sides = [of_side("a")?, of_side("b")?];
    let pairs = sides[0].runs.len().min(sides[1].runs.len());
    if pairs == 0 {
        return Err(format!("{path}: no pair has ended, so there is nothing to judge"));
    }
    sides.iter_mut().for_each(|side| side.runs.truncate(pairs));
    let looks: Vec<usize> = numbers(&header["pairs"]);
    let seed = header["seed"].as_u64();
    let schedule = looks.first().zip(looks.last());
    let alpha =
        schedule.map_or(ALPHA, |(least, most)| LookSchedule::between(*least, *most).alpha());
    let orders = pair_orders(seed.unwrap_or(0), &looks);
    let design = RunDesign::Pairs {
        orders: orders.into_iter().take(pairs).collect(),
        alpha,
        robust: arguments.robust,
    };
    // What was set for the runs is meant to differ.
    let mut vary = varied(arguments);
    for letter in ["a", "b"] {
        let name = header[letter]["name"].as_str().unwrap_or_default();
        let options = name.split_whitespace().filter_map(|word| word.split('=').next());
        vary.extend(options.map(str::to_owned));
    }
    let likeness = Likeness::of(&sides, &vary);
    Ok((jobs::judge(sides, design, likeness, request)?, seed))
}

fn numbers(value: &Value) -> Vec<usize> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|number| usize::try_from(number.as_u64()?).ok()).collect()
}
