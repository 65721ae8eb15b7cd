//! Options of the network engines.

use iosonde_options::{Built, Category, options};

use crate::values::NetProtocol;

options! {
    /// net
    pub struct Net in Category::Engine {
        /// Host to connect to, or the address to listen on.
        hostname: Option<String> = "" as "hostname" {
            built: Built::Yes,
            good: &["localhost"],
        }
        /// Port to connect to or to listen on.
        port: Option<u32> = "" as "port" {
            built: Built::Yes,
            min: Some(1),
            max: Some(65535),
            good: &["8765"],
            bad: &["0", "65536", "http"],
        }
        /// The protocol.
        protocol: NetProtocol = "tcp" as "protocol" | "proto" {
            built: Built::Yes,
            good: &["tcp", "udp", "unix"],
            bad: &["ipx"],
        }
        /// Send at once, without waiting for more (TCP_NODELAY).
        nodelay: bool = "0" as "nodelay" {
            built: Built::Yes,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Wait for a connection, rather than make one.
        listen: bool = "0" as "listen" {
            built: Built::Yes,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Answer each message before the next one is sent.
        pingpong: bool = "0" as "pingpong" {
            built: Built::Yes,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// The interface that multicast goes through.
        interface: Option<String> = "" as "interface" {
            built: Built::Yes,
            good: &["127.0.0.1"],
        }
        /// Hops that multicast lives.
        ttl: u32 = "1" as "ttl" {
            built: Built::Yes,
            good: &["1", "8"],
            bad: &["long"],
        }
        /// Size of the socket's buffers.
        window_size: u32 = "0" as "window_size" {
            built: Built::Yes,
            min: Some(0),
            good: &["0", "64k"],
            bad: &["wide"],
        }
        /// Largest segment of TCP.
        mss: u32 = "0" as "mss" {
            built: Built::Yes,
            min: Some(0),
            good: &["0", "1460"],
            bad: &["big"],
        }
    }
}
