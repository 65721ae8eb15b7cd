//! The job's buffers, and what is put in them before a write.
#![allow(unsafe_code)]

use iosonde_direct::AlignedBuf;
use iosonde_workload::content::{self, Noise};

/// One buffer for each slot, all in one aligned span.
#[derive(Debug)]
pub struct Memory {
    whole: AlignedBuf,
    start: *mut u8,
    stride: usize,
    slots: u32,
}

impl Memory {
    /// Lay `slots` buffers of `stride` bytes over `whole`.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn new(mut whole: AlignedBuf, slots: u32, stride: usize) -> Memory {
        assert!(slots as usize * stride <= whole.len(), "buffers past the end of the memory");
        let start = whole.as_mut_ptr();
        Memory { whole, start, stride, slots }
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
        (self.start, self.whole.len())
    }
}

/// What happens to a buffer before it is written. What is the same for every
/// write is done once, before the clock starts; see [`Fill::prepare`].
#[derive(Clone, Debug)]
pub struct Fill {
    /// What the buffers hold at first.
    pub base: Base,
    /// New random data for each write (`refill_buffers`).
    pub refill: bool,
    /// A cheap change in each sector (`scramble_buffers`), so that no two
    /// blocks are alike.
    pub scramble: bool,
    /// The job writes at all.
    pub writes: bool,
    /// Where random bytes come from.
    pub noise: Noise,
    /// Differs from one write to the next.
    pub stamp: u64,
}

/// What buffers hold at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Random bytes.
    #[default]
    Random,
    /// Zeroes.
    Zero,
    /// These bytes, over and over, anew in each buffer.
    Pattern(Vec<u8>),
}

impl Base {
    /// Fill `bytes`, drawing on `noise` where that is random.
    pub fn fill(&self, bytes: &mut [u8], noise: &mut Noise) {
        match self {
            Base::Random => noise.fill(bytes),
            Base::Zero => content::zero(bytes),
            Base::Pattern(pattern) => content::repeat(bytes, pattern, 0),
        }
    }
}

impl Fill {
    /// What a job of this seed does unless asked otherwise: random bytes,
    /// scrambled before each write.
    pub fn new(seed: u64, writes: bool) -> Fill {
        let noise = Noise::new(seed);
        Fill { base: Base::Random, refill: false, scramble: true, writes, noise, stamp: seed }
    }

    /// Fill every buffer for the first time.
    pub fn prepare(&mut self, memory: &mut Memory) {
        // Memory comes zeroed: a job that never writes need not touch it.
        for slot in 0..if self.writes { memory.slots } else { 0 } {
            let bytes = memory.bytes(slot, memory.stride as u32);
            self.base.fill(bytes, &mut self.noise);
        }
    }

    /// Whether writes need anything done to their buffers.
    pub fn is_active(&self) -> bool {
        self.writes && self.base == Base::Random && (self.refill || self.scramble)
    }

    /// Make a buffer ready to be written at `offset`.
    #[inline]
    pub fn apply(&mut self, bytes: &mut [u8], offset: u64) {
        if self.refill {
            self.noise.fill(bytes);
        } else if self.scramble {
            self.stamp = self.stamp.wrapping_add(1);
            content::scramble(bytes, offset, self.stamp);
        }
    }
}
