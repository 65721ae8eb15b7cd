//! Watching data become durable: the time that a clock leaves out if it stops too early.
//!
//! This is the one reading that acts: it asks for the writeback that would come
//! by itself some time later. It does so after the jobs' clocks have stopped,
//! in steps, and within a limit of time.

use iosonde_direct::cache;
use iosonde_direct::durability::{SyncRange, sync_data, sync_range};
use std::fs::File;
use std::io;
use std::path::Path;
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

/// Write back `bytes` bytes of the file at `path` from `offset` on and make
/// them durable; give up at `limit` or when `stop` says so, and tell how long
/// the rest would take.
///
/// # Errors
/// If the file cannot be opened or synced, or the limit came before anything
/// was seen.
pub fn drain(
    path: &Path,
    (offset, bytes): (u64, u64),
    limit: Instant,
    stop: &dyn Fn() -> bool,
) -> io::Result<DrainTime> {
    let file = File::options().read(true).open(path)?;
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
        sync(&file, limit, stop)?;
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
        sync_range(&file, at, next - at, SyncRange::START)?;
        if next < end {
            sync_range(&file, next, step(next), SyncRange::START)?;
        }
        sync_range(&file, at, next - at, SyncRange::FINISH)?;
        at = next;
    }
    sync(&file, limit, stop)?;
    Ok(DrainTime { took: began.elapsed(), by_part: false })
}

/// fdatasync(2), again while it is interrupted and there is time.
fn sync(file: &File, limit: Instant, stop: &dyn Fn() -> bool) -> io::Result<()> {
    loop {
        match sync_data(file) {
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
        let refused = drain(&path, (0, 40 << 20), Instant::now(), &|| false);
        let pace = drain(&path, (0, 40 << 20), far, &|| false);
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
    fn a_file_that_is_gone_is_an_error() {
        let far = Instant::now() + Duration::from_secs(1);
        assert!(drain(Path::new("/nowhere/at/all"), (0, 1), far, &|| false).is_err());
    }
}
