//! The job's buffers, and what is put in them before a write.
#![allow(unsafe_code)]

use iosonde_direct::AlignedBuf;
use iosonde_workload::content::{Base, Content, EachWrite};

/// One buffer for each slot, all in one aligned span.
#[derive(Debug)]
pub struct Memory {
    whole: AlignedBuf,
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
    pub fn new(whole: AlignedBuf, slots: u32, stride: usize) -> Memory {
        Memory::after(0, whole, slots, stride)
    }

    /// The same, `lead` bytes after the start of `whole`: buffers that are
    /// not aligned, if `lead` is no multiple of the alignment.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn after(lead: usize, mut whole: AlignedBuf, slots: u32, stride: usize) -> Memory {
        let end = lead + slots as usize * stride;
        assert!(end <= whole.len(), "buffers past the end of the memory");
        let start = whole.as_mut_ptr().wrapping_add(lead);
        Memory { whole, start, lead, stride, slots }
    }

    /// Where a slot's buffer starts.
    #[inline(always)]
    pub fn buffer(&self, slot: u32) -> *mut u8 {
        self.start.wrapping_add(slot as usize * self.stride)
    }

    /// The first `len` bytes of a slot's buffer, to fill before it is issued.
    ///
    /// # Panics
    /// If `slot` or `len` is not within bounds.
    pub fn bytes(&mut self, slot: u32, len: u32) -> &mut [u8] {
        assert!(slot < self.slots && len as usize <= self.stride, "outside the slot's buffer");
        // SAFETY: within `whole` by the assertion here and in `new`. The loop
        // fills a slot's buffer only while it holds the slot, before it pushes
        // the request: no engine looks at the bytes now, and `&mut self` keeps
        // everybody else away.
        unsafe { std::slice::from_raw_parts_mut(self.buffer(slot), len as usize) }
    }

    /// All of it: what an engine registers.
    pub fn span(&self) -> (*mut u8, usize) {
        (self.start, self.whole.len() - self.lead)
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
    /// What a job of this seed does unless asked otherwise: random bytes,
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
            self.content.prepare(memory.bytes(slot, memory.stride as u32));
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
