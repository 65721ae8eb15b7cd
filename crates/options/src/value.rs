//! The trait of option values.

use std::fmt;

use crate::{Choice, ParseContext, ValueKind};

/// Why a value was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// What is wanted instead, as a lower-case fragment: `a size such as 4k`.
    pub want: String,
    /// What was given.
    pub got: String,
    /// The line that fio prints before its `failed parsing`, where it has one.
    pub fio: Option<String>,
}

impl ValueError {
    /// `want` instead of `got`.
    pub fn new(want: impl Into<String>, got: impl Into<String>) -> ValueError {
        ValueError { want: want.into(), got: got.into(), fio: None }
    }

    /// With the line that fio prints in this case.
    pub fn as_fio(mut self, line: impl Into<String>) -> ValueError {
        self.fio = Some(line.into());
        self
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid value {:?}: use {}", self.got, self.want)
    }
}

impl std::error::Error for ValueError {}

/// A type that an option can hold.
pub trait OptionValue: Sized + Clone + PartialEq {
    /// What kind of value it is.
    const KIND: ValueKind;
    /// The words allowed, when the set is closed.
    const CHOICES: &'static [Choice] = &[];
    /// Examples that any option of this type takes, where it has none of its own.
    const GOOD: &'static [&'static str] = &[];
    /// Examples that any option of this type refuses, where it has none of its own.
    const BAD: &'static [&'static str] = &["some"];
    /// Reads the text. What is accepted though it looks like a mistake goes to
    /// [`ParseContext::doubt`].
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError>;
    /// Reads the text where parts of it may be left as they were in `old`.
    fn parse_over(old: &Self, text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let _ = old;
        Self::parse(text, context)
    }
    /// The value as text that [`OptionValue::parse`] reads back the same, whatever the bases
    /// of the context.
    fn show(&self) -> String;
}

/// Any text, as it stands.
impl OptionValue for String {
    const KIND: ValueKind = ValueKind::Text;
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        Ok(text.to_owned())
    }
    fn show(&self) -> String {
        self.clone()
    }
}

/// Empty text is `None`: there is no value. (A person cannot type it: an option that needs a
/// value refuses an empty one before it comes here.)
impl<T: OptionValue> OptionValue for Option<T> {
    const KIND: ValueKind = T::KIND;
    const CHOICES: &'static [Choice] = T::CHOICES;
    const BAD: &'static [&'static str] = T::BAD;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        if text.is_empty() { Ok(None) } else { T::parse(text, context).map(Some) }
    }
    fn parse_over(old: &Self, text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        match old {
            Some(old) if !text.is_empty() => T::parse_over(old, text, context).map(Some),
            _ => Self::parse(text, context),
        }
    }
    fn show(&self) -> String {
        self.as_ref().map_or(String::new(), T::show)
    }
}

/// 0 or 1. An option that may stand bare takes any whole number, as in fio: nonzero is on.
impl OptionValue for bool {
    const KIND: ValueKind = ValueKind::Bool;
    const GOOD: &'static [&'static str] = &["1", "0"];
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("0 or 1", text);
        let number = crate::scan_number(text, context).map_err(|_| want())?;
        match number.value {
            0 => Ok(false),
            1 => Ok(true),
            _ if context.row.bare.is_some() => {
                context.doubt(format!("{text:?} is interpreted as 1"));
                Ok(true)
            }
            more => Err(want().as_fio(format!("max value out of range: {more} (1 max)"))),
        }
    }
    fn show(&self) -> String {
        if *self { "1".into() } else { "0".into() }
    }
}
