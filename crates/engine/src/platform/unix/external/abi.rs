//! The structures of include/iosonde_engine.h, field for field.

use std::ffi::{c_char, c_int, c_void};

/// The first bytes of what is exported.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"iosonde\0");
/// The interface's number.
pub(super) const ABI: u32 = 1;

pub(super) const DONE: c_int = 0;
pub(super) const QUEUED: c_int = 1;
pub(super) const BUSY: c_int = 2;

pub(super) const SYNCHRONOUS: u64 = 1;
pub(super) const OWN_FILES: u64 = 2;
pub(super) const TRIMS: u64 = 4;
pub(super) const SYNCS: u64 = 8;
/// All flags there are.
pub(super) const FLAGS: u64 = SYNCHRONOUS | OWN_FILES | TRIMS | SYNCS;

#[repr(C)]
pub(super) struct Job {
    pub size: u32,
    pub depth: u32,
    pub files: u32,
    pub reserved: u32,
    pub memory: *mut c_void,
    pub memory_bytes: u64,
}

#[repr(C)]
pub(super) struct File {
    pub size: u32,
    pub index: u32,
    pub fd: i32,
    pub writes: u32,
    pub bytes: u64,
    pub name: *const c_char,
}

#[repr(C)]
pub(super) struct AbiIo {
    pub size: u32,
    pub op: u32,
    pub id: u64,
    pub offset: u64,
    pub length: u64,
    pub buffer: *mut c_void,
    pub file: u32,
    pub fd: i32,
    pub file_context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct AbiCompletion {
    pub id: u64,
    pub result: i64,
}

pub(super) type OpenCall = unsafe extern "C" fn(*const Job, *mut *mut c_void) -> c_int;
pub(super) type CloseCall = unsafe extern "C" fn(*mut c_void);
pub(super) type OpenFile =
    unsafe extern "C" fn(*mut c_void, *const File, *mut *mut c_void) -> c_int;
pub(super) type CloseFile = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);
pub(super) type Queue = unsafe extern "C" fn(*mut c_void, *const AbiIo, *mut i64) -> c_int;
pub(super) type Commit = unsafe extern "C" fn(*mut c_void) -> c_int;
pub(super) type GetEvents =
    unsafe extern "C" fn(*mut c_void, u32, u32, u64, *mut AbiCompletion) -> c_int;
pub(super) type Cancel = unsafe extern "C" fn(*mut c_void, u64);
pub(super) type ErrorText = unsafe extern "C" fn(*mut c_void, c_int) -> *const c_char;

/// What an object exports. Null pointers are `None`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Exported {
    pub magic: u64,
    pub abi: u32,
    pub size: u32,
    pub name: *const c_char,
    pub about: *const c_char,
    pub flags: u64,
    pub open: Option<OpenCall>,
    pub close: Option<CloseCall>,
    pub open_file: Option<OpenFile>,
    pub close_file: Option<CloseFile>,
    pub queue: Option<Queue>,
    pub commit: Option<Commit>,
    pub getevents: Option<GetEvents>,
    pub cancel: Option<Cancel>,
    pub error_text: Option<ErrorText>,
}
