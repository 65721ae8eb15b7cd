//! The beginning of a connection: both are iosonde, both have the secret or neither, and it is the
//! same. Until then nothing of any other length is read, and nobody is waited for.
//!
//! Noise_NNpsk0: keys are made for each connection, so that a secret that becomes known later
//! opens none that was recorded. The client has proved the secret when its first record opens: the
//! first message alone may be one that was recorded.

use super::address::is_of_this_machine;
use super::algorithms::Algorithms;
use super::channel::{Channel, received, timespec};
use super::peer_user;
use super::secret::Secret;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::getsockname;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{AddressFamily, SendFlags, send};
use snow::{Builder, HandshakeState};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const MAGIC: &[u8; 14] = b"iosonde hosts\n";
/// Raised when messages change: the two ends must be of one.
const VERSION: u8 = 1;
const OPEN: u8 = 0;
const SEALED: u8 = 1;
const HELLO_BYTES: usize = MAGIC.len() + 2;
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// A key and a tag; each of the two messages has this size.
const NOISE_BYTES: usize = 48;
/// A record without content: what proves that the client has the key.
const PROOF_BYTES: usize = 16;
/// Nobody needs longer.
const WITHIN: Duration = Duration::from_secs(10);

/// A server's answer.
const WELCOME: u8 = 0;
const WANTS_SECRET: u8 = 1;
const HAS_NO_SECRET: u8 = 2;
const OTHER_VERSION: u8 = 3;
const OTHER_SECRET: u8 = 4;
const OTHER_USER: u8 = 5;

/// Greet a server over a connected socket.
///
/// # Errors
/// It is none, or refuses: a fragment with what to do.
pub fn connect(socket: OwnedFd, secret: Option<&Secret>) -> Result<Channel, String> {
    let mut raw = Raw::new(socket)?;
    let hello = hello(if secret.is_some() { SEALED } else { OPEN });
    raw.write(&hello)?;
    raw.answer()?;
    let Some(secret) = secret else { return Ok(Channel::new(raw.socket, None)) };
    let mut noise = builder(secret, &hello)?.build_initiator().map_err(noise_words)?;
    raw.write(&message(&mut noise)?)?;
    raw.answer()?;
    let theirs: [u8; NOISE_BYTES] = raw.read()?;
    noise.read_message(&theirs, &mut []).map_err(|_| "the server has another secret")?;
    let mut seal = noise.into_transport_mode().map_err(noise_words)?;
    let mut proof = [0; PROOF_BYTES];
    seal.write_message(&[], &mut proof).map_err(noise_words)?;
    raw.write(&proof)?;
    Ok(Channel::new(raw.socket, Some(seal)))
}

/// Greet a client over a socket that was accepted: it may run jobs afterwards.
///
/// # Errors
/// It may not: a fragment.
pub fn accept(socket: OwnedFd, secret: Option<&Secret>) -> Result<Channel, String> {
    let mut raw = Raw::new(socket)?;
    let theirs: [u8; HELLO_BYTES] = raw.read()?;
    let (magic, [version, mode]) = theirs.split_at(MAGIC.len()) else { unreachable!() };
    if magic != MAGIC {
        return Err("it is no client of iosonde".to_owned());
    }
    if *version != VERSION {
        return raw.refuse(OTHER_VERSION, "the client is of another release");
    }
    match (*mode, secret) {
        (SEALED, Some(secret)) => accept_sealed(raw, secret, &theirs),
        (OPEN, None) => {
            if !is_own_user(&raw) {
                return raw.refuse(OTHER_USER, "the client is another user's");
            }
            raw.write(&[WELCOME])?;
            Ok(Channel::new(raw.socket, None))
        }
        (_, Some(_)) => raw.refuse(WANTS_SECRET, "the client has no secret"),
        (_, None) => raw.refuse(HAS_NO_SECRET, "the client has a secret, and this server none"),
    }
}

fn accept_sealed(mut raw: Raw, secret: &Secret, hello: &[u8]) -> Result<Channel, String> {
    raw.write(&[WELCOME])?;
    let mut noise = builder(secret, hello)?.build_responder().map_err(noise_words)?;
    let theirs: [u8; NOISE_BYTES] = raw.read()?;
    if noise.read_message(&theirs, &mut []).is_err() {
        return raw.refuse(OTHER_SECRET, "the client has another secret");
    }
    raw.write(&[WELCOME])?;
    raw.write(&message(&mut noise)?)?;
    let mut seal = noise.into_transport_mode().map_err(noise_words)?;
    let proof: [u8; PROOF_BYTES] = raw.read()?;
    seal.read_message(&proof, &mut []).map_err(|_| "the client has no key")?;
    Ok(Channel::new(raw.socket, Some(seal)))
}

/// Whether a client without a secret is this server's user or root: a socket in the file system
/// lets nobody else connect, a port of loopback does.
fn is_own_user(raw: &Raw) -> bool {
    if getsockname(&raw.socket).is_ok_and(|own| own.address_family() == AddressFamily::UNIX) {
        return true;
    }
    // One that was reset meanwhile has no other end, and may still be read.
    let Some((own, other)) = raw.internet_ends() else { return false };
    let user = peer_user::of(own, other);
    let is_own = |user: u32| user == 0 || Some(user) == iosonde_sys::process::user();
    is_of_this_machine(own.ip()) && user.is_some_and(is_own)
}

fn hello(mode: u8) -> [u8; HELLO_BYTES] {
    let mut hello = [0; HELLO_BYTES];
    hello[..MAGIC.len()].copy_from_slice(MAGIC);
    hello[MAGIC.len()..].copy_from_slice(&[VERSION, mode]);
    hello
}

fn builder<'b>(secret: &'b Secret, hello: &'b [u8]) -> Result<Builder<'b>, String> {
    let parameters = PATTERN.parse().map_err(noise_words)?;
    let builder = Builder::with_resolver(parameters, Box::new(Algorithms));
    builder.psk(0, secret.key()).and_then(|builder| builder.prologue(hello)).map_err(noise_words)
}

fn message(noise: &mut HandshakeState) -> Result<[u8; NOISE_BYTES], String> {
    let mut message = [0; NOISE_BYTES];
    noise.write_message(&[], &mut message).map_err(noise_words)?;
    Ok(message)
}

fn noise_words(error: snow::Error) -> String {
    format!("cannot encrypt: {error}")
}

/// A socket that does not block, read to an exact length by a moment.
struct Raw {
    socket: OwnedFd,
    until: Instant,
}

impl Raw {
    fn new(socket: OwnedFd) -> Result<Raw, String> {
        rustix::io::ioctl_fionbio(&socket, true).map_err(|error| words(error.into()))?;
        // Messages are short and awaited. A socket in the file system knows no such thing.
        let _ = set_tcp_nodelay(&socket, true);
        Ok(Raw { socket, until: Instant::now() + WITHIN })
    }

    fn read<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (mut bytes, mut filled) = ([0; N], 0);
        while filled < N {
            match received(&self.socket, &mut bytes[filled..]) {
                Ok(0) => return Err("the connection was closed".to_owned()),
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => self.wait(PollFlags::IN)?,
                Err(error) => return Err(words(error.into())),
            }
        }
        Ok(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut written = 0;
        while written < bytes.len() {
            match send(&self.socket, &bytes[written..], SendFlags::empty()) {
                Ok(more) => written += more,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => self.wait(PollFlags::OUT)?,
                Err(error) => return Err(words(error.into())),
            }
        }
        Ok(())
    }

    fn wait(&self, flags: PollFlags) -> Result<(), String> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("no answer within {} s", WITHIN.as_secs()));
        }
        let mut sockets = [PollFd::from_borrowed_fd(self.socket.as_fd(), flags)];
        match poll(&mut sockets, Some(&timespec(left))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(words(error.into())),
        }
    }

    /// A server's answer: well, or why not.
    fn answer(&mut self) -> Result<(), String> {
        let [answer] = self.read()?;
        Err(match answer {
            WELCOME => return Ok(()),
            WANTS_SECRET => "the server wants a secret: give its file with --secret-file",
            HAS_NO_SECRET => {
                "the server has no secret, so that it may be another's: start it with --secret-file"
            }
            OTHER_VERSION => "the server is of another release: install the same on all hosts",
            OTHER_SECRET => "the server has another secret: give both the same --secret-file",
            OTHER_USER => "the server is another user's: give both a --secret-file",
            _ => "it is no server of iosonde",
        }
        .to_owned())
    }

    fn refuse(mut self, answer: u8, why: &str) -> Result<Channel, String> {
        self.write(&[answer])?;
        Err(why.to_owned())
    }

    /// Both ends, while they are connected.
    fn internet_ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        let stream = TcpStream::from(self.socket.try_clone().ok()?);
        Some((stream.local_addr().ok()?, stream.peer_addr().ok()?))
    }
}

fn words(error: io::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    fn secret(letter: char) -> Secret {
        let folder = Folder::new("greeting");
        let path = folder.join("secret");
        std::fs::write(&path, letter.to_string().repeat(32)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        Secret::read(&path).unwrap()
    }

    type Met = (Result<Channel, String>, Result<Channel, String>);

    fn meet(client: Option<&Secret>, server: Option<&Secret>) -> Met {
        let (one, other) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(move || accept(other.into(), server));
            (connect(one.into(), client), server.join().unwrap())
        })
    }

    #[test]
    fn with_one_secret_or_none_both_talk_and_with_it_nobody_reads_along() {
        let secret = secret('a');
        for own in [None, Some(&secret)] {
            let (client, server) = meet(own, own);
            let (mut client, mut server) = (client.unwrap(), server.unwrap());
            let long = "x".repeat(200_000);
            client.send(3, long.as_bytes());
            let mut come = None;
            while come.is_none() {
                client.is_idle();
                come = server.receive();
            }
            assert_eq!(come, Some((3, long.into_bytes())));
            server.send(4, b"back");
            let come = std::iter::repeat_with(|| client.receive()).flatten().next();
            assert_eq!(come, Some((4, b"back".to_vec())));
        }
    }

    fn refused(met: Result<Channel, String>) -> String {
        met.err().expect("it is refused")
    }

    #[test]
    fn another_secret_or_none_on_one_side_is_refused_on_both() {
        let (one, other) = (secret('a'), secret('b'));
        for (client, server, words) in [
            (None, Some(&one), "give its file with --secret-file"),
            (Some(&one), None, "the server has no secret"),
            (Some(&one), Some(&other), "give both the same --secret-file"),
        ] {
            let (client, server) = meet(client, server);
            let why = refused(client);
            assert!(why.contains(words), "{why}");
            refused(server);
        }
    }

    /// What a server answers to bytes, and why it refuses.
    fn answered(bytes: &[u8], secret: Option<&Secret>) -> (Vec<u8>, String) {
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(bytes).unwrap();
        one.shutdown(std::net::Shutdown::Write).unwrap();
        let why = refused(accept(other.into(), secret));
        let mut answer = Vec::new();
        // What was not read makes it a reset.
        let _ = one.read_to_end(&mut answer);
        (answer, why)
    }

    #[test]
    fn a_stranger_learns_nothing_and_one_of_another_release_why() {
        let secret = secret('a');
        let own = Some(&secret);
        let (answer, why) = answered(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", own);
        assert_eq!((answer.as_slice(), why.as_str()), (&[][..], "it is no client of iosonde"));
        let mut newer = hello(SEALED);
        newer[MAGIC.len()] = VERSION + 1;
        assert_eq!(answered(&newer, own).0, [OTHER_VERSION]);
        assert_eq!(answered(&hello(OPEN), own).0, [WANTS_SECRET]);
        assert_eq!(answered(&hello(7), None).0, [HAS_NO_SECRET]);
        let forged = [hello(SEALED).as_slice(), &[9; NOISE_BYTES]].concat();
        assert_eq!(answered(&forged, own).0, [WELCOME, OTHER_SECRET]);
        let short = [hello(SEALED).as_slice(), &[9; 3]].concat();
        assert_eq!(answered(&short, own).1, "the connection was closed");
    }

    #[test]
    fn a_recorded_beginning_proves_nothing() {
        let secret = secret('a');
        let hello = hello(SEALED);
        let mut noise = builder(&secret, &hello).unwrap().build_initiator().unwrap();
        let first = message(&mut noise).unwrap();
        let replayed = [hello.as_slice(), &first, &[0; PROOF_BYTES]].concat();
        assert_eq!(answered(&replayed, Some(&secret)).1, "the client has no key");
    }

    #[test]
    fn a_port_of_loopback_is_for_its_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(move || accept(server.into(), None));
            connect(client.into(), None).unwrap();
            server.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_connection_that_was_reset_is_nobodys() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        // Closed with something unread, it is reset; what was sent before can still be read.
        server.write_all(b"unread").unwrap();
        client.peek(&mut [0]).unwrap();
        client.write_all(&hello(OPEN)).unwrap();
        drop(client);
        while server.peer_addr().is_ok() {
            std::thread::yield_now();
        }
        refused(accept(server.into(), None));
    }
}
