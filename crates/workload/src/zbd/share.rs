//! A table of zones that several jobs share.

use super::ZoneTable;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The zones of one target, shared by all jobs on it.
#[derive(Clone, Debug)]
pub struct ZoneShare(Arc<SharedTable>);

#[derive(Debug)]
struct SharedTable {
    table: Mutex<ZoneTable>,
    /// A write has ended.
    ended: Condvar,
}

/// One target, not equal contents.
impl PartialEq for ZoneShare {
    fn eq(&self, other: &ZoneShare) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl ZoneShare {
    /// A table that can be shared.
    pub fn new(table: ZoneTable) -> ZoneShare {
        ZoneShare(Arc::new(SharedTable { table: Mutex::new(table), ended: Condvar::new() }))
    }

    /// A copy that no other job sees.
    pub fn private_copy(&self) -> ZoneShare {
        ZoneShare::new(self.lock().clone())
    }

    /// The table, for this job alone until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, ZoneTable> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wait until a write of another job has ended, or for a moment.
    pub(crate) fn wait(&self, job: u32) {
        const MOMENT: Duration = Duration::from_millis(5);
        let table = self.lock();
        if table.others_write(job) {
            // Whether it timed out or was woken: the caller looks again.
            drop(self.0.ended.wait_timeout(table, MOMENT));
        }
    }

    /// Wake jobs that wait for a write to end.
    pub(crate) fn notify(&self) {
        self.0.ended.notify_all();
    }
}
