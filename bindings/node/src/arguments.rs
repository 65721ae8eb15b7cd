//! Arguments: of the drop-in's functions, to the letter; of those that
//! `promises.js` calls.

use std::path::PathBuf;

use napi::bindgen_prelude::{BigInt, BufferSlice, FunctionCallContext, Unknown};
use napi::{Env, Error, Result, Status, ValueType};

use crate::platform;

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

// `promises.js` has checked the arguments of users; these functions rely on it.

pub(crate) fn whole(call: &FunctionCallContext, at: usize) -> Result<u32> {
    integer(call, at).ok_or_else(|| wrong("a whole number"))
}

/// Exact up to 2^53, which no buffer reaches.
pub(crate) fn large(call: &FunctionCallContext, at: usize) -> Result<usize> {
    match call.get::<f64>(at)? {
        number if number >= 0.0 && number.fract() == 0.0 => Ok(number as usize),
        _ => Err(wrong("a whole number")),
    }
}

/// Exact up to 2^53, or a BigInt.
pub(crate) fn offset(call: &FunctionCallContext, at: usize) -> Result<u64> {
    let (_, number, exact) = call.get::<BigInt>(at)?.get_u64();
    if exact { Ok(number) } else { Err(wrong("an offset")) }
}

pub(crate) fn flag(call: &FunctionCallContext, at: usize) -> Result<bool> {
    call.get(at)
}

pub(crate) fn callback<'call>(
    call: &'call FunctionCallContext,
    at: usize,
) -> Result<Unknown<'call>> {
    function(call, at).ok_or_else(|| wrong("a function"))
}

pub(crate) fn path(call: &FunctionCallContext, at: usize) -> Result<PathBuf> {
    let bytes: BufferSlice = call.get(at)?;
    Ok(platform::path_of(&bytes))
}

fn wrong(expected: &str) -> Error {
    Error::new(Status::InvalidArg, format!("expected {expected}"))
}
