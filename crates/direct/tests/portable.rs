//! What holds on every system; run on Linux, and for Windows under Wine.

use std::fs::File;
use std::path::PathBuf;

use iosonde_direct::durability::{self, CallError, ReadCaching, WriteFlags, read_with, write_with};
use iosonde_direct::lock::{ByteRange, LockError, LockKind, Patience, lock, lock_range, unlock};
use iosonde_direct::stack::Stack;
use iosonde_direct::{
    AlignedBuf, BufferPool, Device, DirectIo, Facts, OpenOptions, PathKind, Tristate, cache,
    honoured,
};

/// A file of one page that goes when the test ends.
struct Page(PathBuf);

impl Page {
    fn new(name: &str) -> Page {
        let name = format!("iosonde-portable-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, [7; 4096]).unwrap();
        Page(path)
    }

    fn open(&self) -> File {
        OpenOptions::new().read(true).write(true).open(&self.0).unwrap()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn buffers_and_pools_are_aligned_zeroed_and_writable() {
    for (bytes, alignment) in [(1, 1), (4097, 4096), (3 << 20, 512), (5, 4 << 20)] {
        let mut buffer = AlignedBuf::new(bytes, alignment).unwrap();
        assert_eq!(buffer.as_ptr().addr() % alignment, 0);
        assert!(buffer.iter().all(|&byte| byte == 0));
        buffer.fill(1);
    }
    let pool = BufferPool::new(3, 5000).unwrap();
    let mut all: Vec<_> = (0..3).map(|_| pool.take().unwrap()).collect();
    all.iter_mut().for_each(|buffer| buffer.fill(2));
    assert!(pool.take().is_none());
}

#[test]
fn a_direct_file_is_written_and_read_at_the_alignment_found() {
    let page = Page::new("direct");
    let options = OpenOptions::new().read(true).write(true).direct(true).dsync(true);
    let Ok(file) = options.open(&page.0) else {
        iosonde_testing::skip!("no direct I/O in the folder of temporary files");
    };
    let needs = DirectIo::of(&file).unwrap();
    let unit = needs.offset_alignment as usize;
    let mut buffer = AlignedBuf::new(unit, needs.memory_alignment as usize).unwrap();
    buffer.fill(9);
    assert_eq!(write_with(&file, &buffer, 0, WriteFlags::new()).unwrap(), unit);
    buffer.fill(0);
    assert_eq!(read_with(&file, &mut buffer, 0, ReadCaching::Cached).unwrap(), unit);
    assert!(buffer.iter().all(|&byte| byte == 9));
    let answers = honoured(&file).unwrap();
    assert!(!answers.overall().why.is_empty());
    println!("direct I/O: {answers}");
}

#[test]
fn a_buffered_file_is_never_said_to_be_direct() {
    let page = Page::new("buffered");
    assert_ne!(honoured(&page.open()).unwrap().overall().verdict, Tristate::Yes);
}

#[test]
fn a_new_file_is_made_once() {
    let page = Page::new("new");
    let options = OpenOptions::new().write(true).create(true).exclusive(true);
    let error = options.open(&page.0).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::AlreadyExists);
    let cut = OpenOptions::new().write(true).truncate(true).open(&page.0).unwrap();
    assert_eq!(cut.metadata().unwrap().len(), 0);
}

#[test]
fn a_file_has_facts_and_is_no_device() {
    let page = Page::new("facts");
    let facts = Facts::of(&page.0).unwrap();
    assert_eq!((facts.kind, facts.bytes.get()), (PathKind::File, Some(4096)));
    let mount = facts.mount().unwrap();
    assert!(!mount.filesystem.is_empty(), "{mount:?}");
    let canonical = page.0.canonicalize().unwrap();
    assert!(canonical.starts_with(&mount.point) || cfg!(windows), "{mount:?}");
    assert!(Stack::under(&page.0).unwrap().mount.is_some());
    let file = page.open();
    assert!(Device::of(&file).is_err());
    assert!(iosonde_direct::device::size(&file).is_err());
    assert!(iosonde_direct::device::discard(&file, 0, 4096).is_err());
    assert!(iosonde_direct::device::flush_buffers(&file).is_err());
    assert!(Facts::of(page.0.join("beyond")).is_err());
    let folder = Facts::of(std::env::temp_dir()).unwrap();
    assert_eq!(folder.kind, PathKind::Folder);
    assert!(!folder.direct.possible);
}

#[test]
fn what_is_written_is_made_durable_or_refused() {
    let page = Page::new("durable");
    let file = page.open();
    for flags in [WriteFlags::new(), WriteFlags::new().dsync(true)] {
        match write_with(&file, b"written", 0, flags) {
            Ok(bytes) => assert_eq!(bytes, 7),
            Err(CallError::Unsupported { .. }) => assert_ne!(flags, WriteFlags::new()),
            Err(error) => panic!("{error}"),
        }
    }
    durability::sync_data(&file).unwrap();
    durability::sync_all(&file).unwrap();
    durability::full_barrier(&file).unwrap();
    assert_eq!(cache::warm(&file, 0, 0).unwrap(), 4096);
    assert_eq!(cache::warm(&file, 4000, 1000).unwrap(), 96);
    if let Some(found) = cache::residency(&file, 0, 0).known() {
        assert!(found.cached <= found.pages && found.pages == 1);
    }
}

#[test]
fn two_openings_of_a_file_lock_each_other_out() {
    let page = Page::new("locks");
    let (first, second) = (page.open(), page.open());
    lock(&first, LockKind::Exclusive, Patience::Try).unwrap();
    let refused = lock(&second, LockKind::Shared, Patience::Try).unwrap_err();
    assert!(matches!(refused, LockError::Held), "{refused}");
    unlock(&first).unwrap();
    unlock(&first).unwrap();
    lock(&second, LockKind::Shared, Patience::Wait).unwrap();
    lock(&first, LockKind::Shared, Patience::Try).unwrap();
    unlock(&first).unwrap();
    unlock(&second).unwrap();

    let span = |offset| ByteRange { offset, bytes: 10 };
    let try_lock =
        |file, offset| lock_range(file, LockKind::Exclusive, Patience::Try, span(offset));
    match try_lock(&first, 5) {
        Ok(()) => {
            assert!(matches!(try_lock(&second, 14), Err(LockError::Held)));
            try_lock(&second, 15).unwrap();
        }
        Err(LockError::Unsupported(why)) => println!("no locks of ranges: {why}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_file_opened_exclusively_is_opened_by_nobody_else_exclusively() {
    let page = Page::new("alone");
    let options = OpenOptions::new().read(true).exclusive(true);
    let first = options.open(&page.0).unwrap();
    let error = options.open(&page.0).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::ResourceBusy, "{error}");
    // What was to be cut off is there still.
    assert!(options.clone().write(true).truncate(true).open(&page.0).is_err());
    assert_eq!(std::fs::metadata(&page.0).unwrap().len(), 4096);
    drop(first);
    options.open(&page.0).unwrap();
}

#[test]
fn offsets_beyond_any_file_are_refused_or_hold_nothing() {
    let page = Page::new("beyond");
    let file = page.open();
    for offset in [1 << 63, u64::MAX - 1, u64::MAX] {
        assert!(write_with(&file, b"lost", offset, WriteFlags::new()).is_err(), "{offset}");
        let mut data = [0; 4];
        assert!(matches!(read_with(&file, &mut data, offset, ReadCaching::Cached), Err(_) | Ok(0)));
        assert!(matches!(cache::warm(&file, offset, 0), Err(_) | Ok(0)));
        assert_eq!(cache::residency(&file, offset, 0).known().map_or(0, |found| found.cached), 0);
        assert_eq!(cache::residency(&file, offset, 9).known().map_or(0, |found| found.cached), 0);
        let _ = cache::drop_cached(&file, offset, u64::MAX);
    }
    assert_eq!(file.metadata().unwrap().len(), 4096, "nothing was written");
}
