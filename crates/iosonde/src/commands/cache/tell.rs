//! What was found, for a person and for programs.

use super::ask::{Act, Ask};
use super::files::{File, Found, Part};
use crate::commands::words::{bytes, fact, percent, plural, shown, wrapped};
use iosonde_direct::Fact;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;

/// Files of a walk that are listed at most.
const LISTED_MOST: usize = 40;

/// All of it.
pub fn told(ask: &Ask, found: &Found) -> String {
    if ask.json {
        let text = serde_json::to_string_pretty(&document(ask, found)).expect("keys are strings");
        return text + "\n";
    }
    let mut text = String::new();
    match ask.act {
        Act::Drop => each(&mut text, ask, found, dropped),
        Act::Warm => each(&mut text, ask, found, warmed),
        Act::Show | Act::Watch => {
            let _ = writeln!(text, "{HEAD}");
            each(&mut text, ask, found, held);
        }
    }
    if found.files.len() > 1 {
        total(&mut text, ask, found);
    }
    for path in found.elsewhere.iter().take(5) {
        wrapped(&mut text, "", &format!("{} is another file system: left out", shown(path)));
    }
    text
}

/// How far the reading of a file is: one line, not longer than a terminal.
pub fn progress(file: &File, at: u64) -> String {
    let name: String = shown(&file.path).chars().rev().take(40).collect();
    let name: String = name.chars().rev().collect();
    let share = percent(at, file.bytes);
    format!("{name}: {} of {} ({share} %)  ", bytes(at), bytes(file.bytes))
}

const HEAD: &str = "      size    cached             dirty  writeback   evicted  where";

fn each(text: &mut String, ask: &Ask, found: &Found, one: fn(&mut String, &File)) {
    let mut files: Vec<&File> = found.files.iter().collect();
    let mut left = 0;
    if ask.recursive {
        let size = |file: &&File| std::cmp::Reverse(file.cached().get().unwrap_or(u64::MAX));
        files.sort_by_key(size);
        files.retain(|file| file.cached().get() != Some(0) || file.failed.is_some());
        left = files.len().saturating_sub(LISTED_MOST);
        files.truncate(LISTED_MOST);
    }
    files.into_iter().for_each(|file| one(text, file));
    if left > 0 {
        let _ = writeln!(text, "and {left} more file{} with less", plural(left as u64));
    }
}

fn held(text: &mut String, file: &File) {
    let _ = writeln!(text, "{}", shown(&file.path));
    figures(text, file);
    if file.is_memory() {
        let kind = file.file_system.as_deref().unwrap_or_default();
        wrapped(text, "  ", &format!("{kind}: memory is its storage, not a cache of it"));
    }
}

fn figures(text: &mut String, file: &File) {
    let share = match file.cached() {
        Fact::Known(cached) => format!("{} %", percent(cached, file.bytes)),
        Fact::Unknown(_) => String::new(),
    };
    let line = format!(
        "{:>10}{:>10}{share:>7}{:>11}{:>11}{:>10}  {}",
        bytes(file.bytes),
        cell(&file.cached()),
        cell(&file.dirty()),
        cell(&file.writeback()),
        cell(&file.evicted()),
        bar(&file.parts),
    );
    let _ = writeln!(text, "{}", line.trim_end());
    unknown(text, file);
}

/// Why figures are unknown, once for each reason.
fn unknown(text: &mut String, file: &File) {
    match (file.cached().why(), file.dirty().why()) {
        (Some(why), _) => wrapped(text, "  ", &format!("unknown: {why}")),
        (None, Some(why)) => {
            wrapped(text, "  ", &format!("dirty, writeback and evicted are unknown: {why}"));
        }
        (None, None) => {}
    }
}

fn cell(figure: &Fact<u64>) -> String {
    figure.get().map_or_else(|| "?".to_owned(), bytes)
}

/// Where in the file: `#` all, `+` half or more, `-` some, `.` nothing.
fn bar(parts: &[Part]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mark = |part: &Part| match part.cached {
        0 => '.',
        cached if cached >= part.bytes => '#',
        cached if cached >= part.bytes / 2 => '+',
        _ => '-',
    };
    format!("[{}]", parts.iter().map(mark).collect::<String>())
}

fn dropped(text: &mut String, file: &File) {
    let before = file.before.clone().unwrap_or_else(|| file.cached());
    let after = file.cached();
    let said = match (&file.failed, &before, &after) {
        (Some(why), ..) => format!("was not dropped: {why}"),
        (None, Fact::Known(0), Fact::Known(0)) => "nothing of it was in memory".to_owned(),
        (None, Fact::Known(before), Fact::Known(0)) => {
            format!("{} dropped, nothing stays", bytes(*before))
        }
        (None, Fact::Known(before), Fact::Known(after)) => {
            let gone = before.saturating_sub(*after);
            let why = file.stayed.as_deref().unwrap_or("why is unknown");
            format!("{} dropped, {} stays: {why}", bytes(gone), bytes(*after))
        }
        (None, Fact::Unknown(why), _) | (None, _, Fact::Unknown(why)) => {
            format!("was asked to go; whether it did is unknown: {why}")
        }
    };
    wrapped(text, "", &format!("{}: {said}", shown(&file.path)));
}

fn warmed(text: &mut String, file: &File) {
    let before = file.before.as_ref().and_then(Fact::get).unwrap_or(0);
    let said = match (&file.failed, file.cached()) {
        (Some(why), _) => format!("was not read: {why}"),
        (None, Fact::Unknown(why)) => format!("was read; what is in memory is unknown: {why}"),
        (None, Fact::Known(cached)) if cached >= file.bytes => {
            format!("all {} in memory, {} before", bytes(file.bytes), bytes(before))
        }
        (None, Fact::Known(0)) if file.file_system.is_none() => {
            "was read; nothing stays, as the kernel drops a device's cache when the last program \
             closes it"
                .to_owned()
        }
        (None, Fact::Known(cached)) => format!(
            "all but {} of {} in memory, {} before; the rest was not read, or did not stay: memory \
             is short, a control group's limit is reached, or something takes what lies idle",
            bytes(file.bytes - cached),
            bytes(file.bytes),
            bytes(before)
        ),
    };
    wrapped(text, "", &format!("{}: {said}", shown(&file.path)));
}

/// The sums; a sum of which a part is unknown is.
struct Sum {
    bytes: u64,
    cached: Fact<u64>,
    dirty: Fact<u64>,
    writeback: Fact<u64>,
    evicted: Fact<u64>,
}

impl Sum {
    fn of(files: &[File]) -> Sum {
        let sum = |figure: fn(&File) -> Fact<u64>| {
            let unknown = files.iter().filter(|file| figure(file).known().is_none()).count();
            match unknown {
                0 => Fact::Known(files.iter().filter_map(|file| figure(file).get()).sum()),
                _ => Fact::unknown(format!("it is of {unknown} of {} files", files.len())),
            }
        };
        Sum {
            bytes: files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes)),
            cached: sum(File::cached),
            dirty: sum(File::dirty),
            writeback: sum(File::writeback),
            evicted: sum(File::evicted),
        }
    }

    fn json(&self) -> Value {
        json!({
            "bytes": self.bytes,
            "cached_bytes": fact(&self.cached),
            "dirty_bytes": fact(&self.dirty),
            "writeback_bytes": fact(&self.writeback),
            "evicted_bytes": fact(&self.evicted),
        })
    }
}

fn total(text: &mut String, ask: &Ask, found: &Found) {
    let sum = Sum::of(&found.files);
    let count = found.files.len();
    let share = match &sum.cached {
        Fact::Known(cached) => format!("{} %", percent(*cached, sum.bytes)),
        Fact::Unknown(_) => String::new(),
    };
    if ask.act != Act::Show {
        let _ = writeln!(text, "{HEAD}");
    }
    let _ = writeln!(
        text,
        "all {count} files\n{:>10}{:>10}{share:>7}{:>11}{:>11}{:>10}",
        bytes(sum.bytes),
        cell(&sum.cached),
        cell(&sum.dirty),
        cell(&sum.writeback),
        cell(&sum.evicted),
    );
    if let Some(why) = sum.cached.why() {
        wrapped(text, "  ", &format!("what is in memory is unknown: {why}"));
    }
}

/// One second of a watch.
pub fn second(ask: &Ask, files: &[File], second: u64) -> String {
    let sum = Sum::of(files);
    if ask.json {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut value = json!({ "unix_ms": now.as_millis() as u64 });
        if let (Value::Object(value), Value::Object(more)) = (&mut value, sum.json()) {
            value.extend(more);
        }
        return format!("{value}\n");
    }
    let mut text = String::new();
    if second.is_multiple_of(20) {
        let _ =
            writeln!(text, "    second    cached             dirty  writeback   evicted  where");
    }
    let share = match &sum.cached {
        Fact::Known(cached) => format!("{} %", percent(*cached, sum.bytes)),
        Fact::Unknown(_) => String::new(),
    };
    let place = if let [file] = files { bar(&file.parts) } else { String::new() };
    let line = format!(
        "{second:>10}{:>10}{share:>7}{:>11}{:>11}{:>10}  {place}",
        cell(&sum.cached),
        cell(&sum.dirty),
        cell(&sum.writeback),
        cell(&sum.evicted),
    );
    let _ = writeln!(text, "{}", line.trim_end());
    if second == 0 {
        if let [file] = files {
            unknown(&mut text, file);
        } else if let Some(why) = sum.cached.why() {
            wrapped(&mut text, "  ", &format!("what is in memory is unknown: {why}"));
        }
    }
    text
}

fn document(ask: &Ask, found: &Found) -> Value {
    let failed = found
        .failed
        .iter()
        .map(|(path, why)| json!({ "path": path.to_string_lossy(), "why": why }));
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "cache",
        "schema": SCHEMA,
        "did": ask.act.word(),
        "files": found.files.iter().map(file_json).collect::<Vec<_>>(),
        "total": Sum::of(&found.files).json(),
        "failed": failed.collect::<Vec<_>>(),
        "left_out": found.elsewhere.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
    })
}

fn file_json(file: &File) -> Value {
    let part = |part: &Part| json!({ "offset": part.offset, "bytes": part.bytes, "cached_bytes": part.cached });
    json!({
        "path": file.path.to_string_lossy(),
        "file_system": file.file_system,
        "memory_is_storage": file.is_memory(),
        "bytes": file.bytes,
        "cached_bytes": fact(&file.cached()),
        "dirty_bytes": fact(&file.dirty()),
        "writeback_bytes": fact(&file.writeback()),
        "evicted_bytes": fact(&file.evicted()),
        "parts": file.parts.iter().map(part).collect::<Vec<_>>(),
        "cached_bytes_before": file.before.as_ref().map(fact),
        "stayed": file.stayed,
        "error": file.failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_where() {
        let part = |bytes, cached| Part { offset: 0, bytes, cached };
        assert_eq!(bar(&[part(8, 8), part(8, 4), part(8, 1), part(8, 0)]), "[#+-.]");
        assert_eq!(bar(&[]), "");
    }
}
