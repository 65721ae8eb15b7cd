//! A job as specified: its topics of options.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use iosonde_options::{
    Built, Diagnostic, OptionDef, Origin, ParseContext, Shared, Topic, ValueError, ValueKind,
    nearest,
};

use crate::engine_options::{self, PrivateOption};
use crate::rules;
use crate::topics::{self, *};

macro_rules! job_spec {
    ($( $(#[doc = $doc:literal])* $field:ident : $topic:ident, )*) => {
        /// A job as specified: one field for each topic of options. Topics that nobody has
        /// changed are one with those of the job that it was cloned from.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct JobSpec {
            $( $(#[doc = $doc])* pub $field: Shared<$topic>, )*
            typed: Vec<TypedOption>,
            private: Vec<PrivateOption>,
            iec_as_si: Vec<(&'static str, String)>,
        }

        const TABLES: &[&[OptionDef]] = &[$( topics::$topic::OPTIONS, )*];

        impl JobSpec {
            fn topics(&self) -> [&dyn Topic; TABLES.len()] {
                [$( &*self.$field, )*]
            }

            /// Share each topic that is the same as in `other`: rules write the same into
            /// thousands of jobs.
            pub fn share_with(&mut self, other: &JobSpec) {
                $( self.$field.share_with(&other.$field); )*
            }

            fn set_in_topic(
                &mut self,
                name: &str,
                text: &str,
                origin: Origin,
                context: &mut ParseContext,
            ) -> Option<Result<(), ValueError>> {
                $(
                    // Writing to a topic copies it, so first whether it is the one.
                    if self.$field.origin(name).is_some() {
                        return self.$field.set(name, text, origin, context);
                    }
                )*
                None
            }
        }
    };
}

topics::each_topic!(job_spec);

/// One option as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedOption {
    /// Its canonical name.
    pub name: &'static str,
    /// The text after `=`; `None` when there was none.
    pub value: Option<String>,
    /// Where it was typed.
    pub origin: Origin,
}

/// Why an option was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetError {
    /// The name is unknown.
    Unknown {
        /// As it was typed.
        name: String,
        /// A known name that looks like it.
        nearest: Option<&'static str>,
    },
    /// The option needs a value and got none.
    NeedsValue {
        /// The canonical name.
        name: &'static str,
        /// Whether there was a `=` with nothing after it.
        empty: bool,
    },
    /// The value is not one of this option's.
    Value {
        /// The canonical name.
        name: &'static str,
        /// What was typed after `=`.
        text: String,
        /// Why it was refused.
        error: ValueError,
    },
    /// fio has retired the option and refuses it.
    Deprecated {
        /// The canonical name.
        name: &'static str,
        /// What was typed after `=`.
        text: String,
        /// What to do instead.
        instead: &'static str,
    },
}

impl SetError {
    /// The same as a diagnostic at `origin`.
    pub fn diagnostic(&self, origin: &Origin) -> Diagnostic {
        let (option, found) = match self {
            SetError::Unknown { name, nearest } => {
                let found = Diagnostic::error("unknown option");
                let found = match nearest {
                    Some(nearest) => found.help(format!("did you mean {nearest}?")),
                    None => found,
                };
                (name.as_str(), found)
            }
            SetError::NeedsValue { name, .. } => (*name, Diagnostic::error("needs a value")),
            SetError::Value { name, error, .. } => (*name, Diagnostic::error(error.to_string())),
            SetError::Deprecated { name, instead, .. } => {
                (*name, Diagnostic::error("is retired").help(*instead))
            }
        };
        found.about(option, origin)
    }

    /// The lines that fio prints for it, each ending in a line feed. (What fio prints around
    /// them differs between command line and job file, and is up to the caller.)
    pub fn fio(&self) -> String {
        match self {
            SetError::Unknown { nearest, .. } => {
                nearest.map_or(String::new(), |nearest| format!("Did you mean {nearest}?\n"))
            }
            SetError::NeedsValue { name, empty: false } => {
                format!("Option {name} requires an argument\nfio: failed parsing {name}\n")
            }
            SetError::NeedsValue { name, empty: true } => format!("fio: failed parsing {name}=\n"),
            SetError::Value { name, text, error } => {
                let before = error.fio.as_ref().map_or(String::new(), |line| format!("{line}\n"));
                let words = valid_values(lookup(name));
                format!("{before}fio: failed parsing {name}={text}\n{words}")
            }
            SetError::Deprecated { name, text, .. } => {
                format!("fio: failed parsing {name}={text}\nOption {name} is deprecated\n")
            }
        }
    }
}

/// The words of an option as fio lists them under a failed value.
fn valid_values(row: Option<&OptionDef>) -> String {
    let choices = row.map_or(&[][..], |row| row.choices);
    let mut lines = String::new();
    for (i, (word, help)) in choices.iter().enumerate() {
        let label = if i == 0 { "valid values" } else { "" };
        lines.push_str(&format!("{label:>20}: {word:<10} {help}\n"));
    }
    lines
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.diagnostic(&Origin::Default);
        write!(f, "{}: {}", found.option, found.message)?;
        found.help.map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for SetError {}

impl JobSpec {
    /// Sets an option by name or alias. `None` is an option given without `=value`.
    ///
    /// An option of an engine is kept as text until [`JobSpec::engine_settings`] reads it.
    /// Values that look like mistakes are accepted with warnings.
    ///
    /// # Errors
    /// For an unknown name or a refused value; the job is unchanged.
    pub fn set(
        &mut self,
        name: &str,
        value: Option<&str>,
        origin: Origin,
    ) -> Result<Vec<Diagnostic>, SetError> {
        match lookup(name) {
            Some(row) => self.set_row(row, value, origin),
            None => self.set_private(name, value, origin),
        }
    }

    fn set_row(
        &mut self,
        row: &'static OptionDef,
        value: Option<&str>,
        origin: Origin,
    ) -> Result<Vec<Diagnostic>, SetError> {
        // A text that may be left out may also be left empty: `write_bw_log=`.
        let given = value.filter(|text| !(text.is_empty() && row.kind == ValueKind::Text));
        let text = match given.or(row.bare) {
            None if value.is_some() => {
                return Err(SetError::NeedsValue { name: row.name, empty: true });
            }
            None => return Err(SetError::NeedsValue { name: row.name, empty: false }),
            Some("") => return Err(SetError::NeedsValue { name: row.name, empty: true }),
            Some(text) => text,
        };
        let mut warnings = Vec::new();
        match row.deprecated {
            Some(instead) if row.built == Built::No => {
                let (name, text) = (row.name, text.to_owned());
                return Err(SetError::Deprecated { name, text, instead });
            }
            Some(instead) => warnings.push(Diagnostic::warning("is retired").help(instead)),
            None => {}
        }
        let mut context = ParseContext {
            kb_base: self.units.kb_base.get().number(),
            unit_base: self.units.unit_base.get().number(),
            ..ParseContext::new(row)
        };
        self.set_in_topic(row.name, text, origin.clone(), &mut context)
            .expect("every row is in a topic")
            .map_err(|error| SetError::Value { name: row.name, text: text.to_owned(), error })?;
        rules::last_wins(self, row.name);
        self.iec_as_si.retain(|(name, _)| *name != row.name);
        if context.iec_as_si {
            self.iec_as_si.push((row.name, text.to_owned()));
        }
        warnings.extend(context.doubts.into_iter().map(Diagnostic::warning));
        let warnings = warnings.into_iter().map(|found| found.about(row.name, &origin)).collect();
        self.typed.push(TypedOption { name: row.name, value: value.map(str::to_owned), origin });
        Ok(warnings)
    }

    fn set_private(
        &mut self,
        name: &str,
        value: Option<&str>,
        origin: Origin,
    ) -> Result<Vec<Diagnostic>, SetError> {
        let engine = self.engine.ioengine.get().name().to_owned();
        let Some(row) = engine_options::find(&engine, name) else {
            let name = name.to_owned();
            let known = all().map(|row| row.name).chain(engine_options::names(&engine));
            return Err(SetError::Unknown { nearest: nearest(&name, known), name });
        };
        if value.or(row.bare).is_none_or(str::is_empty) {
            return Err(SetError::NeedsValue { name: row.name, empty: value.is_some() });
        }
        let value = value.map(str::to_owned);
        self.typed.push(TypedOption {
            name: row.name,
            value: value.clone(),
            origin: origin.clone(),
        });
        self.private.push(PrivateOption { name: row.name, value, origin, engine });
        Ok(Vec::new())
    }

    /// The value of an option by name or alias, as text that reads back the same; for an
    /// option that only engines know, the text as it was typed last. `None` for an unknown name and for
    /// an engine's option that was not given.
    pub fn show(&self, name: &str) -> Option<String> {
        match lookup(name) {
            Some(row) => self.topics().iter().find_map(|topic| topic.show(row.name)),
            None => self.private_option(name).map(PrivateOption::text),
        }
    }

    /// Where the value of an option came from; `None` for an unknown name.
    pub fn origin(&self, name: &str) -> Option<Origin> {
        match lookup(name) {
            Some(row) => self.topics().iter().find_map(|t| t.origin(row.name).cloned()),
            None => self.private_option(name).map(|option| option.origin.clone()),
        }
    }

    /// Whether an option was given or implied, by name or alias.
    pub fn is_set(&self, name: &str) -> bool {
        match lookup(name) {
            Some(row) => {
                let origin = self.topics().iter().find_map(|topic| topic.origin(row.name));
                origin.is_some_and(|origin| *origin != Origin::Default)
            }
            None => self.private_option(name).is_some_and(|found| found.origin != Origin::Default),
        }
    }

    /// Give back memory that was taken for more options.
    pub(crate) fn shrink(&mut self) {
        self.typed.shrink_to_fit();
        self.private.shrink_to_fit();
    }

    /// Every option as it was typed, in order; one typed twice is there twice.
    pub fn typed(&self) -> &[TypedOption] {
        &self.typed
    }

    /// The options that only engines know, as typed, in order.
    pub fn private(&self) -> &[PrivateOption] {
        &self.private
    }

    /// The options, as `name=text`, with a unit such as KiB that was read as a power of 1000, as in
    /// fio: the parser has warned of each.
    pub fn iec_as_si(&self) -> Vec<String> {
        let own = self.iec_as_si.iter().map(|(name, text)| format!("{name}={text}"));
        own.chain(engine_options::iec_as_si(self)).collect()
    }

    fn private_option(&self, name: &str) -> Option<&PrivateOption> {
        let name = engine_options::canonical(name)?;
        self.private.iter().rev().find(|option| option.name == name)
    }

    /// An error for each option of the job that is not supported, differs from its default and
    /// would have an effect.
    pub fn unbuilt(&self) -> Vec<Diagnostic> {
        let (mut found, topics) = (Vec::new(), self.topics());
        for (topic, row) in limited() {
            let topic = topics[*topic];
            // Mostly none is set, or to no such word: what else matters is asked last.
            if topic.origin(row.name).is_none_or(|origin| *origin == Origin::Default) {
                continue;
            }
            let shown = topic.show(row.name).unwrap_or_default();
            let word = shown.split(':').next().unwrap_or_default();
            let what = match row.built {
                Built::No => row.name.to_owned(),
                _ if row.unbuilt_words.contains(&word) => format!("{}={word}", row.name),
                _ => continue,
            };
            if !self.matters(row) {
                continue;
            }
            let origin = self.origin(row.name).unwrap_or_default();
            let message = match iosonde_engine::elsewhere(word) {
                Some(systems) if row.name == "ioengine" => {
                    format!(
                        "option {what} is an engine of {systems}, which this system does not have"
                    )
                }
                _ => format!("option {what} is not supported yet"),
            };
            found.push(Diagnostic::error(message).about(row.name, &origin));
        }
        found.extend(engine_options::unbuilt(self));
        found
    }

    /// Whether the option differs from its default, and so does what it needs.
    fn matters(&self, row: &'static OptionDef) -> bool {
        let differs = |name: &str| lookup(name).is_some_and(|row| self.differs(row));
        self.differs(row)
            && match (row.needs, row.parent) {
                ([], None) => true,
                ([], Some(parent)) => differs(parent),
                (needs, _) => needs.iter().any(|name| differs(name)),
            }
    }

    /// Whether the option's value is another than its default.
    fn differs(&self, row: &'static OptionDef) -> bool {
        static DEFAULT: OnceLock<JobSpec> = OnceLock::new();
        let default = DEFAULT.get_or_init(JobSpec::default);
        self.is_set(row.name) && self.show(row.name) != default.show(row.name)
    }
}

/// All options of the job language, in the order of the topics; those of engines excepted.
pub fn all() -> impl Iterator<Item = &'static OptionDef> + Clone {
    TABLES.iter().copied().flatten()
}

/// The options that are not built, wholly or for some words, each with its topic's place.
fn limited() -> &'static [(usize, &'static OptionDef)] {
    static LIMITED: OnceLock<Vec<(usize, &'static OptionDef)>> = OnceLock::new();
    LIMITED.get_or_init(|| {
        let tables = TABLES.iter().enumerate();
        let rows = tables.flat_map(|(topic, rows)| rows.iter().map(move |row| (topic, row)));
        rows.filter(|(_, row)| row.built == Built::No || !row.unbuilt_words.is_empty()).collect()
    })
}

/// The row of an option by its name or one of its aliases.
pub fn lookup(name: &str) -> Option<&'static OptionDef> {
    static INDEX: OnceLock<HashMap<&'static str, &'static OptionDef>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let names = |row: &'static OptionDef| std::iter::once(&row.name).chain(row.aliases);
        all().flat_map(|row| names(row).map(move |name| (*name, row))).collect()
    });
    index.get(name).copied()
}

/// The option that a mistyped name most likely stands for.
pub fn nearest_option(name: &str) -> Option<&'static str> {
    nearest(name, all().flat_map(|row| std::iter::once(&row.name).chain(row.aliases)).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_shares_the_topics_that_it_does_not_change() {
        let first = JobSpec::default();
        let mut second = first.clone();
        second.set("rw", Some("write"), Origin::Default).unwrap();
        assert!(!second.order.is_one_with(&first.order));
        assert!(second.files.is_one_with(&first.files) && second.verify.is_one_with(&first.verify));
        assert_eq!(first.show("rw").unwrap(), "read");
    }
}
