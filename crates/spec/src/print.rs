//! A job as a job file that reads back the same: for reports, and for handing a job on.
//!
//! Written is what was set or implied, as it is meant now, not as it was typed. A job file has no
//! way to quote, so a few values that a command line can hold cannot be written: those are refused.

use std::fmt;

use iosonde_options::OptionDef;

use crate::engine_options;
use crate::job::{self, JobSpec};
use crate::text::lex::LINE_BYTES_MAX;

/// A value that a job file cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unprintable {
    /// The option.
    pub option: &'static str,
    /// Its value.
    pub value: String,
    /// What of it a job file cannot hold.
    pub why: &'static str,
}

impl fmt::Display for Unprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write {}={:?} in a job file: {}", self.option, self.value, self.why)
    }
}

impl std::error::Error for Unprintable {}

/// The section of a job file that describes this job, which is called `name` whatever its own
/// option of that name says.
///
/// # Errors
/// When a job file cannot hold a value.
pub fn print(name: &str, spec: &JobSpec) -> Result<String, Unprintable> {
    let mut out = String::new();
    // The name goes into a separate line where a header would lose or misread it.
    if fits_a_header(name) {
        out.push_str(&format!("[{name}]\n"));
    } else {
        out.push_str("[job]\n");
        write(&mut out, "name", name)?;
    }
    for row in in_order(spec) {
        let value = spec.show(row.name).unwrap_or_default();
        // Empty, as is the default.
        let silent = value.is_empty() && row.default.is_empty();
        if !silent {
            write(&mut out, row.name, &value)?;
        }
    }
    // Options of an engine that was changed since have no effect.
    let taken = engine_options::rows(spec.engine.ioengine.get().name());
    for option in spec.private().iter().filter(|o| taken.iter().any(|row| row.name == o.name)) {
        write(&mut out, option.name, &option.text())?;
    }
    Ok(out)
}

/// The options that are set: implied ones, then those typed, in the order they were typed last.
///
/// Reading a typed one back implies others again, and would overwrite what stood after it.
fn in_order(spec: &JobSpec) -> Vec<&'static OptionDef> {
    let last_typed =
        |row: &OptionDef| spec.typed().iter().rposition(|typed| typed.name == row.name);
    let set = |row: &&OptionDef| row.name != "name" && spec.is_set(row.name);
    let mut rows: Vec<_> = job::all().filter(set).collect();
    iosonde_base::sort_by_key(&mut rows, |row| last_typed(row));
    rows
}

fn write(out: &mut String, option: &'static str, value: &str) -> Result<(), Unprintable> {
    match value_obstacle(option, value) {
        None => {
            out.push_str(&format!("{option}={value}\n"));
            Ok(())
        }
        Some(why) => Err(Unprintable { option, value: value.to_string(), why }),
    }
}

fn value_obstacle(option: &str, value: &str) -> Option<&'static str> {
    if value.is_empty() {
        return Some("an empty value cannot be read back");
    }
    if value.contains([';', '#']) {
        return Some("; and # start a comment");
    }
    if value.contains(['\n', '\0']) {
        return Some("it contains a line break or NUL");
    }
    if value.trim() != value {
        return Some("leading and trailing blanks are lost");
    }
    if ["${", "$ncpus", "$pagesize", "$mb_memory"].iter().any(|word| value.contains(word)) {
        return Some("it would be expanded");
    }
    if option.len() + 1 + value.len() > LINE_BYTES_MAX {
        return Some("the line would be too long");
    }
    None
}

/// Whether `[name]` reads back as that name, and not as defaults for jobs.
fn fits_a_header(name: &str) -> bool {
    let breaks = name.contains([';', '#', '\n', '\0']);
    !breaks && !name.starts_with("global") && name.len() + 2 <= LINE_BYTES_MAX
}
