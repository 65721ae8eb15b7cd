//! Buffers whose bytes are ours, freed when JavaScript drops them.

use std::ffi::c_void;
use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, Unknown};
use napi::{Env, Error, JsValue, Result, Status, sys};

/// Bytes that stay where they are until their owner is dropped.
pub(crate) trait Bytes: Send + 'static {
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
    // `env` is the environment whose thread this is.
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

/// The address of an ArrayBuffer's first byte.
///
/// # Errors
/// If the value is no ArrayBuffer.
pub(crate) fn start_of(buffer: &Unknown) -> Result<usize> {
    let (mut start, mut bytes) = (ptr::null_mut(), 0);
    let value = buffer.value();
    // SAFETY: value and environment belong together; Node writes both results.
    let status =
        unsafe { sys::napi_get_arraybuffer_info(value.env, value.value, &mut start, &mut bytes) };
    match Status::from(status) {
        Status::Ok => Ok(start.addr()),
        status => Err(Error::new(status, "not an ArrayBuffer")),
    }
}

/// Drop the exception that is being thrown, if there is one.
pub(crate) fn forget_exception(env: &Env) {
    let mut exception = ptr::null_mut();
    // SAFETY: Node writes a value, which nobody reads.
    unsafe { sys::napi_get_and_clear_last_exception(env.raw(), &mut exception) };
}
