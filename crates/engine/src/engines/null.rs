//! The null engine: does nothing, at once. What is left is the cost of the
//! tester itself.

use super::{always, one_shot, queued};
use crate::{Caps, EngineDef, Io, OneShot, Queued};
use iosonde_base::{Completion, Errno, Nanos, Slot};

/// Catalogue entry.
pub(crate) static NULL: EngineDef = EngineDef {
    name: "null",
    aliases: &[],
    doc: "Moves no data: measures the tester itself, and what a job would issue.",
    caps: Caps {
        sync: false,
        diskless: true,
        trim: true,
        no_extend: false,
        atomic: false,
        slat: true,
    },
    options: &[],
    available: always,
    open: |with, accounting| {
        Ok(match with.depth {
            1 => one_shot(Null, accounting),
            depth => queued(NullQueue::new(depth), depth, accounting),
        })
    },
};

struct Null;

impl OneShot for Null {
    const THREE_STAMPS: bool = true;

    #[inline(always)]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        Ok(io.len)
    }
}

/// What was pushed is done; it waits here to be collected. An array and a
/// count rather than a `Vec`: nothing in a push can call the allocator, so the
/// loop around it stays in registers.
struct NullQueue {
    done: Box<[Completion]>,
    /// The first that waits, and the end of them.
    first: usize,
    end: usize,
}

impl NullQueue {
    fn new(depth: u32) -> NullQueue {
        let nothing = Completion { slot: Slot(0), result: Ok(0) };
        NullQueue { done: vec![nothing; 2 * depth as usize].into(), first: 0, end: 0 }
    }

    /// Move what waits to the front, which leaves room for the depth.
    #[cold]
    fn make_room(&mut self) {
        self.done.copy_within(self.first..self.end, 0);
        (self.first, self.end) = (0, self.end - self.first);
    }
}

impl Queued for NullQueue {
    const QUEUES_SYNCS: bool = true;

    #[inline(always)]
    fn push(&mut self, slot: Slot, io: &Io) {
        if self.end == self.done.len() {
            self.make_room();
        }
        self.done[self.end] = Completion { slot, result: Ok(io.len) };
        self.end += 1;
    }

    #[inline(always)]
    fn submit(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn reap(
        &mut self,
        _: u32,
        max: u32,
        _: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        let taken = (self.end - self.first).min(max as usize);
        done.extend_from_slice(&self.done[self.first..self.first + taken]);
        self.first += taken;
        if self.first == self.end {
            (self.first, self.end) = (0, 0);
        }
        Ok(())
    }
}
