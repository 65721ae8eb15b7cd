//! Unix systems.

mod keyboard;
mod screen;
pub mod server;

use rustix::fd::OwnedFd;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

pub use screen::{ScreenEvents, ScreenWaker};

/// The handle of a socket.
pub type Socket = OwnedFd;

/// A connection to a socket in the file system.
///
/// # Errors
/// Nobody listens there.
pub fn connect_local(path: &Path) -> io::Result<Socket> {
    Ok(UnixStream::connect(path)?.into())
}
