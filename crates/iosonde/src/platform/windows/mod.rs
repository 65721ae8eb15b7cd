//! Windows.

mod screen;
pub mod server;

use std::io;
use std::path::Path;

pub use screen::{ScreenEvents, ScreenWaker};

/// The handle of a socket.
pub type Socket = rustix::fd::OwnedFd;

/// Sockets in the file system are for Unix systems.
///
/// # Errors
/// Always.
pub fn connect_local(_: &Path) -> io::Result<Socket> {
    let words = "sockets in the file system are for Unix systems only: use HOST,PORT";
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}
