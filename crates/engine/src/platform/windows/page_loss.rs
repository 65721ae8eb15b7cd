//! A page of a mapped file that cannot be had, turned into a plain answer: reading it raises an exception
//! (EXCEPTION_IN_PAGE_ERROR), which a handler ends by leaving the copy.
#![allow(unsafe_code)]

use std::sync::Once;
use windows_sys::Win32::Foundation::EXCEPTION_IN_PAGE_ERROR;
use windows_sys::Win32::System::Diagnostics::Debug::{
    AddVectoredExceptionHandler, EXCEPTION_POINTERS,
};

/// Go on to the next handler.
const CONTINUE_SEARCH: i32 = 0;
/// Go on where the context says.
const CONTINUE_EXECUTION: i32 = -1;

/// Buffers in a mapped file: this system has no memory of this kind for jobs (`mem=mmapshared`), and the calls
/// of the system answer with an error where they meet such a page.
#[derive(Debug)]
pub(crate) struct WatchedBuffers;

impl WatchedBuffers {
    /// Nothing to do.
    pub(crate) fn new(_: *mut u8, _: usize) -> WatchedBuffers {
        WatchedBuffers
    }

    /// Never known here.
    pub(crate) fn has_lost_pages(&self) -> bool {
        false
    }
}

/// Handle these exceptions from now on. Once for the whole process.
pub(crate) fn catch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only looks at what it is given, and stays for as long as the process.
        unsafe { AddVectoredExceptionHandler(1, Some(on_exception)) };
    });
}

/// Copy `len` bytes from or to a mapping: whether every page of it that was touched could be had.
///
/// # Safety
/// As for `copy_nonoverlapping`, but that pages of the mapping may be missing; no reference is
/// made to either, so that other processes may change the mapping meanwhile.
#[inline]
pub(crate) unsafe fn copy(_: (*mut u8, usize), from: *const u8, to: *mut u8, len: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { processor::copy(from, to, len) }
}

unsafe extern "system" fn on_exception(about: *mut EXCEPTION_POINTERS) -> i32 {
    // SAFETY: the system hands over valid structures, for the time of this call.
    unsafe {
        let about = &*about;
        if (*about.ExceptionRecord).ExceptionCode != EXCEPTION_IN_PAGE_ERROR {
            return CONTINUE_SEARCH;
        }
        if processor::leave_copy(&mut *about.ContextRecord) {
            CONTINUE_EXECUTION
        } else {
            CONTINUE_SEARCH
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use windows_sys::Win32::System::Diagnostics::Debug::CONTEXT;

    // A leaf without a frame: it can be left from any of its instructions.
    core::arch::global_asm!(
        ".global iosonde_copy",
        ".global iosonde_copy_failed",
        "iosonde_copy:",
        "mov rcx, rdx",
        "rep movsb",
        "mov eax, 1",
        "ret",
        "iosonde_copy_failed:",
        "xor eax, eax",
        "ret",
    );

    unsafe extern "sysv64" {
        fn iosonde_copy(to: *mut u8, from: *const u8, len: usize) -> u32;
        fn iosonde_copy_failed();
    }

    /// # Safety
    /// As for `copy_nonoverlapping`, but that pages may be missing.
    #[inline]
    pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) -> bool {
        // SAFETY: the caller's promise; the function keeps to its calling convention.
        unsafe { iosonde_copy(to, from, len) != 0 }
    }

    /// Let the interrupted thread go on behind the copy, if it was in one.
    pub(super) fn leave_copy(context: &mut CONTEXT) -> bool {
        let failed = iosonde_copy_failed as *const () as u64;
        let copy = iosonde_copy as *const () as u64..failed;
        let inside = copy.contains(&context.Rip);
        if inside {
            context.Rip = failed;
        }
        inside
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod processor {
    use windows_sys::Win32::System::Diagnostics::Debug::CONTEXT;

    /// # Safety
    /// As for `copy_nonoverlapping`. A missing page ends the process.
    #[inline]
    pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
        true
    }

    pub(super) fn leave_copy(_: &mut CONTEXT) -> bool {
        false
    }
}
