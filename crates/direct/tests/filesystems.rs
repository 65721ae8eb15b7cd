//! Direct I/O, durability and the page cache on real filesystems.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;

use iosonde_direct::cache::{self, Residency};
use iosonde_direct::durability::{
    self, CallError, ReadCaching, SyncRange, WriteFlags, read_with, write_with,
};
use iosonde_direct::{AlignedBuf, DirectIo, Fact, Facts, Known, OpenOptions, Tristate, honoured};
use iosonde_testing::{
    Folder, LoopDevice, Mounted, Overlay, filesystem, or_skip, or_skip_part, run,
};

const PAGES: u64 = 256;

fn direct(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).create(true).direct(true).open(path).unwrap()
}

fn found(file: &File) -> Residency {
    match cache::residency(file, 0, 0) {
        Fact::Known(found) => found,
        Fact::Unknown(why) => panic!("unknown: {why}"),
    }
}

/// A file of so many pages, all in the page cache.
fn written(path: &Path) -> File {
    let options = OpenOptions::new().read(true).write(true).create(true);
    let file = options.open(path).unwrap();
    file.write_all_at(&vec![0xA5; PAGES as usize * 4096], 0).unwrap();
    file
}

/// A write and a read at the stated alignment go through; half of it, in
/// offset or length, is refused. In memory it may be refused or done: the
/// figure is the driver's, and some loop devices take more than they state.
fn alignment_is_as_stated(path: &Path) {
    let file = direct(path);
    let needs = DirectIo::of(&file).unwrap();
    assert!(needs.possible && needs.known == Known::Stated, "{needs:?}");
    let (memory, unit) = (needs.memory_alignment as usize, needs.offset_alignment as usize);
    let mut buffer = AlignedBuf::new(4 * unit + memory, memory.max(unit) * 2).unwrap();
    buffer.fill(7);
    let start = memory; // Exactly at the alignment, and no better.
    assert_eq!(file.write_at(&buffer[start..start + unit], unit as u64).unwrap(), unit);
    assert_eq!(file.read_at(&mut buffer[start..start + unit], unit as u64).unwrap(), unit);
    let (half, odd) = (unit as u64 / 2, start + memory / 2);
    match file.write_at(&buffer[odd..odd + unit], 0) {
        Ok(bytes) => assert_eq!(bytes, unit),
        Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidInput),
    }
    for (from, bytes, offset) in [(start, unit, half), (start, unit / 2, 0), (start, unit + 1, 0)] {
        let reported = format!("{from} {bytes} {offset}");
        let piece = from..from + bytes;
        let error = file.write_at(&buffer[piece.clone()], offset).expect_err(&reported);
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{reported}");
        let error = file.read_at(&mut buffer[piece], offset).expect_err(&reported);
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{reported}");
    }
}

/// Pages that are in memory or were evicted from it: a kernel that reclaims idle
/// memory takes pages at any time.
fn came_into_memory(found: &Residency) -> u64 {
    found.cached + found.evicted.known().copied().unwrap_or(0)
}

/// What is written shows as cached and dirty, what is synced as clean, what is
/// dropped as gone, what is warmed as back.
fn the_cache_is_seen(path: &Path) {
    let file = written(path);
    let after_writing = found(&file);
    assert_eq!((came_into_memory(&after_writing), after_writing.pages), (PAGES, PAGES));
    assert_eq!(after_writing.cached_bytes(), after_writing.cached * 4096);
    // Written out, by the range and by all of the file.
    durability::sync_range(&file, 0, 0, SyncRange::FINISH).unwrap();
    assert_eq!(found(&file).unwritten_bytes(), Fact::Known(0));
    for sync in [durability::sync_data, durability::sync_all, durability::full_barrier] {
        file.write_all_at(&[0x5A; 8192], 0).unwrap();
        sync(&file).unwrap();
        assert_eq!(found(&file).unwritten_bytes(), Fact::Known(0));
    }
    let dropped = cache::drop_cached(&file, 0, 0).unwrap();
    assert_eq!(came_into_memory(dropped.before.known().unwrap()), PAGES);
    assert_eq!(dropped.after.known().unwrap().cached, 0);
    // A part, by a descriptor that reads nothing and one that passes the cache.
    let only_writes = OpenOptions::new().write(true).open(path).unwrap();
    assert_eq!(cache::warm(&only_writes, 4096, 8192).unwrap(), 8192);
    let part = cache::residency(&file, 4096, 8192).known().cloned().unwrap();
    assert_eq!((came_into_memory(&part), part.pages), (2, 2));
    assert_eq!(cache::warm(&direct(path), 0, 0).unwrap(), PAGES * 4096);
    assert_eq!(came_into_memory(&found(&file)), PAGES);
    let beyond = cache::residency(&file, 1 << 40, 0).known().cloned().unwrap();
    assert_eq!((beyond.cached, beyond.pages), (0, 0));
    // Half a page at each end stays.
    cache::drop_cached(&file, 2048, PAGES * 4096 - 4096).unwrap();
    assert_eq!(came_into_memory(&found(&file)), 2);
}

/// Each flag is done, or refused by name.
fn flags_are_done_or_refused(path: &Path) {
    let file = written(path);
    for flags in [
        WriteFlags::new(),
        WriteFlags::new().dsync(true),
        WriteFlags::new().sync(true),
        WriteFlags::new().dont_cache(true),
    ] {
        let data = [flags == WriteFlags::new().dont_cache(true); 512].map(u8::from);
        match write_with(&file, &data, 1024, flags) {
            Ok(bytes) => assert_eq!(bytes, 512),
            Err(CallError::Unsupported { what, .. }) => assert_eq!(what, "RWF_DONTCACHE"),
            Err(error) => panic!("{flags:?}: {error}"),
        }
    }
    let mut back = [9; 16];
    match read_with(&file, &mut back, 1024, ReadCaching::Dropped) {
        Ok(bytes) => assert_eq!((bytes, back), (16, [1; 16])),
        Err(CallError::Unsupported { what, .. }) => assert_eq!(what, "RWF_DONTCACHE"),
        Err(error) => panic!("{error}"),
    }
    assert_eq!(read_with(&file, &mut back, 1 << 40, ReadCaching::Cached).unwrap(), 0, "at the end");
    durability::sync_all(&file).unwrap();
    durability::full_barrier(&file).unwrap();
}

/// Where atomic writes are stated they work, and only in the stated shape;
/// elsewhere they are refused.
fn atomic_writes_are_as_stated(path: &Path) {
    let file = direct(path);
    let stated = Facts::of_file(&file).unwrap().atomic_write;
    let mut buffer = AlignedBuf::new(16384, 16384).unwrap();
    buffer.fill(5);
    let atomic = WriteFlags::new().atomic(true);
    assert_ne!(stated.get().and_then(|limits| limits.unit_max_fast), Some(0), "not reported");
    match stated.get().filter(|limits| limits.is_supported()) {
        Some(limits) => {
            let unit = limits.unit_min.clamp(4096, 16384) as usize;
            assert!(limits.fits(unit as u64, 0), "{limits:?}");
            assert_eq!(write_with(&file, &buffer[..unit], 0, atomic).unwrap(), unit);
            let odd = write_with(&file, &buffer[..3 * 4096], 0, atomic).unwrap_err();
            assert!(matches!(odd, CallError::Shape { bytes: 12288, .. }), "{odd}");
        }
        None => match write_with(&file, &buffer[..4096], 0, atomic).unwrap_err() {
            CallError::Unsupported { what, .. } => assert_eq!(what, "RWF_ATOMIC"),
            error => panic!("{error}"),
        },
    }
}

#[test]
fn ext4_and_xfs_do_direct_io_at_the_alignment_they_state() {
    for kind in ["ext4", "xfs"] {
        let folder = Folder::temporary("test");
        let Some((device, mounted)) = or_skip_part(filesystem(&folder, kind)) else { continue };
        let path = mounted.0.join("file");
        alignment_is_as_stated(&path);
        the_cache_is_seen(&path);
        flags_are_done_or_refused(&path);
        atomic_writes_are_as_stated(&path);

        let file = direct(&path);
        let answers = honoured(&file).unwrap();
        assert_eq!(answers.overall().verdict, Tristate::Yes, "{kind}: {answers}");
        let below = answers.cache_below.unwrap();
        assert!(below.starts_with(device.name()), "{below}");
        // It is as it says: what is written leaves nothing in memory.
        cache::drop_cached(&file, 0, 0).unwrap();
        let buffer = AlignedBuf::new(65536, 4096).unwrap();
        file.write_all_at(&buffer, 0).unwrap();
        assert_eq!(found(&file).cached, 0, "{kind}");
        assert_eq!(honoured(&File::open(&path).unwrap()).unwrap().overall().verdict, Tristate::No);
    }
}

#[test]
fn ext4_that_journals_data_takes_no_direct_io_and_says_so() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", 32 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    run("mkfs.ext4", &["-q", device.text()]).unwrap();
    let point = folder.join("point");
    fs::create_dir_all(&point).unwrap();
    let (text, on) = (device.text(), point.to_str().unwrap());
    let Some(_) = or_skip(run("mount", &["-o", "data=journal", text, on])) else { return };
    let mounted = Mounted::at(point);
    let path = mounted.0.join("file");
    written(&path);
    let facts = Facts::of(&path).unwrap();
    assert_eq!(facts.mount().unwrap().option("data"), Some("journal"));
    assert!(!facts.direct.possible, "{:?}", facts.direct);
    let file = direct(&path);
    let answer = honoured(&file).unwrap().overall();
    assert_eq!(answer.verdict, Tristate::No, "{answer}");
}

#[test]
fn a_loop_device_that_passes_its_files_cache_is_no_cache_below() {
    let folder = Folder::temporary("test");
    let image = folder.image("image", 32 << 20);
    let Some(device) = or_skip(LoopDevice::attach(&image, &["--direct-io=on"])) else { return };
    let file = OpenOptions::new().read(true).direct(true).open(&device.0).unwrap();
    if Facts::of_file(&file).unwrap().device().unwrap().loop_direct != Fact::Known(true) {
        iosonde_testing::skip!("the loop device does not pass the cache of its file here");
    }
    let answers = honoured(&file).unwrap();
    assert_eq!((answers.overall().verdict, answers.cache_below), (Tristate::Yes, None));
    assert_eq!(answers.writes, None, "it is open for reading");
}

/// The kernel's release: two numbers.
fn release() -> (u32, u32) {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = text.split(['.', '-']).map(|number| number.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn options_of_btrfs_decide_what_is_known_of_direct_io() {
    let folder = Folder::temporary("test");
    let Some((_device, mounted)) = or_skip(filesystem(&folder, "btrfs")) else { return };
    let path = mounted.0.join("file");
    let verdicts = |options: &str| {
        run("mount", &["-o", &format!("remount,{options}"), mounted.0.to_str().unwrap()]).unwrap();
        let answers = honoured(&direct(&path)).unwrap();
        (answers.reads.unwrap().verdict, answers.writes.unwrap().verdict)
    };
    let (plain, _) = verdicts("rw");
    assert_eq!(plain, Tristate::Yes);
    assert_eq!(verdicts("compress=zstd").0, Tristate::Unknown, "what it holds may be compressed");
    assert_eq!(verdicts("nodatasum").1, Tristate::Unknown, "it may be older than the option");
}

#[test]
fn btrfs_writes_directly_only_what_has_no_checksums() {
    let folder = Folder::temporary("test");
    let Some((_device, mounted)) = or_skip(filesystem(&folder, "btrfs")) else { return };
    let path = mounted.0.join("file");
    the_cache_is_seen(&path);
    flags_are_done_or_refused(&path);
    atomic_writes_are_as_stated(&path);
    let file = direct(&path);
    let answers = honoured(&file).unwrap();
    assert_eq!(answers.reads.clone().unwrap().verdict, Tristate::Yes, "{answers}");
    let expected = if release() >= (6, 14) { Tristate::No } else { Tristate::Unknown };
    assert_eq!(answers.writes.clone().unwrap().verdict, expected, "{answers}");
    // Misaligned reads go through, by way of memory; what is reported avoids that.
    let needs = DirectIo::of(&file).unwrap();
    assert_eq!((needs.offset_alignment, needs.memory_alignment), (4096, 4096), "{needs:?}");
    assert_eq!(file.read_at(&mut [0; 100], 3).unwrap(), 100);

    let bare = mounted.0.join("bare");
    File::create(&bare).unwrap();
    run("chattr", &["+C", bare.to_str().unwrap()]).unwrap();
    let answers = honoured(&direct(&bare)).unwrap();
    assert_eq!(answers.overall().verdict, Tristate::Yes, "{answers}");
    // Of a file that was compressed, the reads are not known.
    let packed = mounted.0.join("packed");
    File::create(&packed).unwrap();
    run("chattr", &["+c", packed.to_str().unwrap()]).unwrap();
    assert_eq!(honoured(&direct(&packed)).unwrap().reads.unwrap().verdict, Tristate::Unknown);
    // Its devices are found though its numbers are no device's.
    assert!(Facts::of(&path).unwrap().device().is_some_and(|device| !device.mounts.is_empty()));
}

#[test]
fn tmpfs_takes_everything_and_keeps_it_in_memory() {
    let folder = Folder::temporary("test");
    let point = folder.join("memory");
    fs::create_dir_all(&point).unwrap();
    let mounting = run("mount", &["-t", "tmpfs", "-o", "size=8m", "x", point.to_str().unwrap()]);
    let Some(_) = or_skip(mounting) else { return };
    let mounted = Mounted::at(point);
    let path = mounted.0.join("file");
    let file = written(&path);
    assert_eq!(cache::drop_cached(&file, 0, 0).unwrap().after.known().unwrap().cached, PAGES);
    flags_are_done_or_refused(&path);
    let file = direct(&path);
    assert_eq!(honoured(&file).unwrap().overall().verdict, Tristate::No);
    assert_eq!(file.read_at(&mut [0; 100], 3).unwrap(), 100, "any alignment works");
    let facts = Facts::of_file(&file).unwrap();
    assert_eq!(facts.device(), None);
    assert!(facts.atomic_write.why().is_some(), "{:?}", facts.atomic_write);
    // A full one says so.
    let file = written(&mounted.0.join("more"));
    let full = write_with(&file, &vec![0; 16 << 20], 0, WriteFlags::new().dsync(true));
    match full {
        Ok(bytes) => assert!(bytes < 16 << 20),
        Err(CallError::System(error)) => assert_eq!(error.kind(), ErrorKind::StorageFull),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn on_overlayfs_only_the_pages_that_mincore_sees_are_reported() {
    let folder = Folder::temporary("test");
    let Some((_device, mounted)) = or_skip(filesystem(&folder, "ext4")) else { return };
    let overlay = Overlay::in_folder(&mounted.0);
    written(&overlay.lower.join("file")).sync_all().unwrap();
    let Some(merged) = or_skip(overlay.mount("")) else { return };
    let file = File::open(merged.0.join("file")).unwrap();
    let reported = found(&file);
    assert!((1..=PAGES).contains(&reported.cached), "cachestat(2) would say 0: {reported:?}");
    assert!(reported.dirty.why().unwrap().starts_with("overlayfs"), "{:?}", reported.dirty);
    assert!(reported.unwritten_bytes().why().is_some());
    let dropped = cache::drop_cached(&file, 0, 0).unwrap();
    assert_eq!(dropped.after.known().unwrap().cached, 0);
    let answers = honoured(&direct(&merged.0.join("file"))).unwrap();
    assert_eq!(answers.overall().verdict, Tristate::Yes, "{answers}");
}
