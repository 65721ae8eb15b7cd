//! Directions by their names, as documents have them: those that did something.

use iosonde_base::{Dir, PerDir};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value for each direction that has one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByDir<T> {
    /// Reads; missing where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<T>,
    /// Writes; missing where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<T>,
    /// Trims; missing where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<T>,
}

impl<T> ByDir<T> {
    /// What `make` makes of each direction.
    pub fn from_fn(mut make: impl FnMut(Dir) -> Option<T>) -> ByDir<T> {
        ByDir { read: make(Dir::Read), write: make(Dir::Write), trim: make(Dir::Trim) }
    }

    /// The values by direction.
    pub fn options(self) -> PerDir<Option<T>> {
        PerDir([self.read, self.write, self.trim])
    }
}

impl<T: Clone + Default + PartialEq> ByDir<T> {
    /// Those that are not empty.
    pub fn of(all: &PerDir<T>) -> ByDir<T> {
        ByDir::from_fn(|dir| (all[dir] != T::default()).then(|| all[dir].clone()))
    }

    /// All directions; those without a value are empty.
    pub fn all(self) -> PerDir<T> {
        self.options().map(Option::unwrap_or_default)
    }
}

/// A `PerDir` as its directions that are not empty.
pub fn serialize<T, S>(all: &PerDir<T>, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Clone + Default + PartialEq + Serialize,
    S: Serializer,
{
    ByDir::of(all).serialize(serializer)
}

/// A `PerDir` of its directions.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<PerDir<T>, D::Error>
where
    T: Clone + Default + PartialEq + Deserialize<'de>,
    D: Deserializer<'de>,
{
    ByDir::deserialize(deserializer).map(ByDir::all)
}
