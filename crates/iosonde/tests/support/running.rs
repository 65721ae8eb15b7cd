//! Programs that run while a test looks on.
//!
//! Limits of time only end a test that hangs: on a busy machine everything
//! comes late, and nothing is wrong with that.

use super::{Ran, Who, words};
use iosonde_testing::{Folder, Undo};
use std::fs::DirEntry;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a test waits for what must come. Nothing takes so long, also where
/// other programs keep all processors busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How long a killed program is waited for.
const THAWED: Duration = Duration::from_secs(2);

/// The same command, started with the default action of every signal.
fn with_default_signals(command: &Command) -> Command {
    let mut reset = Command::new("env");
    reset.arg("--default-signal").arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        reset.current_dir(folder);
    }
    reset.stdin(Stdio::null());
    reset
}

/// A program that runs; killed if it outlives its test.
pub struct Running {
    child: Option<Child>,
    /// Where the test is interrupted.
    kill: Option<Undo>,
    who: Who,
    arguments: String,
    stdout: Output,
    stderr: Output,
}

/// The output of a program so far. It is read on the side, so that a full
/// pipe does not keep the program from ending.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Output {
    fn of(stream: Option<impl Read + Send + 'static>) -> Output {
        let mut stream = stream.expect("it is piped");
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = bytes.clone();
        let read = move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        };
        Output { bytes, reader: Some(std::thread::spawn(read)) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// Whether nothing more comes.
    fn is_over(&self) -> bool {
        self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// All of it; the program has ended.
    fn end(&mut self) -> String {
        self.reader.take().into_iter().for_each(|reader| reader.join().unwrap());
        self.text()
    }
}

impl Running {
    /// Start a program in a folder, its output kept. No signal is ignored, also
    /// where the tests run in the background of a script: a shell starts those
    /// with SIGINT and SIGQUIT ignored.
    pub fn start(who: Who, folder: &Folder, line: &str) -> Running {
        let mut command = with_default_signals(&who.command(folder));
        command.args(words(line)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (Output::of(child.stdout.take()), Output::of(child.stderr.take()));
        let kill = Some(Undo::kill(&child));
        Running { child: Some(child), kill, who, arguments: line.to_owned(), stdout, stderr }
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it is there until it has ended")
    }

    /// Its number.
    pub fn id(&mut self) -> u32 {
        self.child().id()
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        self.child().try_wait().unwrap().is_none()
    }

    /// Send it a signal, and wait until it has been delivered: the kernel makes
    /// one of two that are pending. One that ended the program stays pending.
    #[track_caller]
    pub fn signal(&mut self, signal: rustix::process::Signal) {
        let id = self.id();
        let pid = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        wait_until("the signal is delivered", || {
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
            let field = |name| status.lines().find_map(|line| line.strip_prefix(name));
            let has_ended = field("State:").is_some_and(|state| state.trim().starts_with('Z'));
            let pending = field("ShdPnd:");
            has_ended || pending.is_none_or(|set| set.trim().bytes().all(|digit| digit == b'0'))
        });
    }

    /// What it has printed on standard output so far.
    pub fn text(&self) -> String {
        self.stdout.text()
    }

    /// Wait until it has printed `text`, on either stream.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        wait_until(&format!("it prints {text:?}"), || {
            let is_over = self.stdout.is_over() && self.stderr.is_over();
            let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
            let is_printed = stdout.contains(text) || stderr.contains(text);
            assert!(is_printed || !is_over, "it ended without {text:?}: {stdout}{stderr}");
            is_printed
        });
    }

    /// Wait until a thread of that name runs: a job's is named after the job.
    #[track_caller]
    pub fn wait_for_thread(&mut self, name: &str) {
        let id = self.id();
        wait_until(&format!("a thread named {name} runs"), || {
            threads(id).iter().any(|thread| thread.name == name)
        });
    }

    /// Wait until a thread of that name has used a processor for so long that a
    /// job's is past its preparations and does I/O.
    #[track_caller]
    pub fn wait_for_work(&mut self, name: &str) {
        let id = self.id();
        wait_until(&format!("a thread named {name} works"), || works(id, name));
    }

    /// Wait until a thread of that name has worked for as long again, from now on.
    #[track_caller]
    pub fn wait_for_more_work(&mut self, name: &str) {
        let id = self.id();
        let before = ticks(id, name);
        wait_until(&format!("a thread named {name} works on"), || {
            ticks(id, name) >= before + WORKING
        });
    }

    /// Wait until a thread waits in this function of the kernel (proc(5), `wchan`).
    #[track_caller]
    pub fn wait_for_wait_in(&mut self, function: &str) {
        let folder = format!("/proc/{}/task", self.id());
        let waits = |thread: DirEntry| std::fs::read_to_string(thread.path().join("wchan"));
        wait_until(&format!("a thread waits in {function}"), || {
            let Ok(threads) = std::fs::read_dir(&folder) else { return false };
            threads.flatten().any(|thread| waits(thread).is_ok_and(|name| name == function))
        });
    }

    /// Wait until one of its threads waits in the kernel where no signal wakes it: for
    /// storage. A program that is being loaded waits so, too, and does not yet listen
    /// for signals.
    #[track_caller]
    pub fn wait_for_stuck_thread(&mut self) {
        let id = self.id();
        wait_until("a thread waits for storage", || {
            let all = threads(id);
            let listens = all.iter().any(|thread| thread.name == "signals");
            listens && all.iter().any(|thread| thread.state == 'D')
        });
    }

    /// Wait for its end; fails the test when that takes longer than `limit`.
    pub fn end_within(mut self, limit: Duration) -> Ran {
        let mut child = self.child.take().expect("it is there until it has ended");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > limit {
                let _ = child.kill();
                let _ = child.wait();
                panic!("{} runs after {limit:?}: {}", self.arguments, self.stdout.end());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        self.kill.take().into_iter().for_each(Undo::cancel);
        Ran {
            who: self.who,
            arguments: self.arguments.clone(),
            code: status.code(),
            stdout: self.stdout.end(),
            stderr: self.stderr.end(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(self.kill.take());
            // One that waits for a frozen file system ends when that is thawed,
            // which may be when this test is over.
            let began = Instant::now();
            while matches!(child.try_wait(), Ok(None)) && began.elapsed() < THAWED {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Wait until something is so.
#[track_caller]
pub fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What the kernel says of a thread (proc(5), `stat`).
struct ThreadState {
    name: String,
    state: char,
    /// Processor time in clock ticks, of a hundredth of a second each.
    ticks: u64,
}

/// Clock ticks of processor time after which a job is past its preparations.
const WORKING: u64 = 3;

/// Whether a thread of that name has used a processor for so long that it does I/O.
pub fn works(process: u32, name: &str) -> bool {
    ticks(process, name) >= WORKING
}

/// The processor time of the thread of that name, in clock ticks.
fn ticks(process: u32, name: &str) -> u64 {
    let of_name = threads(process).into_iter().filter(|thread| thread.name == name);
    of_name.map(|thread| thread.ticks).max().unwrap_or(0)
}

/// Names of the threads of a process.
pub fn threads_of(process: u32) -> Vec<String> {
    threads(process).into_iter().map(|thread| thread.name).collect()
}

fn threads(process: u32) -> Vec<ThreadState> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let stat = |thread: DirEntry| std::fs::read_to_string(thread.path().join("stat")).ok();
    threads.flatten().filter_map(|thread| ThreadState::parse(&stat(thread)?)).collect()
}

impl ThreadState {
    fn parse(stat: &str) -> Option<ThreadState> {
        // The name is in parentheses and may hold anything; state is the third field.
        let (head, rest) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let state = fields.first()?.chars().next()?;
        Some(ThreadState { name, state, ticks: ticks(14)? + ticks(15)? })
    }
}
