//! The engines' own options, as meant: plain values, no text.

/// Options that only some engines have. Each engine names in the catalogue
/// those that it knows; the planner refuses the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    /// Polled completions: RWF_HIPRI, IORING_SETUP_IOPOLL.
    pub hipri: bool,
    /// Percentage of I/Os that are polled (`hipri_percentage`).
    pub hipri_percentage: u32,
    /// io_uring: buffers registered with the ring.
    pub fixedbufs: bool,
    /// io_uring: files registered with the ring.
    pub registerfiles: bool,
    /// io_uring: a kernel thread polls the submission ring.
    pub sqthread_poll: bool,
    /// io_uring: the processor that thread is held on.
    pub sqthread_poll_cpu: Option<u32>,
    /// io_uring: READ and WRITE rather than READV and WRITEV.
    pub nonvectored: bool,
    /// io_uring: every n-th request goes straight to a kernel worker; 0: none.
    pub force_async: u32,
    /// RWF_NOWAIT: fail with EAGAIN rather than wait.
    pub nowait: bool,
    /// RWF_DONTCACHE: through the page cache and out again.
    pub uncached: bool,
    /// RWF_ATOMIC: torn never (the core option `atomic`).
    pub atomic: bool,
    /// libaio: collect from the ring in user space.
    pub userspace_reap: bool,
    /// libaio: PREADV and PWRITEV rather than PREAD and PWRITE.
    pub vectored: bool,
    /// mmap: transparent huge pages by madvise(2).
    pub thp: bool,
    /// filestat, dirstat: the call that asks for attributes.
    pub stat: StatCall,
}

/// A call that asks for a file's attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// stat(2).
    #[default]
    Stat,
    /// lstat(2).
    Lstat,
    /// statx(2), not waiting for other machines.
    Statx,
}

/// What sync_file_range(2) is asked to do; the bits of its manual page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRangeFlags(pub u32);
