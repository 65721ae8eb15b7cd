//! Any engine behind a pointer is an engine: so one loop is compiled for all that are.

use crate::{Io, OneShot, Opened, Queued, Wanted};
use iosonde_base::{Completion, Errno, FileId, Op, Slot};

impl OneShot for Box<dyn OneShot> {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        (**self).perform(io)
    }

    fn is_chained(&self) -> bool {
        (**self).is_chained()
    }

    fn syncs(&self) -> bool {
        (**self).syncs()
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        (**self).opened(file)
    }

    fn closing(&mut self, file: FileId) {
        (**self).closing(file);
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        (**self).explain(op, errno)
    }

    fn broken(&self) -> Option<&'static str> {
        (**self).broken()
    }
}

impl Queued for Box<dyn Queued> {
    fn push(&mut self, slot: Slot, io: &Io) {
        (**self).push(slot, io);
    }

    fn submit(&mut self) -> Result<(), Errno> {
        (**self).submit()
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        (**self).reap(wanted, done)
    }

    fn queues_syncs(&self) -> bool {
        (**self).queues_syncs()
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        (**self).opened(file)
    }

    fn closing(&mut self, file: FileId) {
        (**self).closing(file);
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        (**self).explain(op, errno)
    }

    fn is_passing(&self, errno: Errno) -> bool {
        (**self).is_passing(errno)
    }

    fn broken(&self) -> Option<&'static str> {
        (**self).broken()
    }

    fn priority(&self, slot: Slot) -> u16 {
        (**self).priority(slot)
    }
}
