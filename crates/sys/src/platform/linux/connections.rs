//! See [`connections`](crate::connections): sockets of this process by their numbers, copied.
#![allow(unsafe_code)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Standard input, output and errors, which may be sockets, are not meant.
const FIRST: RawFd = 3;

pub(crate) struct OpenConnections(Vec<(TcpStream, SocketAddr)>);

impl OpenConnections {
    pub(crate) fn now() -> OpenConnections {
        let numbers = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let numbers: Vec<RawFd> =
            numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        let copies = numbers.into_iter().filter(|&number| number >= FIRST).filter_map(copy);
        // What is no connection of TCP or UDP has no such address.
        OpenConnections(
            copies.filter_map(|copy| copy.peer_addr().ok().map(|to| (copy, to))).collect(),
        )
    }

    pub(crate) fn leave_out_closed(&mut self) -> Option<SocketAddr> {
        let ends = PollFlags::RDHUP;
        let mut polled: Vec<PollFd<'_>> =
            self.0.iter().map(|(connection, _)| PollFd::new(connection, ends)).collect();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut polled, Some(&at_once)).ok()? == 0 {
            return None;
        }
        let are_open: Vec<bool> = polled.iter().map(|polled| polled.revents().is_empty()).collect();
        let closed = are_open.iter().position(|is_open| !is_open).map(|at| self.0[at].1);
        let mut are_open = are_open.into_iter();
        self.0.retain(|_| are_open.next().unwrap_or(true));
        closed
    }
}

fn copy(number: RawFd) -> Option<TcpStream> {
    // SAFETY: the call takes two numbers and no memory. If the first was closed meanwhile it fails, or
    // copies another file: the caller asks of each copy what it is.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST) };
    // SAFETY: a number that was just made for us, which nobody else knows.
    (copy >= 0).then(|| TcpStream::from(unsafe { OwnedFd::from_raw_fd(copy) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    #[test]
    fn a_connection_that_the_other_end_closes_is_found_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let here = TcpStream::connect(to).unwrap();
        let (mut there, _) = listener.accept().unwrap();
        let mut open = OpenConnections::now();
        open.0.retain(|(_, other)| *other == to);
        assert_eq!(open.leave_out_closed(), None);
        // What has come and was not read does not hide the end.
        there.write_all(b"last words").unwrap();
        assert_eq!(open.leave_out_closed(), None);
        // The test's copies of both ends are open: as a process that ends closes all, this does.
        there.shutdown(std::net::Shutdown::Both).unwrap();
        // It takes a moment to arrive.
        let found = std::iter::repeat_with(|| open.leave_out_closed()).flatten().next();
        assert_eq!((found, open.leave_out_closed()), (Some(to), None));
        // By this end, and its number is of another file.
        let mut again = OpenConnections(vec![(here.try_clone().unwrap(), to)]);
        here.shutdown(std::net::Shutdown::Both).unwrap();
        drop(here);
        assert_eq!(again.leave_out_closed(), Some(to));
    }
}
