//! Pools of equal buffers for JavaScript: taken and given back at will, and
//! given back by the garbage collector if that is forgotten.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use iosonde_direct::{BufferPool, HugePage, PoolError, PoolOptions, PooledBuf};
use napi::bindgen_prelude::{
    FunctionCallContext, JsObjectValue, Null, Object, ToNapiValue, Unknown,
};
use napi::{Env, JsValue, Result};

use crate::arguments::throw;
use crate::edge::{self, Bytes, External, Returned};
use crate::memory::{self, Memory};

/// The size of the huge pages that x86_64 and arm64 keep ready by default.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A pool and what of it is lent.
struct Shelf {
    /// `None` once it is closed: the memory goes when all of it is back.
    pool: RefCell<Option<BufferPool>>,
    /// What is lent, by the address of its first byte.
    lent: RefCell<HashMap<usize, Rc<Loan>>>,
}

/// A buffer that JavaScript has, until it is given back; then `None`.
struct Loan(RefCell<Option<PooledBuf>>);

/// What the garbage collector drops together with a Buffer's memory.
struct Lease {
    loan: Rc<Loan>,
    shelf: Weak<Shelf>,
    address: usize,
}

impl Bytes for Lease {
    fn span(&mut self) -> (*mut u8, usize) {
        let mut loan = self.loan.0.borrow_mut();
        let buffer = loan.as_mut().expect("a lease is made with its buffer");
        (buffer.as_mut_ptr(), buffer.len())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Given back already, the address may be somebody else's by now.
        if self.loan.0.take().is_some()
            && let Some(shelf) = self.shelf.upgrade()
        {
            shelf.lent.borrow_mut().remove(&self.address);
        }
    }
}

/// `(count, size, alignment, hugePages)`: an object of functions, all of which
/// end at once.
pub(crate) fn make(
    env: &Env,
    (count, bytes, alignment, huge): (usize, usize, usize, bool),
    memory: &Rc<Memory>,
) -> std::result::Result<Result<Returned>, PoolError> {
    let options = PoolOptions::new(count, bytes).alignment(alignment);
    let pool = match huge {
        true => options.huge_pages(HugePage::Default(HUGE_PAGE_BYTES)).build()?,
        false => options.build()?,
    };
    let shelf = Shelf { pool: RefCell::new(Some(pool)), lent: RefCell::default() };
    Ok(functions(env, &Rc::new(shelf), memory).map(|object| object.to_unknown().into()))
}

fn functions<'env>(env: &'env Env, shelf: &Rc<Shelf>, memory: &Rc<Memory>) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    let mut method =
        |name: &str, body: fn(&FunctionCallContext, &Rc<Shelf>, &Memory) -> Result<Returned>| {
            let (shelf, memory) = (Rc::clone(shelf), Rc::clone(memory));
            let act = move |call: FunctionCallContext| body(&call, &shelf, &memory);
            let function = env.create_function_from_closure::<(), Returned, _>(name, act)?;
            object.set_named_property(name, function)
        };
    method("take", take)?;
    method("giveBack", |call, shelf, _| give_back(call, shelf))?;
    method("free", |call, shelf, _| {
        let free = shelf.pool.borrow().as_ref().map_or(0, BufferPool::free);
        (free as f64).into_unknown(call.env).map(Returned::from)
    })?;
    method("close", |call, shelf, _| {
        shelf.pool.take();
        Returned::nothing(call.env)
    })?;
    Ok(object)
}

/// `()`: a Buffer, or `null` if all are lent or the pool is closed.
fn take(call: &FunctionCallContext, shelf: &Rc<Shelf>, memory: &Memory) -> Result<Returned> {
    let Some(mut buffer) = shelf.pool.borrow().as_ref().and_then(BufferPool::take) else {
        return Null.into_unknown(call.env).map(Returned::from);
    };
    let address = buffer.as_mut_ptr().addr();
    let loan = Rc::new(Loan(RefCell::new(Some(buffer))));
    let lease = Lease { loan: Rc::clone(&loan), shelf: Rc::downgrade(shelf), address };
    let lent =
        if memory.is_banned() { External::Banned(lease) } else { edge::external(call.env, lease)? };
    match lent {
        External::Buffer(buffer) => {
            shelf.lent.borrow_mut().insert(address, loan);
            Ok(buffer.into())
        }
        External::Banned(lease) => {
            memory.ban();
            stand_in(call.env, shelf, lease, loan)
        }
    }
}

/// Where Node takes no memory from outside: memory of V8's own, while the
/// pool's is only counted.
fn stand_in(env: &Env, shelf: &Shelf, mut lease: Lease, loan: Rc<Loan>) -> Result<Returned> {
    let (bytes, alignment) = match &*loan.0.borrow() {
        Some(buffer) => {
            (buffer.len(), shelf.pool.borrow().as_ref().map_or(1, BufferPool::alignment))
        }
        None => return Null.into_unknown(env).map(Returned::from),
    };
    let buffer = memory::view(env, bytes, alignment)?;
    lease.address = edge::address(&buffer)?;
    shelf.lent.borrow_mut().insert(lease.address, loan);
    edge::drop_with(env, &edge::whole(&buffer)?, lease)?;
    Ok(buffer.into())
}

/// `(buffer)`: the pool has it again, and nobody can reach its bytes through
/// this Buffer or another view of it. False if it is not a buffer of the pool's
/// that is lent.
fn give_back(call: &FunctionCallContext, shelf: &Shelf) -> Result<Returned> {
    let buffer: Unknown = call.get(0)?;
    let address = edge::address(&buffer)?;
    let known = address != 0 && shelf.lent.borrow().contains_key(&address);
    if known {
        if edge::detach(&buffer).is_err() {
            return throw(call.env, "the buffer cannot be detached: it is in use");
        }
        // Nothing sees the bytes now.
        if let Some(loan) = shelf.lent.borrow_mut().remove(&address) {
            loan.0.take();
        }
    }
    known.into_unknown(call.env).map(Returned::from)
}
