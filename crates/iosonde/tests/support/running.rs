//! Programs that run while a test looks on.

use super::{Ran, Who, words};
use iosonde_testing::Folder;
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A program that runs; killed if it outlives its test.
pub struct Running {
    child: Option<Child>,
    who: Who,
    arguments: String,
}

impl Running {
    /// Start a program in a folder, its output kept.
    pub fn start(who: Who, folder: &Folder, line: &str) -> Running {
        let mut command = who.command(folder);
        command.args(words(line)).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running { child: Some(command.spawn().unwrap()), who, arguments: line.to_owned() }
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

    /// Send it a signal.
    pub fn signal(&mut self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Wait for its end; fails the test when that takes longer than `limit`.
    pub fn end_within(mut self, limit: Duration) -> Ran {
        let mut child = self.child.take().expect("it is there until it has ended");
        // Read on the side, so that a full pipe does not keep it from ending.
        let read = |stream: Option<Box<dyn Read + Send>>| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                stream.map(|mut stream| stream.read_to_end(&mut text));
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
        let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > limit {
                let _ = child.kill();
                let _ = child.wait();
                panic!("still running after {limit:?}: {}", stdout.join().unwrap());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        let arguments = std::mem::take(&mut self.arguments);
        Ran { who: self.who, arguments, code: status.code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Wait until something holds; fails the test after ten seconds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
