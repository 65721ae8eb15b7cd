//! net and netsplice: blocks go over a connection, in one direction.
//!
//! What is said on the wire is fio's, seen on the wire: over TCP and UDP
//! whoever is done says so, and whoever sends datagrams announces himself.
//! Listeners listen before any job starts; the two sides meet when the jobs
//! do, and the time until then is not the job's.
#![allow(unsafe_code)]

mod options;
mod socket;

use super::always;
use super::splice::SplicePipe;
use super::stepwise::{EngineStep, Stepwise, StepwiseLoop};
use crate::drive::{Failure, act};
use crate::{Caps, Drive, EngineDef, EngineError, OpenWith};
use iosonde_base::{Errno, FileId, Op, Planned};
use options::OPTIONS;
use socket::{Address, Socket};
use std::os::fd::AsFd;

pub use options::{NetSettings, Protocol};

const CAPS: Caps = Caps { sync: true, diskless: true, one_way: true, ..Caps::NONE };

/// Catalogue entry.
pub(crate) static NET: EngineDef = EngineDef {
    name: "net",
    aliases: &[],
    summary: "a network connection",
    doc: "A connection over TCP, UDP or a socket in the file system: a write sends, a read \
          receives. One side listens (listen=1; over UDP and unix whoever reads), the other \
          names its hostname.",
    caps: CAPS,
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| Ok(StepwiseLoop::boxed(Net::new(with, None)?, accounting)),
};

/// Catalogue entry.
pub(crate) static NETSPLICE: EngineDef = EngineDef {
    name: "netsplice",
    aliases: &[],
    summary: "a network connection by splice(2)",
    doc: "As net over TCP, through a pipe in the kernel: splice(2) and vmsplice(2).",
    caps: CAPS,
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| {
        if !matches!(with.settings.of::<NetSettings>().protocol, Protocol::Tcp | Protocol::TcpV6) {
            return Err(refuse(
                "netsplice goes over TCP only",
                "use ioengine=net, or protocol=tcp",
            ));
        }
        Ok(StepwiseLoop::boxed(Net::new(with, Some(SplicePipe::new()?))?, accounting))
    },
};

/// Announces a sender of datagrams.
const HELLO: &[u8; 8] = b"link\0\0\0\x98";
/// There will be no more.
const FAREWELL: &[u8; 8] = b"knil\x89\0\0\0";

pub(super) fn refuse(message: &str, help: &str) -> EngineError {
    EngineError { message: message.to_owned(), help: Some(help.to_owned()), errno: Errno::EINVAL }
}

/// The engine: one connection.
struct Net {
    settings: NetSettings,
    /// Where the other side is, for those that go there.
    there: Option<Address>,
    /// What is listened or received on.
    listener: Option<Socket>,
    line: Option<Connection>,
    pipe: Option<SplicePipe>,
    /// The entry at hand: when it began, in ticks, and bytes moved both ways.
    began: Option<u64>,
    moved: u32,
}

/// A connection, or a socket for datagrams.
struct Connection {
    socket: Socket,
    /// Where datagrams go.
    to: Option<Address>,
}

impl Net {
    fn new(with: &OpenWith, pipe: Option<SplicePipe>) -> Result<Net, EngineError> {
        let settings: NetSettings = with.settings.of();
        check(&settings)?;
        let mut net =
            Net { there: None, listener: None, line: None, pipe, began: None, moved: 0, settings };
        if net.settings.waits() {
            net.listener = Some(Socket::listen(&net.settings)?);
        } else {
            net.there = Some(Address::of(&net.settings)?);
        }
        Ok(net)
    }

    /// Find the other side. False when the job was stopped before it came.
    fn find(&mut self, drive: &Drive) -> Result<bool, Failure> {
        let datagrams = self.settings.protocol.datagrams();
        let stopped = || drive.control.stop_asked() || drive.clock.now() >= drive.control.until();
        let line = match (&self.listener, &self.there) {
            (Some(listener), _) if datagrams => {
                let socket = listener.again().map_err(failed("receive"))?;
                let mut line = Connection { socket, to: None };
                if !line.await_hello(&stopped)? {
                    return Ok(false);
                }
                line
            }
            (Some(listener), _) => match listener.accept(&stopped).map_err(failed("accept"))? {
                Some(socket) => Connection { socket, to: None },
                None => return Ok(false),
            },
            (None, Some(there)) => {
                let socket = Socket::towards(&self.settings, there).map_err(failed("connect"))?;
                let to = datagrams.then_some(*there);
                if let Some(to) = &to {
                    socket.send(HELLO, Some(to), false).map_err(failed("send"))?;
                }
                Connection { socket, to }
            }
            (None, None) => return Err(Failure::engine("connect", Errno::EINVAL)),
        };
        self.line = Some(line);
        Ok(true)
    }

    /// Move a part of the entry at hand. None when there is nothing more.
    fn part(&mut self, drive: &Drive, entry: &Planned) -> Result<Option<u32>, Errno> {
        let there = self.moved < entry.len;
        let at = if there { self.moved } else { self.moved - entry.len };
        let sends = (entry.op == Op::Write) == there;
        let (start, len) = (drive.memory.buffer(0).wrapping_add(at as usize), entry.len - at);
        let line = self.line.as_mut().expect("found before the first part");
        // SAFETY: `at + len` bytes are the length of the entry, which fits the
        // buffer of the one slot there is, and nobody else looks at it now.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start, len as usize) };
        let moved = match (&mut self.pipe, sends) {
            // What follows goes along: fio's MSG_MORE.
            (None, true) => {
                let more = !self.settings.pingpong && line.to.is_none() && drive.ring.waiting() > 1;
                line.socket.send(bytes, line.to.as_ref(), more)?
            }
            (None, false) => line.receive(bytes)?,
            // SAFETY: as above. What is sent is what the buffer holds when the
            // kernel looks at it, which may be the next block already: that is
            // what splicing means, and nothing of ours depends on it.
            (Some(pipe), true) => unsafe {
                pipe.write(line.socket.as_fd(), None, start, len as usize)?
            },
            (Some(pipe), false) => unsafe {
                pipe.read(line.socket.as_fd(), None, start, len as usize)?
            },
        };
        let farewell = !sends && moved == FAREWELL.len() && bytes[..moved] == *FAREWELL;
        Ok((moved > 0 && !farewell).then_some(moved as u32))
    }

    fn done(&mut self) {
        (self.began, self.moved) = (None, 0);
    }
}

impl Connection {
    /// Receive, and remember from whom.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (received, from) = self.socket.receive(bytes)?;
        self.to = from.or(self.to.take());
        Ok(received)
    }

    fn await_hello(&mut self, stopped: &dyn Fn() -> bool) -> Result<bool, Failure> {
        let mut hello = [0; HELLO.len()];
        while !stopped() {
            match self.receive(&mut hello) {
                Ok(8) if hello == *HELLO => return Ok(true),
                // Somebody else's datagram, or one of a run before.
                Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(errno) => return Err(Failure::engine("receive", errno)),
            }
        }
        Ok(false)
    }
}

impl Stepwise for Net {
    fn connect(&mut self, drive: &mut Drive) -> Result<Option<u64>, Failure> {
        // No slice has begun: only a stop ends the waiting.
        drive.control.arm(u64::MAX);
        self.find(drive)?;
        Ok(Some(drive.clock.now()))
    }

    fn step(&mut self, drive: &mut Drive, entry: &Planned) -> Result<EngineStep, Failure> {
        if self.line.is_none() && !self.find(drive)? {
            return Ok(EngineStep::Later);
        }
        let began = *self.began.get_or_insert_with(|| drive.clock.now());
        let whole = if self.settings.pingpong { 2 * entry.len } else { entry.len };
        while self.moved < whole {
            match self.part(drive, entry) {
                Ok(Some(moved)) => self.moved += moved,
                Ok(None) => {
                    self.done();
                    return Ok(EngineStep::Over);
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) if drive.clock.now() >= drive.control.until() => {
                    return Ok(EngineStep::Later);
                }
                Err(Errno::EAGAIN) => {}
                Err(errno) => {
                    self.done();
                    return drive
                        .tolerate(entry, failure(entry, errno))
                        .map(|()| EngineStep::Tolerated);
                }
            }
        }
        self.done();
        Ok(EngineStep::Done(Some(drive.clock.now().wrapping_sub(began))))
    }

    fn close(&mut self, _: FileId) {
        let Some(line) = self.line.take() else { return };
        // On a socket in the file system closing says it all. Whoever is gone
        // already needs no farewell.
        if self.settings.protocol != Protocol::Unix {
            let _ = line.socket.send(FAREWELL, line.to.as_ref(), false);
        }
    }
}

fn failed(doing: &'static str) -> impl Fn(Errno) -> Failure {
    move |errno| Failure { detail: explain(errno), ..Failure::engine(doing, errno) }
}

fn failure(entry: &Planned, errno: Errno) -> Failure {
    Failure { len: entry.len, detail: explain(errno), ..Failure::engine(act(entry.op), errno) }
}

fn explain(errno: Errno) -> Option<&'static str> {
    match errno.0 {
        libc::ECONNREFUSED | libc::ENOENT => Some("nobody listens there: start that side first"),
        libc::EPIPE | libc::ECONNRESET => Some("the other side has closed the connection"),
        libc::EMSGSIZE => Some("a datagram holds less than this block; use a smaller bs"),
        _ => None,
    }
}

/// What cannot be, as fio has it.
fn check(settings: &NetSettings) -> Result<(), EngineError> {
    let NetSettings { protocol, listen, reads, host, port, .. } = settings;
    let tcp = matches!(protocol, Protocol::Tcp | Protocol::TcpV6);
    if *listen && !tcp {
        return Err(refuse("listen= is for TCP", "the side that reads waits for the other anyway"));
    }
    if *protocol == Protocol::Unix {
        let named = !settings.path().is_empty();
        let help = "set filename= to its path, on both sides";
        return if named { Ok(()) } else { Err(refuse("the socket has no path", help)) };
    }
    if port.is_none() {
        return Err(refuse("TCP and UDP need a port", "set port="));
    }
    let multicast = || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_multicast());
    match (settings.waits(), host.is_empty()) {
        (true, false) if tcp || !(*reads && multicast()) => Err(refuse(
            "who waits for the other side names no host",
            "leave hostname= out, unless it is a multicast group to receive from",
        )),
        (false, true) => Err(refuse("there is no host to connect to", "set hostname=")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_connections_say_what_helps() {
        for (errno, word) in [
            (libc::ECONNREFUSED, "start that side first"),
            (libc::ENOENT, "start that side first"),
            (libc::EPIPE, "closed the connection"),
            (libc::ECONNRESET, "closed the connection"),
            (libc::EMSGSIZE, "smaller bs"),
        ] {
            let failure = failed("connect")(Errno(errno));
            assert!(failure.detail.is_some_and(|words| words.contains(word)), "{failure:?}");
            let entry = Planned { offset: 0, len: 512, file: FileId(0), op: Op::Write };
            let failure = super::failure(&entry, Errno(errno));
            assert_eq!((failure.doing, failure.len), ("write", 512));
            assert!(failure.detail.is_some_and(|words| words.contains(word)), "{failure:?}");
        }
        assert_eq!(explain(Errno::EIO), None);
    }

    /// A side of UDP.
    fn udp(reads: bool, host: &str) -> NetSettings {
        let (protocol, port, host) = (Protocol::Udp, Some(8765), host.to_owned());
        NetSettings { protocol, port, host, reads, ..NetSettings::default() }
    }

    #[test]
    fn who_waits_names_no_host_but_a_multicast_group_to_receive_from() {
        let refused = |settings: &NetSettings| check(settings).err().map(|error| error.message);
        assert_eq!(refused(&udp(true, "")), None);
        assert_eq!(refused(&udp(true, "239.1.2.3")), None);
        assert!(refused(&udp(true, "127.0.0.1")).unwrap().contains("names no host"));
        assert_eq!(refused(&udp(false, "127.0.0.1")), None);
        assert!(refused(&udp(false, "")).unwrap().contains("no host to connect"));
        let tcp = NetSettings { protocol: Protocol::Tcp, listen: true, ..udp(true, "239.1.2.3") };
        assert!(refused(&tcp).unwrap().contains("names no host"), "a group is for datagrams");
    }
}
