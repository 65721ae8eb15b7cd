//! Buffers that this crate allocates, freed when JavaScript drops them.

use std::ffi::c_void;
use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, Unknown};
use napi::{Env, Error, JsValue, Result, Status, sys};

/// Bytes that stay where they are until their owner is dropped.
pub(crate) trait Bytes: 'static {
    /// The first byte and how many; the same at every call.
    fn span(&mut self) -> (*mut u8, usize);
}

impl Bytes for iosonde_direct::AlignedBuf {
    fn span(&mut self) -> (*mut u8, usize) {
        (self.as_mut_ptr(), self.len())
    }
}

/// What came of handing bytes to JavaScript.
pub(crate) enum External<'env, Owner> {
    /// A Buffer; the owner is dropped when the garbage collector has found that
    /// nobody holds its bytes, or with the environment.
    Buffer(Unknown<'env>),
    /// This Node takes no memory from outside (Electron, V8's sandbox).
    Banned(Owner),
}

/// A Buffer of the owner's bytes.
///
/// # Errors
/// If the environment is being torn down.
pub(crate) fn external<Owner: Bytes>(env: &Env, owner: Owner) -> Result<External<'_, Owner>> {
    let owner = Box::into_raw(Box::new(owner));
    let mut buffer = ptr::null_mut();
    // SAFETY: the owner lives until `finalize` drops it, and its bytes with it;
    // `env` is the environment of this thread.
    let status = unsafe {
        let (start, bytes) = (*owner).span();
        sys::napi_create_external_buffer(
            env.raw(),
            bytes,
            start.cast(),
            Some(finalize::<Owner>),
            owner.cast(),
            &mut buffer,
        )
    };
    // SAFETY: only called where Node has refused before it took the owner.
    let back = |owner: *mut Owner| unsafe { *Box::from_raw(owner) };
    match status {
        // SAFETY: Node has just made the value, in this environment.
        sys::Status::napi_ok => {
            unsafe { Unknown::from_napi_value(env.raw(), buffer) }.map(External::Buffer)
        }
        sys::Status::napi_no_external_buffers_allowed => Ok(External::Banned(back(owner))),
        sys::Status::napi_pending_exception | sys::Status::napi_cannot_run_js => {
            drop(back(owner));
            Err(Error::new(Status::from(status), "insufficient memory"))
        }
        // Node may have the owner by now, or not: then it stays.
        status => Err(Error::new(Status::from(status), "insufficient memory")),
    }
}

/// On the environment's thread, once the Buffer and all views of it are gone.
unsafe extern "C" fn finalize<Owner>(_env: sys::napi_env, _start: *mut c_void, owner: *mut c_void) {
    // SAFETY: `owner` is the box that `external` handed over, given back once.
    drop(unsafe { Box::from_raw(owner.cast::<Owner>()) });
}

/// Have the owner dropped when the garbage collector drops `object`, or with
/// the environment.
///
/// # Errors
/// If the environment is being torn down.
pub(crate) fn drop_with<Owner: 'static>(env: &Env, object: &Unknown, owner: Owner) -> Result<()> {
    let owner = Box::into_raw(Box::new(owner));
    // SAFETY: the object is of this environment; the owner lives until
    // `finalize_with` drops it.
    let status = unsafe {
        sys::napi_add_finalizer(
            env.raw(),
            object.raw(),
            owner.cast(),
            Some(finalize_with::<Owner>),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    check(status).inspect_err(|_| {
        // SAFETY: Node has refused it, so that it is ours still.
        drop(unsafe { Box::from_raw(owner) });
    })
}

/// On the environment's thread, once the object is gone.
unsafe extern "C" fn finalize_with<Owner>(
    _env: sys::napi_env,
    owner: *mut c_void,
    _hint: *mut c_void,
) {
    // SAFETY: `owner` is the box that `drop_with` handed over, given back once.
    drop(unsafe { Box::from_raw(owner.cast::<Owner>()) });
}

/// The address of the first byte of a Buffer or ArrayBuffer; 0 once it is
/// detached.
///
/// # Errors
/// If the value is neither.
pub(crate) fn address(value: &Unknown) -> Result<usize> {
    let (env, raw) = (value.value().env, value.raw());
    let (mut start, mut bytes) = (ptr::null_mut(), 0);
    // SAFETY: value and environment belong together; Node writes both results.
    unsafe {
        let mut is_whole = false;
        check(sys::napi_is_arraybuffer(env, raw, &mut is_whole))?;
        check(if is_whole {
            sys::napi_get_arraybuffer_info(env, raw, &mut start, &mut bytes)
        } else {
            sys::napi_get_buffer_info(env, raw, &mut start, &mut bytes)
        })?;
    }
    Ok(start.addr())
}

/// The ArrayBuffer of a Buffer.
///
/// # Errors
/// If the value is no Buffer.
pub(crate) fn whole<'env>(buffer: &Unknown<'env>) -> Result<Unknown<'env>> {
    let env = buffer.value().env;
    let mut whole = ptr::null_mut();
    // SAFETY: value and environment belong together; Node writes the one
    // result that is asked for, a value of the same environment.
    unsafe {
        check(sys::napi_get_typedarray_info(
            env,
            buffer.raw(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &mut whole,
            ptr::null_mut(),
        ))?;
        Unknown::from_napi_value(env, whole)
    }
}

/// Take the bytes away from a Buffer and all other views of them, which have
/// no length from now on.
///
/// # Errors
/// If the value is no Buffer, or its bytes are not to be taken away.
pub(crate) fn detach(buffer: &Unknown) -> Result<()> {
    let whole = whole(buffer)?;
    // SAFETY: an ArrayBuffer, as Node has just said.
    check(unsafe { sys::napi_detach_arraybuffer(whole.value().env, whole.raw()) })
}

fn check(status: sys::napi_status) -> Result<()> {
    match Status::from(status) {
        Status::Ok => Ok(()),
        other => Err(Error::new(other, "not a buffer")),
    }
}

/// Drop the exception that is being thrown, if there is one.
pub(crate) fn forget_exception(env: &Env) {
    let mut exception = ptr::null_mut();
    // SAFETY: Node writes a value, which nobody reads.
    unsafe { sys::napi_get_and_clear_last_exception(env.raw(), &mut exception) };
}
