//! Aligned buffers for JavaScript, and how they are given back.
//!
//! A buffer is memory of ours that Node is lent. Node gives it back only
//! between two turns of its event loop, so a program that allocates in one long
//! turn would never see a byte again. Past a budget for each turn, and where
//! Node takes no memory from outside, the buffer is an aligned part of an
//! ArrayBuffer of V8's own, which the garbage collector frees at once.

use std::cell::Cell;
use std::rc::Rc;

use iosonde_direct::AlignedBuf;
use napi::bindgen_prelude::{FnArgs, Function, FunctionRef, JsObjectValue, Unknown};
use napi::{Env, Error, JsValue, Result, Status};

use crate::edge::{External, address, external, forget_exception};

/// How many bytes are lent in one turn. Node holds this much garbage at most;
/// programs that follow the original's habits stay far below.
const TURN_BYTES: u64 = 256 << 20;

/// A buffer is counted with its bytes and at most a page besides: what the
/// allocator leaves free between small ones to align them.
const PAGE_BYTES: usize = 4096;

/// Set (to anything), no memory of ours is lent: as in Electron.
const NO_EXTERNAL: &str = "IOSONDE_DIRECT_IO_NO_EXTERNAL";

/// One for each environment.
pub(crate) struct Memory {
    /// Bytes lent since the event loop last turned.
    turn_bytes: Rc<Cell<u64>>,
    turn_watched: Rc<Cell<bool>>,
    banned: Cell<bool>,
    set_immediate: FunctionRef<Function<'static, (), ()>, Unknown<'static>>,
}

impl Memory {
    /// # Errors
    /// If the environment has no `setImmediate`.
    pub(crate) fn new(env: &Env) -> Result<Rc<Memory>> {
        // Taken now: tests of users replace it by one that does not fire.
        let set_immediate: Function<Function<(), ()>, Unknown> =
            env.get_global()?.get_named_property("setImmediate")?;
        Ok(Rc::new(Memory {
            turn_bytes: Rc::default(),
            turn_watched: Rc::default(),
            banned: Cell::new(std::env::var_os(NO_EXTERNAL).is_some()),
            set_immediate: set_immediate.create_ref()?,
        }))
    }

    /// A zeroed Buffer of `bytes` bytes at a multiple of `alignment`.
    ///
    /// # Errors
    /// If there is no memory for it, or the environment is being torn down.
    pub(crate) fn buffer<'env>(
        &self,
        env: &'env Env,
        bytes: usize,
        alignment: usize,
    ) -> Result<Unknown<'env>> {
        if self.is_banned() || self.turn_bytes.get() >= TURN_BYTES {
            return view(env, bytes, alignment);
        }
        let memory = AlignedBuf::new(bytes, alignment)
            .map_err(|error| Error::new(Status::GenericFailure, error.to_string()))?;
        self.lend(env, memory)
    }

    /// A Buffer of memory that is there already.
    ///
    /// # Errors
    /// As [`buffer`](Memory::buffer).
    pub(crate) fn lend<'env>(&self, env: &'env Env, memory: AlignedBuf) -> Result<Unknown<'env>> {
        let (bytes, alignment) = (memory.len(), memory.alignment());
        if !self.is_banned() {
            match external(env, memory)? {
                External::Buffer(buffer) => {
                    self.count(env, (bytes + alignment.min(PAGE_BYTES)) as u64)?;
                    return Ok(buffer);
                }
                External::Banned(_) => self.ban(),
            }
        }
        view(env, bytes, alignment)
    }

    /// Whether Node takes no memory from outside.
    pub(crate) fn is_banned(&self) -> bool {
        self.banned.get()
    }

    /// It does not, as it has just said.
    pub(crate) fn ban(&self) {
        self.banned.set(true);
    }

    fn count(&self, env: &Env, bytes: u64) -> Result<()> {
        let turn_bytes = self.turn_bytes.get().saturating_add(bytes);
        self.turn_bytes.set(turn_bytes);
        if turn_bytes < TURN_BYTES / 2 || self.turn_watched.replace(true) {
            return Ok(());
        }
        let (bytes, watched) = (Rc::clone(&self.turn_bytes), Rc::clone(&self.turn_watched));
        let turned = env.create_function_from_closure("", move |_call| {
            bytes.set(0);
            watched.set(false);
            Ok(())
        })?;
        self.set_immediate.borrow_back(env)?.call(turned)?;
        Ok(())
    }
}

/// An aligned part of an ArrayBuffer that is longer by the alignment.
///
/// # Errors
/// If V8 has no memory for it.
pub(crate) fn view<'env>(env: &'env Env, bytes: usize, alignment: usize) -> Result<Unknown<'env>> {
    let global = env.get_global()?;
    let array_buffer: Function<f64, Unknown> = global.get_named_property("ArrayBuffer")?;
    // Exact: at most 2^31 + 2^22.
    // V8's own RangeError is forgotten: callers have a text for it.
    let whole = array_buffer
        .new_instance((bytes + alignment - 1) as f64)
        .inspect_err(|_| forget_exception(env))?;
    let skip = address(&whole)?.wrapping_neg() & (alignment - 1);
    let buffer = global.get_named_property::<Unknown>("Buffer")?.coerce_to_object()?;
    let from: Function<FnArgs<(Unknown, f64, f64)>, Unknown> = buffer.get_named_property("from")?;
    from.apply(buffer, (whole, skip as f64, bytes as f64).into())
}
