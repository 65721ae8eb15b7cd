//! A value that is known, or the reason why it is not.

#[cfg(feature = "serde")]
mod document;

use std::borrow::Cow;
use std::fmt;

/// A value that is known, or the reason why it is not. Nothing is guessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// The system says so.
    Known(T),
    /// Nothing says; why.
    Unknown(Cow<'static, str>),
}

impl<T> Fact<T> {
    /// Unknown, for this reason.
    pub fn unknown(why: impl Into<Cow<'static, str>>) -> Fact<T> {
        Fact::Unknown(why.into())
    }

    /// `value`, or unknown for this reason.
    pub fn or_why(value: Option<T>, why: impl Into<Cow<'static, str>>) -> Fact<T> {
        value.map_or_else(|| Fact::unknown(why), Fact::Known)
    }

    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown(_) => None,
        }
    }

    /// The reason, if the value is not known.
    pub fn why(&self) -> Option<&str> {
        match self {
            Fact::Known(_) => None,
            Fact::Unknown(why) => Some(why),
        }
    }

    /// The same of a reference to the value.
    pub fn as_ref(&self) -> Fact<&T> {
        match self {
            Fact::Known(value) => Fact::Known(value),
            Fact::Unknown(why) => Fact::Unknown(why.clone()),
        }
    }

    /// The same of what `change` makes of the value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Fact::Known(value) => Fact::Known(change(value)),
            Fact::Unknown(why) => Fact::Unknown(why),
        }
    }

    /// This, or what `other` says where this is unknown. Both unknown, the
    /// first reason stays.
    pub fn or(self, other: impl FnOnce() -> Option<T>) -> Fact<T> {
        match self {
            Fact::Unknown(why) => Fact::or_why(other(), why),
            known => known,
        }
    }
}

impl<T: Copy> Fact<T> {
    /// The value, if it is known.
    pub fn get(&self) -> Option<T> {
        self.known().copied()
    }
}

impl<T> Default for Fact<T> {
    fn default() -> Fact<T> {
        Fact::unknown("it was not measured")
    }
}

impl<T, E: fmt::Display> From<Result<T, E>> for Fact<T> {
    fn from(result: Result<T, E>) -> Fact<T> {
        result.map_or_else(|error| Fact::unknown(error.to_string()), Fact::Known)
    }
}

impl<T: fmt::Display> fmt::Display for Fact<T> {
    /// The value, or `unknown: ` and the reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Known(value) => value.fmt(f),
            Fact::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_keeps_its_first_reason_until_something_is_known() {
        let none: Fact<u32> = Fact::unknown("no sysfs").or(|| None);
        assert_eq!(none.why(), Some("no sysfs"));
        assert_eq!(none.to_string(), "unknown: no sysfs");
        assert_eq!(none.or(|| Some(7)).map(|seven| seven + 1), Fact::Known(8));
        assert_eq!(Fact::Known(1).or(|| Some(2)).get(), Some(1));
    }
}
