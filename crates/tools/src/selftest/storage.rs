//! What the kernel and the file system honour: direct I/O, syncs, the page cache.

use super::{Check, CheckOf};
use crate::probe::{ProbeArgs, trials};
use iosonde_direct::cache::{drop_cached, residency};
use iosonde_direct::durability::{WriteFlags, sync_all, sync_data, write_with};
use iosonde_direct::{Facts, Tristate, WriteCache};
use iosonde_sys::counters::DiskCounters;
use iosonde_sys::files::FileExt;
use std::fs::File;
use std::io;
use std::path::Path;

type RunChecks = fn(&Path, &Facts) -> Vec<Check>;

/// Writes a block of a file at an offset, and makes it durable.
type WriteAndSync = fn(&File, u64) -> io::Result<()>;

/// All of them, in order.
pub(super) const CHECKS: &[RunChecks] = &[kinds_of_io, plain_data, syncs, page_cache, space];

/// The check without which nothing is known of what iosonde writes here.
pub(super) const PLAIN_DATA: &str = "plain_data";

/// Syncs of a check: more than another program does by chance in that time.
const SYNCS: u64 = 8;
const BYTES: usize = 1 << 20;

fn check(id: &'static str, name: &'static str, verdict: Tristate, detail: String) -> Check {
    Check { of: CheckOf::Storage, id, name, verdict, detail }
}

fn failed(id: &'static str, name: &'static str, error: &io::Error) -> Check {
    check(id, name, Tristate::Unknown, format!("it could not be tried: {error}"))
}

/// Direct I/O and the kernel's queues, as `iosonde probe` tries them.
fn kinds_of_io(own: &Path, facts: &Facts) -> Vec<Check> {
    let arguments = ProbeArgs { path: own.to_owned(), no_touch: false, json: false };
    let tried = trials::all(&arguments, facts);
    let shown = ["direct_read", "direct_write", "io_uring", "libaio"];
    let of = |id: &&str| tried.of(id).cloned();
    let shown = shown.iter().filter_map(of);
    shown.map(|trial| check(trial.id, trial.name, trial.verdict, trial.detail)).collect()
}

/// Whether what plain calls write is read back: where it is not, what a job finds wrong is
/// the storage's fault.
fn plain_data(own: &Path, _: &Facts) -> Vec<Check> {
    const NAME: &str = "written data";
    const BLOCK: usize = 4096;
    let tried = || -> io::Result<Check> {
        // The name that jobs use next.
        let path = own.join(super::DATA);
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let block = |at: usize| vec![at as u8 | 1; BLOCK];
        for at in 0..BYTES / BLOCK {
            file.write_all_at(&block(at), (at * BLOCK) as u64)?;
        }
        sync_all(&file)?;
        // Where it cannot be dropped, it is read from memory.
        let _ = drop_cached(&file, 0, 0);
        let mut found = vec![0; BYTES];
        file.read_exact_at(&mut found, 0)?;
        std::fs::remove_file(&path)?;
        let wrong =
            (0..).zip(found.chunks(BLOCK)).filter(|(at, found)| *found != block(*at)).count();
        Ok(match wrong {
            0 => check(
                PLAIN_DATA,
                NAME,
                Tristate::Yes,
                "read back as written, by plain calls".into(),
            ),
            _ => {
                let blocks = BYTES / BLOCK;
                let detail =
                    format!("{wrong} of {blocks} blocks that plain calls wrote are others");
                check(PLAIN_DATA, NAME, Tristate::No, detail)
            }
        })
    };
    vec![tried().unwrap_or_else(|error| failed(PLAIN_DATA, NAME, &error))]
}

/// Whether fsync, fdatasync and O_DSYNC end in a flush of the device's cache.
fn syncs(own: &Path, facts: &Facts) -> Vec<Check> {
    let kinds: [(&str, &str, WriteAndSync); 3] = [
        ("fsync", "fsync", |file, at| {
            file.write_all_at(&[1; 4096], at).and_then(|()| sync_all(file))
        }),
        ("fdatasync", "fdatasync", |file, at| {
            file.write_all_at(&[2; 4096], at).and_then(|()| sync_data(file))
        }),
        ("dsync", "synchronous writes", |file, at| {
            let flags = WriteFlags::new().dsync(true);
            write_with(file, &[3; 4096], at, flags).map(drop).map_err(io::Error::other)
        }),
    ];
    kinds
        .into_iter()
        .map(|(id, name, sync)| {
            flushes(own, facts, sync)
                .map(|(verdict, detail)| check(id, name, verdict, detail))
                .unwrap_or_else(|error| failed(id, name, &error))
        })
        .collect()
}

fn flushes(own: &Path, facts: &Facts, sync: WriteAndSync) -> io::Result<(Tristate, String)> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(own.join("syncs"))?;
    file.set_len(BYTES as u64)?;
    sync_all(&file)?;
    let disks = facts.disks();
    let counters = || -> Option<u64> {
        let each = disks.iter().map(|disk| DiskCounters::of(&disk.name).ok());
        each.map(|counters| counters.map(|counters| counters.flushes)).sum()
    };
    let before = counters();
    for at in 0..SYNCS {
        sync(&file, at * 4096)?;
    }
    let after = counters();
    let unknown = |why: &str| Ok((Tristate::Unknown, why.to_owned()));
    let Some(seen) = before.zip(after).map(|(before, after)| after.wrapping_sub(before)) else {
        return unknown("the devices below have no counters");
    };
    let kind = facts.mount().map(|mount| mount.filesystem.as_str());
    if let Some(kind @ ("tmpfs" | "ramfs")) = kind {
        return Ok((Tristate::No, format!("{kind} keeps its files in memory: nothing is durable")));
    }
    let volatile = disks.iter().any(|disk| disk.write_cache.get() == Some(WriteCache::Back));
    let detail = format!("{SYNCS} of them, and {seen} flushes reached the device");
    match () {
        () if disks.is_empty() => unknown("the device below is not known"),
        // One commit may flush for several; none at all is for nobody.
        () if seen > 0 => Ok((Tristate::Yes, detail)),
        () if volatile => {
            Ok((Tristate::No, format!("{detail}; its cache loses data without power")))
        }
        () => unknown(&format!("{detail}; the kernel sends none to a write-through device")),
    }
}

/// Whether what was written and synced leaves the page cache when it is told to.
fn page_cache(own: &Path, _: &Facts) -> Vec<Check> {
    let (id, name) = ("drop_cache", "dropping the page cache");
    let tried = || -> io::Result<Check> {
        let path = own.join("cached");
        std::fs::write(&path, vec![7; BYTES])?;
        let file = File::open(&path)?;
        sync_all(&file)?;
        drop_cached(&file, 0, 0)?;
        let left = residency(&file, 0, 0);
        Ok(match left.known().map(|left| left.cached_bytes()) {
            Some(0) => check(id, name, Tristate::Yes, "reads after it come from the device".into()),
            Some(left) => {
                check(id, name, Tristate::No, format!("{left} of {BYTES} bytes stay in memory"))
            }
            None => {
                let why = left.why().unwrap_or("the kernel does not show it").to_owned();
                check(id, name, Tristate::Unknown, why)
            }
        })
    };
    vec![tried().unwrap_or_else(|error| failed(id, name, &error))]
}

/// Whether space can be reserved.
fn space(own: &Path, _: &Facts) -> Vec<Check> {
    let (id, name) = ("space", "reserving space");
    let tried = || -> io::Result<Check> {
        let file = File::create(own.join("reserved"))?;
        Ok(match iosonde_sys::files::reserve(&file, 0, BYTES as u64, true) {
            Ok(()) => check(id, name, Tristate::Yes, "fallocate works: layout is fast".into()),
            Err(error) => {
                let words = format!("fallocate: {error}: layout writes files instead");
                check(id, name, Tristate::No, words)
            }
        })
    };
    vec![tried().unwrap_or_else(|error| failed(id, name, &error))]
}
