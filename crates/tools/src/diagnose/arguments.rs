//! The command line of `iosonde diagnose`.

use clap::{Args, ValueHint};
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{self, CommandEntry};
use iosonde_options::command_line::size;
use std::path::PathBuf;

/// The forms that `--help` shows.
pub const USAGE: &str = "iosonde diagnose FILE --offset N [--json]
       iosonde diagnose FILE --offset N [--json] JOBFILE
       iosonde diagnose FILE --offset N [--json] JOB OPTIONS...";

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Reads the block at an offset that verify reported, and prints its header, what
the block should hold, and how it is wrong: zeroes, an older version, another
block's data, shifted, bit flips, torn. Nothing is written.

Without a job, the header in the block says what it should hold. With the job
that wrote the file, its writes are drawn again without I/O, and the last one to
that offset is what the block should hold. With verify options alone, such as
--verify=pattern --verify_pattern=0xff --bs=4k, they give the form of the
block. A job's own --offset follows a --.";

/// Which block, and which job wrote it.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DiagnoseArgs {
    /// The file or block device; it is opened for reading only
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub path: PathBuf,
    /// A byte of the block, as verify reported it: 8192, 8k
    #[arg(long, value_name = "N", required = true, value_parser = size)]
    pub offset: u64,
    /// Print one JSON object; docs/tools.md describes its keys
    #[arg(long)]
    pub json: bool,
    /// The job file or the options of the job that wrote the file
    #[arg(
        value_name = "JOBFILE|OPTIONS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_hint = ValueHint::FilePath
    )]
    pub job: Vec<String>,
}

/// Parse the words after `diagnose`.
///
/// # Errors
/// Help, or what is wrong.
pub fn parse(command: &CommandEntry, words: &[String]) -> Result<DiagnoseArgs, CommandAnswer> {
    definition::arguments(command, &own_words_first(words))
}

/// Our own words in front, the job's behind a `--`: the first word that is no
/// option, `--offset`, `--json` and `--help` are ours, before a `--`.
fn own_words_first(words: &[String]) -> Vec<String> {
    let (mut own, mut job, mut path) = (Vec::new(), Vec::new(), None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--" => {
                job.extend(rest.by_ref().cloned());
                break;
            }
            "--json" | "--help" | "-h" => own.push(word.clone()),
            "--offset" => own.extend([Some(word), rest.next()].into_iter().flatten().cloned()),
            word_of if word_of.starts_with("--offset=") => own.push(word.clone()),
            word_of if path.is_none() && !word_of.starts_with('-') => path = Some(word.clone()),
            _ => job.push(word.clone()),
        }
    }
    own.extend(path);
    if !job.is_empty() {
        own.push("--".to_owned());
        own.extend(job);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    fn parsed(line: &str) -> Result<DiagnoseArgs, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let words = std::iter::once("diagnose".to_owned()).chain(own_words_first(&words));
        let definition = super::super::COMMAND.definition();
        let matches = definition.try_get_matches_from(words).map_err(|error| error.to_string())?;
        DiagnoseArgs::from_arg_matches(&matches).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_ours_is_the_job() {
        let of = |line: &str| parsed(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let plain = of("--offset 8k data");
        assert_eq!((plain.path.to_str(), plain.offset), (Some("data"), 8192));
        assert_eq!(plain.job, [""; 0]);
        let job = of("data --verify=md5 --offset=4096 --json j.fio");
        assert_eq!(job.job, ["--verify=md5", "j.fio"]);
        assert!(job.json);
        let own_offset = of("data --offset=4096 -- --offset=512 --json");
        assert_eq!((own_offset.offset, own_offset.json), (4096, false));
        assert_eq!(own_offset.job, ["--offset=512", "--json"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, words) in [
            ("", "--offset"),
            ("data", "--offset"),
            ("--offset=1", "<FILE>"),
            ("data --offset=x", "invalid size \"x\""),
            ("data --offset", "--offset"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
