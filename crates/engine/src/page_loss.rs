//! SIGBUS during a copy from or to a mapped file, turned into a plain answer.
//!
//! The handler puts an empty page of private memory where the missing one
//! was, so that the copy comes to its end, and leaves word. Faults anywhere
//! else go to whoever caught SIGBUS before.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The mapping that the present copy of this thread is in. Plain numbers in
/// constant thread-local cells: nothing is allocated or dropped, so that the
/// handler may look at them.
struct Watch {
    start: Cell<usize>,
    bytes: Cell<usize>,
    hit: Cell<bool>,
}

thread_local! {
    static WATCH: Watch =
        const { Watch { start: Cell::new(0), bytes: Cell::new(0), hit: Cell::new(false) } };
}

/// Who handled SIGBUS before: its `sa_sigaction` and `sa_flags`.
static BEFORE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Catch SIGBUS from now on. Once for the whole process.
pub(crate) fn catch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler keeps to what may be done in one (see there), and
        // the structures are plain numbers for which zero is a valid value.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before);
            BEFORE[0].store(before.sa_sigaction, Ordering::SeqCst);
            BEFORE[1].store(before.sa_flags as usize, Ordering::SeqCst);
            let mut ours: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
            ours.sa_sigaction = handler as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(libc::SIGBUS, &ours, std::ptr::null_mut());
        }
    });
}

/// Do `copy`, which touches the `bytes` at `memory`: whether every page of
/// them that it touched could be had.
#[inline]
pub(crate) fn guard(memory: *mut u8, bytes: usize, copy: impl FnOnce()) -> bool {
    WATCH.with(|watch| {
        watch.start.set(memory as usize);
        watch.bytes.set(bytes);
        // The signal comes on this thread, so keeping the compiler's order is enough.
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        copy();
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        watch.bytes.set(0);
        !watch.hit.replace(false)
    })
}

/// Only reads and writes cells of its own thread, and makes system calls that
/// signal-safety(7) or their nature allow in a handler.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel hands over a valid structure, and for
    // SIGBUS it has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let replaced = WATCH.try_with(|watch| {
        let inside = address.wrapping_sub(watch.start.get()) < watch.bytes.get();
        let replaced = inside && replace_page(address);
        if replaced {
            watch.hit.set(true);
        }
        replaced
    });
    if replaced != Ok(true) {
        pass_on(signal, info, context);
    }
}

/// Put an empty page at `address`.
fn replace_page(address: usize) -> bool {
    // SAFETY: sysconf only reads; the page lies within the mapping that the
    // interrupted copy of this very thread is in (its length is rounded up to
    // pages by the kernel), so nobody else's memory is replaced.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let memory = libc::mmap(
            (address & !(page - 1)) as *mut libc::c_void,
            page,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        );
        memory != libc::MAP_FAILED
    }
}

/// Let whoever came before handle it; if nobody did, the fault comes again
/// after our return and ends the process as it would have.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let (action, flags) = (BEFORE[0].load(Ordering::SeqCst), BEFORE[1].load(Ordering::SeqCst));
    if action == libc::SIG_DFL || action == libc::SIG_IGN || flags as i32 & libc::SA_SIGINFO == 0 {
        // SAFETY: restores the default action, which takes no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // SAFETY: `action` was in `sa_sigaction` of an action with SA_SIGINFO, so
    // it is the address of a function of this type.
    let before: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
        unsafe { std::mem::transmute(action) };
    before(signal, info, context);
}
