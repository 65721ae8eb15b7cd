//! TCP ports for servers of tests.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below what a kernel gives to those who ask for any port (Linux: from 32768;
/// ip(7), `ip_local_port_range`), so that no client takes one that was found free
/// before the server listens.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// Another port of loopback that nobody uses, each time.
///
/// # Panics
/// All are in use.
pub fn free_port() -> u16 {
    static ASKED: AtomicU16 = AtomicU16::new(0);
    // Tests of other processes begin elsewhere.
    let start = u64::from(std::process::id()) * 97;
    let count = u64::from(PORTS.end - PORTS.start);
    let next = || start + u64::from(ASKED.fetch_add(1, Ordering::Relaxed));
    let port = || PORTS.start + u16::try_from(next() % count).expect("fewer than 65536");
    let is_free = |port: &u16| {
        let at = ("127.0.0.1", *port);
        TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok()
    };
    (0..count).map(|_| port()).find(is_free).expect("one of 20000 ports is free")
}

#[test]
fn no_port_is_given_twice() {
    let ports: std::collections::BTreeSet<u16> = (0..100).map(|_| free_port()).collect();
    assert_eq!(ports.len(), 100);
    assert!(ports.iter().all(|port| PORTS.contains(port)), "{ports:?}");
}
