//! Whose a connection within this machine is: any user of it may connect to a port of loopback.

use std::net::{IpAddr, SocketAddr};

/// The user of the other end, from the tables of the kernel (proc(5), `/proc/net/tcp`); `None`
/// where it is not in them.
pub(super) fn of(own: SocketAddr, other: SocketAddr) -> Option<u32> {
    ["proc/net/tcp", "proc/net/tcp6"].iter().find_map(|table| {
        let text = iosonde_direct::sysfs::text(table).ok()?;
        text.lines().skip(1).find_map(|line| user_of_line(line, other, own))
    })
}

/// The user of a line, if it is of the socket from `local` to `remote`.
fn user_of_line(line: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is = |field: usize, address: SocketAddr| {
        fields.get(field).and_then(|text| socket_address(text)).is_some_and(|found| {
            found.port() == address.port() && plain(found.ip()) == plain(address.ip())
        })
    };
    if is(1, local) && is(2, remote) { fields.get(7)?.parse().ok() } else { None }
}

/// `0100007F:1F90`: words of the machine's byte order, and the port.
fn socket_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Option<Vec<[u8; 4]>> = (0..address.len())
        .step_by(8)
        .map(|at| {
            let word = u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?;
            Some(word.to_ne_bytes())
        })
        .collect();
    let bytes = words?.concat();
    let ip = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        16 => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// IPv4 in IPv6 is IPv4.
fn plain(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_other_end_of_a_connection_is_ours_and_of_another_is_unknown() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, other) = listener.accept().unwrap();
        let own = server.local_addr().unwrap();
        let uid = iosonde_sys::process::user().unwrap();
        assert_eq!(of(own, other), Some(uid));
        drop(client);
        assert_eq!(of(own, "127.0.0.1:1".parse().unwrap()), None);
    }

    #[test]
    fn lines_of_the_kernel_are_read_and_others_are_none() {
        let line = "   1: 0100007F:1F90 0200007F:0050 01 00000000:00000000 00:00000000 00000000  1000  0 1";
        let (local, remote) = ("127.0.0.1:8080".parse().unwrap(), "127.0.0.2:80".parse().unwrap());
        if cfg!(target_endian = "little") {
            assert_eq!(user_of_line(line, local, remote), Some(1000));
        }
        for other in ["", "x", "1: 0100007F 2", "1: 0\u{e9}100007F:1 0:0 01 0 0 0 7"] {
            assert_eq!(user_of_line(other, local, remote), None);
        }
    }
}
