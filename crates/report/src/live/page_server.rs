//! One page over HTTP/1.1, for a scraper, with limits on time, size and connections.
//!
//! Each connection is answered once and closed. A client that is silent, endless or one of too many
//! costs its own connection and never the run.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
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

/// Limits of a client.
#[derive(Clone, Copy, Debug)]
struct ClientLimits {
    /// For a whole request, and again for its answer.
    timeout: Duration,
    /// Connections at a time; the others are closed.
    connections: u32,
}

const LIMITS: ClientLimits = ClientLimits { timeout: Duration::from_secs(2), connections: 4 };

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
    connections: AtomicU32,
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
            connections: AtomicU32::new(0),
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
            Ok((stream, _)) => begin(stream, site),
            // Nobody, or a client that has gone again; a shortage of descriptors passes too.
            Err(_) => thread::park_timeout(ACCEPT_EVERY),
        }
    }
}

/// A connection that counts against the limit.
struct OpenConnection(Arc<Site>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn begin(stream: TcpStream, site: &Arc<Site>) {
    // Only this thread counts up, so the limit holds.
    if site.connections.load(Ordering::Relaxed) >= site.limits.connections {
        return;
    }
    site.connections.fetch_add(1, Ordering::Relaxed);
    let counted = OpenConnection(site.clone());
    let serve = move || {
        // A client that has gone away needs no answer.
        let _ = serve(stream, &counted.0);
    };
    // Without a thread the connection is closed.
    let _ = thread::Builder::new().name("metrics client".to_owned()).spawn(serve);
}

fn serve(mut stream: TcpStream, site: &Site) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(site.limits.timeout))?;
    let deadline = Instant::now() + site.limits.timeout;
    match header(&mut stream, deadline)? {
        Some(header) => stream.write_all(answer(&header, site).as_bytes()),
        None => {
            let text =
                response("431 Request Header Fields Too Large", "header above 8 KiB\n", true);
            stream.write_all(text.as_bytes())?;
            stream.shutdown(Shutdown::Write)?;
            drop_rest(&mut stream, deadline)
        }
    }
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
        let limits = ClientLimits { timeout: NEVER, connections: 4 };
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
        let limits = ClientLimits { timeout: NEVER, connections: 4 };
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
        let (_server, address) = server(ClientLimits { timeout: NEVER, connections: 4 });
        // The last byte makes it too long; without it the server would wait.
        let longest = "x".repeat(HEADER_BYTES_MAX + 1);
        let answer = exchange(address, &longest);
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        assert!(exchange(address, GET).ends_with("a 1\n"), "others are answered");
    }

    #[test]
    fn a_silent_client_is_closed_after_the_timeout() {
        let (_server, address) = server(ClientLimits { timeout: Duration::ZERO, connections: 4 });
        assert_eq!(exchange(address, ""), "");
    }

    #[test]
    fn a_silent_client_does_not_delay_others_or_the_end() {
        let (server, address) = server(ClientLimits { timeout: NEVER, connections: 4 });
        let mut silent = TcpStream::connect(address).unwrap();
        silent.write_all(b"GET /met").unwrap();
        assert!(exchange(address, GET).ends_with("a 1\n"));
        drop(server);
        drop(silent);
    }

    #[test]
    fn of_too_many_clients_the_last_are_closed_until_others_leave() {
        let (_server, address) = server(ClientLimits { timeout: NEVER, connections: 2 });
        // Accepted in this order: the third finds both places taken.
        let silent = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        assert_eq!(exchange(address, GET), "");
        drop(silent);
        while !exchange(address, GET).ends_with("a 1\n") {
            thread::yield_now();
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
