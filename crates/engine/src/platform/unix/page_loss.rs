//! SIGBUS during a copy from or to a mapped file, turned into a plain answer.
//!
//! The handler puts an empty page of private memory where the missing one
//! was, so that the copy comes to its end, and leaves word: with the copy of its
//! thread, or with buffers in a mapped file, which any thread may touch. Faults
//! anywhere else go to whoever caught SIGBUS before.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

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

/// Buffers in a mapped file, as the handler knows them. Never freed, as it may be
/// reading the list; used again for other buffers.
#[derive(Debug)]
struct Watched {
    start: AtomicUsize,
    /// Zero where the buffers are gone.
    bytes: AtomicUsize,
    /// A page was missing.
    lost: AtomicBool,
    /// Somebody's buffers are here.
    taken: AtomicBool,
    next: Option<&'static Watched>,
}

/// The list's head.
static WATCHED: AtomicPtr<Watched> = AtomicPtr::new(std::ptr::null_mut());

/// Buffers of which a missing page is replaced on whichever thread finds it, until this
/// is dropped.
#[derive(Debug)]
pub(crate) struct WatchedBuffers(&'static Watched);

impl WatchedBuffers {
    /// Watch the `bytes` at `start`, which stay mapped as long as this lives.
    pub(crate) fn new(start: *mut u8, bytes: usize) -> WatchedBuffers {
        catch();
        let free = all().find(|one| !one.taken.swap(true, Ordering::SeqCst));
        let watched = free.unwrap_or_else(add);
        watched.lost.store(false, Ordering::SeqCst);
        watched.start.store(start as usize, Ordering::SeqCst);
        watched.bytes.store(bytes, Ordering::SeqCst);
        WatchedBuffers(watched)
    }

    /// Whether a page of them was missing, and is zeroes now.
    pub(crate) fn has_lost_pages(&self) -> bool {
        self.0.lost.load(Ordering::Relaxed)
    }
}

impl Drop for WatchedBuffers {
    fn drop(&mut self) {
        self.0.bytes.store(0, Ordering::SeqCst);
        self.0.taken.store(false, Ordering::SeqCst);
    }
}

fn all() -> impl Iterator<Item = &'static Watched> {
    // SAFETY: the head is null or one of the places that `add` leaked, which are valid for
    // ever and changed by atomics only.
    let head = unsafe { WATCHED.load(Ordering::SeqCst).as_ref() };
    std::iter::successors(head, |one| one.next)
}

/// A new place in the list, taken.
fn add() -> &'static Watched {
    let mut place = Box::new(Watched {
        start: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
        taken: AtomicBool::new(true),
        next: None,
    });
    loop {
        let head = WATCHED.load(Ordering::SeqCst);
        // SAFETY: as in `all`.
        place.next = unsafe { head.as_ref() };
        let new = Box::into_raw(place);
        if WATCHED.compare_exchange(head, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            // SAFETY: it comes from a box that nobody frees any more.
            return unsafe { &*new };
        }
        // SAFETY: nobody else has seen it.
        place = unsafe { Box::from_raw(new) };
    }
}

/// Replace a missing page of watched buffers.
fn replace_watched(address: usize) -> bool {
    let inside = |one: &&Watched| {
        let start = one.start.load(Ordering::SeqCst);
        address.wrapping_sub(start) < one.bytes.load(Ordering::SeqCst)
    };
    let Some(found) = all().find(inside).filter(|_| replace_page(address)) else { return false };
    found.lost.store(true, Ordering::SeqCst);
    true
}

/// Copy `len` bytes from or to a mapping: whether every page of it that was touched could be had.
///
/// # Safety
/// As for `copy_nonoverlapping`, but that pages of the mapping may be missing; no reference is
/// made to either, so that other processes may change the mapping meanwhile.
#[inline]
pub(crate) unsafe fn copy(
    (memory, bytes): (*mut u8, usize),
    from: *const u8,
    to: *mut u8,
    len: usize,
) -> bool {
    guard(memory, bytes, || {
        // SAFETY: the caller's promise; a page that cannot be had is replaced by the guard.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) }
    })
}

/// Do `copy`, which touches the `bytes` at `memory`: whether every page of
/// them that it touched could be had.
#[inline]
fn guard(memory: *mut u8, bytes: usize, copy: impl FnOnce()) -> bool {
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

/// Only reads and writes cells of its own thread and atomics, and makes system calls that
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
    if replaced != Ok(true) && !replace_watched(address) {
        pass_on(signal, info, context);
    }
}

/// Put an empty page at `address`.
fn replace_page(address: usize) -> bool {
    // SAFETY: sysconf only reads; the page lies within the mapping that the
    // interrupted copy of this very thread is in, or within watched buffers (lengths are
    // rounded up to pages by the kernel), so nobody else's memory is replaced.
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

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_direct::{MemoryKind, RawBuf};

    #[test]
    fn a_page_of_watched_buffers_is_replaced_until_they_are_gone() {
        let page = rustix::param::page_size();
        let memory = RawBuf::new(&MemoryKind::SharedMapping(None), 3 * page, page).unwrap();
        let at = |offset: usize| memory.start().wrapping_add(offset);
        for watching in 0..2 {
            // SAFETY: within the mapping, which nobody else knows.
            unsafe { at(0).write_bytes(7, 3 * page) };
            let watched = WatchedBuffers::new(at(page), page);
            assert!(!watched.has_lost_pages(), "{watching}: those before are gone");
            assert!(!replace_watched(at(page - 1).addr()) && !replace_watched(at(2 * page).addr()));
            assert!(!watched.has_lost_pages());
            assert!(replace_watched(at(page + 10).addr()));
            assert!(watched.has_lost_pages());
            // SAFETY: as above.
            let found = [0, page - 1, page, 2 * page - 1, 2 * page]
                .map(|offset| unsafe { at(offset).read_volatile() });
            assert_eq!(found, [7, 7, 0, 0, 7]);
            drop(watched);
            assert!(!replace_watched(at(page + 10).addr()), "nobody watches it any more");
        }
        assert!(!replace_page(1 << 62), "no address of a process");
    }

    #[test]
    fn a_file_of_buffers_that_is_cut_off_reads_as_zeroes_on_any_thread() {
        let page = rustix::param::page_size();
        let folder = iosonde_testing::Folder::new("cut-off");
        let path = folder.join("f");
        let kind = MemoryKind::SharedMapping(Some(path.clone()));
        let memory = RawBuf::new(&kind, page, page).unwrap();
        let watched = WatchedBuffers::new(memory.start(), page);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        // SAFETY: within the mapping, which nobody else knows.
        assert_eq!(unsafe { memory.start().add(10).read_volatile() }, 0);
        assert!(watched.has_lost_pages());
    }

    static PASSED_ON: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn other(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
        PASSED_ON.fetch_add(1, Ordering::SeqCst);
    }

    #[test]
    fn a_fault_elsewhere_goes_to_who_caught_it_before_or_to_the_default_action() {
        catch();
        let caught = BEFORE.each_ref().map(|word| word.load(Ordering::SeqCst));
        let other: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = other;
        let flags = libc::SA_SIGINFO;
        for (action, flags, is_passed) in [
            (other as usize, flags, true),
            (other as usize, libc::SA_RESTART, false),
            (libc::SIG_DFL, flags, false),
            (libc::SIG_IGN, flags, false),
        ] {
            BEFORE[0].store(action, Ordering::SeqCst);
            BEFORE[1].store(flags as usize, Ordering::SeqCst);
            // SAFETY: a signal that nobody sends here; its default action is none.
            unsafe { libc::signal(libc::SIGURG, libc::SIG_IGN) };
            pass_on(libc::SIGURG, std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!(PASSED_ON.swap(0, Ordering::SeqCst) == 1, is_passed, "{action} {flags}");
            // SAFETY: as above.
            let now = unsafe { libc::signal(libc::SIGURG, libc::SIG_DFL) };
            assert_eq!(now == libc::SIG_DFL, !is_passed, "{action} {flags}");
        }
        BEFORE.iter().zip(caught).for_each(|(word, before)| word.store(before, Ordering::SeqCst));
    }
}
