//! The command line of `iosonde probe`, and its help.

use std::path::PathBuf;

/// What `--help` prints.
pub const HELP: &str = "\
usage: iosonde probe [--no-touch] [--json] PATH|DEVICE

All that bears on a test of this storage, before any test: the file system and
the devices below, what direct, uncached, atomic and polled I/O do here, the
machine and its limits, and what would spoil a test, with what to do.

What I/O does here is tried on a temporary file of 1 MiB that has no name, in
the directory (of a file: the one it is in). Files are not opened for writing;
of a device only its first MiB is read.

  --no-touch   create nothing and read nothing: what must be tried is unknown
  --json       for programs; docs/tools.md has the keys
  --help       this
";

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Of what.
    pub path: PathBuf,
    /// Look only.
    pub no_touch: bool,
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

/// Read the words after `probe`.
///
/// # Errors
/// What is wrong, for a person.
pub fn read(arguments: &[String]) -> Result<Wish, String> {
    let mut paths = Vec::new();
    let (mut no_touch, mut json, mut only_paths) = (false, false, false);
    for word in arguments {
        match word.as_str() {
            path if only_paths => paths.push(PathBuf::from(path)),
            "--help" | "-h" => return Ok(Wish::Help),
            "--no-touch" => no_touch = true,
            "--json" => json = true,
            "--" => only_paths = true,
            name if name.starts_with('-') && name.len() > 1 => {
                return Err(format!("there is no option {name}; see iosonde probe --help"));
            }
            path => paths.push(PathBuf::from(path)),
        }
    }
    let mut paths = paths.into_iter();
    match (paths.next(), paths.next()) {
        (Some(path), None) => Ok(Wish::Do(Ask { path, no_touch, json })),
        (None, _) => Err("name a directory, a file or a device; see iosonde probe --help".into()),
        (Some(_), Some(more)) => {
            Err(format!("one path at a time: {} is a second one", more.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_path() {
        let asked =
            |line: &str| read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let ask = Ask { path: "-x".into(), no_touch: true, json: false };
        assert_eq!(asked("--no-touch -- -x"), Ok(Wish::Do(ask)));
        assert!(asked("").unwrap_err().contains("name a directory"));
        assert!(asked("a b").unwrap_err().contains("b is a second one"));
        assert!(asked("a --jsno").unwrap_err().contains("no option --jsno"));
    }
}
