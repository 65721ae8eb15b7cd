//! A server: a process for each connection, which has to show that its client may run jobs. How
//! many there may be, and how long they may take for that, is looked after here.

use super::session;
use iosonde_base::exit;
use iosonde_run::conductor::signals;
use iosonde_sys::process::own_path;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The first argument of a server in the background; its standard input is the listener.
pub const LISTENER: &str = "--server-in-background";
/// Connections that have not shown that they may run jobs, and those that have.
const STRANGERS_MOST: usize = 8;
const CLIENTS_MOST: usize = 16;
/// A stranger that has been silent for so long makes room for another.
const STRANGER_MAKES_ROOM: Duration = Duration::from_millis(500);
/// Signals and ends of processes are looked for so often.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// When a server ends, its jobs have so long to end.
const JOBS_END_WITHIN: Duration = Duration::from_secs(10);

/// Serve in the background; the exit code.
///
/// # Errors
/// The system gives too little: a sentence.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let listener = io::stdin().as_fd().try_clone_to_owned();
    let listener = listener.map_err(|error| format!("no listener: {error}"))?;
    // Of its own, so that the end of a terminal does not end it.
    let _ = rustix::process::setsid();
    serve(&listener, arguments)
}

/// Serve until a signal comes; the exit code.
///
/// # Errors
/// As [`run`].
pub fn serve(listener: &OwnedFd, arguments: &[String]) -> Result<u8, String> {
    let failed = |error: io::Error| format!("--server: {error}");
    rustix::io::ioctl_fionbio(listener, true).map_err(|error| failed(error.into()))?;
    let stopped = signals::stop_flag().map_err(failed)?;
    let mut server = Server {
        connections: Vec::new(),
        words: [&[session::CONNECTION.to_owned()], arguments].concat(),
    };
    while !stopped.load(Ordering::Relaxed) {
        server.look_after();
        match accept(listener) {
            Some(socket) => server.begin(socket),
            None => server.wait(listener),
        }
    }
    server.end();
    Ok(exit::OK)
}

/// accept(2), of either kind of socket.
fn accept(listener: &OwnedFd) -> Option<OwnedFd> {
    // A client that has gone again, and a shortage of descriptors, pass.
    let socket = rustix::net::accept(listener).ok()?;
    // Processes are started by this thread alone, so that none is between the two calls.
    fcntl_setfd(&socket, FdFlags::CLOEXEC).ok()?;
    Some(socket)
}

/// The child is called as this program is.
pub fn keep_name(command: &mut Command) {
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
}

struct Server {
    connections: Vec<Connection>,
    words: Vec<String>,
}

/// The process of a connection.
struct Connection {
    process: Child,
    began: Instant,
    /// Where it says that its client may run jobs; gone afterwards.
    stranger: Option<ChildStdout>,
}

impl Server {
    /// A process for a connection, if there is room.
    fn begin(&mut self, socket: OwnedFd) {
        let strangers = || self.connections.iter().filter(|known| known.stranger.is_some());
        if self.connections.len() >= STRANGERS_MOST + CLIENTS_MOST {
            return;
        }
        if strangers().count() >= STRANGERS_MOST {
            let oldest = strangers().map(|known| known.began).min();
            let Some(oldest) = oldest.filter(|began| began.elapsed() >= STRANGER_MAKES_ROOM) else {
                return;
            };
            let is_oldest =
                |known: &&mut Connection| known.stranger.is_some() && known.began == oldest;
            if let Some(known) = self.connections.iter_mut().find(is_oldest) {
                known.end();
            }
        }
        let Ok(own) = own_path() else { return };
        let mut command = Command::new(own);
        keep_name(&mut command);
        command.args(&self.words);
        command.stdin(Stdio::from(socket)).stdout(Stdio::piped());
        // Without a process the connection is closed, which its client sees.
        let Ok(mut process) = command.spawn() else { return };
        let stranger = process.stdout.take();
        self.connections.push(Connection { process, began: Instant::now(), stranger });
    }

    /// Forget processes that have ended, and learn who is no stranger any more.
    fn look_after(&mut self) {
        for known in &mut self.connections {
            let may_speak = known.stranger.as_ref().is_some_and(has_something);
            if may_speak && let Some(mut stranger) = known.stranger.take() {
                let mut word = [0];
                // Nothing: it has ended, which is seen below.
                let _ = stranger.read(&mut word);
            }
        }
        let clients = self.connections.iter_mut().filter(|known| known.stranger.is_none());
        if let Some(one_too_many) = clients.skip(CLIENTS_MOST).last() {
            one_too_many.end();
        }
        self.connections.retain_mut(|known| !matches!(known.process.try_wait(), Ok(Some(_))));
    }

    fn wait(&self, listener: &OwnedFd) {
        let strangers = self.connections.iter().filter_map(|known| known.stranger.as_ref());
        let mut polled: Vec<PollFd<'_>> = strangers
            .map(|stranger| PollFd::from_borrowed_fd(stranger.as_fd(), PollFlags::IN))
            .collect();
        polled.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
        // A signal ends it early.
        let _ = poll(&mut polled, Some(&timespec(LOOK_EVERY)));
    }

    /// End the jobs of all clients, whose results still reach them.
    fn end(&mut self) {
        for known in &self.connections {
            signal(&known.process, Signal::TERM);
        }
        let until = Instant::now() + JOBS_END_WITHIN;
        while !self.connections.is_empty() && Instant::now() < until {
            self.look_after();
            std::thread::sleep(Duration::from_millis(10));
        }
        self.connections.iter_mut().for_each(Connection::end);
    }
}

impl Connection {
    fn end(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn signal(process: &Child, signal: Signal) {
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended already.
        let _ = kill_process(pid, signal);
    }
}

fn has_something(stream: &ChildStdout) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}
