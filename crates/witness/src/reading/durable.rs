//! Watching data become durable: the time that a clock leaves out if it stops too early.
//!
//! This is the one reading that acts: it asks for the writeback that would come
//! by itself some time later. It does so after the jobs' clocks have stopped,
//! in steps, and within a limit of time.

use iosonde_direct::cache;
use iosonde_direct::durability::{SyncRange, sync_range};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Bytes between two looks at the time. Two steps are under way at a time, so
/// that the device always has something to do.
const STEP: u64 = 16 << 20;

/// How a range became durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainTime {
    /// How long it took, or would take at the pace of what was seen.
    pub took: Duration,
    /// The limit came before the end.
    pub by_part: bool,
}

/// How a file is made durable, down to the medium.
pub type SyncFile = fn(&File) -> io::Result<()>;

/// Write back `bytes` bytes of the file at `path` from `offset` on and make
/// them durable by `sync`; give up at `limit` or when `stop` says so, and tell how long
/// the rest would take.
///
/// # Errors
/// If the file cannot be synced, or the limit came before anything was seen.
pub fn drain(
    (path, file): (&Path, File),
    (offset, bytes): (u64, u64),
    sync_file: SyncFile,
    (limit, stop): (Instant, &dyn Fn() -> bool),
) -> io::Result<DrainTime> {
    let sync = |file: &File| sync(file, sync_file, (limit, stop));
    if super::file::is_of_memory(&file) {
        return Err(io::Error::other("its file system is made of memory"));
    }
    let began = Instant::now();
    let behind = super::file::behind_overlay(path, &file);
    let unwritten = || unwritten_bytes(behind.as_ref().unwrap_or(&file), offset, bytes);
    let before = unwritten();
    let end = offset.saturating_add(bytes);
    let step = |at: u64| STEP.min(end.saturating_sub(at));
    if before == Some(0) {
        sync(&file)?;
        return Ok(DrainTime { took: began.elapsed(), by_part: false });
    }
    let mut at = offset;
    while at < end {
        if Instant::now() >= limit || stop() {
            let seen = began.elapsed();
            let (Some(before), Some(left)) = (before, unwritten()) else {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it was not written in time"));
            };
            return match before.saturating_sub(left) {
                0 => Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was written in time")),
                done => {
                    Ok(DrainTime { took: seen.mul_f64(before as f64 / done as f64), by_part: true })
                }
            };
        }
        let next = at + step(at);
        match sync_range(&file, at, next - at, SyncRange::START).map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                sync_whole(file, sync_file, (limit, stop))?;
                return Ok(DrainTime { took: began.elapsed(), by_part: false });
            }
            other => other?,
        }
        if next < end {
            sync_range(&file, next, step(next), SyncRange::START)?;
        }
        sync_range(&file, at, next - at, SyncRange::FINISH)?;
        at = next;
    }
    sync(&file)?;
    Ok(DrainTime { took: began.elapsed(), by_part: false })
}

/// All of a file at once, where the system writes out no range: by a thread, so that the limit or
/// `stop` ends the wait for it.
fn sync_whole(
    file: File,
    sync_file: SyncFile,
    (limit, stop): (Instant, &dyn Fn() -> bool),
) -> io::Result<()> {
    let (done, ended) = channel();
    // Nobody listens any more after the limit.
    std::thread::Builder::new().spawn(move || drop(done.send(sync_file(&file))))?;
    loop {
        match ended.recv_timeout(Duration::from_millis(20)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if Instant::now() < limit && !stop() => {}
            Err(_) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it was not written in time"));
            }
        }
    }
}

/// Again while it is interrupted and there is time.
fn sync(
    file: &File,
    sync_file: SyncFile,
    (limit, stop): (Instant, &dyn Fn() -> bool),
) -> io::Result<()> {
    loop {
        match sync_file(file) {
            Err(error)
                if error.kind() == io::ErrorKind::Interrupted
                    && Instant::now() < limit
                    && !stop() => {}
            done => return done,
        }
    }
}

/// Bytes of the range that the device does not have; `None` where that is
/// unknown.
fn unwritten_bytes(file: &File, offset: u64, bytes: u64) -> Option<u64> {
    cache::residency(file, offset, bytes.max(1)).known()?.unwritten_bytes().get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drained_is_clean_and_a_limit_in_the_past_drains_nothing() {
        let folder = iosonde_testing::Folder::new("drain");
        let path = folder.join("f");
        std::fs::write(&path, vec![1; 40 << 20]).unwrap();
        let far = Instant::now() + Duration::from_secs(600);
        let drain_until = |limit| {
            let file = File::open(&path).unwrap();
            drain((&path, file), (0, 40 << 20), File::sync_data, (limit, &|| false))
        };
        let refused = drain_until(Instant::now());
        let pace = drain_until(far);
        let left = unwritten_bytes(&File::open(&path).unwrap(), 0, 40 << 20);
        if pace.as_ref().is_err_and(|error| error.to_string().contains("made of memory")) {
            iosonde_testing::skip!("the target directory is made of memory");
        }
        let pace = pace.unwrap();
        assert!(!pace.by_part && pace.took > Duration::ZERO);
        match left {
            Some(left) => {
                assert_eq!(left, 0);
                // Or the kernel was faster than this test.
                assert!(refused.is_err() || refused.is_ok_and(|pace| pace.took < Duration::MAX));
            }
            None => iosonde_testing::skip_part!("dirty pages are not reported"),
        }
    }

    #[test]
    fn a_file_is_synced_whole_within_the_limit() {
        let open = || std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let far = Instant::now() + Duration::from_secs(600);
        sync_whole(open(), |_| Ok(()), (far, &|| false)).unwrap();
        let failed = sync_whole(open(), |_| Err(io::Error::other("no")), (far, &|| false));
        assert_eq!(failed.unwrap_err().to_string(), "no");
        // One that never ends is left alone.
        let hangs: SyncFile = |_| loop {
            std::thread::park();
        };
        let late = sync_whole(open(), hangs, (Instant::now(), &|| false)).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        let stopped = sync_whole(open(), hangs, (far, &|| true)).unwrap_err();
        assert_eq!(stopped.kind(), io::ErrorKind::TimedOut);
    }
}
