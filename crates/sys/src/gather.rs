//! One value from each of several threads, where a channel for each type would be 14 kB of code.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Gives one value. Cloned for each thread.
#[derive(Debug)]
pub struct Giver<T> {
    values: Arc<Mutex<Vec<T>>>,
    /// Dropped when nothing more comes from here.
    _pending: Sender<()>,
}

/// Waits for all values.
#[derive(Debug)]
pub struct Gathered<T> {
    values: Arc<Mutex<Vec<T>>>,
    ended: Receiver<()>,
}

/// A place for values, and who gives them: [`Gathered::wait`] ends when all
/// givers have given theirs or are gone.
pub fn gather<T>() -> (Giver<T>, Gathered<T>) {
    let (pending, ended) = channel();
    let values = Arc::default();
    (Giver { values: Arc::clone(&values), _pending: pending }, Gathered { values, ended })
}

impl<T> Clone for Giver<T> {
    fn clone(&self) -> Giver<T> {
        Giver { values: self.values.clone(), _pending: self._pending.clone() }
    }
}

impl<T> Giver<T> {
    /// Give the value. Whoever asked for it may be gone.
    pub fn give(self, value: T) {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
}

impl<T> Gathered<T> {
    /// The values, as they came; none of a thread that panicked.
    pub fn wait(self) -> Vec<T> {
        // Nobody sends: it ends when the last giver is dropped.
        let _ = self.ended.recv();
        std::mem::take(&mut *self.values.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_are_waited_for_but_those_of_threads_that_panic() {
        let (giver, gathered) = gather();
        for number in 0..5 {
            let giver = giver.clone();
            std::thread::spawn(move || {
                assert_ne!(number, 3, "of the test");
                giver.give(number);
            });
        }
        drop(giver);
        let mut values = gathered.wait();
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2, 4]);
    }
}
