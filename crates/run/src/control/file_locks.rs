//! Locks on files among the jobs of a run (`lockfile`).
//!
//! A job takes all its files at once or waits, so that no two jobs wait for
//! each other; who asks first gets them first, so that none waits for ever.

use crate::job::{FileKind, JobPlan, LockMode, Plan};
use iosonde_base::Dir;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The locks of a run.
#[derive(Debug, Default)]
pub struct FileLocks {
    queue: Mutex<LockQueue>,
    freed: Condvar,
}

/// A job's right to ask for its turn.
#[derive(Clone, Debug)]
pub struct LockTurn {
    locks: Arc<FileLocks>,
    want: WantedFiles,
}

/// Files held until this is dropped.
#[derive(Debug)]
pub struct HeldFiles<'a> {
    locks: &'a FileLocks,
    ticket: u64,
}

/// Files by number, and whether others may have them too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedFiles {
    files: Vec<usize>,
    together: bool,
}

impl WantedFiles {
    fn bars(&self, other: &WantedFiles) -> bool {
        !(self.together && other.together)
            && self.files.iter().any(|file| other.files.contains(file))
    }
}

/// Who holds, and who waits, by ticket: both in the order of asking.
#[derive(Debug, Default)]
struct LockQueue {
    tickets: u64,
    held: BTreeMap<u64, WantedFiles>,
    waiting: BTreeMap<u64, WantedFiles>,
}

impl LockQueue {
    fn ask(&mut self, want: WantedFiles) -> u64 {
        self.tickets += 1;
        self.waiting.insert(self.tickets, want);
        self.tickets
    }

    /// Let a ticket hold what it asked for, if nobody is in its way: neither
    /// who holds, nor who has waited for longer.
    fn admit(&mut self, ticket: u64) -> bool {
        let Some(want) = self.waiting.get(&ticket) else { return false };
        let before = self.waiting.range(..ticket).map(|(_, other)| other);
        if self.held.values().chain(before).any(|other| other.bars(want)) {
            return false;
        }
        let want = want.clone();
        self.waiting.remove(&ticket);
        self.held.insert(ticket, want);
        true
    }
}

impl FileLocks {
    /// The turns of all jobs of a plan; `None` for jobs that lock nothing.
    pub fn turns(plan: &Plan) -> Vec<Option<LockTurn>> {
        let locks = Arc::new(FileLocks::default());
        let mut numbers: BTreeMap<&Path, usize> = BTreeMap::new();
        let mut turn = |job| -> Option<LockTurn> {
            let job: &JobPlan = job;
            let together = match job.coordination.lock {
                LockMode::None => return None,
                LockMode::Exclusive => false,
                LockMode::ReadWrite => !job.dirs[Dir::Write] && !job.dirs[Dir::Trim],
            };
            let mut files = Vec::new();
            for file in job.files.iter().filter(|file| file.kind != FileKind::None) {
                let next = numbers.len();
                files.push(*numbers.entry(&file.path).or_insert(next));
            }
            Some(LockTurn { locks: locks.clone(), want: WantedFiles { files, together } })
        };
        plan.jobs.iter().map(&mut turn).collect()
    }

    fn queue(&self) -> MutexGuard<'_, LockQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LockTurn {
    /// Wait until the job may have its files.
    pub fn take(&self) -> HeldFiles<'_> {
        let mut queue = self.locks.queue();
        let ticket = queue.ask(self.want.clone());
        while !queue.admit(ticket) {
            queue = self.locks.freed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        HeldFiles { locks: &self.locks, ticket }
    }
}

impl Drop for HeldFiles<'_> {
    fn drop(&mut self) {
        self.locks.queue().held.remove(&self.ticket);
        self.locks.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(files: &[usize]) -> WantedFiles {
        WantedFiles { files: files.to_vec(), together: false }
    }

    fn together(files: &[usize]) -> WantedFiles {
        WantedFiles { files: files.to_vec(), together: true }
    }

    #[test]
    fn one_that_writes_is_alone_and_readers_are_together() {
        let mut queue = LockQueue::default();
        let [first, second, writer] =
            [together(&[1]), together(&[1]), alone(&[1])].map(|want| queue.ask(want));
        assert!(queue.admit(first) && queue.admit(second));
        assert!(!queue.admit(writer));
        queue.held.clear();
        assert!(queue.admit(writer));
        let late = queue.ask(together(&[1]));
        assert!(!queue.admit(late));
    }

    #[test]
    fn a_reader_does_not_overtake_a_writer_that_waits() {
        let mut queue = LockQueue::default();
        let reader = queue.ask(together(&[1]));
        assert!(queue.admit(reader));
        let (writer, late) = (queue.ask(alone(&[1])), queue.ask(together(&[1])));
        assert!(!queue.admit(writer) && !queue.admit(late));
        queue.held.clear();
        assert!(!queue.admit(late), "the writer was first");
        assert!(queue.admit(writer));
    }

    #[test]
    fn jobs_with_files_of_their_own_do_not_wait() {
        let mut queue = LockQueue::default();
        let (one, other) = (queue.ask(alone(&[1, 2])), queue.ask(alone(&[3])));
        assert!(queue.admit(one) && queue.admit(other));
        let both = queue.ask(alone(&[3, 4]));
        assert!(!queue.admit(both));
        assert!(!queue.admit(both + 1), "a ticket that nobody drew");
    }

    #[test]
    fn no_two_threads_hold_one_file() {
        let locks = Arc::new(FileLocks::default());
        let turn = LockTurn { locks: locks.clone(), want: alone(&[0]) };
        let inside = std::sync::atomic::AtomicU32::new(0);
        let order = std::sync::atomic::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let held = turn.take();
                        assert_eq!(inside.fetch_add(1, order), 0);
                        inside.fetch_sub(1, order);
                        drop(held);
                    }
                });
            }
        });
        assert!(locks.queue().held.is_empty() && locks.queue().waiting.is_empty());
    }
}
