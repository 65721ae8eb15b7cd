//! What a group needs of whatever carries its messages: MPI, a socket, or a test's channels.

use std::time::Duration;

/// Messages between ranks. Rank 0 exchanges them with each other rank; those do not talk
/// with each other.
pub trait Transport {
    /// This rank.
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// Send a message. It leaves at once or when [`Transport::receive`] is called.
    fn send(&mut self, to: usize, message: Vec<u8>);

    /// A message that has come, and from whom; does not wait.
    fn receive(&mut self) -> Option<(usize, Vec<u8>)>;

    /// Ranks of which a message was lost, or arrived damaged: nothing that they say later has its
    /// order. None where the transport itself sees to that.
    fn broken(&self) -> &[usize] {
        &[]
    }

    /// Wait, awake, until all ranks do; the most exact start that there is. `stopped` says why
    /// this rank must not wait any longer.
    ///
    /// # Errors
    /// Not all came within the time, or before this rank was stopped.
    fn barrier(
        &mut self,
        within: Duration,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String>;

    /// Why nothing comes from a rank any more, where that is known before it is silent for long.
    fn gone(&self, _rank: usize) -> Option<String> {
        None
    }

    /// From now on this rank has results that are saved nowhere. A transport that could hold the process up
    /// (the launcher may be ending it) sends and receives nothing for `pause` when it sees a sign of that: there is
    /// time to save them.
    fn guard_results(&mut self, pause: Duration) {
        let _ = pause;
    }

    /// They are saved. Why the transport pauses, if it does.
    fn results_are_saved(&mut self) -> Option<String> {
        None
    }

    /// All messages that were sent have left, or none can leave now.
    fn is_idle(&mut self) -> bool;
}
