//! Members of a document that follow from others: they are written among them, and never
//! read.

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::value::Serializer;
use serde_json::{Error, Map, Value};

/// `Serialize` and `Deserialize` of a type that derives both as `remote = "Self"`, with
/// members that its methods give: key, method, the type of it, the key that it follows,
/// and its meaning for the schema.
macro_rules! with_derived_members {
    ($type:ident: $($key:literal = $method:ident: $kind:ty, after $before:literal, $words:literal;)+) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let own = <$type>::serialize(self, serde_json::value::Serializer);
                let members = crate::derived::Members::of(own);
                $(let members = members.and_then(|own| own.add($key, $before, &self.$method()));)+
                members.map_err(serde::ser::Error::custom)?.0.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                <$type>::deserialize(deserializer)
            }
        }

        #[cfg(feature = "schema")]
        impl $type {
            fn describe_derived(schema: &mut schemars::Schema) {
                $(crate::derived::describe::<$kind>(schema, $key, $before, $words);)+
            }
        }
    };
}

pub(crate) use with_derived_members;

/// Members of an object, in their order.
pub(crate) struct Members(pub Map<String, Value>);

impl Members {
    /// Those of an object that was serialized.
    pub fn of(object: Result<Value, Error>) -> Result<Members, Error> {
        match object? {
            Value::Object(members) => Ok(Members(members)),
            other => Err(Error::custom(format!("{other} is no object"))),
        }
    }

    /// Add a member after another.
    pub fn add(
        mut self,
        key: &str,
        before: &str,
        value: &impl Serialize,
    ) -> Result<Members, Error> {
        insert(&mut self.0, key, before, value.serialize(Serializer)?);
        Ok(self)
    }
}

/// Insert a member after another, or at the end.
fn insert(members: &mut Map<String, Value>, key: &str, before: &str, value: Value) {
    let at = members.keys().position(|known| known == before);
    members.shift_insert(at.map_or(members.len(), |at| at + 1), key.to_owned(), value);
}

/// Add a derived member to the schema of its type.
#[cfg(feature = "schema")]
pub(crate) fn describe<T: schemars::JsonSchema>(
    schema: &mut schemars::Schema,
    key: &str,
    before: &str,
    words: &str,
) {
    let mut member = schemars::SchemaGenerator::default().subschema_for::<T>();
    member.insert("description".to_owned(), words.into());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        insert(properties, key, before, member.into());
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.push(key.into());
    }
}
