//! The command line of `iosonde write-cache`.

use clap::{Args, ValueEnum, ValueHint, value_parser};
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{self, CommandEntry};
use iosonde_direct::WriteCache;
use std::path::PathBuf;

/// The forms that `--help` shows.
pub const USAGE: &str = "iosonde write-cache [--json] PATH|DEVICE
       iosonde write-cache DEVICE back|through [--set] [--json]
       iosonde write-cache DEVICE --compare [--rounds=N] [--json] JOBFILE...
       iosonde write-cache DEVICE --compare [--rounds=N] [--json] JOB OPTIONS...";

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Shows how the kernel treats the write caches below a path. Write back: the
device may keep data in volatile memory, so an fsync sends a flush. Write
through: it does not, and no flush is ever sent. Only the kernel's setting is
changed, never the device's own.";

/// Which device, and what to do.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct WriteCacheArgs {
    /// A block device; to show its setting, also a file or a directory
    #[arg(value_name = "PATH|DEVICE", value_hint = ValueHint::AnyPath)]
    pub path: PathBuf,
    /// Show what this setting would mean
    #[arg(value_enum, conflicts_with = "compare")]
    mode: Option<CacheMode>,
    /// Change the kernel's setting to that mode, as root
    #[arg(long, requires = "mode", conflicts_with = "compare")]
    set: bool,
    /// Run a job under both settings, as root, then restore the setting. A job
    /// file, or the options of jobs, follow
    #[arg(
        long,
        value_name = "JOBFILE|OPTIONS",
        alias = "around",
        num_args = 1..,
        allow_hyphen_values = true,
        value_hint = ValueHint::FilePath
    )]
    compare: Option<Vec<String>>,
    /// With --compare: run each setting N times [default: 1]
    #[arg(long, value_name = "N", requires = "compare", value_parser = value_parser!(u32).range(1..=ROUNDS_MAX))]
    rounds: Option<u32>,
    /// Print one JSON object; docs/tools.md describes its keys
    #[arg(long)]
    pub json: bool,
}

/// More rounds than this are a typing error.
const ROUNDS_MAX: i64 = 1000;

/// The kernel's setting, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CacheMode {
    /// Send flushes
    #[value(alias = "write back")]
    Back,
    /// Send no flushes
    #[value(alias = "write through")]
    Through,
}

/// What to do with the kernel's setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteCacheAction {
    /// Show it.
    Show,
    /// Show the meaning of a change.
    Preview(WriteCache),
    /// Change it.
    Set(WriteCache),
    /// Run a job under both settings.
    Compare {
        /// How many times under each.
        rounds: u32,
        /// The job, as the program's own command line.
        job: Vec<String>,
    },
}

impl WriteCacheArgs {
    /// What to do.
    pub fn action(&self) -> WriteCacheAction {
        let mode = self.mode.map(|mode| match mode {
            CacheMode::Back => WriteCache::Back,
            CacheMode::Through => WriteCache::Through,
        });
        match (&self.compare, mode) {
            (Some(job), _) => {
                let rounds = self.rounds.unwrap_or(1);
                WriteCacheAction::Compare { rounds, job: job.clone() }
            }
            (None, Some(mode)) if self.set => WriteCacheAction::Set(mode),
            (None, Some(mode)) => WriteCacheAction::Preview(mode),
            (None, None) => WriteCacheAction::Show,
        }
    }
}

/// Parse the words after `write-cache`.
///
/// # Errors
/// Help, or what is wrong.
pub fn parse(command: &CommandEntry, words: &[String]) -> Result<WriteCacheArgs, CommandAnswer> {
    definition::arguments(command, &own_words_first(words))
}

/// Everything behind `--compare` is the job's command line, except `--json` and
/// `--rounds`: move those in front of it. Behind a `--` nothing is ours.
fn own_words_first(words: &[String]) -> Vec<String> {
    let is_compare = |word: &String| value_of_compare(word).is_some();
    let escape = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let Some(at) = words[..escape].iter().position(is_compare) else { return words.to_vec() };
    let (mut own, mut job) = (words[..at].to_vec(), Vec::new());
    job.extend(value_of_compare(&words[at]).flatten().map(str::to_owned));
    let mut rest = words[at + 1..].iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--" => {
                job.extend(rest.by_ref().cloned());
                break;
            }
            "--json" => own.push(word.clone()),
            "--rounds" => own.extend([Some(word), rest.next()].into_iter().flatten().cloned()),
            name if name == "--set" || name.starts_with("--rounds=") => own.push(word.clone()),
            _ => job.push(word.clone()),
        }
    }
    own.push("--compare".to_owned());
    own.extend(job);
    own
}

/// The value behind the `=` of `--compare=j.fio`, if the word is that option at
/// all. `--around` is what it was called at first.
fn value_of_compare(word: &str) -> Option<Option<&str>> {
    let rest = word.strip_prefix("--compare").or_else(|| word.strip_prefix("--around"))?;
    match rest {
        "" => Some(None),
        rest => rest.strip_prefix('=').map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    fn parsed(line: &str) -> Result<WriteCacheArgs, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let words = std::iter::once("write-cache".to_owned()).chain(own_words_first(&words));
        let definition = super::super::COMMAND.definition();
        let matches = definition.try_get_matches_from(words).map_err(|error| error.to_string())?;
        WriteCacheArgs::from_arg_matches(&matches).map_err(|error| error.to_string())
    }

    fn action(line: &str) -> WriteCacheAction {
        parsed(line).unwrap_or_else(|error| panic!("{line}: {error}")).action()
    }

    #[test]
    fn what_follows_compare_is_the_job_except_our_own_options() {
        let job = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let compare = |rounds, words| WriteCacheAction::Compare { rounds, job: job(words) };
        assert_eq!(action("d --compare j.fio"), compare(1, "j.fio"));
        assert_eq!(action("d --compare=j.fio --json"), compare(1, "j.fio"));
        assert_eq!(
            action("x --compare --name=a --bs=4k --rounds=3 -- d"),
            compare(3, "--name=a --bs=4k d")
        );
        assert_eq!(action("d --rounds 2 --compare -- --json"), compare(2, "--json"));
        assert_eq!(action("d --compare --name a --help"), compare(1, "--name a --help"));
    }

    #[test]
    fn a_setting_is_changed_only_with_set() {
        assert_eq!(action("d"), WriteCacheAction::Show);
        assert_eq!(action("d back"), WriteCacheAction::Preview(WriteCache::Back));
        assert_eq!(action("--set d through"), WriteCacheAction::Set(WriteCache::Through));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, words) in [
            ("", "<PATH|DEVICE>"),
            ("d sideways", "[possible values: back, through]"),
            ("d back e", "'e'"),
            ("d --set", "<MODE>"),
            ("d --sett", "'--sett'"),
            ("d --compare", "--compare"),
            ("d back --compare j", "cannot be used with"),
            ("d --compare j --set", "cannot be used with"),
            ("d --rounds=2", "--compare"),
            ("d --compare j --rounds=0", "1..=1000"),
            ("d --compare j --rounds", "--rounds"),
            ("d --compare j --rounds=99999999999999999999", "--rounds"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
