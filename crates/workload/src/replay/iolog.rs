//! fio's own recordings: text, a line for each I/O (fio(1), "trace file format").
//!
//! A file's name is what stands between the time, if there is one, and the
//! action, so that it may hold blanks.

use super::{LogError, Name, Shape, Step};
use iosonde_base::{FileId, Op, Planned};
use std::collections::HashMap;
use std::io::BufRead;

/// Reads lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Iolog {
    /// Lines read so far.
    line: u64,
    /// What the first line says.
    version: Option<Version>,
    /// The files added, by name.
    known: HashMap<Box<[u8]>, usize>,
    files: Vec<Logged>,
    /// How many names of each file in steps are open: more than one where all
    /// files are one.
    opened: Vec<u32>,
    /// The file of the last line, and its name.
    last: usize,
    last_name: Vec<u8>,
    /// The moment of the last line, in microseconds,
    now_us: u64,
    /// and of the last header: recordings may follow one another.
    began_us: u64,
}

/// A file as the recording has it.
#[derive(Clone, Copy, Debug)]
struct Logged {
    file: FileId,
    open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Pauses are lines of their own.
    Two,
    /// Each line begins with its time.
    Three,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Add,
    Open,
    Close,
    Wait,
    Io(Op),
}

impl Action {
    const ALL: &str = "add, open, close, read, write, trim, sync, datasync, sync_file_range";

    fn of(word: &[u8]) -> Option<Action> {
        Some(match word {
            b"read" => Action::Io(Op::Read),
            b"write" => Action::Io(Op::Write),
            b"trim" => Action::Io(Op::Trim),
            // A file system is synced by syncing what is of the job in it.
            b"sync" | b"syncfs" => Action::Io(Op::Sync),
            b"datasync" => Action::Io(Op::DataSync),
            b"sync_file_range" => Action::Io(Op::SyncRange),
            b"wait" => Action::Wait,
            b"open" => Action::Open,
            b"close" => Action::Close,
            b"add" => Action::Add,
            _ => return None,
        })
    }

    /// How many numbers must follow.
    fn numbers(self) -> usize {
        match self {
            Action::Io(Op::Read | Op::Write | Op::Trim) => 2,
            Action::Wait => 1,
            _ => 0,
        }
    }
}

/// A line, taken apart.
struct Line<'a> {
    name: &'a [u8],
    action: Action,
    offset: u64,
    len: u64,
    /// Where its parts begin.
    columns: Columns,
}

#[derive(Clone, Copy, Default)]
struct Columns {
    name: usize,
    action: usize,
    offset: usize,
    len: usize,
}

/// Shorter pauses than this are not kept (fio(1), "wait").
const WAIT_LEAST_US: u64 = 100;

/// No I/O reaches past this, so that no sum of places overflows.
const MOST_END: u64 = i64::MAX as u64;

impl Iolog {
    pub fn feed(
        &mut self,
        bytes: &[u8],
        last: bool,
        shape: &Shape,
        names: &mut Vec<Name>,
        steps: &mut Vec<Step>,
    ) -> Result<usize, LogError> {
        let mut at = 0;
        while at < bytes.len() {
            let mut rest = &bytes[at..];
            let from = rest;
            // The library's own search, many bytes at a time.
            let len = rest.skip_until(b'\n').expect("bytes in memory are read without errors");
            let line = match &from[..len] {
                [line @ .., b'\n'] => line,
                line if last => line,
                _ => break,
            };
            self.line += 1;
            self.take(line, shape, names, steps)?;
            at += len;
        }
        Ok(at)
    }

    pub fn finish(&self) -> Result<(), LogError> {
        match self.version {
            Some(_) => Ok(()),
            None => Err(LogError::text(1, 1, "the recording is empty").help(HEADER)),
        }
    }

    fn take(
        &mut self,
        line: &[u8],
        shape: &Shape,
        names: &mut Vec<Name>,
        steps: &mut Vec<Step>,
    ) -> Result<(), LogError> {
        if self.version.is_none() || line.starts_with(b"fio version ") {
            return self.header(line);
        }
        let (time, from) = match self.version {
            Some(Version::Three) => self.time(line)?,
            _ => (None, 0),
        };
        let Some(parts) = self.parts(line, from)? else { return Ok(()) };
        if let Some(us) = time {
            self.now_us = self.began_us.saturating_add(us);
        }
        let due_ns = shape.moment(self.now_us.saturating_mul(1000));
        let step = |entry| Step { due_ns, entry };
        match parts.action {
            Action::Add => return self.add(&parts, shape, names),
            Action::Wait if time.is_some() => {
                let reason = "version 3 has no wait: its lines begin with their times";
                return Err(self.refuse(parts.columns.action, reason));
            }
            Action::Wait => {
                if parts.offset >= WAIT_LEAST_US {
                    self.now_us = self.now_us.saturating_add(parts.offset);
                }
                return Ok(());
            }
            _ => {}
        }
        let index = self.find(&parts)?;
        let Logged { file, open } = self.files[index];
        let count = &mut self.opened[file.0 as usize];
        let control = |op| Planned { op, file, ..Planned::default() };
        match parts.action {
            Action::Open if !open => {
                *count += 1;
                self.files[index].open = true;
                if *count == 1 {
                    steps.push(step(control(Op::Open)));
                }
            }
            Action::Close if open => {
                *count -= 1;
                self.files[index].open = false;
                if *count == 0 {
                    steps.push(step(control(Op::Close)));
                }
            }
            Action::Io(op) => {
                let entry = self.entry(&parts, op, file, open)?;
                if shape.keeps(op) {
                    steps.push(step(if op.is_sync() { entry } else { shape.place(entry) }));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn header(&mut self, line: &[u8]) -> Result<(), LogError> {
        self.version = Some(match line.trim_ascii_end() {
            b"fio version 2 iolog" => Version::Two,
            b"fio version 3 iolog" => Version::Three,
            line if line.starts_with(b"fio version ") => {
                let reason = "only versions 2 and 3 of iologs are read";
                return Err(self.refuse(12, reason).help(HEADER));
            }
            _ => {
                let reason = "this is neither an iolog of version 2 or 3 nor a binary blktrace";
                return Err(self.refuse(0, reason).help(HEADER));
            }
        });
        self.began_us = self.now_us;
        Ok(())
    }

    /// The time at the start of a line, and where the rest begins.
    fn time(&self, line: &[u8]) -> Result<(Option<u64>, usize), LogError> {
        let start = line.len() - line.trim_ascii_start().len();
        let end = line[start..].iter().position(u8::is_ascii_whitespace);
        let end = end.map_or(line.len(), |len| start + len);
        if start == end {
            return Ok((None, end));
        }
        match number(&line[start..end]) {
            Some(us) => Ok((Some(us), end)),
            None => Err(self
                .refuse(start, format!("{} is no time", shown(&line[start..end])))
                .help("lines of version 3 begin with microseconds since the start")),
        }
    }

    /// Take apart what follows the time; nothing for a blank line.
    fn parts<'a>(&self, line: &'a [u8], from: usize) -> Result<Option<Line<'a>>, LogError> {
        let last = word_before(line, from, line.len());
        let Some((start, end)) = last else { return Ok(None) };
        let mut columns = Columns::default();
        let mut numbers = [0; 2];
        // From the right: up to two numbers, then the action, then the name.
        let (mut count, mut word) = (0, (start, end));
        while count < 2
            && let Some(value) = number(&line[word.0..word.1])
            && let Some(before) = word_before(line, from, word.0)
        {
            (numbers[1], numbers[0]) = (numbers[0], value);
            (columns.len, columns.offset) = (columns.offset, word.0);
            (count, word) = (count + 1, before);
        }
        let text = &line[word.0..word.1];
        let Some(action) = Action::of(text) else { return Err(self.no_action(line, from, word)) };
        columns.action = word.0;
        if count < action.numbers() {
            let reason = format!("{} takes an offset and a length", shown(text));
            return Err(self.refuse(word.0, reason));
        }
        let Some((_, name_end)) = word_before(line, from, word.0) else {
            return Err(self.refuse(word.0, "the name of a file is missing").help(FORM));
        };
        columns.name = from + (line[from..].len() - line[from..].trim_ascii_start().len());
        let name = &line[columns.name..name_end];
        Ok(Some(Line { name, action, offset: numbers[0], len: numbers[1], columns }))
    }

    /// What to say where an action should stand and does not.
    fn no_action(&self, line: &[u8], from: usize, (start, end): (usize, usize)) -> LogError {
        let word = &line[start..end];
        let before = word_before(line, from, start);
        let two_before = before.and_then(|(start, _)| word_before(line, from, start));
        let is_action = |at: Option<(usize, usize)>| {
            at.and_then(|(start, end)| Action::of(&line[start..end])).is_some()
        };
        if is_action(before) || is_action(two_before) {
            return self.refuse(start, format!("{} is no number of bytes", shown(word)));
        }
        let reason = format!("{} is no action; there are {}", shown(word), Action::ALL);
        self.refuse(start, reason).help(FORM)
    }

    fn add(
        &mut self,
        parts: &Line<'_>,
        shape: &Shape,
        names: &mut Vec<Name>,
    ) -> Result<(), LogError> {
        if self.known.contains_key(parts.name) {
            return Ok(());
        }
        let Ok(name) = std::str::from_utf8(parts.name) else {
            return Err(self.refuse(parts.columns.name, "the name is not UTF-8"));
        };
        if !shape.one_file || names.is_empty() {
            names.push(Name::Path(name.to_owned()));
            self.opened.push(0);
        }
        self.known.insert(parts.name.into(), self.files.len());
        self.files.push(Logged { file: FileId(names.len() as u32 - 1), open: false });
        Ok(())
    }

    /// The file of a line.
    fn find(&mut self, parts: &Line<'_>) -> Result<usize, LogError> {
        if self.last_name == parts.name {
            return Ok(self.last);
        }
        let Some(&index) = self.known.get(parts.name) else {
            let reason = format!("{} was not added", shown(parts.name));
            let help = "before the first action on a file goes a line with its name and add";
            return Err(self.refuse(parts.columns.name, reason).help(help));
        };
        self.last = index;
        self.last_name.clear();
        self.last_name.extend(parts.name);
        Ok(index)
    }

    fn entry(
        &self,
        parts: &Line<'_>,
        op: Op,
        file: FileId,
        open: bool,
    ) -> Result<Planned, LogError> {
        let columns = parts.columns;
        if !open {
            let reason = format!("{} is not open", shown(parts.name));
            let help = "before I/O on a file goes a line with its name and open";
            return Err(self.refuse(columns.name, reason).help(help));
        }
        let Ok(len) = u32::try_from(parts.len) else {
            return Err(self.refuse(columns.len, "one I/O moves less than 4 GiB"));
        };
        if op.dir().is_some() && len == 0 {
            return Err(self.refuse(columns.len, "an I/O of 0 bytes cannot be done"));
        }
        if parts.offset.checked_add(parts.len).is_none_or(|end| end > MOST_END) {
            return Err(self.refuse(columns.offset, "it would reach past 2^63 bytes"));
        }
        Ok(Planned { offset: parts.offset, len, file, op })
    }

    fn refuse(&self, at: usize, message: impl Into<String>) -> LogError {
        LogError::text(self.line, at + 1, message)
    }
}

const HEADER: &str = "the first line must be: fio version 3 iolog (or 2)";
const FORM: &str = "a line is: [time] FILE ACTION [OFFSET LENGTH]";

/// The last word of `line[from..end]`: where it begins and ends.
#[inline]
fn word_before(line: &[u8], from: usize, end: usize) -> Option<(usize, usize)> {
    let end = from + line.get(from..end)?.trim_ascii_end().len();
    let blank = line[from..end].iter().rposition(u8::is_ascii_whitespace);
    let start = blank.map_or(from, |blank| from + blank + 1);
    (start < end).then_some((start, end))
}

/// Digits only, as fio writes them.
#[inline]
fn number(word: &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for byte in word {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    (!word.is_empty()).then_some(value)
}

/// A word of the recording, for messages: no control characters, no end.
fn shown(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(60).collect();
    text.escape_debug().to_string()
}
