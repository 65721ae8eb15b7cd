//! What errors say, what caused them, and which calls report one.
#![cfg(unix)]

use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use iosonde_direct::durability::{self, CallError, SyncRange};
use iosonde_direct::lock::{LockError, unlock_volume};
use iosonde_direct::{BufferError, OpenError, OpenOptions, PoolError};
use iosonde_testing::Folder;
use rustix::io::Errno;

const INPUT_OUTPUT: i32 = 5;

fn system() -> io::Error {
    io::Error::from_raw_os_error(INPUT_OUTPUT)
}

/// The number of the system's error below `error`.
fn cause(error: &dyn Error) -> Option<i32> {
    error.source()?.downcast_ref::<io::Error>()?.raw_os_error()
}

#[test]
fn the_cause_of_each_error_is_the_error_of_the_system() {
    let huge = BufferError::NoHugePages(4096, 2 << 20, system());
    let opening =
        OpenError { path: "f".into(), options: OpenOptions::new().read(true), source: system() };
    let errors: [&dyn Error; 6] = [
        &BufferError::NoMemory(1, system()),
        &huge,
        &BufferError::File("f".into(), system()),
        &CallError::System(system()),
        &LockError::System(system()),
        &opening,
    ];
    for error in errors {
        assert_eq!(cause(error), Some(INPUT_OUTPUT), "{error}");
    }
    let pool = PoolError::Buffer(BufferError::NoMemory(1, system()));
    assert_eq!(cause(pool.source().unwrap()), Some(INPUT_OUTPUT), "the buffer's cause");
    for error in [&BufferError::Empty as &dyn Error, &PoolError::Empty, &LockError::Held] {
        assert!(error.source().is_none(), "{error}");
    }
}

/// The text of an error in opening a file.
fn opening(options: &OpenOptions, source: io::Error) -> String {
    OpenError { path: "f".into(), options: options.clone(), source }.to_string()
}

#[test]
fn an_opening_that_fails_says_what_was_wanted_and_what_helps() {
    let error = io::Error::from_raw_os_error;
    let (direct, exclusive) =
        (OpenOptions::new().read(true).direct(true), OpenOptions::new().read(true).exclusive(true));
    let plain = OpenOptions::new().read(true);
    let (no_direct, held) = ("may not support direct I/O", "it is mounted, or held by");
    assert!(opening(&direct, error(Errno::INVAL.raw_os_error())).contains(no_direct));
    assert!(opening(&exclusive, error(Errno::BUSY.raw_os_error())).contains(held));
    let new = exclusive.clone().write(true).create(true);
    assert!(opening(&new, error(Errno::EXIST.raw_os_error())).ends_with("it was to be a new file"));
    // Of what was not asked for, nothing is said; nor where the error is not the system's.
    for (options, source) in [
        (&plain, error(Errno::INVAL.raw_os_error())),
        (&plain, error(Errno::BUSY.raw_os_error())),
        (&plain, error(Errno::EXIST.raw_os_error())),
        (&direct, error(INPUT_OUTPUT)),
        (&exclusive, error(INPUT_OUTPUT)),
        (&direct, io::Error::new(io::ErrorKind::InvalidInput, "neither")),
        (&exclusive, io::Error::new(io::ErrorKind::ResourceBusy, "locked")),
    ] {
        let text = opening(options, source);
        assert!(!text.contains(';'), "{text}");
    }
    let words = |options: OpenOptions| {
        let text = opening(&options, error(INPUT_OUTPUT));
        text.split_once(": ").unwrap().0.to_owned()
    };
    let new = OpenOptions::new;
    assert_eq!(words(new().write(true)), "open f for writing");
    assert_eq!(words(new().append(true)), "open f for writing, appending");
    assert_eq!(words(new().read(true).sync(true)), "open f for reading, synchronous");
    let both = new().write(true).sync(true).dsync(true);
    assert_eq!(words(both), "open f for writing, synchronous", "which includes the data");
    let data = new().write(true).dsync(true).exclusive(true);
    assert_eq!(words(data), "open f for writing, data-synchronous, exclusive");
}

/// One end of a pipe, which no system makes durable.
fn pipe() -> File {
    let (_, end) = io::pipe().unwrap();
    File::from(OwnedFd::from(end))
}

#[test]
fn what_cannot_be_made_durable_is_an_error() {
    let pipe = pipe();
    assert!(durability::sync_data(&pipe).is_err());
    assert!(durability::sync_all(&pipe).is_err());
    assert!(durability::full_barrier(&pipe).is_err());
    let error = durability::sync_range(&pipe, 0, 0, SyncRange::FINISH).unwrap_err();
    assert!(matches!(error, CallError::Unsupported { .. }), "{error}");
    if cfg!(target_os = "linux") {
        assert!(error.to_string().ends_with("it is no file, device or folder"), "{error}");
        let folder = Folder::new("sync-range");
        let file = File::create(folder.join("file")).unwrap();
        let error = durability::sync_range(&file, 1 << 63, 0, SyncRange::START).unwrap_err();
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn a_volume_is_unlocked_on_windows_only() {
    let error = unlock_volume(&pipe()).unwrap_err();
    assert!(matches!(error, LockError::Unsupported(_)), "{error}");
}

#[test]
fn a_created_file_has_the_permissions_that_were_requested() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let options = OpenOptions::new().write(true).create(true).exclusive(true).mode(0o400);
    let file = options.open(folder.join("file")).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o400);
}
