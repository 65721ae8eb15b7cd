//! A fact in documents: the value, or `{"unknown": "why"}`.

use super::Fact;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The form in documents: serde takes the first that fits, and no value of ours is an
/// object with this one key.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a value, or an object with \"unknown\" and the reason")]
enum Form<T> {
    Unknown { unknown: Cow<'static, str> },
    Known(T),
}

impl<T: Serialize> Serialize for Fact<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match self {
            Fact::Known(value) => Form::Known(value),
            Fact::Unknown(why) => Form::Unknown { unknown: why.clone() },
        };
        form.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Fact<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fact<T>, D::Error> {
        Ok(match Option::<Form<T>>::deserialize(deserializer)? {
            Some(Form::Known(value)) => Fact::Known(value),
            Some(Form::Unknown { unknown }) => Fact::Unknown(unknown),
            None => Fact::default(),
        })
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::Fact;
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

    impl<T: JsonSchema> JsonSchema for Fact<T> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("Fact_{}", T::schema_name()).into()
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
        for (text, value) in [("7", Fact::Known(7)), (r#"{"unknown":"why"}"#, Fact::unknown("why"))]
        {
            assert_eq!(to_string(&value).unwrap(), text);
            assert_eq!(from_str::<Fact<u64>>(text).unwrap(), value);
        }
        assert_eq!(from_str::<Fact<u64>>("null").unwrap(), Fact::default());
        assert!(from_str::<Fact<u64>>("\"seven\"").is_err());
    }
}
