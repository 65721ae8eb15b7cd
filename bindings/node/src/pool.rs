//! Pools of equal buffers for JavaScript: taken and given back at will, and
//! given back by the garbage collector if that is forgotten.

use std::cell::{Cell, RefCell};
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

/// A pool and which of its slots are in use.
///
/// A slot passes through three states: free (the pool's list), lent (JavaScript
/// has a Buffer of it), retired (the Buffer was released, but an operation may
/// still use the bytes). The memory of all slots stays as long as the garbage
/// collector has not found the ArrayBuffer of every Buffer that was lent: an
/// operation holds its Buffer, whoever runs it.
struct Shelf {
    /// The memory: empty once it is closed. The first has as many slots as may be
    /// lent, the others stand in for retired slots, so that those keep nobody
    /// waiting.
    pools: RefCell<Vec<BufferPool>>,
    /// How to make one.
    options: PoolOptions,
    /// How many may be lent at a time.
    lent_max: usize,
    /// Slots that are lent, by the address of their first byte in JavaScript.
    lent: RefCell<HashMap<usize, Rc<Loan>>>,
    /// Slots that are retired, by their ticket.
    retired: RefCell<HashMap<u32, Rc<Loan>>>,
    tickets: Cell<u32>,
}

/// A slot that is lent or retired; `None` once the pool has it again.
struct Loan {
    slot: RefCell<Option<PooledBuf>>,
    /// The slot's bytes are V8's own, and the slot is only counted.
    stand_in: Cell<bool>,
    /// Of [`Shelf::retired`]; 0 while it is lent.
    ticket: Cell<u32>,
}

/// What the garbage collector drops with a Buffer's bytes and with its
/// ArrayBuffer, the later of the two: nothing can reach the bytes then.
struct Lease {
    loan: Rc<Loan>,
    shelf: Weak<Shelf>,
    address: usize,
    /// The memory of all slots, which must outlive this Buffer even when the
    /// pool is closed and has the slot again.
    _memory: BufferPool,
}

impl Bytes for Rc<Lease> {
    fn span(&mut self) -> (*mut u8, usize) {
        let mut slot = self.loan.slot.borrow_mut();
        let slot = slot.as_mut().expect("a lease is made with its slot");
        (slot.as_mut_ptr(), slot.len())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Back already, the address and the ticket may be another's by now.
        if self.loan.slot.take().is_some()
            && let Some(shelf) = self.shelf.upgrade()
        {
            match self.loan.ticket.get() {
                0 => shelf.lent.borrow_mut().remove(&self.address),
                ticket => shelf.retired.borrow_mut().remove(&ticket),
            };
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
    let options =
        if huge { options.huge_pages(HugePage::Default(HUGE_PAGE_BYTES)) } else { options };
    let shelf = Shelf {
        pools: RefCell::new(vec![options.build()?]),
        options,
        lent_max: count,
        lent: RefCell::default(),
        retired: RefCell::default(),
        tickets: Cell::new(0),
    };
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
    method("retire", |call, shelf, _| retire(call, shelf))?;
    method("reclaim", |call, shelf, _| reclaim(call, shelf))?;
    method("isStandIn", |call, shelf, _| {
        let address = edge::address(&call.get(0)?)?;
        let lent = shelf.lent.borrow();
        let yes = lent.get(&address).is_some_and(|loan| loan.stand_in.get());
        yes.into_unknown(call.env).map(Returned::from)
    })?;
    method("grow", |call, shelf, _| {
        shelf.grow();
        Returned::nothing(call.env)
    })?;
    method("retired", |call, shelf, _| {
        let retired = shelf.retired.borrow().len();
        (retired as f64).into_unknown(call.env).map(Returned::from)
    })?;
    method("isRetired", |call, shelf, _| {
        let ticket: u32 = call.get(0)?;
        let yes = shelf.retired.borrow().contains_key(&ticket);
        yes.into_unknown(call.env).map(Returned::from)
    })?;
    method("free", |call, shelf, _| {
        (shelf.free() as f64).into_unknown(call.env).map(Returned::from)
    })?;
    method("close", |call, shelf, _| {
        shelf.pools.take();
        Returned::nothing(call.env)
    })?;
    Ok(object)
}

impl Shelf {
    /// How many can be lent now.
    fn free(&self) -> usize {
        let slots: usize = self.pools.borrow().iter().map(BufferPool::free).sum();
        let lent = self.lent_max.saturating_sub(self.lent.borrow().len());
        if self.may_grow() { lent } else { slots.min(lent) }
    }

    /// Whether there is still only the memory that was asked for.
    fn may_grow(&self) -> bool {
        self.pools.borrow().len() == 1 && !self.retired.borrow().is_empty()
    }

    /// More slots, if there is memory for them.
    fn grow(&self) {
        let mut pools = self.pools.borrow_mut();
        // None once it is closed.
        if !pools.is_empty()
            && let Ok(pool) = self.options.build()
        {
            pools.push(pool);
        }
    }

    /// A slot, and the memory that it is of.
    fn slot(&self) -> Option<(BufferPool, PooledBuf)> {
        if self.lent.borrow().len() >= self.lent_max {
            return None;
        }
        let free = || {
            let pools = self.pools.borrow();
            pools.iter().find_map(|pool| pool.take().map(|slot| (pool.clone(), slot)))
        };
        free().or_else(|| {
            self.may_grow().then(|| self.grow());
            free()
        })
    }
}

/// `()`: a Buffer, or `null` if all are in use or the pool is closed.
fn take(call: &FunctionCallContext, shelf: &Rc<Shelf>, memory: &Memory) -> Result<Returned> {
    let Some((pool, mut slot)) = shelf.slot() else {
        return Null.into_unknown(call.env).map(Returned::from);
    };
    let address = slot.as_mut_ptr().addr();
    let loan = Rc::new(Loan {
        slot: RefCell::new(Some(slot)),
        stand_in: Cell::new(false),
        ticket: Cell::new(0),
    });
    let lease =
        Lease { loan: Rc::clone(&loan), shelf: Rc::downgrade(shelf), address, _memory: pool };
    if memory.is_banned() {
        return stand_in(call.env, shelf, lease, loan);
    }
    let lease = Rc::new(lease);
    match edge::external(call.env, Rc::clone(&lease))? {
        External::Buffer(buffer) => {
            // Its bytes go when it is released, its ArrayBuffer when nothing holds it.
            edge::drop_with(call.env, &edge::whole(&buffer)?, lease)?;
            shelf.lent.borrow_mut().insert(address, loan);
            Ok(buffer.into())
        }
        External::Banned(refused) => {
            memory.ban();
            drop(refused);
            let lease = Rc::into_inner(lease).expect("the other was refused and dropped");
            stand_in(call.env, shelf, lease, loan)
        }
    }
}

/// Where Node takes no memory from outside: memory of V8's own, while the
/// pool's is only counted.
fn stand_in(env: &Env, shelf: &Shelf, mut lease: Lease, loan: Rc<Loan>) -> Result<Returned> {
    let bytes = loan.slot.borrow().as_ref().map_or(0, |slot| slot.len());
    let buffer = memory::view(env, bytes, lease._memory.alignment())?;
    loan.stand_in.set(true);
    lease.address = edge::address(&buffer)?;
    shelf.lent.borrow_mut().insert(lease.address, loan);
    edge::drop_with(env, &edge::whole(&buffer)?, lease)?;
    Ok(buffer.into())
}

/// `(buffer)`: nobody can reach its bytes through this Buffer or another view of
/// it any more, and the slot waits for [`reclaim`]. The ticket for that, or 0 if
/// it is not a buffer of the pool's that is lent. The bytes of a stand-in are
/// V8's, which would free them: the caller moves them elsewhere.
fn retire(call: &FunctionCallContext, shelf: &Shelf) -> Result<Returned> {
    let buffer: Unknown = call.get(0)?;
    let address = edge::address(&buffer)?;
    let loan = shelf.lent.borrow().get(&address).filter(|_| address != 0).map(Rc::clone);
    let Some(loan) = loan else { return 0u32.into_unknown(call.env).map(Returned::from) };
    if !loan.stand_in.get() && edge::detach(&buffer).is_err() {
        return throw(call.env, "the buffer cannot be detached: it is in use");
    }
    let mut retired = shelf.retired.borrow_mut();
    let mut ticket = shelf.tickets.get();
    loop {
        ticket = ticket.wrapping_add(1);
        if ticket != 0 && !retired.contains_key(&ticket) {
            break;
        }
    }
    shelf.tickets.set(ticket);
    loan.ticket.set(ticket);
    shelf.lent.borrow_mut().remove(&address);
    retired.insert(ticket, loan);
    ticket.into_unknown(call.env).map(Returned::from)
}

/// `(ticket)`: no operation that was running when the slot was retired is
/// running now, so the pool has it again.
fn reclaim(call: &FunctionCallContext, shelf: &Shelf) -> Result<Returned> {
    let ticket: u32 = call.get(0)?;
    let loan = shelf.retired.borrow_mut().remove(&ticket);
    if let Some(loan) = loan {
        loan.slot.take();
    }
    Returned::nothing(call.env)
}
