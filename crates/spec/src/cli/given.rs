//! One option as it was given, on the command line or in a job file.

use std::borrow::Cow;

use iosonde_options::{OptionDef, Origin};

use crate::text::section::OptionLine;

/// One option that was given, before its value is checked.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// Its row.
    pub def: &'static OptionDef,
    /// The value as written; `None` when it stood bare.
    pub value: Option<&'a str>,
    /// What fio's message quotes: the line, or `name=value`.
    pub written: Cow<'a, str>,
    /// Where the name stands, by which it is known.
    pub origin: Origin,
    /// What fio says when a value is missing.
    pub missing: Vec<String>,
}

impl<'a> Given<'a> {
    /// `--name=value`.
    pub fn on_the_command_line(
        def: &'static OptionDef,
        name: &str,
        value: Option<&'a str>,
        origin: &Origin,
    ) -> Self {
        let written = match value {
            Some(value) => format!("{name}={value}"),
            None => name.to_string(),
        };
        let missing = match def.bare {
            Some(_) => vec![format!("fio: failed parsing {written}")],
            None => vec![format!("fio: option {name} requires an argument")],
        };
        Given { def, value, written: written.into(), origin: origin.clone(), missing }
    }

    /// A line of a job file.
    pub fn in_a_file(def: &'static OptionDef, entry: &'a OptionLine) -> Self {
        let failed = format!("fio: failed parsing {}", entry.written);
        let missing = match entry.value {
            Some(_) => vec![failed],
            None => vec![format!("Option {} requires an argument", entry.name), failed],
        };
        Given {
            def,
            value: entry.value.as_deref(),
            written: Cow::Borrowed(&entry.written),
            origin: entry.place.clone(),
            missing,
        }
    }
}
