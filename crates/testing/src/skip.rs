//! Tests that cannot run here, reported so that somebody reads it.
//!
//! libtest counts a test that returns early as passed and hides what it
//! printed. A skip is therefore also appended to the file that `IOSONDE_SKIPS`
//! names; `cargo run -p xtask -- test` lists and counts them at the end. With
//! `REQUIRE_ALL=1` a skip fails its test.

use std::fmt::{Arguments, Display};
use std::fs::OpenOptions;
use std::io::Write;

/// Skip the rest of this test: record why, and return from the function.
#[macro_export]
macro_rules! skip {
    ($($why:tt)+) => {
        return $crate::skip::test(::std::format_args!($($why)+))
    };
}

/// Skip a part of this test: record why, and go on.
#[macro_export]
macro_rules! skip_part {
    ($($why:tt)+) => {
        $crate::skip::part(::std::format_args!($($why)+))
    };
}

/// Record that this test does not run here. The caller returns.
#[track_caller]
pub fn test(why: Arguments<'_>) {
    record("test", why);
}

/// Record that a part of this test does not run here.
#[track_caller]
pub fn part(why: Arguments<'_>) {
    record("part", why);
}

/// The value, or `None` after recording that this test does not run here.
#[track_caller]
pub fn or_skip<T>(made: Result<T, impl Display>) -> Option<T> {
    match made {
        Ok(value) => Some(value),
        Err(why) => {
            test(format_args!("{why}"));
            None
        }
    }
}

/// The value, or `None` after recording that a part of this test does not run here.
#[track_caller]
pub fn or_skip_part<T>(made: Result<T, impl Display>) -> Option<T> {
    match made {
        Ok(value) => Some(value),
        Err(why) => {
            part(format_args!("{why}"));
            None
        }
    }
}

#[track_caller]
fn record(extent: &str, why: Arguments<'_>) {
    assert!(!all_are_required(), "skipped, and REQUIRE_ALL is set: {why}");
    eprintln!("skipped: {why}");
    let Some(path) = std::env::var_os("IOSONDE_SKIPS") else { return };
    let line = line(extent, &program(), &test_name(), &why.to_string());
    // Opened for appending and written at once: tests of several processes do
    // not mix their lines.
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("record a skip in {}: {error}", path.display()));
}

fn all_are_required() -> bool {
    std::env::var_os("REQUIRE_ALL").is_some_and(|value| !value.is_empty() && value != "0")
}

/// One skip: four fields with tabs between them.
fn line(extent: &str, program: &str, test: &str, why: &str) -> String {
    let why: Vec<&str> = why.split_whitespace().collect();
    format!("{extent}\t{program}\t{test}\t{}\n", why.join(" "))
}

/// The crate and the test program: `iosonde/ledger`.
fn program() -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let path = std::env::current_exe().unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo appends a hash to the name of the target.
    let target = stem.rsplit_once('-').map_or(stem.as_str(), |(target, _)| target);
    format!("{package}/{target}")
}

/// libtest names the thread after the test, unless it runs one test at a time.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("main").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_several_lines_is_one_line_of_the_file() {
        assert_eq!(line("part", "a/b", "c::d", "no\n\tdevice "), "part\ta/b\tc::d\tno device\n");
    }

    #[test]
    fn a_skip_names_its_program_and_its_test() {
        assert_eq!(program(), "iosonde-testing/iosonde_testing");
        let named = std::thread::Builder::new().name("one::test".into()).spawn(test_name);
        assert_eq!(named.unwrap().join().unwrap(), "one::test");
    }

    #[test]
    fn what_was_made_is_passed_on() {
        assert_eq!(or_skip(Ok::<_, String>(7)), Some(7));
        assert_eq!(or_skip_part(Ok::<_, String>(7)), Some(7));
    }
}
