//! One page over HTTP/1.1, for a scraper, with limits on time, size and connections.
//!
//! Each connection is answered once and closed. A client that is silent, endless or one of too many
//! costs its own connection and never the run. Where there are too many, the one that has been silent
//! for longest makes room; where none has, the last gets 503.

use super::clients::{ClientLimits, ClientPlace, Clients};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A scraper sends about 300 bytes; servers in use stop at 8 KiB.
const HEADER_BYTES_MAX: usize = 8 << 10;

/// How much of a request that is too long is read and dropped, so that the client sees the answer
/// and not a reset connection.
const DROPPED_BYTES_MAX: usize = 64 << 10;

/// How often new connections are looked for. A scraper waits for seconds.
const ACCEPT_EVERY: Duration = Duration::from_millis(50);

const LIMITS: ClientLimits = ClientLimits {
    timeout: Duration::from_secs(2),
    connections: 32,
    of_address: 16,
    silence: Duration::from_millis(100),
};

/// The stack of a thread that answers one client: a few buffers of 1 KiB.
const STACK_BYTES: usize = 256 << 10;

/// A page, and the format that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedPage {
    /// For `Content-Type`.
    pub content_type: &'static str,
    /// The page.
    pub text: String,
}

/// Where pages come from. Called on the thread of a connection.
pub trait PageSource: Send + Sync {
    /// The page now, for a client that sent this `Accept` header; empty without one.
    fn page(&self, accept: &str) -> ServedPage;
}

/// The text format of Prometheus, which every scraper reads.
pub const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The last page that was put here, in the text format of Prometheus.
impl PageSource for Mutex<String> {
    fn page(&self, _: &str) -> ServedPage {
        let text = self.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ServedPage { content_type: TEXT_FORMAT, text }
    }
}

/// Answers requests for a page until it is dropped.
pub struct PageServer {
    address: SocketAddr,
    site: Arc<Site>,
    thread: Option<JoinHandle<()>>,
}

/// The state that connections share.
struct Site {
    path: String,
    pages: Arc<dyn PageSource>,
    limits: ClientLimits,
    clients: Clients,
    stopped: AtomicBool,
}

impl PageServer {
    /// Listen at `address` (`HOST:PORT`) and answer requests for `path` with `pages`.
    ///
    /// # Errors
    /// If the address cannot be listened at, or a thread cannot be started.
    pub fn listen(address: &str, path: &str, pages: Arc<dyn PageSource>) -> io::Result<PageServer> {
        PageServer::start(&TcpListener::bind(address)?, path, pages, LIMITS)
    }

    /// Where it listens: with the port that the system chose, if that was left to it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn start(
        listener: &TcpListener,
        path: &str,
        pages: Arc<dyn PageSource>,
        limits: ClientLimits,
    ) -> io::Result<PageServer> {
        let listener = listener.try_clone()?;
        let address = listener.local_addr()?;
        // Not blocked in accept(2), the thread can be stopped.
        listener.set_nonblocking(true)?;
        let site = Arc::new(Site {
            path: path.to_owned(),
            pages,
            limits,
            clients: Clients::new(limits),
            stopped: AtomicBool::new(false),
        });
        let shared = site.clone();
        let thread = thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || accept(&listener, &shared))?;
        Ok(PageServer { address, site, thread: Some(thread) })
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.site.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It only accepts, so this is at once; connections end by themselves, or with the
            // process. A panic there cost a scrape, which nobody waits for any more.
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, site: &Arc<Site>) {
    while !site.stopped.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, from)) => begin(stream, from, site),
            // Nobody, or a client that has gone again; a shortage of descriptors passes too.
            Err(_) => thread::park_timeout(ACCEPT_EVERY),
        }
    }
}

fn begin(stream: TcpStream, from: SocketAddr, site: &Arc<Site>) {
    // So many may come that not even their refusals are waited for.
    let Some(place) = site.clients.enter(&stream, from.ip()) else { return };
    let site = site.clone();
    let serve = move || {
        // A client that has gone away needs no answer.
        let _ =
            if place.is_refused() { refuse(stream, &site) } else { serve(stream, &site, &place) };
    };
    let named = thread::Builder::new().name("metrics client".to_owned()).stack_size(STACK_BYTES);
    // Without a thread the connection is closed.
    let _ = named.spawn(serve);
}

fn serve(mut stream: TcpStream, site: &Site, place: &ClientPlace) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(site.limits.timeout))?;
    let deadline = Instant::now() + site.limits.timeout;
    match header(&mut stream, deadline)? {
        Some(header) => {
            place.begin_answer();
            stream.write_all(answer(&header, site).as_bytes())
        }
        None => {
            let text =
                response("431 Request Header Fields Too Large", "header above 8 KiB\n", true);
            end_with(&mut stream, &text, deadline)
        }
    }
}

/// One scraper more than are served.
fn refuse(mut stream: TcpStream, site: &Site) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(site.limits.timeout))?;
    let status = "503 Service Unavailable\r\nRetry-After: 1";
    let text = response(status, "too many clients at a time: ask again\n", true);
    end_with(&mut stream, &text, Instant::now() + site.limits.timeout)
}

/// Answer a request that was not read to its end: the rest is dropped, so that the client
/// sees the answer and not a reset connection.
fn end_with(stream: &mut TcpStream, text: &str, deadline: Instant) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    drop_rest(stream, deadline)
}

/// A request up to its empty line; `None` if it is too long.
fn header(stream: &mut TcpStream, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut header = Vec::new();
    let mut piece = [0; 1024];
    while header.len() <= HEADER_BYTES_MAX {
        let read = read_by(stream, &mut piece, deadline)?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        header.extend_from_slice(&piece[..read]);
        if header.windows(4).any(|four| four == b"\r\n\r\n") {
            return Ok(Some(header));
        }
    }
    Ok(None)
}

fn drop_rest(stream: &mut TcpStream, deadline: Instant) -> io::Result<()> {
    let (mut dropped, mut piece) = (0, [0; 1024]);
    while dropped < DROPPED_BYTES_MAX {
        match read_by(stream, &mut piece, deadline)? {
            0 => break,
            read => dropped += read,
        }
    }
    Ok(())
}

/// Read by a deadline: a client that sends a byte now and then gains no time.
fn read_by(stream: &mut TcpStream, piece: &mut [u8], deadline: Instant) -> io::Result<usize> {
    let left = deadline.saturating_duration_since(Instant::now());
    // A timeout of zero is refused.
    stream.set_read_timeout(Some(left.max(Duration::from_micros(1))))?;
    stream.read(piece)
}

fn answer(header: &[u8], site: &Site) -> String {
    let header = String::from_utf8_lossy(header);
    let mut words = header.lines().next().unwrap_or_default().split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some("HTTP/1.0" | "HTTP/1.1")) = (method, target, version)
    else {
        return response("400 Bad Request", "not an HTTP/1 request\n", true);
    };
    let path = target.split('?').next().unwrap_or_default();
    let has_body = method != "HEAD";
    if path != site.path {
        return response("404 Not Found", &format!("metrics are at {}\n", site.path), has_body);
    }
    if !matches!(method, "GET" | "HEAD") {
        return response("405 Method Not Allowed\r\nAllow: GET, HEAD", "use GET\n", has_body);
    }
    let ServedPage { content_type, text } = site.pages.page(&accepted(&header));
    typed_response("200 OK", content_type, &text, has_body)
}

/// The values of a request's `Accept` headers, with commas between them.
fn accepted(header: &str) -> String {
    let lines = header.lines().skip(1).filter_map(|line| line.split_once(':'));
    let values = lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case("accept"));
    values.map(|(_, value)| value.trim()).collect::<Vec<_>>().join(",")
}

fn response(status: &str, body: &str, has_body: bool) -> String {
    typed_response(status, "text/plain; charset=utf-8", body, has_body)
}

fn typed_response(status: &str, content_type: &str, body: &str, has_body: bool) -> String {
    let shown = if has_body { body } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{shown}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So long that a test that depended on it would never end.
    const NEVER: Duration = Duration::from_secs(1 << 20);

    /// No silence is long enough to make room for others.
    fn limits(connections: usize) -> ClientLimits {
        ClientLimits { timeout: NEVER, connections, of_address: connections, silence: NEVER }
    }

    fn page(text: &str) -> Arc<Mutex<String>> {
        Arc::new(Mutex::new(text.to_owned()))
    }

    fn server(limits: ClientLimits) -> (PageServer, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = PageServer::start(&listener, "/metrics", page("a 1\n"), limits).unwrap();
        (server, listener.local_addr().unwrap())
    }

    /// Everything that is sent to a client that sends `text`; a reset connection sends no more.
    fn exchange(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    const GET: &str = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

    #[test]
    fn a_get_has_the_page_and_all_else_a_reason() {
        let pages = page("a 1\n");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let limits = limits(4);
        let server = PageServer::start(&listener, "/metrics", pages.clone(), limits).unwrap();
        let address = server.address();
        let first = exchange(address, GET);
        assert!(first.starts_with("HTTP/1.1 200 OK\r\n"), "{first}");
        assert!(first.contains("\r\nContent-Length: 4\r\n") && first.ends_with("\r\n\r\na 1\n"));
        *pages.lock().unwrap() = "b 2\n".to_owned();
        assert!(exchange(address, "GET /metrics?x HTTP/1.0\r\n\r\n").ends_with("\r\n\r\nb 2\n"));
        let head = exchange(address, "HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.contains("Content-Length: 4\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        for (request, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("\r\n\r\n", "400 Bad Request"),
            ("GET /metrics SSH-2\r\n\r\n", "400 Bad Request"),
        ] {
            let answer = exchange(address, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request}: {answer}");
        }
    }

    #[test]
    fn the_source_learns_what_a_client_accepts() {
        struct Echo;
        impl PageSource for Echo {
            fn page(&self, accept: &str) -> ServedPage {
                ServedPage { content_type: "a/b", text: accept.to_owned() }
            }
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let limits = limits(4);
        let server = PageServer::start(&listener, "/m", Arc::new(Echo), limits).unwrap();
        let request =
            "GET /m HTTP/1.1\r\nACCEPT: x/y;q=1\r\nHost: Accept: z\r\naccept: */*\r\n\r\n";
        let answer = exchange(server.address(), request);
        assert!(answer.contains("\r\nContent-Type: a/b\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nx/y;q=1,*/*"), "{answer}");
        assert!(exchange(server.address(), "GET /m HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));
    }

    #[test]
    fn an_endless_header_is_refused_at_8_kib() {
        let (_server, address) = server(limits(4));
        // The last byte makes it too long; without it the server would wait.
        let longest = "x".repeat(HEADER_BYTES_MAX + 1);
        let answer = exchange(address, &longest);
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        assert!(exchange(address, GET).ends_with("a 1\n"), "others are answered");
    }

    #[test]
    fn a_silent_client_is_closed_after_the_timeout() {
        let (_server, address) = server(ClientLimits { timeout: Duration::ZERO, ..limits(4) });
        assert_eq!(exchange(address, ""), "");
    }

    #[test]
    fn a_silent_client_does_not_delay_others_or_the_end() {
        let (server, address) = server(limits(4));
        let mut silent = TcpStream::connect(address).unwrap();
        silent.write_all(b"GET /met").unwrap();
        assert!(exchange(address, GET).ends_with("a 1\n"));
        drop(server);
        drop(silent);
    }

    #[test]
    fn of_too_many_clients_the_last_are_told_so_until_others_leave() {
        let (_server, address) = server(limits(2));
        // Accepted in this order: the third finds both places taken.
        let silent = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        let refused = exchange(address, GET);
        assert!(refused.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{refused}");
        assert!(refused.contains("\r\nRetry-After: 1\r\n"), "{refused}");
        drop(silent);
        while !exchange(address, GET).ends_with("a 1\n") {
            thread::yield_now();
        }
    }

    #[test]
    fn silent_clients_make_room_the_longest_silent_first() {
        let silence = Duration::ZERO;
        for tight in [
            ClientLimits { of_address: 9, ..limits(2) },
            ClientLimits { of_address: 2, ..limits(9) },
        ] {
            let (_server, address) = server(ClientLimits { silence, ..tight });
            let mut silent = [(); 2].map(|()| TcpStream::connect(address).unwrap());
            let scraped = exchange(address, GET);
            assert!(scraped.ends_with("a 1\n"), "{scraped}");
            assert_eq!(silent[0].read(&mut [0; 1]).unwrap_or(0), 0, "the first was closed");
            silent[1].write_all(GET.as_bytes()).unwrap();
            let mut answer = String::new();
            silent[1].read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("a 1\n"), "the second was not: {answer}");
        }
    }

    #[test]
    fn the_address_is_free_again_after_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = PageServer::start(&listener, "/metrics", page(""), LIMITS).unwrap();
        drop(listener);
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
