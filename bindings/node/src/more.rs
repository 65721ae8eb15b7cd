//! What `promises.js` wraps. Every function takes its arguments checked, and a
//! callback last: `callback(failure)` with `{ errno, syscall, message }`,
//! or `callback(null, result)`.

use std::io;
use std::rc::Rc;

use iosonde_direct::lock::{self, LockError, LockKind, Patience};
use iosonde_direct::{AlignedBuf, Facts, PathKind};
use napi::bindgen_prelude::{
    BigInt, FunctionCallContext, JsObjectValue, Null, Object, ToNapiValue,
};
use napi::{Env, Result};

use crate::arguments::{callback, large, path, whole};
use crate::edge::{self, Held, Returned};
use crate::facts;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::platform;
use crate::pool;
use crate::transfer::transfer;
use crate::tree::Tree;

type Outcome = std::result::Result<Tree, Failure>;

/// The functions.
pub(crate) fn exports<'env>(env: &'env Env, memory: &Rc<Memory>) -> Result<Object<'env>> {
    let mut exports = Object::new(env)?;
    let mut method = |name: &str, body: Body| -> Result<()> {
        let function = env.create_function_from_closure::<(), Returned, _>(name, body)?;
        exports.set_named_property(name, function)
    };
    let lender = Rc::clone(memory);
    method("alignedBuffer", Box::new(move |call| aligned_buffer(&call, &lender)))?;
    let lender = Rc::clone(memory);
    method("pool", Box::new(move |call| make_pool(&call, &lender)))?;
    method("blockDeviceOf", Box::new(|call| block_device_of(&call)))?;
    method("blockDeviceAt", Box::new(|call| block_device_at(&call)))?;
    method("probe", Box::new(|call| probe(&call)))?;
    method("address", Box::new(|call| address(&call)))?;
    method("flock", Box::new(|call| set_lock(&call)))?;
    method("transfer", Box::new(|call| transfer(&call)))?;
    method("collectGarbage", Box::new(|call| collect_garbage(&call)))?;
    method("operations", Box::new(|call| operations(&call)))?;
    Ok(exports)
}

type Body = Box<dyn Fn(FunctionCallContext) -> Result<Returned>>;

/// `(size, alignment, callback)`: memory is found and mapped on another thread.
fn aligned_buffer(call: &FunctionCallContext, memory: &Rc<Memory>) -> Result<Returned> {
    let (bytes, alignment) = (large(call, 0)?, large(call, 1)?);
    let memory = Rc::clone(memory);
    let find = move || AlignedBuf::new(bytes, alignment).map_err(|error| error.to_string());
    edge::queue(call.env, callback(call, 2)?, find, move |env, found| {
        let lent =
            found.and_then(|found| memory.lend(env, found).map_err(|error| error.to_string()));
        match lent {
            Ok(buffer) => Ok(vec![Null.into_unknown(env)?, buffer]),
            Err(message) => {
                let errno = Some(platform::NO_MEMORY);
                Ok(vec![Failure { errno, syscall: "mmap", message }.tree().value(env)?])
            }
        }
    })?;
    Returned::nothing(call.env)
}

/// `(count, size, alignment, hugePages)`: a pool, or `{ errno, syscall,
/// message }`.
fn make_pool(call: &FunctionCallContext, memory: &Rc<Memory>) -> Result<Returned> {
    let options = (large(call, 0)?, large(call, 1)?, large(call, 2)?, call.get::<bool>(3)?);
    pool::make(call.env, options, memory).unwrap_or_else(|error| {
        let (errno, message) = (Some(platform::NO_MEMORY), error.to_string());
        Ok(Failure { errno, syscall: "mmap", message }.tree().value(call.env)?.into())
    })
}

/// `(fd, callback)`.
fn block_device_of(call: &FunctionCallContext) -> Result<Returned> {
    let file = Held::of(whole(call, 0)?);
    queue(call, 1, move || {
        let file = file.map_err(|error| Failure::of("fstat", &error))?;
        block_device(Facts::of_file(file.file()), "fstat")
    })
}

/// `(path, callback)`, the path as bytes. The device is not kept from others,
/// and need not be one that may be opened.
fn block_device_at(call: &FunctionCallContext) -> Result<Returned> {
    let path = path(call, 0)?;
    queue(call, 1, move || block_device(Facts::of(&path), "stat"))
}

fn block_device(facts: io::Result<Facts>, syscall: &'static str) -> Outcome {
    let facts = facts.map_err(|error| Failure::of(syscall, &error))?;
    match (facts.kind, facts.device()) {
        (PathKind::BlockDevice, Some(device)) => Ok(facts::device(device)),
        _ => Err(Failure { errno: Some(platform::NOT_BLOCK), syscall, message: String::new() }),
    }
}

/// `(path, callback)`, the path as bytes.
fn probe(call: &FunctionCallContext) -> Result<Returned> {
    let path = path(call, 0)?;
    queue(call, 1, move || match Facts::of(&path) {
        Ok(facts) => Ok(facts::probed(&path, &facts)),
        Err(error) => Err(Failure::of("stat", &error)),
    })
}

/// `(buffer)`: where its first byte is.
fn address(call: &FunctionCallContext) -> Result<Returned> {
    let address = BigInt::from(edge::address(&call.get(0)?)? as u64);
    address.into_unknown(call.env).map(Returned::from)
}

/// `(fd, mode, callback)`: 0 unlocks, 1 locks for itself, 2 with others.
fn set_lock(call: &FunctionCallContext) -> Result<Returned> {
    let file = Held::of(whole(call, 0)?);
    let mode = whole(call, 1)?;
    queue(call, 2, move || {
        let file = file.map_err(|error| Failure::of("flock", &error))?;
        let done = match mode {
            0 => lock::unlock(file.file()),
            1 => lock::lock(file.file(), LockKind::Exclusive, Patience::Try),
            _ => lock::lock(file.file(), LockKind::Shared, Patience::Try),
        };
        done.map(|()| Tree::Null).map_err(|error| match error {
            LockError::Held => Failure {
                errno: Some(platform::BUSY),
                syscall: "flock",
                message: error.to_string(),
            },
            error => Failure::of("flock", &error.into()),
        })
    })
}

/// More than any heap may hold: V8 collects at once when it hears of it.
const PRESSURE_BYTES: i64 = 1 << 44;

/// `()`: have the garbage collector find out what is held. The one way that
/// Node-API has: a moment of memory pressure.
fn collect_garbage(call: &FunctionCallContext) -> Result<Returned> {
    call.env.adjust_external_memory(PRESSURE_BYTES)?;
    call.env.adjust_external_memory(-PRESSURE_BYTES)?;
    Returned::nothing(call.env)
}

/// `()`: how many operations of this event loop are in flight; `null` where
/// that is not known.
fn operations(call: &FunctionCallContext) -> Result<Returned> {
    Tree::from(edge::operations_in_flight(call.env)).value(call.env).map(Returned::from)
}

fn queue(
    call: &FunctionCallContext,
    at: usize,
    act: impl FnOnce() -> Outcome + Send + 'static,
) -> Result<Returned> {
    edge::queue(call.env, callback(call, at)?, act, |env, outcome| match outcome {
        Ok(result) => Ok(vec![Null.into_unknown(env)?, result.value(env)?]),
        Err(failure) => Ok(vec![failure.tree().value(env)?]),
    })?;
    Returned::nothing(call.env)
}
