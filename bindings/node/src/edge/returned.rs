//! Values that go out to JavaScript.

use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, ToNapiValue, TypeName, Unknown};
use napi::{Env, Error, JsValue, Result, Status, ValueType, sys};

/// A value on its way out of the call that made it, where its scope's lifetime
/// cannot be named.
pub(crate) struct Returned(sys::napi_value);

impl From<Unknown<'_>> for Returned {
    fn from(value: Unknown<'_>) -> Returned {
        Returned(value.raw())
    }
}

impl Returned {
    /// `undefined`.
    pub(crate) fn nothing(env: &Env) -> Result<Returned> {
        ().into_unknown(env).map(Returned::from)
    }
}

impl TypeName for Returned {
    fn type_name() -> &'static str {
        "unknown"
    }

    fn value_type() -> ValueType {
        ValueType::Unknown
    }
}

impl ToNapiValue for Returned {
    // The one caller is the end of the native call in which the value was made:
    // nothing in this crate keeps a `Returned`.
    unsafe fn to_napi_value(_env: sys::napi_env, value: Returned) -> Result<sys::napi_value> {
        Ok(value.0)
    }
}

/// An `Error` that has a message and nothing else: no `code`, as napi's own
/// conversion would add.
pub(crate) fn error<'env>(env: &'env Env, message: &str) -> Result<Unknown<'env>> {
    let message = env.create_string(message)?;
    let mut error = ptr::null_mut();
    // SAFETY: the message is a string of this environment; Node writes the
    // error, which is a value of it.
    unsafe {
        match sys::napi_create_error(env.raw(), ptr::null_mut(), message.raw(), &mut error) {
            sys::Status::napi_ok => Unknown::from_napi_value(env.raw(), error),
            status => Err(Error::new(Status::from(status), "insufficient memory")),
        }
    }
}
