//! The MPI library, loaded at run time: a dozen functions of C, behind a safe face.
//!
//! Handles are passed as machine words. Open MPI's are pointers; MPICH's are 32-bit
//! integers, which the calling conventions of x86-64 and AArch64 let a callee read from the
//! low half of the word. Messages are bytes: no other datatype and no operation is needed.
#![allow(unsafe_code)]

use iosonde_sys::library::{Library, open_globally};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

/// Room for an `MPI_Status`: 24 bytes in Open MPI, 20 in MPICH, 32 in the standard's ABI.
type StatusRoom = [u64; 8];

type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
type OfComm = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
type Start = unsafe extern "C" fn(*mut u8, c_int, usize, c_int, c_int, usize, *mut usize) -> c_int;
type StartBarrier = unsafe extern "C" fn(usize, *mut usize) -> c_int;
type Test = unsafe extern "C" fn(*mut usize, *mut c_int, *mut StatusRoom) -> c_int;
type TestSome =
    unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, *mut c_int, *mut StatusRoom) -> c_int;
type Cancel = unsafe extern "C" fn(*mut usize) -> c_int;
type Abort = unsafe extern "C" fn(usize, c_int) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;

/// A loaded library of MPI. It stays loaded, and is used by the thread that loaded it.
pub(super) struct MpiLibrary {
    init: Init,
    rank: OfComm,
    size: OfComm,
    version: Version,
    isend: Start,
    irecv: Start,
    ibarrier: StartBarrier,
    test: Test,
    test_some: TestSome,
    cancel: Cancel,
    abort: Abort,
    finalize: Finalize,
    constants: Constants,
    one_thread: PhantomData<*const ()>,
}

/// Values that differ between the ABIs.
#[derive(Clone, Copy, Debug)]
struct Constants {
    world: usize,
    byte: usize,
    funneled: c_int,
    /// Handles in an array are words; else 32-bit integers.
    are_words: bool,
}

/// Bytes that are on their way, or awaited.
pub(super) struct PendingMessage {
    request: usize,
    buffer: Option<Box<[u8]>>,
}

impl PendingMessage {
    /// Whether MPI is not known to be done with it.
    pub fn is_under_way(&self) -> bool {
        self.buffer.is_some()
    }
}

impl MpiLibrary {
    /// Load a library by its name.
    ///
    /// # Errors
    /// It cannot be loaded, or is not MPI: in the loader's words.
    pub fn open(name: &str) -> Result<MpiLibrary, String> {
        // SAFETY: loading runs the library's constructors; MPI libraries are made to be linked
        // into any program and rely on nothing of ours. Open MPI's plugins need its symbols
        // to be global.
        let library = unsafe { open_globally(name) }?;
        let constants = constants(&library, name);
        // SAFETY: the names are those of the MPI standard's C functions, whose signatures are
        // the types above with handles as machine words (see the module).
        let loaded = unsafe {
            MpiLibrary {
                init: function(&library, c"MPI_Init_thread")?,
                rank: function(&library, c"MPI_Comm_rank")?,
                size: function(&library, c"MPI_Comm_size")?,
                version: function(&library, c"MPI_Get_library_version")?,
                isend: function(&library, c"MPI_Isend")?,
                irecv: function(&library, c"MPI_Irecv")?,
                ibarrier: function(&library, c"MPI_Ibarrier")?,
                test: function(&library, c"MPI_Test")?,
                test_some: function(&library, c"MPI_Testsome")?,
                cancel: function(&library, c"MPI_Cancel")?,
                abort: function(&library, c"MPI_Abort")?,
                finalize: function(&library, c"MPI_Finalize")?,
                constants,
                one_thread: PhantomData,
            }
        };
        // The functions are called until the process ends.
        std::mem::forget(library);
        Ok(loaded)
    }

    /// Begin, with calls from this thread only.
    pub fn init(&self) -> Result<(), String> {
        let mut provided = 0;
        // SAFETY: null arguments are allowed since MPI 2; `provided` is written before return.
        let code = unsafe {
            (self.init)(ptr::null_mut(), ptr::null_mut(), self.constants.funneled, &mut provided)
        };
        if code == 0 { Ok(()) } else { Err(format!("MPI_Init_thread failed with {code}")) }
    }

    /// This rank, and how many there are.
    pub fn place(&self) -> (usize, usize) {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: after init; each function writes one int.
        unsafe {
            (self.rank)(self.constants.world, &mut rank);
            (self.size)(self.constants.world, &mut size);
        }
        (usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(0))
    }

    /// The library's name and version: the first line of what it says of itself.
    pub fn version(&self) -> String {
        // MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most (MPICH).
        let mut text = vec![0; 16384];
        let mut length = 0;
        // SAFETY: the room is larger than any library's text, which ends with a zero.
        let text = unsafe {
            (self.version)(text.as_mut_ptr(), &mut length);
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        };
        let line = text.lines().next().unwrap_or_default();
        line.split(',').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Send bytes.
    pub fn send(&self, to: usize, tag: c_int, bytes: Vec<u8>) -> PendingMessage {
        self.start(self.isend, to, tag, bytes)
    }

    /// Receive `length` bytes, or fewer.
    pub fn receive(&self, from: usize, tag: c_int, length: usize) -> PendingMessage {
        self.start(self.irecv, from, tag, vec![0; length])
    }

    fn start(&self, start: Start, other: usize, tag: c_int, bytes: Vec<u8>) -> PendingMessage {
        let mut buffer = bytes.into_boxed_slice();
        let mut request = 0;
        let length = c_int::try_from(buffer.len()).expect("messages are shorter than 2 GiB");
        let other = c_int::try_from(other).expect("ranks are ints");
        let Constants { world, byte, .. } = self.constants;
        // SAFETY: the buffer is on the heap and owned by the pending message, which gives it
        // up only once MPI_Test has said that MPI is done with it.
        unsafe {
            start(buffer.as_mut_ptr(), length, byte, other, tag, world, &mut request);
        }
        PendingMessage { request, buffer: Some(buffer) }
    }

    /// Begin a barrier.
    pub fn barrier(&self) -> PendingMessage {
        let mut request = 0;
        // SAFETY: after init; one request is written.
        unsafe {
            (self.ibarrier)(self.constants.world, &mut request);
        }
        PendingMessage { request, buffer: Some(Box::default()) }
    }

    /// The bytes, once MPI is done with them.
    pub fn test(&self, pending: &mut PendingMessage) -> Option<Box<[u8]>> {
        pending.buffer.as_ref()?;
        let (mut flag, mut status): (c_int, StatusRoom) = (0, [0; 8]);
        // SAFETY: the request is one that `start` or `barrier` made and that has not been
        // completed: then the buffer would be gone.
        unsafe {
            (self.test)(&mut pending.request, &mut flag, &mut status);
        }
        if flag != 0 { pending.buffer.take() } else { None }
    }

    /// The bytes of each of the messages with which MPI is done since, and its place among them. One
    /// call for all: where ranks share processors each call gives the processor away.
    pub fn test_some(&self, pending: &mut [PendingMessage]) -> Vec<(usize, Box<[u8]>)> {
        let live: Vec<usize> =
            (0..pending.len()).filter(|&at| pending[at].buffer.is_some()).collect();
        if self.constants.are_words {
            let mut handles: Vec<usize> = live.iter().map(|&at| pending[at].request).collect();
            let done = self.which(&mut handles);
            live.iter().zip(handles).for_each(|(&at, handle)| pending[at].request = handle);
            take(pending, &live, done)
        } else {
            let mut handles: Vec<u32> = live.iter().map(|&at| pending[at].request as u32).collect();
            let done = self.which(&mut handles);
            live.iter()
                .zip(handles)
                .for_each(|(&at, handle)| pending[at].request = handle as usize);
            take(pending, &live, done)
        }
    }

    /// The places of those that are done; their handles are null then.
    fn which<H>(&self, handles: &mut [H]) -> Vec<c_int> {
        if handles.is_empty() {
            return Vec::new();
        }
        let count = c_int::try_from(handles.len()).expect("ranks are ints");
        let (mut done, mut indices) = (0, vec![0; handles.len()]);
        let mut statuses: Vec<StatusRoom> = Vec::with_capacity(handles.len());
        // SAFETY: `count` handles as this library has them in arrays, of requests that were begun and have not
        // been completed, else their buffers would be gone; room for as many indices and statuses, of
        // which each is larger than the library's.
        unsafe {
            (self.test_some)(
                count,
                handles.as_mut_ptr().cast(),
                &mut done,
                indices.as_mut_ptr(),
                statuses.as_mut_ptr(),
            );
        }
        // Less than none where no handle is of anything.
        indices.truncate(usize::try_from(done).unwrap_or(0));
        indices
    }

    /// Give up on a message that is awaited; it is still to be tested until MPI is done with it.
    pub fn cancel(&self, pending: &mut PendingMessage) {
        if pending.buffer.is_some() {
            // SAFETY: as in `test`: the request has not been completed.
            unsafe {
                (self.cancel)(&mut pending.request);
            }
        }
    }

    /// End all ranks.
    pub fn abort(&self, code: i32) -> ! {
        // SAFETY: after init, by the thread that called it.
        unsafe {
            (self.abort)(self.constants.world, code);
        }
        std::process::exit(code)
    }

    /// The end of MPI: nothing of it is called afterwards.
    pub fn finalize(self) {
        // SAFETY: after init, once; the library is consumed.
        unsafe {
            (self.finalize)();
        }
    }

    /// Ends all ranks if this thread panics: without it the others would wait for ever.
    pub fn abort_on_panic(&self, code: i32) {
        let (abort, world) = (self.abort, self.constants.world);
        let (caller, before) = (std::thread::current().id(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            before(info);
            // Panics of jobs' threads are caught and become results.
            if std::thread::current().id() == caller {
                // SAFETY: this is the thread that called init.
                unsafe {
                    abort(world, code);
                }
            }
        }));
    }
}

/// The buffers of those that are done, by their places in `live`.
fn take(
    pending: &mut [PendingMessage],
    live: &[usize],
    done: Vec<c_int>,
) -> Vec<(usize, Box<[u8]>)> {
    let places =
        done.into_iter().filter_map(|index| live.get(usize::try_from(index).ok()?).copied());
    places.filter_map(|at| Some((at, pending[at].buffer.take()?))).collect()
}

impl Drop for PendingMessage {
    fn drop(&mut self) {
        // MPI may still use it.
        std::mem::forget(self.buffer.take());
    }
}

/// Which ABI a library has, by a symbol that only Open MPI has, or by its name.
fn constants(library: &Library, name: &str) -> Constants {
    // SAFETY: the symbol is an object of Open MPI, of which only the address is taken.
    let address = |symbol: &CStr| unsafe {
        library.get::<*const c_void>(symbol.to_bytes_with_nul()).ok().map(|found| *found as usize)
    };
    match (address(c"ompi_mpi_comm_world"), address(c"ompi_mpi_byte")) {
        (Some(world), Some(byte)) => Constants { world, byte, funneled: 1, are_words: true },
        // The ABI of the MPI 5.0 standard.
        _ if name.contains("mpi_abi") => {
            Constants { world: 0x101, byte: 0x247, funneled: 1024, are_words: true }
        }
        // MPICH, Intel MPI, MVAPICH, Cray: the ABI of MPICH.
        _ => Constants { world: 0x4400_0000, byte: 0x4c00_010d, funneled: 1, are_words: false },
    }
}

/// A function by its name.
///
/// # Safety
/// `F` is its type.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
    // SAFETY: as the caller promises.
    let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
    found.map(|found| *found).map_err(|error| error.to_string())
}
