//! A run on servers that a client asks for: what a server's end of it is ([`ServerLink`], over which
//! it is a rank of a group), and what the client does ([`RemoteRun`]).

mod clock;
mod frames;
mod lead;
mod link;
mod server;

pub use frames::{FileName, TextStream};
pub use lead::{RemoteEvent, RemoteRun, RemoteView};
pub use link::{Outgoing, ServerLink};
