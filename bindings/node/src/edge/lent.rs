//! The bytes of a caller's Buffer while a task uses them.

use std::ptr::{self, NonNull};
use std::slice;

use napi::bindgen_prelude::Unknown;
use napi::{Env, Error, JsValue, Result, Status, sys};

/// The bytes, for the thread of a task.
///
/// As with Node's own functions, nobody may move the bytes elsewhere (transfer
/// the ArrayBuffer to a worker thread) before the task has ended. A Buffer of
/// a pool cannot be moved, and its memory outlives its release.
pub(crate) struct Lent {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the bytes are of one ArrayBuffer, which `Kept` holds. Which thread
// reads or writes them is the program's business, as with every Buffer that is
// given to an operation of Node's.
unsafe impl Send for Lent {}

/// What keeps the Buffer from the garbage collector; for JavaScript's thread.
pub(crate) struct Kept(sys::napi_ref);

impl Lent {
    /// The bytes of a Buffer or of another view.
    ///
    /// # Errors
    /// If the value is not one, or the environment is being torn down.
    pub(crate) fn of(buffer: &Unknown) -> Result<(Lent, Kept)> {
        let (env, raw) = (buffer.value().env, buffer.raw());
        let (mut start, mut bytes, mut kept) = (ptr::null_mut(), 0, ptr::null_mut());
        // SAFETY: value and environment belong together; Node writes the results.
        let status = unsafe {
            match sys::napi_get_buffer_info(env, raw, &mut start, &mut bytes) {
                sys::Status::napi_ok => sys::napi_create_reference(env, raw, 1, &mut kept),
                status => status,
            }
        };
        match Status::from(status) {
            Status::Ok => {
                let start = NonNull::new(start.cast()).unwrap_or(NonNull::dangling());
                Ok((Lent { start, bytes }, Kept(kept)))
            }
            other => Err(Error::new(other, "expected a buffer")),
        }
    }

    /// To be written to a file.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `Kept` holds the buffer until the task has ended, so that the
        // bytes stay; they are initialised. JavaScript that changes them
        // meanwhile changes what the kernel writes; nothing here looks at them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// To be read into from a file.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; only the kernel writes to them.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Kept {
    /// Let the garbage collector have the Buffer.
    pub(crate) fn end(self, env: &Env) {
        // SAFETY: made in this environment, given back once.
        unsafe { sys::napi_delete_reference(env.raw(), self.0) };
    }
}
