//! The inputs of `compare`: jobs to run, results, or a
//! directory of runs.

use super::arguments::CompareArgs;
use super::pairs::RunSide;
use super::side::{CompareSide, SideRun};
use iosonde_base::text::counted;
use iosonde_session::jobs::{checked, plan};
use std::path::Path;

/// What is compared.
pub enum CompareInput {
    /// Jobs to run in pairs.
    Jobs(Box<[RunSide; 2]>),
    /// Results of A and of B.
    Results([CompareSide; 2]),
    /// Results of B, against stored sessions.
    Session(CompareSide),
    /// A directory of runs that were made in pairs.
    Folder(String),
}

/// Find out what the words name.
///
/// # Errors
/// The reasons, a line each.
pub fn input(words: &[String], arguments: &CompareArgs) -> Result<CompareInput, Vec<String>> {
    let is_jobs = words.iter().any(|word| word.starts_with("--") && word.len() > 2);
    if let ([folder], false) = (words, is_jobs)
        && Path::new(folder).is_dir()
    {
        return Ok(CompareInput::Folder(folder.clone()));
    }
    let files: Vec<&String> = words.iter().filter(|word| *word != "--").collect();
    let results = files.iter().filter(|file| is_result(file)).count();
    match results {
        0 => jobs(words, arguments),
        _ if results < files.len() => {
            let other = files.iter().find(|file| !is_result(file)).map_or("", |file| file.as_str());
            Err(own(&format!(
                "{other:?} is not a result, and the other files are: compare results with results, \
                 or run job files"
            )))
        }
        _ => stored(words, arguments).map_err(|why| own(&why)),
    }
}

/// One reason, as it is printed.
fn own(why: &str) -> Vec<String> {
    vec![format!("iosonde: compare: {why}")]
}

/// Whether a file holds JSON: a result, whole or not. `-` is standard input.
fn is_result(file: &str) -> bool {
    if file == "-" || Path::new(file).extension().is_some_and(|extension| extension == "json") {
        return true;
    }
    // A line of a job file never begins with a brace.
    let text = std::fs::read(file).unwrap_or_default();
    text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"{"))
}

fn stored(words: &[String], arguments: &CompareArgs) -> Result<CompareInput, String> {
    if arguments.a.is_some() || arguments.b.is_some() {
        return Err("--a and --b set options of jobs to run, and these are results".into());
    }
    if arguments.baseline.is_some() {
        if words.iter().any(|word| word == "--") {
            return Err("--baseline is A: name the results of B only, without --".into());
        }
        return Ok(CompareInput::Session(side("B", words)?));
    }
    let (a, b) = match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None if words.len() == 2 => words.split_at(1),
        None => {
            return Err(format!(
                "{}: name those of A, then --, then those of B; or one of each",
                counted(words.len() as u64, "result")
            ));
        }
    };
    if a.is_empty() || b.is_empty() {
        return Err("name at least one result before -- and one after it".into());
    }
    if b.iter().any(|word| word == "--") {
        return Err("there are two sides, so -- may stand once".into());
    }
    Ok(CompareInput::Results([side("A", a)?, side("B", b)?]))
}

/// Results as a side.
///
/// # Errors
/// A file cannot be read, or is no result.
pub fn side(letter: &str, files: &[String]) -> Result<CompareSide, String> {
    let read = |file: &String| {
        let result = iosonde_command::stored::read(file).map_err(|why| format!("{file}: {why}"))?;
        Ok(SideRun { file: file.clone(), result })
    };
    let runs: Vec<SideRun> = files.iter().map(read).collect::<Result<_, String>>()?;
    let name = match files {
        [one] => one.clone(),
        many => format!("{} results ({} ...)", many.len(), many[0]),
    };
    debug_assert!(!letter.is_empty());
    Ok(CompareSide { name, runs })
}

/// Jobs to run: two job files, or one set of jobs with the options of `--a` and
/// `--b`.
fn jobs(words: &[String], arguments: &CompareArgs) -> Result<CompareInput, Vec<String>> {
    if arguments.baseline.is_some() {
        return Err(own("--baseline takes results: iosonde compare NEW.json --baseline=DIR"));
    }
    if words.iter().any(|word| word == "--") {
        return Err(own("-- parts results of A from results of B: job files need none"));
    }
    let files: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let has_options = arguments.a.is_some() || arguments.b.is_some();
    let (words_a, words_b): (Vec<String>, Vec<String>) = match (files.as_slice(), has_options) {
        ([a, b], false) => {
            let without =
                |other: &String| words.iter().filter(|word| *word != other).cloned().collect();
            (without(b), without(a))
        }
        (_, true) => (words.to_vec(), words.to_vec()),
        ([], false) if words.is_empty() => {
            return Err(own(
                "nothing to compare: name two job files, or jobs with --a and --b, or results \
                 (see iosonde compare --help)",
            ));
        }
        _ if arguments.before_a.is_some() || arguments.before_b.is_some() => {
            (words.to_vec(), words.to_vec())
        }
        _ => {
            return Err(own(
                "one set of jobs and nothing that differs: give --a='OPTIONS' and --b='OPTIONS', \
                 --before-a or --before-b, or a second job file",
            ));
        }
    };
    let names = match files.as_slice() {
        [a, b] if !has_options => [(*a).clone(), (*b).clone()],
        _ => [arguments.a.as_ref(), arguments.b.as_ref()].map(|line| {
            let texts = line.map(|line| line.0.iter().map(|one| one.text()).collect::<Vec<_>>());
            texts.map_or("as it is".to_owned(), |texts| texts.join(" "))
        }),
    };
    let [name_a, name_b] = names;
    let a = run_side(name_a, &words_a, arguments, 0)?;
    let b = run_side(name_b, &words_b, arguments, 1)?;
    Ok(CompareInput::Jobs(Box::new([a, b])))
}

/// One side's jobs, checked: what is wrong with them is found before anything
/// runs.
fn run_side(
    name: String,
    words: &[String],
    arguments: &CompareArgs,
    side: usize,
) -> Result<RunSide, Vec<String>> {
    let mut parsed = checked(words)?;
    let letter = ["--a", "--b"][side];
    let (options, before) = match side {
        0 => (&arguments.a, &arguments.before_a),
        _ => (&arguments.b, &arguments.before_b),
    };
    for setting in options.iter().flat_map(|line| &line.0) {
        setting.apply(&mut parsed).map_err(|why| own(&format!("{letter}: {why}")))?;
    }
    plan(&parsed)?;
    let before = [&arguments.before, before].into_iter().flatten().cloned().collect();
    Ok(RunSide { name, parsed, before })
}
