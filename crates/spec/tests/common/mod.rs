//! What the tests of whole command lines share: a still world, shell words, the corpus.
#![allow(dead_code, reason = "each test uses its part")]

use std::env::VarError;
use std::path::PathBuf;

use iosonde_spec::cli::flag_table::FIO;
use iosonde_spec::cli::{Parsed, World, parse};
use iosonde_spec::text::expand::Host;
use iosonde_spec::text::include::{DiskJobFiles, JobFiles};

/// The variables that the job files of the corpus use.
pub const VARIABLES: [(&str, &str); 4] = [
    ("IOSONDE_TEST_FILE", "/tmp/env.dat"),
    ("IOSONDE_TEST_BS", "8k"),
    ("IOSONDE_TEST_COUNT", "4"),
    ("IOSONDE_TEST_NAME", "bs"),
];

/// This machine's processors, and nothing else of it.
pub struct FixtureHost;

impl Host for FixtureHost {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        match VARIABLES.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(value.to_string()),
            None if name == "HOME" => std::env::var(name),
            None => Err(VarError::NotPresent),
        }
    }
    fn processors(&self) -> u64 {
        std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
    }
    fn page_bytes(&self) -> u64 {
        4096
    }
    fn memory_mib(&self) -> u64 {
        1024
    }
}

/// Job files below a directory, so that tests need not change theirs.
pub struct Below(pub PathBuf);

impl JobFiles for Below {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        if path == "-" {
            return Ok(Vec::new());
        }
        DiskJobFiles.read(&self.0.join(path).to_string_lossy())
    }
}

/// `arguments` parsed as fio would, with job files from `tests/jobs`.
pub fn parse_in_jobs(arguments: &[&str]) -> Parsed {
    let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
    let files = Below(corpus("jobs"));
    parse(&arguments, &World { files: &files, host: &FixtureHost, flags: &[FIO] })
}

/// A path below the project's `tests`.
pub fn corpus(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path)
}

/// The command lines of a corpus file, each as arguments without the program's name.
pub fn command_lines(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(corpus("corpus").join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| shell_words(line).split_off(1)).collect()
}

/// The `.fio` files of a directory below `tests`, by name, sorted.
pub fn job_files(directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(corpus(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".fio")).collect();
    names.sort();
    names
}

/// Quotes and blanks as a shell has them; nothing is expanded.
pub fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') | (Some('"'), '\\') => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
