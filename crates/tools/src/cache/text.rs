//! The result as text and as JSON.

use super::arguments::{CacheAction, CacheArgs};
use super::files::{CachedFile, CachedFiles, FilePart};
use iosonde_base::text::{counted, percent_of};
use iosonde_command::format::{bytes, printable, wrapped};
use iosonde_direct::Fact;
use serde_json::{Value, json};
use std::fmt::Write;

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;

/// Files below directories that are listed.
const LISTED_MOST: usize = 40;

/// The text or JSON of the result.
pub fn report(arguments: &CacheArgs, found: &CachedFiles) -> String {
    if arguments.json {
        return iosonde_command::document::text(&document(arguments, found));
    }
    let mut text = String::new();
    match arguments.action() {
        CacheAction::Drop => each(&mut text, arguments, found, show_dropped),
        CacheAction::Warm => each(&mut text, arguments, found, show_warmed),
        CacheAction::Show | CacheAction::Watch => {
            let _ = writeln!(text, "{HEAD}");
            each(&mut text, arguments, found, show_file);
        }
    }
    if found.files.len() > 1 {
        total(&mut text, arguments, found);
    }
    for path in found.other_file_systems.iter().take(5) {
        wrapped(&mut text, "", &format!("{} is on another file system: skipped", printable(path)));
    }
    text
}

/// The progress of reading a file: one line, at most 80 columns.
pub fn progress(file: &CachedFile, at: u64) -> String {
    let name: String = printable(&file.path).chars().rev().take(40).collect();
    let name: String = name.chars().rev().collect();
    let share = percent_of(at, file.bytes);
    format!("{name}: {} of {} ({share})  ", bytes(at), bytes(file.bytes))
}

const HEAD: &str = "      size    cached             dirty  writeback   evicted  where";

fn each(
    text: &mut String,
    arguments: &CacheArgs,
    found: &CachedFiles,
    one: fn(&mut String, &CachedFile),
) {
    let mut files: Vec<&CachedFile> = found.files.iter().collect();
    let mut left = 0;
    if arguments.recursive {
        let size = |file: &&CachedFile| std::cmp::Reverse(file.cached().get().unwrap_or(u64::MAX));
        iosonde_base::sort_by_key(&mut files, size);
        files.retain(|file| file.cached().get() != Some(0) || file.failed.is_some());
        left = files.len().saturating_sub(LISTED_MOST);
        files.truncate(LISTED_MOST);
    }
    files.into_iter().for_each(|file| one(text, file));
    if left > 0 {
        let _ = writeln!(text, "and {} with less cached", counted(left as u64, "more file"));
    }
}

fn show_file(text: &mut String, file: &CachedFile) {
    let _ = writeln!(text, "{}", printable(&file.path));
    figures(text, file);
    if file.is_memory() {
        let kind = file.file_system.as_deref().unwrap_or_default();
        wrapped(
            text,
            "  ",
            &format!("{kind} keeps files in memory: this is the storage, not a cache"),
        );
    }
}

fn figures(text: &mut String, file: &CachedFile) {
    let share = match file.cached() {
        Fact::Known(cached) => percent_of(cached, file.bytes),
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

/// Why numbers are unknown, once for each reason.
fn unknown(text: &mut String, file: &CachedFile) {
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
fn bar(parts: &[FilePart]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mark = |part: &FilePart| match part.cached {
        0 => '.',
        cached if cached >= part.bytes => '#',
        cached if cached >= part.bytes / 2 => '+',
        _ => '-',
    };
    format!("[{}]", parts.iter().map(mark).collect::<String>())
}

fn show_dropped(text: &mut String, file: &CachedFile) {
    let before = file.before.clone().unwrap_or_else(|| file.cached());
    let after = file.cached();
    let result = match (&file.failed, &before, &after) {
        (Some(why), ..) => format!("not dropped: {why}"),
        (None, Fact::Known(0), Fact::Known(0)) => "was not cached".to_owned(),
        (None, Fact::Known(before), Fact::Known(0)) => {
            format!("{} dropped, nothing still cached", bytes(*before))
        }
        (None, Fact::Known(before), Fact::Known(after)) => {
            let gone = before.saturating_sub(*after);
            let why = file.still_cached.as_deref().unwrap_or("the reason is unknown");
            format!("{} dropped, {} still cached: {why}", bytes(gone), bytes(*after))
        }
        (None, Fact::Unknown(why), _) | (None, _, Fact::Unknown(why)) => {
            format!("drop requested; the result is unknown: {why}")
        }
    };
    wrapped(text, "", &format!("{}: {result}", printable(&file.path)));
}

fn show_warmed(text: &mut String, file: &CachedFile) {
    let before = file.before.as_ref().and_then(Fact::get).unwrap_or(0);
    let result = match (&file.failed, file.cached()) {
        (Some(why), _) => format!("not read: {why}"),
        (None, Fact::Unknown(why)) => format!("read; how much is cached is unknown: {why}"),
        (None, Fact::Known(cached)) if cached >= file.bytes => {
            format!("all {} cached, {} before", bytes(file.bytes), bytes(before))
        }
        (None, Fact::Known(0)) if file.file_system.is_none() => {
            "read, but nothing is cached: the kernel drops a device's cache when the last program \
             closes it"
                .to_owned()
        }
        (None, Fact::Known(cached)) => format!(
            "{} of {} cached, {} before; the rest was not read or was evicted: memory is short, a \
             control group's limit is reached, or idle pages are reclaimed",
            bytes(cached),
            bytes(file.bytes),
            bytes(before)
        ),
    };
    wrapped(text, "", &format!("{}: {result}", printable(&file.path)));
}

/// The sums; unknown where a summand is.
struct CacheSums {
    bytes: u64,
    cached: Fact<u64>,
    dirty: Fact<u64>,
    writeback: Fact<u64>,
    evicted: Fact<u64>,
}

impl CacheSums {
    fn of(files: &[CachedFile]) -> CacheSums {
        let sum = |figure: fn(&CachedFile) -> Fact<u64>| {
            let unknown = files.iter().filter(|file| figure(file).known().is_none()).count();
            match unknown {
                0 => Fact::Known(files.iter().filter_map(|file| figure(file).get()).sum()),
                _ => Fact::unknown(format!("unknown for {unknown} of {} files", files.len())),
            }
        };
        CacheSums {
            bytes: files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes)),
            cached: sum(CachedFile::cached),
            dirty: sum(CachedFile::dirty),
            writeback: sum(CachedFile::writeback),
            evicted: sum(CachedFile::evicted),
        }
    }

    fn json(&self) -> Value {
        json!({
            "bytes": self.bytes,
            "cached_bytes": self.cached,
            "dirty_bytes": self.dirty,
            "writeback_bytes": self.writeback,
            "evicted_bytes": self.evicted,
        })
    }
}

fn total(text: &mut String, arguments: &CacheArgs, found: &CachedFiles) {
    let sum = CacheSums::of(&found.files);
    let count = found.files.len();
    let share = match &sum.cached {
        Fact::Known(cached) => percent_of(*cached, sum.bytes),
        Fact::Unknown(_) => String::new(),
    };
    if arguments.action() != CacheAction::Show {
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
        wrapped(text, "  ", &format!("cached is unknown: {why}"));
    }
}

/// One line of `--watch`.
pub fn second(arguments: &CacheArgs, files: &[CachedFile], second: u64) -> String {
    let sum = CacheSums::of(files);
    if arguments.json {
        let mut value = json!({ "unix_ms": iosonde_base::time::unix_ms() });
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
        Fact::Known(cached) => percent_of(*cached, sum.bytes),
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
            wrapped(&mut text, "  ", &format!("cached is unknown: {why}"));
        }
    }
    text
}

fn document(arguments: &CacheArgs, found: &CachedFiles) -> Value {
    let failed = found
        .failed
        .iter()
        .map(|(path, why)| json!({ "path": path.to_string_lossy(), "reason": why }));
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "cache",
        "schema": SCHEMA,
        "action": arguments.action().name(),
        "files": found.files.iter().map(file_json).collect::<Vec<_>>(),
        "total": CacheSums::of(&found.files).json(),
        "failed": failed.collect::<Vec<_>>(),
        "skipped": found.other_file_systems.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
    })
}

fn file_json(file: &CachedFile) -> Value {
    let part = |part: &FilePart| json!({ "offset": part.offset, "bytes": part.bytes, "cached_bytes": part.cached });
    json!({
        "path": file.path.to_string_lossy(),
        "file_system": file.file_system,
        "memory_is_storage": file.is_memory(),
        "bytes": file.bytes,
        "cached_bytes": file.cached(),
        "dirty_bytes": file.dirty(),
        "writeback_bytes": file.writeback(),
        "evicted_bytes": file.evicted(),
        "parts": file.parts.iter().map(part).collect::<Vec<_>>(),
        "cached_bytes_before": file.before,
        "still_cached_reason": file.still_cached,
        "error": file.failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_where() {
        let part = |bytes, cached| FilePart { offset: 0, bytes, cached };
        assert_eq!(bar(&[part(8, 8), part(8, 4), part(8, 1), part(8, 0)]), "[#+-.]");
        assert_eq!(bar(&[]), "");
    }
}
