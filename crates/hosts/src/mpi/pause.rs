//! A pause of all messages where a connection of MPI was closed: a rank has ended before its time.
//!
//! Its launcher is then about to end the others, with a signal at which they save their results; until
//! then MPI must not be called. Asked to send to a rank that is gone, Open MPI 4.1 connects again, is refused, has
//! mpirun print a warning and waits for the answer, all within MPI_Test. There is none: mpirun sleeps between
//! the signals that end a rank, SIGTERM and SIGKILL, which then finds a result that is not saved.

use iosonde_sys::connections::Connections;
use std::time::{Duration, Instant};

/// Connections are looked at so often at most: there may be thousands, and as many messages.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// Watches connections for as long as there are results to lose.
#[derive(Default)]
pub(super) struct Pause {
    watched: Option<(Connections, Duration)>,
    looked: Option<Instant>,
    /// Until when it lasts, and why there is one.
    current: Option<(Instant, String)>,
}

impl Pause {
    /// Watch the connections that are open now: for each that is closed, a pause of that time.
    pub fn watch(&mut self, pause: Duration) {
        self.watched = Some((Connections::open_now(), pause));
    }

    /// There is nothing to lose any more. Why there was a pause at this moment, if there was.
    pub fn end(&mut self) -> Option<String> {
        let is_paused = self.is_now();
        self.watched = None;
        self.current.take().filter(|_| is_paused).map(|(_, why)| why)
    }

    /// Whether there is one now.
    pub fn is_now(&mut self) -> bool {
        let Some((connections, pause)) = &mut self.watched else { return false };
        let now = Instant::now();
        if self.looked.is_none_or(|looked| now.duration_since(looked) >= LOOK_EVERY) {
            self.looked = Some(now);
            if let Some(to) = connections.leave_out_closed() {
                let why = format!("the connection of MPI with {} was closed", to.ip());
                self.current = Some((now + *pause, why));
            }
        }
        self.current.as_ref().is_some_and(|(until, _)| now < *until)
    }
}
