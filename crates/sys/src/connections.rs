//! Connections over TCP that this process has, whoever made them: those of a library, which does
//! not tell when one is closed. Linux only; elsewhere there are none.

use std::net::SocketAddr;

use crate::platform;

/// Connections that were open at a moment. Each is held open by a copy of its own.
pub struct Connections(platform::OpenConnections);

impl Connections {
    /// Those that are open now.
    pub fn open_now() -> Connections {
        Connections(platform::OpenConnections::now())
    }

    /// Leave out those that have been closed since, by either end: to where one of them went;
    /// `None` if all are open. Does not wait.
    pub fn leave_out_closed(&mut self) -> Option<SocketAddr> {
        self.0.leave_out_closed()
    }
}
