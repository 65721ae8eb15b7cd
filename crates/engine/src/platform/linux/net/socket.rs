//! Sockets: made, found, and set up, in fio's order of system calls.
#![allow(unsafe_code)]

use super::refuse;
use super::{NetSettings, Protocol};
use crate::EngineError;
use iosonde_base::Errno;
use iosonde_sys::files::remove_abandoned_socket;
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

/// How long a wait is before somebody looks whether the job shall end.
const PATIENCE_MS: i32 = 100;

/// Where a socket is.
#[derive(Clone, Copy)]
pub(super) struct Address {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl Address {
    /// The other side's.
    ///
    /// # Errors
    /// A host that has no address, or a path that is too long.
    pub(super) fn of(settings: &NetSettings) -> Result<Address, EngineError> {
        if settings.protocol == Protocol::Unix {
            return Address::path(settings.path());
        }
        let port = settings.port.unwrap_or(0);
        let found = (settings.host.as_str(), port).to_socket_addrs();
        let found = found.map_err(|error| EngineError {
            message: format!("find the host {}: {error}", settings.host),
            help: None,
            errno: Errno::EINVAL,
        })?;
        let v6 = settings.protocol.v6();
        let mut fits = found.filter(|address| address.is_ipv6() == v6);
        fits.next().map(Address::inet).ok_or_else(|| {
            let kind = if v6 { "IPv6" } else { "IPv4" };
            let message = format!("the host {} has no {kind} address", settings.host);
            refuse(&message, "use the other protocol: tcp, tcpv6, udp, udpv6")
        })
    }

    /// Where others are waited for.
    fn anywhere(settings: &NetSettings) -> Result<Address, EngineError> {
        if settings.protocol == Protocol::Unix {
            return Address::path(settings.path());
        }
        let unspecified = if settings.protocol.v6() {
            IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED)
        } else {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        };
        Ok(Address::inet(SocketAddr::new(unspecified, settings.port.unwrap_or(0))))
    }

    fn empty() -> Address {
        // SAFETY: plain numbers, for which zero is a value.
        let storage = unsafe { std::mem::zeroed() };
        Address { storage, len: size_of::<libc::sockaddr_storage>() as libc::socklen_t }
    }

    /// Of one of the structures that a storage has room for.
    fn holding<T>(address: T) -> Address {
        assert!(size_of::<T>() <= size_of::<libc::sockaddr_storage>());
        let mut whole = Address::empty();
        // SAFETY: there is room for it by the assertion, aligned for any of
        // them, as sockaddr_storage(3type) promises.
        unsafe { std::ptr::from_mut(&mut whole.storage).cast::<T>().write(address) };
        whole.len = size_of::<T>() as libc::socklen_t;
        whole
    }

    fn inet(address: SocketAddr) -> Address {
        match address {
            SocketAddr::V4(v4) => Address::holding(libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: in_addr(*v4.ip()),
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(v6) => Address::holding(libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            }),
        }
    }

    fn path(path: &str) -> Result<Address, EngineError> {
        let mut sun_path = [0; 108];
        // One byte stays for the zero at its end.
        if path.len() >= sun_path.len() || path.contains('\0') {
            let help = "use a path of at most 107 bytes";
            return Err(refuse("the path is too long for a socket", help));
        }
        for (to, from) in sun_path.iter_mut().zip(path.bytes()) {
            *to = from as libc::c_char;
        }
        let sun_family = libc::AF_UNIX as libc::sa_family_t;
        Ok(Address::holding(libc::sockaddr_un { sun_family, sun_path }))
    }

    fn raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        (std::ptr::from_ref(&self.storage).cast(), self.len)
    }
}

fn in_addr(ip: Ipv4Addr) -> libc::in_addr {
    libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) }
}

/// A socket that waits at most [`PATIENCE_MS`] for the other side.
pub(super) struct Socket(OwnedFd);

impl Socket {
    /// One that others come to.
    pub(super) fn listen(settings: &NetSettings) -> Result<Socket, EngineError> {
        let failed = |doing: &str, errno: Errno| EngineError::system(doing, errno);
        let address = Address::anywhere(settings)?;
        let socket = Socket::new(settings).map_err(|errno| failed("make a socket", errno))?;
        let set = || -> Result<(), Errno> {
            if settings.protocol != Protocol::Unix {
                socket.set(libc::SOL_SOCKET, libc::SO_REUSEADDR, &1i32)?;
                socket.set(libc::SOL_SOCKET, libc::SO_REUSEPORT, &1i32)?;
            }
            socket.tune(settings)?;
            socket.limit_waits()?;
            socket.join(settings)
        };
        set().map_err(|errno| failed("set up the socket", errno))?;
        if settings.protocol == Protocol::Unix {
            // One that a run before left behind; bind(2) reports what is still in the way.
            let _ = remove_abandoned_socket(Path::new(settings.path()));
        }
        let (raw, len) = address.raw();
        // SAFETY: an address of that length, which outlives the call.
        check(unsafe { libc::bind(socket.fd(), raw, len) })
            .map_err(|errno| failed("bind the socket to its address", errno))?;
        if !settings.protocol.datagrams() {
            // SAFETY: the call takes numbers only.
            check(unsafe { libc::listen(socket.fd(), 10) })
                .map_err(|errno| failed("listen", errno))?;
        }
        Ok(socket)
    }

    /// One that goes to the other side.
    pub(super) fn towards(settings: &NetSettings, there: &Address) -> Result<Socket, Errno> {
        let socket = Socket::new(settings)?;
        socket.tune(settings)?;
        if settings.protocol.datagrams() {
            socket.broadcast(settings)?;
            return Ok(socket);
        }
        let (raw, len) = there.raw();
        // SAFETY: an address of that length, which outlives the call.
        check(unsafe { libc::connect(socket.fd(), raw, len) })?;
        // Not before: it would limit how far the other side may be.
        socket.limit_waits()?;
        Ok(socket)
    }

    /// The same socket once more.
    pub(super) fn again(&self) -> Result<Socket, Errno> {
        Ok(Socket(self.0.try_clone()?))
    }

    /// The next connection; none when `stopped` before.
    pub(super) fn accept(&self, stopped: &dyn Fn() -> bool) -> Result<Option<Socket>, Errno> {
        while !stopped() {
            let mut poll = libc::pollfd { fd: self.fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one structure, which outlives the call.
            let ready = unsafe { libc::poll(&mut poll, 1, PATIENCE_MS) };
            if ready <= 0 {
                match check(ready) {
                    Ok(_) | Err(Errno::EINTR) => continue,
                    Err(errno) => return Err(errno),
                }
            }
            let (address, len) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: no address is asked for.
            let fd = unsafe { libc::accept4(self.fd(), address, len, libc::SOCK_CLOEXEC) };
            // SAFETY: a fresh descriptor that nobody else owns.
            let socket = check(fd).map(|fd| Socket(unsafe { OwnedFd::from_raw_fd(fd) }))?;
            socket.limit_waits()?;
            return Ok(Some(socket));
        }
        Ok(None)
    }

    /// Send some of `bytes`: how many. `more` says that others follow soon.
    pub(super) fn send(
        &self,
        bytes: &[u8],
        to: Option<&Address>,
        more: bool,
    ) -> Result<usize, Errno> {
        let flags = libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
        let (raw, len) = to.map_or((std::ptr::null(), 0), Address::raw);
        let (start, count) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: so many bytes, and an address or none; both outlive the call.
        let sent = unsafe { libc::sendto(self.fd(), start, count, flags, raw, len) };
        if sent < 0 { Err(last()) } else { Ok(sent as usize) }
    }

    /// Receive into `bytes`: how many, and from where if there is an address.
    pub(super) fn receive(&self, bytes: &mut [u8]) -> Result<(usize, Option<Address>), Errno> {
        let mut from = Address::empty();
        let (start, count) = (bytes.as_mut_ptr().cast(), bytes.len());
        let raw = std::ptr::from_mut(&mut from.storage).cast();
        // SAFETY: so many bytes, and an address with its length; both outlive
        // the call.
        let received = unsafe { libc::recvfrom(self.fd(), start, count, 0, raw, &mut from.len) };
        if received < 0 {
            return Err(last());
        }
        Ok((received as usize, (from.len > 0).then_some(from)))
    }

    fn new(settings: &NetSettings) -> Result<Socket, Errno> {
        let domain = match settings.protocol {
            Protocol::Unix => libc::AF_UNIX,
            protocol if protocol.v6() => libc::AF_INET6,
            _ => libc::AF_INET,
        };
        let kind = if settings.protocol.datagrams() { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
        // SAFETY: the call takes numbers only.
        let fd = check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, 0) })?;
        // SAFETY: a fresh descriptor that nobody else owns.
        Ok(Socket(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// So that a job ends in time though the other side says nothing.
    fn limit_waits(&self) -> Result<(), Errno> {
        let patience =
            libc::timeval { tv_sec: 0, tv_usec: libc::suseconds_t::from(PATIENCE_MS) * 1000 };
        self.set(libc::SOL_SOCKET, libc::SO_RCVTIMEO, &patience)?;
        self.set(libc::SOL_SOCKET, libc::SO_SNDTIMEO, &patience)
    }

    /// `nodelay`, `window_size`, `mss`.
    fn tune(&self, settings: &NetSettings) -> Result<(), Errno> {
        let tcp = matches!(settings.protocol, Protocol::Tcp | Protocol::TcpV6);
        if settings.nodelay && tcp {
            self.set(libc::IPPROTO_TCP, libc::TCP_NODELAY, &1i32)?;
        }
        if settings.window_bytes > 0 {
            let option = if settings.reads { libc::SO_RCVBUF } else { libc::SO_SNDBUF };
            self.set(libc::SOL_SOCKET, option, &number(settings.window_bytes))?;
        }
        if settings.segment_bytes > 0 && tcp {
            self.set(libc::IPPROTO_TCP, libc::TCP_MAXSEG, &number(settings.segment_bytes))?;
        }
        Ok(())
    }

    /// Receive what is sent to a multicast group, where the host is one.
    fn join(&self, settings: &NetSettings) -> Result<(), Errno> {
        match settings.host.parse() {
            Ok(IpAddr::V4(group)) if group.is_multicast() => {
                let imr_interface = interface(settings)?;
                let request = libc::ip_mreq { imr_multiaddr: in_addr(group), imr_interface };
                self.set(libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP, &request)
            }
            Ok(IpAddr::V6(group)) if group.is_multicast() => {
                let ipv6mr_multiaddr = libc::in6_addr { s6_addr: group.octets() };
                let request = libc::ipv6_mreq { ipv6mr_multiaddr, ipv6mr_interface: 0 };
                self.set(libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP, &request)
            }
            _ => Ok(()),
        }
    }

    /// `interface` and `ttl`, where the host is a multicast group.
    fn broadcast(&self, settings: &NetSettings) -> Result<(), Errno> {
        match settings.host.parse() {
            Ok(IpAddr::V4(group)) if group.is_multicast() => {
                if !settings.interface.is_empty() {
                    self.set(libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &interface(settings)?)?;
                }
                self.set(libc::IPPROTO_IP, libc::IP_MULTICAST_TTL, &number(settings.ttl))
            }
            Ok(IpAddr::V6(group)) if group.is_multicast() => {
                self.set(libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_HOPS, &number(settings.ttl))
            }
            _ => Ok(()),
        }
    }

    fn set<T>(&self, level: i32, option: i32, value: &T) -> Result<(), Errno> {
        let (value, len) = (std::ptr::from_ref(value).cast(), size_of::<T>());
        // SAFETY: a value of that length, which outlives the call.
        let done =
            unsafe { libc::setsockopt(self.fd(), level, option, value, len as libc::socklen_t) };
        check(done).map(drop)
    }

    fn fd(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn interface(settings: &NetSettings) -> Result<libc::in_addr, Errno> {
    match settings.interface.as_str() {
        "" => Ok(in_addr(Ipv4Addr::UNSPECIFIED)),
        ip => ip.parse().map(in_addr).map_err(|_| Errno::EINVAL),
    }
}

/// A size for the kernel, which takes less than it asks for.
fn number(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn check(result: i32) -> Result<i32, Errno> {
    if result < 0 { Err(last()) } else { Ok(result) }
}

fn last() -> Errno {
    std::io::Error::last_os_error().into()
}
