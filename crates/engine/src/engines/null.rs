//! The null engine: does nothing, at once. What is left is the cost of the
//! tester itself.

use super::offload::{Alone, pool_of};
use super::{always, one_shot, queued};
use crate::{Caps, EngineDef, Io, OneShot, Queued, Wanted};
use iosonde_base::{Completion, Errno, Slot};

/// Catalogue entry.
pub(crate) static NULL: EngineDef = EngineDef {
    name: "null",
    aliases: &[],
    summary: "no I/O at all: measures what is around it",
    doc: "Moves no data: measures the tester itself, and what a job would issue.",
    caps: Caps { diskless: true, trim: true, slat: true, ..Caps::NONE },
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| Ok(Alone(Null)))),
    available: always,
    open: |with, accounting| {
        Ok(match with.depth {
            1 => one_shot(Null, accounting),
            depth => queued(NullQueue::new(depth), depth, accounting),
        })
    },
};

pub(crate) struct Null;

impl OneShot for Null {
    #[inline(always)]
    fn is_chained(&self) -> bool {
        true
    }

    #[inline(always)]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        Ok(io.len)
    }
}

/// What was pushed is done; it waits here to be collected.
struct NullQueue {
    done: Vec<Completion>,
    /// How many of `done` have been collected.
    collected: usize,
}

impl NullQueue {
    fn new(depth: u32) -> NullQueue {
        NullQueue { done: Vec::with_capacity(2 * depth as usize), collected: 0 }
    }

    /// Forget what was collected, which leaves room for the depth.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, ios: usize) {
        self.done.drain(..self.collected);
        self.collected = 0;
        // Twice what waits, so that this comes seldom.
        self.done.reserve(self.done.len() + ios);
    }
}

impl Queued for NullQueue {
    #[inline(always)]
    fn push(&mut self, slot: Slot, io: &Io) {
        self.push_all(std::iter::once((slot, *io)));
    }

    #[inline(always)]
    fn push_all(&mut self, ios: impl ExactSizeIterator<Item = (Slot, Io)>) {
        if self.done.capacity() - self.done.len() < ios.len() {
            self.make_room(ios.len());
        }
        self.done.extend(ios.map(|(slot, io)| Completion { slot, result: Ok(io.len) }));
    }

    #[inline(always)]
    fn submit(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let max = wanted.max as usize;
        let waiting = &self.done[self.collected..];
        if let (1, Some(&one)) = (max, waiting.first()) {
            done.push(one);
            self.collected += 1;
            return Ok(());
        }
        if waiting.len() <= max && self.collected == 0 {
            std::mem::swap(&mut self.done, done);
            return Ok(());
        }
        let taken = waiting.len().min(max);
        // One by one: there are few, or all would have been taken.
        waiting[..taken].iter().for_each(|&one| done.push(one));
        self.collected += taken;
        Ok(())
    }

    fn queues_syncs(&self) -> bool {
        true
    }
}
