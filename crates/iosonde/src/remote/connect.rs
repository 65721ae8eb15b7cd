//! Connections to servers.

use crate::platform::{Socket, connect_local};
use iosonde_hosts::wire::{self, Channel, HostAddress, Secret};
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// How long one address of a server is tried.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Why there is no connection.
pub enum ConnectError {
    /// The name of the host is not known.
    Name(io::Error),
    /// Nobody listens there.
    Connect(io::Error),
    /// It is no server that takes jobs from us.
    Refused(String),
}

impl ConnectError {
    /// The lines of it: fio's, which programs look for.
    pub fn lines(&self, address: &HostAddress) -> Vec<String> {
        let (host, port) = (address.host(), address.port());
        match self {
            ConnectError::Name(error) => vec![
                format!("failed to resolve <{host}> ({error})"),
                format!("failed adding client {host}"),
            ],
            ConnectError::Connect(error) => vec![
                format!("connect: {}", bare(error)),
                format!("failed to connect to {host}:{port}"),
            ],
            ConnectError::Refused(why) => {
                vec![format!("failed to connect to {host}:{port}: {why}")]
            }
        }
    }
}

/// The system's words without its number.
fn bare(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Connect, and greet.
///
/// # Errors
/// There is no server, or it refuses.
pub fn to(address: &HostAddress, secret: Option<&Secret>) -> Result<Channel, ConnectError> {
    let socket: Socket = match address {
        HostAddress::Local(path) => connect_local(path).map_err(ConnectError::Connect)?,
        HostAddress::Internet { .. } => to_internet(address)?.into(),
    };
    wire::connect(socket, secret).map_err(ConnectError::Refused)
}

fn to_internet(address: &HostAddress) -> Result<TcpStream, ConnectError> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in address.resolve().map_err(ConnectError::Name)? {
        match TcpStream::connect_timeout(&address, CONNECT_WITHIN) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(ConnectError::Connect(failed))
}
