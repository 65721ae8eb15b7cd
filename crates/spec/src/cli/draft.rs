//! A job, or the defaults of jobs, while options are being added to it.

use std::borrow::Cow;

use iosonde_options::{Diagnostic, OptionDef, Origin, ValueKind};

use crate::cli::given::Given;
use crate::cli::notice::Notice;
use crate::cli::parsed::ParsedJob;
use crate::cli::vocabulary;
use crate::job::{JobSpec, TypedOption};
use crate::text::arithmetic::{self, ArithmeticError, Suffixes};

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
        // There may be thousands, and nothing is added to them any more.
        self.spec.shrink();
        self.typed.shrink_to_fit();
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
