//! The table: cases as text, one block each.
//!
//! ```text
//! == a paced buffered write on overlayfs stays in memory
//! kind: silence 2
//! on: overlay
//! run: --filename={on}/f --rw=write --size=64m --rate=40m
//! - finds not-durable
//! - writes.dirty_at_end_bytes = 64m within 5%
//! ```
//!
//! `table/README.md` describes each line.

use crate::check::{Check, Wants};
use crate::files::FileSetup;
use std::collections::BTreeSet;

/// A file of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableFile {
    /// Its name, without the extension.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// How the program is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Call {
    /// A job, its report as JSON.
    #[default]
    Json,
    /// A job, its report as text.
    Text,
    /// The words as they are: a subcommand.
    Words,
}

/// A command, its checks and what they need.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// What it is about.
    pub title: String,
    /// The file of the table and the line that it begins at.
    pub place: String,
    /// `silence 2`, `accusation 5`, `ordinary`, ...
    pub kind: String,
    pub(crate) on: String,
    pub(crate) files: Vec<FileSetup>,
    pub(crate) before: Vec<String>,
    pub(crate) beside: Vec<String>,
    /// Seconds after the start, command.
    pub(crate) at: Vec<(f64, String)>,
    /// A file whose dirty pages are counted again and again.
    pub(crate) sample: Option<String>,
    /// A file whose length and blocks are read before the job.
    pub(crate) stat: Option<String>,
    /// System calls that are counted.
    pub(crate) trace: Option<String>,
    /// Controller, file and text of version 1, of version 2.
    pub(crate) group: Option<(String, Vec<(String, String)>)>,
    pub(crate) call: Call,
    /// The words for the program.
    pub line: String,
    /// What must hold.
    pub checks: Vec<Check>,
}

/// All cases of these files.
///
/// # Errors
/// Every line that is none of the table's and every case that lacks something, with its place.
pub fn cases(files: &[TableFile]) -> Result<Vec<Case>, String> {
    let mut all: Vec<Case> = Vec::new();
    let mut mistakes = Vec::new();
    for file in files {
        for (at, line) in file.text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{}:{}", file.name, at + 1);
            if let Some(title) = line.strip_prefix("== ") {
                let title = title.trim().to_owned();
                all.push(Case { title, place, on: "ext4".to_owned(), ..Case::default() });
                continue;
            }
            match all.last_mut().map(|case| case.add(line)) {
                None => mistakes.push(format!("{place}: a case begins with ==")),
                Some(Err(why)) => mistakes.push(format!("{place}: {line:?}: {why}")),
                Some(Ok(())) => {}
            }
        }
    }
    let mut titles = BTreeSet::new();
    for case in &all {
        let wants = |what| case.checks.iter().any(|check| check.wants() == what);
        let mut mistake =
            |why: &str| mistakes.push(format!("{}: {:?} {why}", case.place, case.title));
        if case.line.is_empty() {
            mistake("has no command");
        }
        if !wants(Wants::Statement) {
            mistake("needs a check of what must be said");
        }
        if !wants(Wants::Silence) {
            mistake("needs a check of what must not be said");
        }
        if !titles.insert(&case.title) {
            mistake("is the title of two cases");
        }
    }
    if mistakes.is_empty() { Ok(all) } else { Err(mistakes.join("\n")) }
}

impl Case {
    /// Whether a program between this one and iosonde changes nothing: no signal is sent to
    /// the job's process, no control group or trace is of it.
    pub fn may_be_wrapped(&self) -> bool {
        let is_plain = self.at.is_empty() && self.beside.is_empty();
        is_plain && self.call == Call::Json && self.group.is_none() && self.trace.is_none()
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        if let Some(check) = line.strip_prefix("- ") {
            self.checks.push(Check::parse(check)?);
            return Ok(());
        }
        let (key, value) = line.split_once(':').ok_or("use KEY: VALUE or - CHECK")?;
        let value = value.trim();
        let text = value.to_owned();
        match key {
            "kind" => self.kind = text,
            "on" => self.on = text,
            "file" => self.files.push(file(value)?),
            "before" => self.before.push(text),
            "beside" => self.beside.push(text),
            "at" => {
                let (when, command) = value.split_once(' ').ok_or("use at: SECONDS COMMAND")?;
                let when = when.parse().map_err(|_| format!("{when:?} are no seconds"))?;
                self.at.push((when, command.to_owned()));
            }
            "sample" => self.sample = Some(text),
            "stat" => self.stat = Some(text),
            "trace" => self.trace = Some(text),
            "group" => self.group = Some(group(value)?),
            "run" => (self.call, self.line) = (Call::Json, text),
            "text" => (self.call, self.line) = (Call::Text, text),
            "words" => (self.call, self.line) = (Call::Words, text),
            _ => return Err(format!("unknown key {key:?}")),
        }
        Ok(())
    }
}

/// `NAME BYTES STATE`.
fn file(text: &str) -> Result<FileSetup, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [name, bytes, state] = words[..] else { return Err("use file: NAME BYTES STATE".into()) };
    let known = crate::files::STATES;
    if !known.contains(&state) {
        return Err(format!("unknown state {state:?}: use one of {known:?}"));
    }
    let bytes = crate::value::number(bytes).ok_or(format!("{bytes:?} is no size"))?;
    Ok(FileSetup { name: name.to_owned(), bytes: bytes as u64, state: state.to_owned() })
}

/// `CONTROLLER FILE=TEXT | FILE=TEXT`: of version 1, and of version 2.
fn group(text: &str) -> Result<(String, Vec<(String, String)>), String> {
    const USE: &str = "use group: CONTROLLER FILE=TEXT | FILE=TEXT";
    let (controller, limits) = text.split_once(' ').ok_or(USE)?;
    let limit = |limit: &str| {
        let (file, text) = limit.trim().split_once('=')?;
        Some((file.to_owned(), text.to_owned()))
    };
    let limits: Option<Vec<_>> = limits.split('|').map(limit).collect();
    let limits = limits.filter(|limits| limits.len() == 2).ok_or(USE)?;
    Ok((controller.to_owned(), limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &'static str) -> Result<Vec<Case>, String> {
        cases(&[TableFile { name: "t", text }])
    }

    #[test]
    fn a_case_is_a_title_a_command_and_checks() {
        let text = "# note\n== one\non: xfs\nfile: f 64m written\nat: 0.5 kill -STOP {pid}\n\
                    run: --rw=read\n- finds not-durable wrong\n- never other-traffic\n";
        let cases = parsed(text).unwrap();
        assert_eq!((cases[0].on.as_str(), cases[0].checks.len()), ("xfs", 2));
        assert_eq!(cases[0].files[0].bytes, 64 << 20);
        assert_eq!(cases[0].at[0].0, 0.5);
    }

    #[test]
    fn a_mistake_names_its_line() {
        for (text, words) in [
            ("run: x\n", "t:1: a case begins with =="),
            ("== one\nfile: f 64m wirtten\n", "t:2:"),
            ("== one\nrun: x\n- finds not-direct\n", "what must not be said"),
            ("== one\nrun: x\n- never not-direct\n", "what must be said"),
            ("== one\nrun: x\n- fnids a\n", "t:3:"),
            ("== one\ngroup: cpu cpu.max=1\n", "FILE=TEXT | FILE=TEXT"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_table_has_as_many_checks_as_were_tried_by_hand_once() {
        let cases = cases(crate::CASES).unwrap();
        let checks: usize = cases.iter().map(|case| case.checks.len()).sum();
        assert!(checks >= 189, "{checks}");
    }
}
