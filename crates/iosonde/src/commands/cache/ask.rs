//! The command line of `iosonde cache`, and its help.

use std::path::PathBuf;

/// What `--help` prints.
pub const HELP: &str = "\
usage: iosonde cache [--recursive] [--drop | --warm | --watch] [--json] PATH...

What the page cache holds of files: bytes in memory, dirty, being written, and
lately thrown out, and where in the file.

  --drop        write what is dirty, then put these files out of memory
  --warm        read these files into memory
  --watch       a line each second, until Ctrl-C
  --recursive   files below directories too, on the same file system
  --json        for programs; docs/tools.md has the keys
  --help        this
";

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Look only.
    Show,
    /// Put out of memory.
    Drop,
    /// Read into memory.
    Warm,
    /// Look each second.
    Watch,
}

impl Act {
    /// Its word in documents.
    pub fn word(self) -> &'static str {
        match self {
            Act::Show => "show",
            Act::Drop => "drop",
            Act::Warm => "warm",
            Act::Watch => "watch",
        }
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Of what.
    pub paths: Vec<PathBuf>,
    /// What to do.
    pub act: Act,
    /// Below directories too.
    pub recursive: bool,
    /// For programs.
    pub json: bool,
}

/// A command line as it was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// `--help`.
    Help,
    /// Something to do.
    Do(Ask),
}

/// Read the words after `cache`.
///
/// # Errors
/// What is wrong, for a person.
pub fn read(arguments: &[String]) -> Result<Wish, String> {
    let mut ask = Ask { paths: Vec::new(), act: Act::Show, recursive: false, json: false };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let act = match word.as_str() {
            "--help" | "-h" => return Ok(Wish::Help),
            "--json" => {
                ask.json = true;
                continue;
            }
            "--recursive" | "-r" => {
                ask.recursive = true;
                continue;
            }
            "--drop" => Act::Drop,
            "--warm" => Act::Warm,
            "--watch" => Act::Watch,
            "--" => {
                ask.paths.extend(words.map(PathBuf::from));
                break;
            }
            name if name.starts_with('-') && name.len() > 1 => {
                return Err(format!("there is no option {name}; see iosonde cache --help"));
            }
            path => {
                ask.paths.push(PathBuf::from(path));
                continue;
            }
        };
        if ask.act != Act::Show && ask.act != act {
            return Err(format!(
                "--{} and --{} cannot both be done: give one of them",
                ask.act.word(),
                act.word()
            ));
        }
        ask.act = act;
    }
    if ask.paths.is_empty() {
        return Err("name a file, or a directory with --recursive; see iosonde cache --help".into());
    }
    Ok(Wish::Do(ask))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Wish, String> {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_line_is_paths_and_one_thing_to_do() {
        let Ok(Wish::Do(ask)) = asked("a --drop b --json -r -- --c") else { panic!() };
        assert_eq!(ask.paths, ["a", "b", "--c"].map(PathBuf::from));
        assert_eq!((ask.act, ask.recursive, ask.json), (Act::Drop, true, true));
        assert_eq!(asked("a --help"), Ok(Wish::Help));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(asked("").unwrap_err().contains("name a file"));
        assert!(asked("--drop a --warm").unwrap_err().contains("--drop and --warm"));
        assert!(asked("--dorp a").unwrap_err().contains("no option --dorp"));
    }
}
