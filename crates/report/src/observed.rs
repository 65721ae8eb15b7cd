//! A value that was measured, or why it is unknown. In documents: the value, or
//! `{"unknown": "why"}`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A measured value, or why it is unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed<T> {
    /// Measured.
    Is(T),
    /// Unknown, for this reason: a fragment that fits after "unknown:".
    Unknown(String),
}

impl<T> Observed<T> {
    /// Unknown, for this reason.
    pub fn unknown(why: impl Into<String>) -> Observed<T> {
        Observed::Unknown(why.into())
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        match self {
            Observed::Is(value) => Some(value),
            Observed::Unknown(_) => None,
        }
    }

    /// What becomes of the value, if there is one.
    pub fn map<U>(&self, f: impl FnOnce(&T) -> U) -> Observed<U> {
        match self {
            Observed::Is(value) => Observed::Is(f(value)),
            Observed::Unknown(why) => Observed::Unknown(why.clone()),
        }
    }
}

impl<T> Default for Observed<T> {
    fn default() -> Observed<T> {
        Observed::Unknown("it was not measured".to_owned())
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Observed<T> {
    fn from(result: Result<T, E>) -> Observed<T> {
        match result {
            Ok(value) => Observed::Is(value),
            Err(error) => Observed::Unknown(error.to_string()),
        }
    }
}

/// The form in documents: serde takes the first that fits, and no value of ours is an
/// object with this one key.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a value, or an object with \"unknown\" and the reason")]
enum Form<T> {
    Unknown { unknown: String },
    Is(T),
}

impl<T: Serialize> Serialize for Observed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match self {
            Observed::Is(value) => Form::Is(value),
            Observed::Unknown(why) => Form::Unknown { unknown: why.clone() },
        };
        form.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Observed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Observed<T>, D::Error> {
        Ok(match Option::<Form<T>>::deserialize(deserializer)? {
            Some(Form::Is(value)) => Observed::Is(value),
            Some(Form::Unknown { unknown }) => Observed::Unknown(unknown),
            None => Observed::default(),
        })
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::Observed;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    /// Where the reason stands in place of a value.
    struct Reason;

    impl JsonSchema for Reason {
        fn schema_name() -> Cow<'static, str> {
            "unknown".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "type": "object",
                "description": "A value that could not be measured.",
                "properties": {"unknown": {"type": "string", "description": "Why."}},
                "required": ["unknown"],
            })
        }
    }

    impl<T: JsonSchema> JsonSchema for Observed<T> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("Observed_{}", T::schema_name()).into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let value = generator.subschema_for::<T>();
            let reason = generator.subschema_for::<Reason>();
            json_schema!({"anyOf": [value, reason]})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    #[test]
    fn a_document_has_the_value_or_the_reason() {
        for (text, value) in
            [("7", Observed::Is(7)), (r#"{"unknown":"why"}"#, Observed::unknown("why"))]
        {
            assert_eq!(to_string(&value).unwrap(), text);
            assert_eq!(from_str::<Observed<u64>>(text).unwrap(), value);
        }
        assert_eq!(from_str::<Observed<u64>>("null").unwrap(), Observed::default());
        assert!(from_str::<Observed<u64>>("\"seven\"").is_err());
    }
}
