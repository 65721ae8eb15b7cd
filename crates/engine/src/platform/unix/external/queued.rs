//! An object's engine with a queue.

use super::{BROKEN, Link, abi, error_number};
use crate::engines::shared_queued;
use crate::{Accounting, EngineError, Io, Loop, OpenWith, Opened, Queued, Wanted};
use iosonde_base::{Completion, Errno, FileId, Op, Slot};
use std::collections::VecDeque;

/// Open the object's engine, in the loop of engines with a queue.
pub(super) fn open(with: &OpenWith, accounting: Accounting) -> Result<Box<dyn Loop>, EngineError> {
    let depth = with.depth as usize;
    let engine = InQueue {
        link: Link::open(with)?,
        flights: vec![ExternalFlight::default(); depth],
        inside: 0,
        taken_up: 0,
        backlog: VecDeque::with_capacity(depth),
        ready: VecDeque::with_capacity(depth),
        done: vec![abi::AbiCompletion::default(); depth],
    };
    Ok(shared_queued(engine, with.depth, accounting))
}

/// What is in flight in a slot. The id has the slot in its lower half; 0 is
/// for none.
#[derive(Clone, Copy, Default)]
struct ExternalFlight {
    id: u64,
    len: u32,
}

struct InQueue {
    link: Link,
    flights: Vec<ExternalFlight>,
    /// How many the object has.
    inside: u32,
    /// How many it ever took up: the upper half of ids, so that one that comes
    /// back twice is not taken for its successor.
    taken_up: u32,
    /// What it had no room for, in order.
    backlog: VecDeque<(Slot, Io)>,
    /// What was done at once.
    ready: VecDeque<Completion>,
    done: Vec<abi::AbiCompletion>,
}

impl InQueue {
    /// Hand one over: whether it was taken.
    fn offer(&mut self, slot: Slot, io: &Io) -> bool {
        if self.link.broken.get().is_some() {
            return true;
        }
        self.taken_up = self.taken_up.checked_add(1).unwrap_or(1);
        let id = u64::from(self.taken_up) << 32 | u64::from(slot.0);
        let (said, result) = self.link.offer(io, id);
        match said {
            abi::QUEUED => {
                self.flights[slot.0 as usize] = ExternalFlight { id, len: io.len };
                self.inside += 1;
            }
            abi::DONE => {
                let result = self.link.judge(result, io.len);
                self.ready.push_back(Completion { slot, result });
            }
            abi::BUSY if self.inside > 0 => return false,
            abi::BUSY => {
                self.link.break_off("is busy with nothing in flight, so that nothing makes room");
            }
            _ => match error_number(said.into()) {
                Some(errno) => self.ready.push_back(Completion { slot, result: Err(errno) }),
                None => {
                    self.link
                        .break_off(&format!("returns {said} from queue, which has no meaning"));
                }
            },
        }
        true
    }

    /// Hand over what it had no room for, as far as it has now.
    fn offer_again(&mut self) -> bool {
        let mut any = false;
        while let Some((slot, io)) = self.backlog.pop_front() {
            if !self.offer(slot, &io) {
                self.backlog.push_front((slot, io));
                break;
            }
            any = true;
        }
        any
    }

    fn commit(&mut self) -> Result<(), Errno> {
        if let Some(commit) = self.link.object.commit
            && self.link.broken.get().is_none()
        {
            // SAFETY: the context is what `open` gave.
            let said = unsafe { commit(self.link.context) };
            if said != 0 {
                return Err(self.given_up("commit", said.into()));
            }
        }
        self.believed()
    }

    fn believed(&self) -> Result<(), Errno> {
        if self.link.broken.get().is_some() { Err(BROKEN) } else { Ok(()) }
    }

    /// The object says that nothing will come back any more.
    #[cold]
    fn given_up(&self, call: &str, said: i64) -> Errno {
        let Some(errno) = error_number(said) else {
            return self
                .link
                .break_off(&format!("returns {said} from {call}, which has no meaning"));
        };
        let words = self.link.words(errno).unwrap_or("nothing will come back");
        self.link.break_off(&format!("failed in {call}: {words}"));
        errno
    }

    /// Collect from the object.
    fn collect(
        &mut self,
        min: u32,
        room: u32,
        timeout_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        let Some(getevents) = self.link.object.getevents else { return Ok(()) };
        let room = room.min(self.done.len() as u32);
        let min = min.min(self.inside);
        // SAFETY: there is room for as many as the depth.
        let said =
            unsafe { getevents(self.link.context, min, room, timeout_ns, self.done.as_mut_ptr()) };
        let Ok(count) = u32::try_from(said) else {
            return Err(self.given_up("getevents", said.into()));
        };
        if count > room {
            let why = format!("says that {count} I/Os are done, where {room} were asked for");
            return Err(self.link.break_off(&why));
        }
        for at in 0..count as usize {
            let abi::AbiCompletion { id, result } = self.done[at];
            // The lower half, as it was given.
            let slot = id as u32;
            let Some(flight) = self.flights.get_mut(slot as usize).filter(|one| one.id == id)
            else {
                let why = format!("says that an I/O is done that is not in flight, id {id:#x}");
                return Err(self.link.break_off(&why));
            };
            if id == 0 {
                return Err(self.link.break_off("reports a completed I/O without its id"));
            }
            let len = std::mem::take(flight).len;
            self.inside -= 1;
            let result = self.link.judge(result, len);
            self.believed()?;
            done.push(Completion { slot: Slot(slot), result });
        }
        Ok(())
    }
}

impl Queued for InQueue {
    fn queues_syncs(&self) -> bool {
        self.link.object.has(abi::SYNCS)
    }

    fn push(&mut self, slot: Slot, io: &Io) {
        if !self.backlog.is_empty() || !self.offer(slot, io) {
            self.backlog.push_back((slot, *io));
        }
    }

    fn submit(&mut self) -> Result<(), Errno> {
        self.offer_again();
        self.commit()
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let Wanted { min, max, patience } = wanted;
        let at_once = self.ready.len().min(max as usize);
        done.extend(self.ready.drain(..at_once));
        let room = max - at_once as u32;
        if self.inside > 0 && room > 0 {
            self.collect(min.saturating_sub(at_once as u32), room, patience.0, done)?;
        }
        if self.offer_again() {
            self.commit()?;
        }
        self.believed()
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        self.link.opened(file)
    }

    fn closing(&mut self, file: FileId) {
        self.link.closing(file);
    }

    fn explain(&self, _: Op, errno: Errno) -> Option<&'static str> {
        self.link.explain(errno)
    }

    fn broken(&self) -> Option<&'static str> {
        self.link.broken.get()
    }
}

impl Drop for InQueue {
    fn drop(&mut self) {
        let Some(cancel) = self.link.object.cancel else { return };
        for flight in self.flights.iter().filter(|flight| flight.id != 0) {
            // SAFETY: the context is what `open` gave; the link closes it after
            // this.
            unsafe { cancel(self.link.context, flight.id) };
        }
    }
}
