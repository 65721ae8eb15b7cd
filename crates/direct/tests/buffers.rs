//! Memory: what is refused, what is advised, what a pool says of itself.
#![cfg(unix)]

use iosonde_direct::{AlignedBuf, BufferError, BufferPool, MemoryKind, RawBuf};
use iosonde_testing::Folder;

#[test]
fn a_file_that_cannot_be_mapped_is_left_as_it_was() {
    let folder = Folder::new("not-mapped");
    let (old, new) = (folder.join("old"), folder.join("new"));
    std::fs::write(&old, b"here before").unwrap();
    for path in [&old, &new] {
        // No file system has a file of this length.
        let kind = MemoryKind::SharedMapping(Some(path.clone()));
        let error = RawBuf::new(&kind, 1 << 61, 4096).unwrap_err();
        assert!(matches!(&error, BufferError::File(of, _) if of == path), "{error}");
    }
    assert_eq!(std::fs::read(&old).unwrap(), b"here before");
    assert!(!new.exists(), "it was created for the mapping alone");
}

#[test]
fn a_pool_says_what_it_is_made_of() {
    let pool = BufferPool::new(3, 5000).unwrap();
    assert_eq!((pool.buffers(), pool.buffer_bytes(), pool.alignment()), (3, 5000, 4096));
    let mut taken = [pool.take().unwrap(), pool.take().unwrap(), pool.take().unwrap()];
    let (start, bytes) = pool.memory();
    assert_eq!(bytes, 3 * 8192);
    for (number, buffer) in taken.iter_mut().enumerate() {
        assert_eq!(buffer.slot(), number, "in the order of memory");
        assert_eq!(buffer.as_mut_ptr().addr(), start.addr() + number * 8192);
    }
    let text = format!("{pool:?} {:?}", taken[2]);
    assert!(text.contains("free: 0") && text.contains("slot: 2, bytes: 5000"), "{text}");
}

#[test]
fn a_buffer_is_shown_by_its_facts_not_by_its_bytes() {
    let mut buffer = AlignedBuf::new(100, 512).unwrap();
    assert_eq!(buffer.as_mut_ptr().addr(), buffer.as_ptr().addr());
    let text = format!("{buffer:?}");
    assert!(text.starts_with("AlignedBuf(RawBuf { bytes: 100, alignment: 512"), "{text}");
}

#[test]
fn memory_of_the_largest_alignment_is_there() {
    let buffer = AlignedBuf::new(2 << 20, 1 << 30).unwrap();
    assert_eq!(buffer.as_ptr().addr() % (1 << 30), 0);
}

/// The text of one figure of /proc/meminfo.
#[cfg(target_os = "linux")]
fn meminfo(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn without_free_huge_pages_memory_of_them_is_refused() {
    if meminfo("HugePages_Free") != Some(0) || meminfo("HugePages_Total") != Some(0) {
        iosonde_testing::skip!("huge pages are reserved here");
    }
    use iosonde_direct::HugePage;
    use rustix::io::Errno;
    use std::error::Error;

    let page = HugePage::Default(2 << 20);
    for kind in [MemoryKind::HugeMapping(None, page), MemoryKind::HugeSegment(page)] {
        let error = RawBuf::new(&kind, 4096, 4096).unwrap_err();
        // Nothing free, or no right to take them; not a request that makes no sense.
        let system = error.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
        let number = system.raw_os_error().map(Errno::from_raw_os_error);
        let expected = [Errno::NOMEM, Errno::PERM];
        assert!(number.is_some_and(|number| expected.contains(&number)), "{kind:?}: {number:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_buffer_prefers_huge_pages() {
    if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        iosonde_testing::skip!("the kernel has no transparent huge pages");
    }
    let buffer = AlignedBuf::new(4 << 20, 4096).unwrap();
    let inside = buffer.as_ptr().addr();
    let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut here = false;
    let flags = text.lines().find_map(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).ok();
        if let Some((Some(first), Some(end))) = range.map(|(a, b)| (number(a), number(b))) {
            here = (first..end).contains(&inside);
        }
        line.strip_prefix("VmFlags:").filter(|_| here)
    });
    let flags = flags.unwrap();
    assert!(flags.split(' ').any(|flag| flag == "hg"), "advised for huge pages: {flags}");
}
