//! Tasks on Node's pool of threads that end in a call of a JavaScript function.

use std::ffi::c_void;
use std::ptr;

use napi::bindgen_prelude::Unknown;
use napi::{Env, Error, JsValue, Result, Status, sys};

/// Makes the arguments of the callback from the result of a task.
type Finish<Found> = Box<dyn for<'e> FnOnce(&'e Env, Found) -> Result<Vec<Unknown<'e>>>>;

/// The data of a task that crosses threads. It is owned by Node from `queue` on
/// until `complete` takes it back.
struct Task<Found> {
    act: Option<Box<dyn FnOnce() -> Found + Send>>,
    found: Option<Found>,
    finish: Finish<Found>,
    handles: Handles,
}

/// What Node keeps for a task; null where it was not made.
struct Handles {
    callback: sys::napi_ref,
    /// The context of the call, for AsyncLocalStorage: since Node 24 the work
    /// alone does not carry it.
    context: sys::napi_async_context,
    work: sys::napi_async_work,
}

impl Handles {
    /// None of them.
    const NONE: Handles =
        Handles { callback: ptr::null_mut(), context: ptr::null_mut(), work: ptr::null_mut() };

    /// Give all back.
    fn end(self, env: &Env) {
        // SAFETY: each was made in this environment and is given back once; the
        // work is not queued, or is being completed.
        unsafe {
            if !self.callback.is_null() {
                sys::napi_delete_reference(env.raw(), self.callback);
            }
            if !self.context.is_null() {
                sys::napi_async_destroy(env.raw(), self.context);
            }
            if !self.work.is_null() {
                sys::napi_delete_async_work(env.raw(), self.work);
            }
        }
    }
}

/// Run `act` on another thread and then, on this one, call `callback` with the
/// arguments that `finish` makes of what was found: never before `queue` has
/// returned, and in the caller's async context.
///
/// A throw in the callback becomes an `uncaughtException`. When the environment
/// ends first, the act is still finished and nothing is called.
///
/// # Errors
/// If Node has no memory for a task.
pub(crate) fn queue<Found: Send + 'static>(
    env: &Env,
    callback: Unknown,
    act: impl FnOnce() -> Found + Send + 'static,
    finish: impl for<'e> FnOnce(&'e Env, Found) -> Result<Vec<Unknown<'e>>> + 'static,
) -> Result<()> {
    let task = Box::into_raw(Box::new(Task {
        act: Some(Box::new(act)),
        found: None,
        finish: Box::new(finish),
        handles: Handles::NONE,
    }));
    // SAFETY: `task` is live until `complete`, which Node calls once, after
    // `execute`, and only if the task was queued.
    let queued = unsafe { hand_over(env, callback, task) };
    if queued.is_err() {
        // SAFETY: Node did not take the task, so it is ours again.
        unsafe { Box::from_raw(task) }.handles.end(env);
    }
    queued
}

/// Make the handles of a task and queue it.
///
/// # Safety
/// `task` is live until `complete` has been called, or this has failed.
unsafe fn hand_over<Found>(env: &Env, callback: Unknown, task: *mut Task<Found>) -> Result<()> {
    let raw = env.raw();
    let name = env.create_string("@iosonde/direct-io")?.raw();
    let nothing = ptr::null_mut();
    // SAFETY: `raw` is the environment of this thread, as `env` is only
    // had there; the values were made in it; Node writes the handles.
    unsafe {
        let handles = &mut (*task).handles;
        check(sys::napi_create_reference(raw, callback.raw(), 1, &mut handles.callback))?;
        check(sys::napi_async_init(raw, nothing, name, &mut handles.context))?;
        check(sys::napi_create_async_work(
            raw,
            nothing,
            name,
            Some(execute::<Found>),
            Some(complete::<Found>),
            task.cast(),
            &mut handles.work,
        ))?;
        check(sys::napi_queue_async_work(raw, handles.work))
    }
}

/// On a thread of the pool.
unsafe extern "C" fn execute<Found>(_env: sys::napi_env, task: *mut c_void) {
    // SAFETY: `task` is the `Task` that `queue` handed over; until `complete`
    // nobody else has it. Of what it holds only the act and what it found, which
    // are `Send`, are touched here; the rest stays for the thread of `queue`.
    let task = unsafe { &mut *task.cast::<Task<Found>>() };
    if let Some(act) = task.act.take() {
        task.found = Some(act());
    }
}

/// On the environment's thread, in a handle scope and async context of Node's.
unsafe extern "C" fn complete<Found>(
    raw: sys::napi_env,
    _status: sys::napi_status,
    task: *mut c_void,
) {
    // SAFETY: as in `execute`; this is the one call that ends the task.
    let task = unsafe { Box::from_raw(task.cast::<Task<Found>>()) };
    let Task { found, finish, handles, .. } = *task;
    let env = Env::from_raw(raw);
    let arguments = match found {
        Some(found) => finish(&env, found),
        // Cancelled before it ran.
        None => super::error(&env, "async work was cancelled").map(|error| vec![error]),
    };
    // An environment that is being torn down makes no values and takes no
    // calls: no callback is left to call.
    if let Ok(arguments) = arguments {
        let arguments: Vec<_> = arguments.iter().map(JsValue::raw).collect();
        let (mut global, mut callback) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: handles and values are of this environment, and the values of
        // the scope that Node opened around this call. What the callback throws
        // stays pending, and Node makes it an uncaughtException.
        unsafe {
            sys::napi_get_reference_value(raw, handles.callback, &mut callback);
            sys::napi_get_global(raw, &mut global);
            sys::napi_make_callback(
                raw,
                handles.context,
                global,
                callback,
                arguments.len(),
                arguments.as_ptr(),
                ptr::null_mut(),
            );
        }
    }
    handles.end(&env);
}

fn check(status: sys::napi_status) -> Result<()> {
    match Status::from(status) {
        Status::Ok => Ok(()),
        other => Err(Error::new(other, "insufficient memory")),
    }
}
