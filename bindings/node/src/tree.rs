//! Plain data on its way to JavaScript: made on any thread, turned into values
//! on JavaScript's.

use napi::bindgen_prelude::{Array, BigInt, JsObjectValue, Null, Object, ToNapiValue, Unknown};
use napi::{Env, JsValue, Result};

/// A JavaScript value in waiting.
#[derive(Debug)]
pub(crate) enum Tree {
    /// `null`: not known, or not there.
    Null,
    Bool(bool),
    /// Of at most 2^53.
    Number(f64),
    /// Sizes and offsets, which may be more.
    BigInt(u64),
    Text(String),
    List(Vec<Tree>),
    /// In this order.
    Object(Vec<(&'static str, Tree)>),
}

impl Tree {
    /// The value.
    ///
    /// # Errors
    /// If the environment is being torn down.
    pub(crate) fn value<'env>(&self, env: &'env Env) -> Result<Unknown<'env>> {
        match self {
            Tree::Null => Null.into_unknown(env),
            Tree::Bool(yes) => yes.into_unknown(env),
            Tree::Number(number) => number.into_unknown(env),
            Tree::BigInt(number) => BigInt::from(*number).into_unknown(env),
            Tree::Text(text) => text.as_str().into_unknown(env),
            Tree::List(items) => {
                let values: Vec<_> =
                    items.iter().map(|item| item.value(env)).collect::<Result<_>>()?;
                Ok(Array::from_vec(env, values)?.to_unknown())
            }
            Tree::Object(entries) => {
                let mut object = Object::new(env)?;
                for (name, entry) in entries {
                    object.set_named_property(name, entry.value(env)?)?;
                }
                Ok(object.to_unknown())
            }
        }
    }
}

impl From<bool> for Tree {
    fn from(yes: bool) -> Tree {
        Tree::Bool(yes)
    }
}

impl From<u32> for Tree {
    fn from(number: u32) -> Tree {
        Tree::Number(number.into())
    }
}

impl From<u64> for Tree {
    fn from(number: u64) -> Tree {
        Tree::BigInt(number)
    }
}

impl From<&str> for Tree {
    fn from(text: &str) -> Tree {
        Tree::Text(text.to_owned())
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Tree {
        Tree::Text(text)
    }
}

impl<T: Into<Tree>> From<Option<T>> for Tree {
    fn from(value: Option<T>) -> Tree {
        value.map_or(Tree::Null, Into::into)
    }
}

impl<T: Into<Tree>> FromIterator<T> for Tree {
    fn from_iter<Items: IntoIterator<Item = T>>(items: Items) -> Tree {
        Tree::List(items.into_iter().map(Into::into).collect())
    }
}
