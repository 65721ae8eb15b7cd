//! What the drop-in's functions take for an argument, to the letter.

use napi::bindgen_prelude::{FunctionCallContext, Unknown};
use napi::{Env, Error, Result, Status, ValueType};

/// The largest integer taken: sizes, alignments and descriptors are C ints.
const INTEGER_MAX: f64 = 2_147_483_647.0;

/// Argument `at`, if it is a number (not one in a string, a BigInt or an
/// object) without a fraction between 0 and 2147483647.
pub(crate) fn integer(call: &FunctionCallContext, at: usize) -> Option<u32> {
    let number = match kind(call, at)? {
        ValueType::Number => call.get::<f64>(at).ok()?,
        _ => return None,
    };
    // NaN is not in the range, and -0 is 0.
    let taken = (0.0..=INTEGER_MAX).contains(&number) && number.fract() == 0.0;
    taken.then_some(number as u32)
}

/// Argument `at`, if it is a function.
pub(crate) fn function<'call>(
    call: &'call FunctionCallContext,
    at: usize,
) -> Option<Unknown<'call>> {
    match kind(call, at)? {
        ValueType::Function => call.get(at).ok(),
        _ => None,
    }
}

fn kind(call: &FunctionCallContext, at: usize) -> Option<ValueType> {
    call.get::<Unknown>(at).ok()?.get_type().ok()
}

/// Throw an `Error` that has a message and nothing else.
pub(crate) fn throw<T>(env: &Env, message: &str) -> Result<T> {
    env.throw_error(message, None)?;
    Err(Error::new(Status::PendingException, message.to_owned()))
}
