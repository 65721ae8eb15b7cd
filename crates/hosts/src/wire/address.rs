//! Where a server listens, as fio writes it: `ip:ADDR`, `ip6:ADDR`, `sock:PATH`, `HOST`, each but
//! a path with `,PORT`.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// fio's port.
pub const PORT_DEFAULT: u16 = 8765;

/// A server's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAddress {
    /// A name or an address; all of this machine's where it is empty.
    Internet {
        /// The name or address.
        host: String,
        /// The port.
        port: u16,
        /// Which version of IP, if one was asked for.
        family: IpFamily,
    },
    /// A socket in the file system.
    Local(PathBuf),
}

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpFamily {
    /// Whichever the name has.
    Any,
    /// IPv4.
    Four,
    /// IPv6.
    Six,
}

impl HostAddress {
    /// An address as it is typed.
    ///
    /// # Errors
    /// It has no such form: a fragment.
    pub fn parse(text: &str) -> Result<HostAddress, String> {
        if let Some(path) = text.strip_prefix("sock:") {
            if path.is_empty() {
                return Err("sock: is followed by the path of a socket".to_owned());
            }
            return Ok(HostAddress::Local(path.into()));
        }
        let (family, rest) = match text.split_once(':') {
            Some(("ip", rest)) => (IpFamily::Four, rest),
            Some(("ip6", rest)) => (IpFamily::Six, rest),
            _ => (IpFamily::Any, text),
        };
        let (host, port) = match rest.rsplit_once(',') {
            None => (rest, PORT_DEFAULT),
            Some((host, port)) => {
                let port = port.trim().parse::<u16>().ok().filter(|&port| port > 0);
                let wrong = || format!("invalid port in {text:?}: use HOST,PORT with 1 to 65535");
                (host, port.ok_or_else(wrong)?)
            }
        };
        let host = host.trim().trim_start_matches('[').trim_end_matches(']');
        if host.contains(char::is_whitespace) || host.contains(['/', ',']) {
            return Err(format!("{text:?} is no address of a host: use HOST,PORT or sock:PATH"));
        }
        Ok(HostAddress::Internet { host: host.to_owned(), port, family })
    }

    /// The host as reports have it: as it was typed, or the path.
    pub fn host(&self) -> String {
        match self {
            HostAddress::Internet { host, .. } => host.clone(),
            HostAddress::Local(path) => path.display().to_string(),
        }
    }

    /// The port; fio's also where there is none.
    pub fn port(&self) -> u16 {
        match self {
            HostAddress::Internet { port, .. } => *port,
            HostAddress::Local(_) => PORT_DEFAULT,
        }
    }

    /// As fio prints it: `HOST,PORT`.
    pub fn shown(&self) -> String {
        match self {
            HostAddress::Internet { host, port, .. } if host.is_empty() => {
                format!("0.0.0.0,{port}")
            }
            HostAddress::Internet { host, port, .. } => format!("{host},{port}"),
            HostAddress::Local(path) => path.display().to_string(),
        }
    }

    /// The socket addresses of a name; those of all interfaces for none.
    ///
    /// # Errors
    /// The name is not known, or has no such address.
    pub fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let HostAddress::Internet { host, port, family } = self else { return Ok(Vec::new()) };
        let name = match (host.as_str(), family) {
            ("", IpFamily::Six) => "::",
            ("", _) => "0.0.0.0",
            (host, _) => host,
        };
        let fits = |address: &SocketAddr| match family {
            IpFamily::Any => true,
            IpFamily::Four => address.is_ipv4(),
            IpFamily::Six => address.is_ipv6(),
        };
        let found: Vec<SocketAddr> = (name, *port).to_socket_addrs()?.filter(fits).collect();
        if found.is_empty() {
            return Err(io::Error::other("it has no address of that version of IP"));
        }
        Ok(found)
    }
}

/// Whether only this machine reaches an address.
pub(super) fn is_of_this_machine(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_loopback(),
        IpAddr::V6(six) => {
            six.is_loopback() || six.to_ipv4_mapped().is_some_and(|four| four.is_loopback())
        }
    }
}

impl HostAddress {
    /// Whether only this machine reaches it: a socket in the file system, or loopback addresses.
    ///
    /// # Errors
    /// As [`HostAddress::resolve`].
    pub fn is_of_this_machine(&self) -> io::Result<bool> {
        Ok(self.resolve()?.iter().all(|address| is_of_this_machine(address.ip())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internet(host: &str, port: u16, family: IpFamily) -> Result<HostAddress, String> {
        Ok(HostAddress::Internet { host: host.to_owned(), port, family })
    }

    #[test]
    fn addresses_have_fios_forms() {
        for (text, host, port, family) in [
            ("", "", 8765, IpFamily::Any),
            (",4444", "", 4444, IpFamily::Any),
            ("h1", "h1", 8765, IpFamily::Any),
            ("h1,99", "h1", 99, IpFamily::Any),
            ("ip:10.0.0.1", "10.0.0.1", 8765, IpFamily::Four),
            ("ip:,7", "", 7, IpFamily::Four),
            ("ip6:::1,8", "::1", 8, IpFamily::Six),
            ("ip6:[fe80::1]", "fe80::1", 8765, IpFamily::Six),
        ] {
            assert_eq!(HostAddress::parse(text), internet(host, port, family), "{text}");
        }
        assert_eq!(HostAddress::parse("sock:/run/x"), Ok(HostAddress::Local("/run/x".into())));
        for wrong in ["sock:", "h,0", "h,70000", "h,x", "a b", "hosts/list", "a,b,1"] {
            assert!(HostAddress::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn loopback_and_sockets_are_of_this_machine_and_all_addresses_are_not() {
        let of = |text: &str| HostAddress::parse(text).unwrap().is_of_this_machine().unwrap();
        assert!(of("127.0.0.1") && of("ip:127.8.8.8,1") && of("ip6:::1") && of("sock:/x"));
        assert!(!of("") && !of(",8765") && !of("ip6:") && !of("10.1.2.3"));
    }
}
