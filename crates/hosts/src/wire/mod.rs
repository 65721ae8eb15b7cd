//! Connections between a client and its servers: where they are, who may connect, and frames
//! of bytes, encrypted where there is a secret.

mod address;
mod algorithms;
mod channel;
mod greeting;
mod peer_user;
mod secret;

pub use address::{HostAddress, PORT_DEFAULT};
pub use channel::{Channel, FRAME_BYTES_MOST, await_readable};
pub use greeting::{accept, connect};
pub use secret::Secret;
