//! A job, or the defaults of jobs, while options are being added to it.

use std::borrow::Cow;

use iosonde_options::{Diagnostic, OptionDef, Origin, ValueKind};

use crate::cli::notice::Notice;
use crate::cli::parsed::ParsedJob;
use crate::cli::vocabulary;
use crate::job::{JobSpec, TypedOption};
use crate::text::arithmetic::{self, ArithmeticError, Suffixes};
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
    missing: Vec<String>,
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

/// A job in the making.
#[derive(Clone, Debug, Default)]
pub struct JobDraft {
    spec: JobSpec,
    globals: Vec<TypedOption>,
    typed: Vec<TypedOption>,
}

impl JobDraft {
    /// A job that begins with all of these settings as its defaults.
    pub fn heir(&self) -> JobDraft {
        let globals = self.globals.iter().chain(&self.typed).cloned().collect();
        JobDraft { spec: self.spec.clone(), globals, typed: Vec::new() }
    }

    /// The options given here, without inherited ones.
    pub fn typed(&self) -> &[TypedOption] {
        &self.typed
    }

    /// The engine's name, as the table has it.
    pub fn engine(&self) -> String {
        self.spec.engine.ioengine.get().name().to_string()
    }

    /// What `name=` says, if it was given.
    pub fn name(&self) -> Option<String> {
        let own = self.typed.iter().rfind(|typed| typed.name == "name");
        own.and_then(|typed| typed.value.as_deref().map(|value| value.trim_start().to_string()))
    }

    /// Accept an option, or report why not.
    pub fn take(&mut self, given: &Given<'_>, notices: &mut Vec<Notice>) {
        let value = given.value.map(str::trim_start);
        if value == Some("") || (value.is_none() && given.def.bare.is_none()) {
            let diagnostic =
                Diagnostic::error("needs a value").about(given.def.name, &given.origin);
            notices.push(Notice { diagnostic, fio: given.missing.clone() });
            return;
        }
        let worked_out = value.map(|value| self.work_out(given.def, value)).transpose();
        let value = match &worked_out {
            Ok(value) => value.as_deref(),
            Err(error) => {
                let diagnostic = format!("invalid expression in {}: {error}", given.written);
                let diagnostic = Diagnostic::error(diagnostic).about(given.def.name, &given.origin);
                let fio = vec![format!("fio: failed parsing {}", given.written)];
                notices.push(Notice { diagnostic, fio });
                return;
            }
        };
        if vocabulary::set(&mut self.spec, given, value, notices) {
            self.typed.push(TypedOption {
                name: given.def.name,
                value: given.value.map(str::to_string),
                origin: given.origin.clone(),
            });
        }
    }

    /// The finished job. One that begins a later file waits for all before it.
    pub fn into_job(mut self, name: String, origin: Origin, begins_file: bool) -> ParsedJob {
        if begins_file {
            vocabulary::imply_stonewall(&mut self.spec);
        }
        let JobDraft { spec, globals, typed } = self;
        ParsedJob { name, spec, globals, typed, origin, begins_file }
    }

    /// Arithmetic, in options that hold numbers.
    fn work_out<'v>(
        &self,
        def: &OptionDef,
        value: &'v str,
    ) -> Result<Cow<'v, str>, ArithmeticError> {
        let suffixes = match def.kind {
            ValueKind::Int | ValueKind::Size | ValueKind::Amount | ValueKind::Range => {
                Suffixes::Size { kb_base: *self.spec.units.kb_base.get() }
            }
            ValueKind::Time => Suffixes::Time,
            ValueKind::Float => Suffixes::Plain,
            ValueKind::Text
            | ValueKind::Bool
            | ValueKind::Word
            | ValueKind::List
            | ValueKind::Form => {
                return Ok(Cow::Borrowed(value));
            }
        };
        arithmetic::rewrite(value, suffixes)
    }
}
