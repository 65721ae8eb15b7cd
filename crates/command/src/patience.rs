//! Work at the end of a command that storage may hold up.

use std::sync::mpsc::channel;
use std::time::Duration;

/// What `work` results in, or nothing if that takes longer than `patience`:
/// then it goes on in a thread of its own until the process ends.
pub fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (working, ended) = channel::<()>();
    let thread = std::thread::Builder::new().spawn(move || {
        // Dropped when the work is done, also by a panic.
        let _working = working;
        work()
    });
    match ended.recv_timeout(patience) {
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => thread.ok()?.join().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_has_a_result_and_work_that_does_not_has_none() {
        assert_eq!(within(Duration::from_secs(600), || 3), Some(3));
        let (held, go_on) = channel::<()>();
        assert_eq!(within(Duration::from_millis(1), move || go_on.recv().is_err()), None);
        drop(held);
        assert_eq!(within(Duration::from_secs(600), || -> u32 { panic!("of the test") }), None);
    }
}
