//! Options of net and netsplice, and what they mean for a connection.

use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Category, Diagnostic, options, words};

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<NetOptions>(NetOptions::OPTIONS);

words! {
    /// A network protocol.
    pub enum NetProtocol {
        Tcp = "tcp" : "TCP over IPv4",
        TcpV6 = "tcpv6" : "TCP over IPv6",
        Udp = "udp" : "UDP over IPv4",
        UdpV6 = "udpv6" : "UDP over IPv6",
        Unix = "unix" : "a socket in the file system",
        Vsock = "vsock" : "between a virtual machine and its host",
    }
}

options! {
    /// net
    pub(super) struct NetOptions in Category::Engine {
        /// Host to connect to, or the address to listen on.
        hostname: Option<String> = "" as "hostname" {
            good: &["localhost"],
        }
        /// Port to connect to or to listen on.
        port: Option<u32> = "" as "port" {
            min: Some(1),
            max: Some(65535),
            good: &["8765"],
            bad: &["0", "65536", "http"],
        }
        /// The protocol.
        protocol: NetProtocol = "tcp" as "protocol" | "proto" {
            good: &["tcp", "udp", "unix"],
        }
        /// Send at once, without waiting for more (TCP_NODELAY).
        nodelay: bool = "0" as "nodelay" {}
        /// Wait for a connection, rather than make one.
        listen: bool = "0" as "listen" {
            bare: Some("1"),
        }
        /// Answer each message before the next one is sent.
        pingpong: bool = "0" as "pingpong" {
            bare: Some("1"),
        }
        /// The interface that multicast goes through.
        interface: Option<String> = "" as "interface" {
            good: &["127.0.0.1"],
        }
        /// Hops that multicast lives.
        ttl: u32 = "1" as "ttl" {
            good: &["1", "8"],
        }
        /// Size of the socket's buffers.
        window_size: u32 = "0" as "window_size" {
            min: Some(0),
            good: &["0", "64k"],
        }
        /// Largest segment of TCP.
        mss: u32 = "0" as "mss" {
            min: Some(0),
            good: &["0", "1460"],
        }
    }
}

/// A connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetSettings {
    /// What it is made of.
    pub protocol: Protocol,
    /// This side waits to be connected to (TCP).
    pub listen: bool,
    /// The job reads: over UDP and sockets in the file system readers wait.
    pub reads: bool,
    /// A name or address; empty for the side that waits.
    pub host: String,
    /// The port.
    pub port: Option<u16>,
    /// The path of a socket in the file system; empty for that in `host`.
    pub path: String,
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// Each block is sent back before the next.
    pub pingpong: bool,
    /// The address of the interface that multicast goes through; empty: any.
    pub interface: String,
    /// Time to live of multicast packets, in hops.
    pub ttl: u32,
    /// Size of the socket's buffer; 0: the system's.
    pub window_bytes: u32,
    /// Largest segment of TCP; 0: the system's.
    pub segment_bytes: u32,
}

impl OwnSettings for NetSettings {}

impl NetSettings {
    /// Whether this side waits for the other.
    pub(super) fn waits(&self) -> bool {
        match self.protocol {
            Protocol::Tcp | Protocol::TcpV6 => self.listen,
            _ => self.reads,
        }
    }

    /// The path of a socket in the file system.
    pub(super) fn path(&self) -> &str {
        if self.path.is_empty() { &self.host } else { &self.path }
    }
}

/// Settings of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP over IPv4.
    #[default]
    Tcp,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over IPv4.
    Udp,
    /// UDP over IPv6.
    UdpV6,
    /// A stream through a socket in the file system.
    Unix,
}

impl Protocol {
    /// Whether blocks are sent as datagrams.
    pub(super) fn datagrams(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::UdpV6)
    }

    /// Whether addresses are of IPv6.
    pub(super) fn v6(self) -> bool {
        matches!(self, Protocol::TcpV6 | Protocol::UdpV6)
    }
}

impl OwnOptions for NetOptions {
    type Settings = NetSettings;

    fn settings(&self, job: &JobContext) -> Result<NetSettings, Diagnostic> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        Ok(NetSettings {
            protocol: self.supported_protocol()?,
            listen: *self.listen.get(),
            reads: job.reads,
            host: text(self.hostname.get()),
            port: self.port_of(job.clone)?,
            path: job.filename.unwrap_or_default().to_owned(),
            nodelay: *self.nodelay.get(),
            pingpong: *self.pingpong.get(),
            interface: text(self.interface.get()),
            ttl: *self.ttl.get(),
            window_bytes: *self.window_size.get(),
            segment_bytes: *self.mss.get(),
        })
    }
}

impl NetOptions {
    fn supported_protocol(&self) -> Result<Protocol, Diagnostic> {
        Ok(match self.protocol.get() {
            NetProtocol::Tcp => Protocol::Tcp,
            NetProtocol::TcpV6 => Protocol::TcpV6,
            NetProtocol::Udp => Protocol::Udp,
            NetProtocol::UdpV6 => Protocol::UdpV6,
            NetProtocol::Unix => Protocol::Unix,
            NetProtocol::Vsock => {
                return Err(Diagnostic::error("protocol vsock is not supported")
                    .about("protocol", self.protocol.origin()));
            }
        })
    }

    /// Clones use consecutive ports.
    fn port_of(&self, clone: u32) -> Result<Option<u16>, Diagnostic> {
        let Some(first) = *self.port.get() else { return Ok(None) };
        u16::try_from(u64::from(first) + u64::from(clone)).map(Some).map_err(|_| {
            Diagnostic::error(format!("port {first} leaves no port for clone {clone}"))
                .help("ports end at 65535")
                .about("port", self.port.origin())
        })
    }
}
