//! The job's buffers, and what is put in them before a write.
#![allow(unsafe_code)]

use crate::platform::page_loss::{self, WatchedBuffers};
use iosonde_direct::RawBuf;
use iosonde_workload::content::{Base, Content, EachWrite};

/// One buffer for each slot, all in one aligned span.
#[derive(Debug)]
pub struct Memory {
    /// Engines touch buffers in a mapped file too, on any thread. Dropped before the mapping.
    watched: Option<WatchedBuffers>,
    whole: RawBuf,
    /// Where bytes are changed that other processes may see, `stride` of them; `None` if the memory
    /// is this process's alone. No reference is ever made to memory that others may change.
    copy: Option<Box<[u8]>>,
    /// A page of a mapped file could not be had: it was cut off, or its disk fails.
    lost_pages: bool,
    start: *mut u8,
    /// Bytes of `whole` before `start`.
    lead: usize,
    stride: usize,
    slots: u32,
}

impl Memory {
    /// Lay `slots` buffers of `stride` bytes over `whole`.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn new(whole: impl Into<RawBuf>, slots: u32, stride: usize) -> Memory {
        Memory::after(0, whole, slots, stride)
    }

    /// The same, `lead` bytes after the start of `whole`: buffers that are
    /// not aligned, if `lead` is no multiple of the alignment.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn after(lead: usize, whole: impl Into<RawBuf>, slots: u32, stride: usize) -> Memory {
        let whole = whole.into();
        let end = lead + slots as usize * stride;
        assert!(end <= whole.bytes(), "buffers past the end of the memory");
        let start = whole.start().wrapping_add(lead);
        let copy = whole.is_file().then(|| vec![0; stride].into_boxed_slice());
        let watched = copy.as_ref().map(|_| WatchedBuffers::new(whole.start(), whole.bytes()));
        Memory { whole, copy, lost_pages: false, watched, start, lead, stride, slots }
    }

    /// Where a slot's buffer starts.
    #[inline(always)]
    pub fn buffer(&self, slot: u32) -> *mut u8 {
        self.start.wrapping_add(slot as usize * self.stride)
    }

    /// Change the first `len` bytes of a slot's buffer. The caller holds the slot: its request is
    /// not in flight. In a mapped file a copy is changed and written back.
    ///
    /// # Panics
    /// If `slot` or `len` is not within bounds.
    #[inline]
    pub fn change(&mut self, slot: u32, len: u32, change: impl FnOnce(&mut [u8])) {
        if self.copy.is_none() {
            change(self.bytes(slot, len))
        } else {
            self.change_copy(slot, len, change)
        }
    }

    #[cold]
    fn change_copy(&mut self, slot: u32, len: u32, change: impl FnOnce(&mut [u8])) {
        assert!(slot < self.slots && len as usize <= self.stride, "outside the slot's buffer");
        let (start, len) = (self.buffer(slot), len as usize);
        let Some(copy) = self.copy.as_mut().and_then(|copy| copy.get_mut(..len)) else { return };
        // SAFETY: `len` bytes from `start` lie within `whole` by the assertion here and in
        // `after`, and `copy` is separate memory. No reference to `whole` is made; another
        // process may write meanwhile, and no value of these bytes is relied on.
        let read = unsafe { page_loss::copy((start, len), start, copy.as_mut_ptr(), len) };
        change(copy);
        // SAFETY: as above.
        let written = unsafe { page_loss::copy((start, len), copy.as_ptr(), start, len) };
        self.lost_pages |= !(read && written);
    }

    /// Whether a page of the mapped file that holds the buffers was lost: what was in it
    /// is zeroes now.
    pub fn has_lost_pages(&self) -> bool {
        self.lost_pages || self.watched.as_ref().is_some_and(WatchedBuffers::has_lost_pages)
    }

    /// The first `len` bytes of a slot's buffer. The caller holds the slot: its request is not in
    /// flight.
    ///
    /// # Panics
    /// If `slot` or `len` is not within bounds, or the memory maps a file, which other processes
    /// may change: see [`change`](Memory::change).
    pub fn bytes(&mut self, slot: u32, len: u32) -> &mut [u8] {
        assert!(slot < self.slots && len as usize <= self.stride, "outside the slot's buffer");
        assert!(self.copy.is_none(), "a mapped file is no slice");
        // SAFETY: within `whole` by the assertion here and in `after`, and of this process alone. The
        // loop fills a slot's buffer only while it holds the slot, before it pushes the request: no
        // engine and no kernel looks at the bytes now, and `&mut self` keeps everybody else away.
        unsafe { std::slice::from_raw_parts_mut(self.buffer(slot), len as usize) }
    }

    /// All of it: what an engine registers.
    pub fn span(&self) -> (*mut u8, usize) {
        (self.start, self.whole.bytes() - self.lead)
    }
}

/// What happens to a buffer before it is written. What is the same for every
/// write is done once, before the clock starts; see [`Fill::prepare`].
#[derive(Clone, Debug)]
pub struct Fill {
    content: Content,
    writes: bool,
}

impl Fill {
    /// The default of a job with this seed: random bytes,
    /// scrambled before each write. `writes`: the job writes at all.
    pub fn new(seed: u64, writes: bool) -> Fill {
        Fill::with(Content::new(seed, Base::Random, EachWrite::Scramble, None), writes)
    }

    /// Writes hold `content`. `writes`: the job writes at all.
    pub fn with(content: Content, writes: bool) -> Fill {
        Fill { content, writes }
    }

    /// Fill every buffer for the first time.
    pub fn prepare(&mut self, memory: &mut Memory) {
        // Memory comes zeroed: a job that never writes need not touch it, nor
        // one that makes each block anew.
        let needed = self.writes && !self.content.refills();
        for slot in 0..if needed { memory.slots } else { 0 } {
            memory.change(slot, memory.stride as u32, |bytes| self.content.prepare(bytes));
        }
    }

    /// Whether writes need anything done to their buffers.
    pub fn is_active(&self) -> bool {
        self.writes && self.content.is_active()
    }

    /// Make a buffer ready to be written at `offset`.
    #[inline]
    pub fn apply(&mut self, bytes: &mut [u8], offset: u64) {
        self.content.apply(bytes, offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_direct::{BufferError, MemoryKind};
    use std::io::ErrorKind;

    fn memory_of(kind: &MemoryKind) -> Memory {
        maybe_memory_of(kind).unwrap()
    }

    /// None where this system has no memory of this kind.
    fn maybe_memory_of(kind: &MemoryKind) -> Option<Memory> {
        match RawBuf::new(kind, 64 + 2 * 512, 512) {
            Err(BufferError::File(_, error)) if error.kind() == ErrorKind::Unsupported => None,
            whole => Some(Memory::after(64, whole.unwrap(), 2, 512)),
        }
    }

    /// The bytes of a slot, read without a slice.
    fn held(memory: &Memory, slot: u32) -> Vec<u8> {
        // SAFETY: within the slot; no request is in flight.
        (0..512).map(|at| unsafe { memory.buffer(slot).add(at).read_volatile() }).collect()
    }

    #[test]
    fn a_mapped_file_is_changed_as_other_memory_is() {
        let path = std::env::temp_dir().join(format!("iosonde-memory-{}", std::process::id()));
        for kind in [MemoryKind::Heap, MemoryKind::SharedMapping(Some(path))] {
            let Some(mut memory) = maybe_memory_of(&kind) else {
                iosonde_testing::skip!("no buffers in a mapped file on this system");
            };
            memory.change(1, 512, |bytes| bytes.fill(7));
            memory.change(1, 2, |bytes| {
                assert_eq!(bytes, [7, 7], "{kind:?}");
                bytes[1] = 9;
            });
            assert_eq!(held(&memory, 0), [0; 512], "{kind:?}");
            let mut expected = [7; 512];
            expected[1] = 9;
            assert_eq!(held(&memory, 1), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_mapped_file_is_never_a_slice() {
        let path = std::env::temp_dir().join(format!("iosonde-slice-{}", std::process::id()));
        let Some(mut memory) = maybe_memory_of(&MemoryKind::SharedMapping(Some(path))) else {
            iosonde_testing::skip!("no buffers in a mapped file on this system");
        };
        let slice = std::panic::AssertUnwindSafe(|| memory.bytes(0, 512).len());
        let panic = std::panic::catch_unwind(slice).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"a mapped file is no slice"));
    }

    #[test]
    fn buffers_lie_one_after_the_other_behind_the_lead() {
        let memory = memory_of(&MemoryKind::Heap);
        let (start, bytes) = memory.span();
        assert_eq!(bytes, 2 * 512, "all but the lead");
        assert_eq!(memory.buffer(0), start);
        assert_eq!(memory.buffer(1).addr(), start.addr() + 512);
        assert_eq!(memory.whole.start().addr() + 64, start.addr());
    }

    #[test]
    #[should_panic(expected = "buffers past the end of the memory")]
    fn buffers_that_do_not_fit_are_refused() {
        Memory::after(64, RawBuf::new(&MemoryKind::Heap, 63 + 2 * 512, 512).unwrap(), 2, 512);
    }

    #[test]
    fn only_a_job_that_writes_touches_its_buffers() {
        for writes in [true, false] {
            let mut memory = memory_of(&MemoryKind::Heap);
            let mut fill = Fill::new(7, writes);
            fill.prepare(&mut memory);
            assert_eq!(held(&memory, 0) != [0; 512], writes);
            assert_eq!(held(&memory, 1) != [0; 512], writes);
            assert_eq!(fill.is_active(), writes, "scrambled before each write");
            let before = held(&memory, 0);
            if writes {
                memory.change(0, 512, |bytes| fill.apply(bytes, 4096));
                assert_ne!(held(&memory, 0), before);
            }
        }
    }
}
