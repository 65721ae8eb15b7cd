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
            depth => {
                queued(NullQueue { done: Vec::with_capacity(depth as usize) }, depth, accounting)
            }
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

/// What was pushed is done; it waits here to be collected.
struct NullQueue {
    done: Vec<Completion>,
}

impl Queued for NullQueue {
    const QUEUES_SYNCS: bool = true;

    #[inline(always)]
    fn push(&mut self, slot: Slot, io: &Io) {
        // Within the capacity for the depth: never allocates.
        self.done.push(Completion { slot, result: Ok(io.len) });
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
        if max as usize >= self.done.len() {
            std::mem::swap(&mut self.done, done);
        } else {
            done.extend(self.done.drain(..max as usize));
        }
        Ok(())
    }
}
