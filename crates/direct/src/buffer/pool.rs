//! Many equal buffers out of one piece of memory.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{AlignedBuf, BufferError, raw};
use crate::HugePage;

/// How to make a [`BufferPool`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    buffers: usize,
    bytes: usize,
    alignment: usize,
    huge_page: Option<HugePage>,
}

impl PoolOptions {
    /// This many `buffers` of `bytes` bytes each, at multiples of 4096, out of
    /// ordinary memory; from 2 MiB in all on, huge pages are preferred, not required.
    pub fn new(buffers: usize, bytes: usize) -> PoolOptions {
        PoolOptions { buffers, bytes, alignment: 4096, huge_page: None }
    }

    /// Each buffer at a multiple of this many bytes: a power of two up to 1 GiB.
    pub fn alignment(mut self, bytes: usize) -> PoolOptions {
        self.alignment = bytes;
        self
    }

    /// Out of huge pages of this size that the system keeps reserved; an error if too few are free.
    pub fn huge_pages(mut self, page: HugePage) -> PoolOptions {
        self.huge_page = Some(page);
        self
    }

    /// Make the pool.
    ///
    /// # Errors
    /// If there are no buffers, no memory for them, or the alignment is no power of two of at most
    /// 1 GiB.
    pub fn build(&self) -> Result<BufferPool, PoolError> {
        if self.buffers == 0 {
            return Err(PoolError::Empty);
        }
        raw::check(self.bytes, self.alignment).map_err(PoolError::Buffer)?;
        let too_long = || PoolError::TooLong(self.clone());
        let stride = self.bytes.checked_next_multiple_of(self.alignment).ok_or_else(too_long)?;
        let all = stride.checked_mul(self.buffers).ok_or_else(too_long)?;
        let memory = match self.huge_page {
            Some(page) => AlignedBuf::huge(all, self.alignment, page),
            None => AlignedBuf::new(all, self.alignment),
        };
        let memory = memory.map_err(PoolError::Buffer)?;
        // The first that is taken is the first in memory.
        let free = (0..self.buffers).rev().collect();
        let shared = PoolMemory {
            memory,
            stride,
            options: self.clone(),
            free: Mutex::new(free),
            returned: Condvar::new(),
        };
        Ok(BufferPool { shared: Arc::new(shared) })
    }
}

/// Why a pool cannot be made.
#[derive(Debug)]
pub enum PoolError {
    /// A pool of no buffers.
    Empty,
    /// All together they are more than an address space holds.
    TooLong(PoolOptions),
    /// A buffer of this size or alignment cannot be made, or there is no memory for all.
    Buffer(BufferError),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::Empty => write!(f, "make a pool of 0 buffers: it needs at least 1"),
            PoolError::TooLong(options) => write!(
                f,
                "make a pool of {} buffers of {} bytes: no address space is that large",
                options.buffers, options.bytes
            ),
            PoolError::Buffer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PoolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PoolError::Buffer(error) => Some(error),
            _ => None,
        }
    }
}

/// Many equal, aligned buffers out of one piece of memory, handed out and
/// taken back without a system call. Clones share it; it may be used from
/// any thread.
///
/// ```
/// use iosonde_direct::BufferPool;
///
/// let pool = BufferPool::new(2, 64 << 10)?;
/// let mut first = pool.take().expect("two are free");
/// first.fill(7);
/// let second = pool.take().expect("one is free");
/// assert!(pool.take().is_none());
/// second.give_back();
/// assert_eq!(pool.free(), 1);
/// # Ok::<(), iosonde_direct::PoolError>(())
/// ```
#[derive(Clone)]
pub struct BufferPool {
    shared: Arc<PoolMemory>,
}

struct PoolMemory {
    memory: AlignedBuf,
    /// From the beginning of one buffer to that of the next.
    stride: usize,
    options: PoolOptions,
    /// The numbers of the free buffers: each at most once, and none that a `PooledBuf` holds.
    free: Mutex<Vec<usize>>,
    returned: Condvar,
}

impl PoolMemory {
    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        // Nothing can panic while the list is changed, so a poisoned lock is sound.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BufferPool {
    /// This many `buffers` of `bytes` bytes each, at multiples of 4096.
    ///
    /// # Errors
    /// As [`PoolOptions::build`].
    pub fn new(buffers: usize, bytes: usize) -> Result<BufferPool, PoolError> {
        PoolOptions::new(buffers, bytes).build()
    }

    /// A buffer; `None` if all are in use. The first time it holds zeros,
    /// later what its last user left in it.
    pub fn take(&self) -> Option<PooledBuf> {
        let slot = self.shared.free().pop()?;
        Some(PooledBuf { shared: Arc::clone(&self.shared), slot })
    }

    /// A buffer, after waiting for one if all are in use.
    pub fn wait(&self) -> PooledBuf {
        let mut free = self.shared.free();
        loop {
            if let Some(slot) = free.pop() {
                return PooledBuf { shared: Arc::clone(&self.shared), slot };
            }
            free = self.shared.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many are not in use.
    pub fn free(&self) -> usize {
        self.shared.free().len()
    }

    /// How many there are.
    pub fn buffers(&self) -> usize {
        self.shared.options.buffers
    }

    /// How long each is, in bytes.
    pub fn buffer_bytes(&self) -> usize {
        self.shared.options.bytes
    }

    /// The alignment of each, in bytes.
    pub fn alignment(&self) -> usize {
        self.shared.options.alignment
    }

    /// Where the memory of all begins and how many bytes it has, to be made
    /// known to the kernel (io_uring's registered buffers). It stays as long
    /// as the pool or any buffer of it.
    pub fn memory(&self) -> (*const u8, usize) {
        (self.shared.memory.0.start().cast_const(), self.shared.memory.0.bytes())
    }
}

impl fmt::Debug for BufferPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferPool")
            .field("options", &self.shared.options)
            .field("free", &self.free())
            .finish()
    }
}

/// A buffer of a [`BufferPool`]; the pool has it again when this is dropped. It
/// keeps the pool's memory, so it may outlive the `BufferPool` itself.
pub struct PooledBuf {
    shared: Arc<PoolMemory>,
    slot: usize,
}

impl PooledBuf {
    /// Its number in the pool, from 0.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Let the pool have it again, now.
    pub fn give_back(self) {
        drop(self);
    }

    /// The first byte, for a request to the kernel. Valid for [`len`](slice::len) bytes until this is
    /// dropped. Whoever hands it to the kernel must keep this, and use no slice of it, until the
    /// request has completed.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start()
    }

    fn start(&self) -> *mut u8 {
        // SAFETY: the slot is below the number of buffers, so it and the
        // `bytes` from there (at most a stride) lie in the pool's memory.
        unsafe { self.shared.memory.0.start().add(self.slot * self.shared.stride) }
    }
}

impl Deref for PooledBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes lie in the pool's memory (see `start`), which is
        // initialised and lives as long as `shared`. No other `PooledBuf` has
        // this slot: it left the list when it was taken, and comes back when
        // this is dropped; slots do not overlap. The pool itself never looks.
        unsafe { slice::from_raw_parts(self.start(), self.shared.options.bytes) }
    }
}

impl DerefMut for PooledBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; the exclusive borrow forbids anyone else.
        unsafe { slice::from_raw_parts_mut(self.start(), self.shared.options.bytes) }
    }
}

impl fmt::Debug for PooledBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledBuf").field("slot", &self.slot).field("bytes", &self.len()).finish()
    }
}

impl Drop for PooledBuf {
    fn drop(&mut self) {
        self.shared.free().push(self.slot);
        self.shared.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pool_of_impossible_buffers_is_refused() {
        assert!(matches!(BufferPool::new(0, 512), Err(PoolError::Empty)));
        assert!(matches!(BufferPool::new(1, 0), Err(PoolError::Buffer(BufferError::Empty))));
        let odd = PoolOptions::new(1, 512).alignment(768).build();
        assert!(matches!(odd, Err(PoolError::Buffer(BufferError::Alignment(768)))));
        for (buffers, bytes) in [(usize::MAX, 4096), (2, usize::MAX), (4096, usize::MAX / 2)] {
            let error = BufferPool::new(buffers, bytes).unwrap_err();
            assert!(matches!(error, PoolError::TooLong(_)), "{error}");
        }
    }

    #[test]
    fn a_buffer_outlives_its_pool_and_moves_to_another_thread() {
        let pool = BufferPool::new(1, 4096).unwrap();
        let mut buffer = pool.take().unwrap();
        drop(pool);
        buffer.fill(3);
        let back = std::thread::spawn(move || buffer).join().unwrap();
        assert!(back.iter().all(|&byte| byte == 3));
    }

    #[test]
    fn a_waiting_thread_gets_the_buffer_that_another_gives_back() {
        let pool = BufferPool::new(1, 4096).unwrap();
        let held = pool.take().unwrap();
        let waiter = {
            let pool = pool.clone();
            std::thread::spawn(move || pool.wait().slot())
        };
        held.give_back();
        assert_eq!(waiter.join().unwrap(), 0);
        assert_eq!(pool.free(), 1);
    }

    #[test]
    fn threads_never_share_a_buffer() {
        let pool = BufferPool::new(3, 4096).unwrap();
        let worker = |mark: u8| {
            let pool = pool.clone();
            std::thread::spawn(move || {
                for _ in 0..2000 {
                    let mut buffer = pool.wait();
                    buffer.fill(mark);
                    assert!(buffer.iter().all(|&byte| byte == mark));
                }
            })
        };
        let workers: Vec<_> = (1..=6).map(worker).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(pool.free(), 3);
    }

    #[test]
    fn reserved_huge_pages_are_there_or_the_refusal_has_the_remedy() {
        let page = crate::HugePage::Default(2 << 20);
        match PoolOptions::new(4, 1 << 20).huge_pages(page).build() {
            Ok(pool) => pool.wait().fill(1),
            Err(error) => assert!(error.to_string().contains("takes 2 free of"), "{error}"),
        }
    }

    proptest! {
        #[test]
        fn buffers_are_aligned_apart_and_keep_what_is_written(
            buffers in 1_usize..20,
            bytes in 1_usize..9000,
            shift in 0_u32..14,
            steps in proptest::collection::vec((any::<bool>(), any::<usize>()), 0..60),
        ) {
            let alignment = 1 << shift;
            let pool = PoolOptions::new(buffers, bytes).alignment(alignment).build().unwrap();
            let mut held: Vec<PooledBuf> = Vec::new();
            for (take, which) in steps {
                if take {
                    let taken = pool.take();
                    prop_assert_eq!(taken.is_some(), held.len() < buffers);
                    if let Some(mut buffer) = taken {
                        let mark = buffer.slot() as u8;
                        buffer.fill(mark);
                        held.push(buffer);
                    }
                } else if !held.is_empty() {
                    let at = which % held.len();
                    held.swap_remove(at).give_back();
                }
                prop_assert_eq!(pool.free() + held.len(), buffers);
                for buffer in &held {
                    prop_assert_eq!(buffer.len(), bytes);
                    prop_assert_eq!(buffer.as_ptr().addr() % alignment, 0);
                    prop_assert!(buffer.iter().all(|&byte| byte == buffer.slot() as u8));
                }
                let mut starts: Vec<_> = held.iter().map(|b| b.as_ptr().addr()).collect();
                starts.sort_unstable();
                prop_assert!(starts.windows(2).all(|two| two[0] + bytes <= two[1]));
            }
        }
    }
}
