//! How many operations of Node's event loop are in flight.

use std::ffi::{c_uint, c_void};
use std::ptr;

use napi::{Env, sys};

/// The first members of libuv's `uv_loop_t` (`<uv.h>`), the same in every
/// release of libuv 1. The last is a union of this counter with a pointer.
#[repr(C)]
struct LoopHead {
    data: *mut c_void,
    active_handles: c_uint,
    handle_queue: [*mut c_void; 2],
    active_requests: c_uint,
}

/// Requests of this thread's event loop that have not completed: reads and
/// writes of files and streams, work on Node's pool of threads. `None` where
/// the loop is not Node's.
///
/// The caller knows that the program is Node with libuv 1.
pub(crate) fn operations_in_flight(env: &Env) -> Option<u32> {
    let mut uv_loop = ptr::null_mut();
    // SAFETY: the environment is that of this thread; Node writes the pointer
    // only if it returns ok.
    let status = unsafe { sys::napi_get_uv_event_loop(env.raw(), &mut uv_loop) };
    if status != sys::Status::napi_ok || uv_loop.is_null() {
        return None;
    }
    // SAFETY: Node's loop lives as long as its environment, begins with these
    // members, and is changed by this thread only.
    Some(unsafe { (*uv_loop.cast::<LoopHead>()).active_requests })
}
