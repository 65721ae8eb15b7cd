//! One read or write at an offset, on another thread, with an error that says
//! which rule of direct I/O was broken.

use iosonde_direct::durability::{CallError, ReadCaching, WriteFlags, read_with, write_with};
use napi::Result;
use napi::bindgen_prelude::{FunctionCallContext, Null, ToNapiValue, Unknown};

use crate::arguments::{callback, flag, offset, whole};
use crate::edge::{self, Held, Lent, Returned};
use crate::failure::Failure;
use crate::platform;

/// `(fd, buffer, offset, write, callback)`: how many bytes were transferred.
pub(crate) fn transfer(call: &FunctionCallContext) -> Result<Returned> {
    let file = Held::of(whole(call, 0)?);
    let buffer: Unknown = call.get(1)?;
    // The buffer is held until the callback has been called, as Node's own
    // functions hold theirs.
    let (mut lent, kept) = Lent::of(&buffer)?;
    let (offset, write) = (offset(call, 2)?, flag(call, 3)?);
    let syscall = if write { "write" } else { "read" };
    let act = move || {
        let file = file.map_err(|error| Failure::of(syscall, &error))?;
        let done = if write {
            write_with(file.file(), lent.bytes(), offset, WriteFlags::new())
        } else {
            read_with(file.file(), lent.bytes_mut(), offset, ReadCaching::Cached)
        };
        done.map_err(|error| failure(syscall, error))
    };
    edge::queue(call.env, callback(call, 4)?, act, move |env, done| {
        kept.end(env);
        match done {
            Ok(bytes) => Ok(vec![Null.into_unknown(env)?, (bytes as f64).into_unknown(env)?]),
            Err(failure) => Ok(vec![failure.tree().value(env)?]),
        }
    })?;
    Returned::nothing(call.env)
}

fn failure(syscall: &'static str, error: CallError) -> Failure {
    match error {
        CallError::System(error) => Failure::of(syscall, &error),
        other => {
            let message = other.to_string();
            Failure { errno: Some(platform::INVALID), syscall, message }
        }
    }
}
