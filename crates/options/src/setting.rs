//! A value together with where it came from.

use std::fmt;
use std::sync::Arc;

use crate::{OptionDef, OptionValue, ParseContext, ValueError};

/// Where a setting came from, so that a message can point at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nobody asked: the table's default.
    #[default]
    Default,
    /// The argument at this place, counted from 1 as `argv` is.
    CommandLine {
        /// Index in the argument vector.
        index: usize,
    },
    /// A line of a job file.
    File {
        /// The file as it was named, `-` for standard input.
        path: Arc<str>,
        /// Line, from 1.
        line: u32,
        /// Column of the option's first letter, from 1.
        column: u32,
    },
    /// Another setting asks for it.
    Implied {
        /// The option or the rule that does.
        by: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::CommandLine { index } => write!(f, "argument {index}"),
            Origin::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Origin::Implied { by } => write!(f, "implied by {by}"),
        }
    }
}

/// A value and where it came from. Reading is [`Setting::get`]; writing always names an origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    value: T,
    origin: Origin,
}

impl<T: OptionValue> Setting<T> {
    /// The default that the option's row states.
    ///
    /// # Panics
    /// When the row's own default does not parse: a mistake in the table, found by any test
    /// that makes the topic.
    pub fn by_default(row: &'static OptionDef) -> Self {
        let value = T::parse(row.default, &mut ParseContext::new(row)).unwrap_or_else(|e| {
            panic!("the default {:?} of option {}: {e}", row.default, row.name)
        });
        Setting { value, origin: Origin::Default }
    }

    /// Takes the value that `text` states. On an error the old value stays.
    pub fn set(
        &mut self,
        text: &str,
        origin: Origin,
        context: &mut ParseContext,
    ) -> Result<(), ValueError> {
        *self = Setting { value: T::parse_over(&self.value, text, context)?, origin };
        Ok(())
    }

    /// Back to the row's default, as if nobody had asked.
    pub fn reset(&mut self, row: &'static OptionDef) {
        *self = Setting::by_default(row);
    }
}

impl<T> Setting<T> {
    /// The value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// Whether it was asked for (typed or implied), not merely the default.
    pub fn is_set(&self) -> bool {
        self.origin != Origin::Default
    }

    /// Whether a person typed it: on the command line or in a file.
    pub fn is_typed(&self) -> bool {
        matches!(self.origin, Origin::CommandLine { .. } | Origin::File { .. })
    }

    /// Where it came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Takes `value` because `by` asks for it, unless somebody set it. Whether it did.
    pub fn imply(&mut self, value: T, by: &'static str) -> bool {
        let free = !self.is_set();
        if free {
            self.force(value, by);
        }
        free
    }

    /// Takes `value` because `by` leaves no choice, whoever set it before.
    pub fn force(&mut self, value: T, by: &'static str) {
        *self = Setting { value, origin: Origin::Implied { by } };
    }
}

impl<T: Copy> Setting<T> {
    /// The value, copied.
    pub fn copied(&self) -> T {
        self.value
    }
}
