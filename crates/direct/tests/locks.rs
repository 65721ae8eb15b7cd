//! Locks between processes, and between openings in one.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use iosonde_direct::OpenOptions;
use iosonde_direct::lock::{
    ByteRange, Conflict, LockError, LockKind, Patience, conflict, lock, lock_range, lock_volume,
    unlock, unlock_range,
};
use iosonde_testing::{Folder, LoopDevice, or_skip};

fn open(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).create(true).open(path).unwrap()
}

fn held(result: Result<(), LockError>) -> bool {
    match result {
        Ok(()) => false,
        Err(LockError::Held) => true,
        Err(error) => panic!("{error}"),
    }
}

/// Another process that has a lock until it is let go.
struct LockHolder {
    child: Child,
    input: Option<ChildStdin>,
    /// Kept open: the test harness prints to it in the end.
    output: BufReader<ChildStdout>,
}

impl LockHolder {
    /// `what` is a word for `the_other_process` below.
    fn holding(what: &str, path: &Path) -> LockHolder {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_other_process", "--nocapture"])
            .env("IOSONDE_LOCK", what)
            .env("IOSONDE_LOCK_PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // The test harness prints on the same line before us.
        let ready = output.by_ref().lines().map_while(Result::ok).any(|l| l.ends_with("has it"));
        assert!(ready, "the other process has no lock");
        let input = child.stdin.take();
        LockHolder { child, input, output }
    }

    fn let_go(mut self) {
        drop(self.input.take());
        std::io::copy(&mut self.output, &mut std::io::sink()).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// The body of `LockHolder`; nothing when run as a test.
#[test]
fn the_other_process() {
    let (Some(what), Some(path)) =
        (std::env::var_os("IOSONDE_LOCK"), std::env::var_os("IOSONDE_LOCK_PATH"))
    else {
        return;
    };
    let span = ByteRange { offset: 100, bytes: 50 };
    let file = match what.to_str().unwrap() {
        "device" => OpenOptions::new().read(true).exclusive(true).open(&path).unwrap(),
        kind => {
            let file = open(Path::new(&path));
            match kind {
                "shared" => lock(&file, LockKind::Shared, Patience::Try),
                "exclusive" => lock(&file, LockKind::Exclusive, Patience::Try),
                "range" => lock_range(&file, LockKind::Exclusive, Patience::Try, span),
                other => panic!("no such lock: {other}"),
            }
            .unwrap();
            file
        }
    };
    println!("it has it");
    std::io::stdout().flush().unwrap();
    // Until our end of the pipe is closed.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    drop(file);
}

#[test]
fn a_lock_of_another_process_is_in_the_way_until_it_ends() {
    let folder = Folder::temporary("test");
    let path = folder.join("file");
    let file = open(&path);
    let other = LockHolder::holding("exclusive", &path);
    assert!(held(lock(&file, LockKind::Exclusive, Patience::Try)));
    assert!(held(lock(&file, LockKind::Shared, Patience::Try)));
    other.let_go();
    assert!(!held(lock(&file, LockKind::Exclusive, Patience::Try)));
    unlock(&file).unwrap();

    let other = LockHolder::holding("shared", &path);
    assert!(!held(lock(&file, LockKind::Shared, Patience::Try)));
    assert!(held(lock(&file, LockKind::Exclusive, Patience::Try)));
    // Failing to make it exclusive lost neither the other's nor ours for good.
    assert!(!held(lock(&file, LockKind::Shared, Patience::Try)));
    other.let_go();
}

#[test]
fn who_waits_has_the_lock_when_the_other_is_gone() {
    let folder = Folder::temporary("test");
    let path = folder.join("file");
    let other = LockHolder::holding("exclusive", &path);
    let waiter = {
        let file = open(&path);
        std::thread::spawn(move || lock(&file, LockKind::Exclusive, Patience::Wait))
    };
    assert!(!waiter.is_finished());
    other.let_go();
    waiter.join().unwrap().unwrap();
}

#[test]
fn a_range_of_another_process_is_in_the_way_where_it_is() {
    let folder = Folder::temporary("test");
    let path = folder.join("file");
    let file = open(&path);
    let other = LockHolder::holding("range", &path);
    let span = |offset, bytes| ByteRange { offset, bytes };
    let try_lock = |span| lock_range(&file, LockKind::Shared, Patience::Try, span);
    assert!(held(try_lock(span(149, 1))));
    assert!(held(try_lock(span(0, 101))));
    assert!(held(try_lock(ByteRange::WHOLE)));
    assert!(!held(try_lock(span(0, 100))));
    assert!(!held(try_lock(span(150, 0))));
    let found = conflict(&file, LockKind::Shared, ByteRange::WHOLE).unwrap();
    let expected = Conflict { share: LockKind::Exclusive, span: span(100, 50), process: None };
    assert_eq!(found, Some(expected));
    // flock(2) is another kind of lock.
    assert!(!held(lock(&file, LockKind::Exclusive, Patience::Try)));
    other.let_go();
    assert!(!held(try_lock(ByteRange::WHOLE)));
    assert_eq!(
        conflict(&file, LockKind::Exclusive, ByteRange::WHOLE).unwrap(),
        None,
        "ours is not"
    );
    // A lock that is shared is in the way of one that is not, and reported as what it is.
    let second = open(&path);
    let shared = Conflict { share: LockKind::Shared, span: ByteRange::WHOLE, process: None };
    assert_eq!(conflict(&second, LockKind::Shared, ByteRange::WHOLE).unwrap(), None);
    assert_eq!(conflict(&second, LockKind::Exclusive, ByteRange::WHOLE).unwrap(), Some(shared));
}

#[test]
fn a_range_lock_is_the_open_files_and_not_the_processes() {
    let folder = Folder::temporary("test");
    let path = folder.join("file");
    let (first, second) = (open(&path), open(&path));
    let span = ByteRange { offset: 0, bytes: 10 };
    let try_lock = |file: &File| lock_range(file, LockKind::Exclusive, Patience::Try, span);
    try_lock(&first).unwrap();
    assert!(held(try_lock(&second)));
    // A POSIX lock would be lost by closing any descriptor of the file.
    drop(open(&path));
    assert!(held(try_lock(&second)));
    unlock_range(&first, span).unwrap();
    try_lock(&second).unwrap();
}

#[test]
fn a_span_beyond_any_file_is_refused() {
    let folder = Folder::temporary("test");
    let file = open(&folder.join("file"));
    for (offset, bytes) in [(u64::MAX, 2), (u64::MAX, 0), (1, u64::MAX), (1 << 63, 0)] {
        let span = ByteRange { offset, bytes };
        let error = lock_range(&file, LockKind::Shared, Patience::Try, span).unwrap_err();
        assert!(matches!(error, LockError::Range(reported) if reported == span), "{error}");
        assert!(unlock_range(&file, span).is_err());
    }
    let last = ByteRange { offset: i64::MAX as u64 - 1, bytes: 1 };
    lock_range(&file, LockKind::Exclusive, Patience::Try, last).unwrap();
}

#[test]
fn a_volume_is_locked_on_windows_only() {
    let folder = Folder::temporary("test");
    let error = lock_volume(&open(&folder.join("file"))).unwrap_err();
    assert!(error.to_string().contains("only Windows"), "{error}");
}

#[test]
fn a_device_that_another_process_has_exclusively_is_busy() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", 1 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let options = OpenOptions::new().read(true).exclusive(true);
    let other = LockHolder::holding("device", &device.0);
    let error = options.open(&device.0).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::ResourceBusy);
    other.let_go();
    options.open(&device.0).unwrap();
}
