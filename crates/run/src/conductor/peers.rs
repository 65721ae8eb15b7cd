//! The other hosts of a run: asked at the few moments at which all have to agree, and in
//! between only to hear that they live.

use std::time::Duration;

/// A point of a run at which its hosts wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeetingPoint {
    /// Files are laid out.
    LaidOut,
    /// The jobs of this wave are ready to start.
    Wave(usize),
}

/// The other hosts of a run.
pub trait Peers {
    /// How often [`Peers::beat`] is wanted.
    fn beat_every(&self) -> Option<Duration>;

    /// Let the others know that this host lives.
    ///
    /// # Errors
    /// The run is over: one of them is silent, or has ended it.
    fn beat(&mut self) -> Result<(), String>;

    /// Come to a point, well or for a reason not, and return when all have. `stopped` says
    /// why this host must not wait any longer.
    ///
    /// # Errors
    /// Not all of them came there: who did not, and why.
    fn meet(
        &mut self,
        at: MeetingPoint,
        own: Result<(), String>,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String>;
}

/// When a job's I/Os were counted, by the clock of the day, in nanoseconds of Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSpan {
    /// Its first.
    pub began_unix_ns: u64,
    /// Its last, final syncs included.
    pub ended_unix_ns: u64,
}
