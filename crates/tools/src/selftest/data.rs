//! Whether iosonde writes all that it says, and issues each sync: seen from outside, by what
//! lies in the file and which of its pages are dirty meanwhile.

use super::program::{JobEnd, check, end, first_line, here, job, start};
use super::{Check, DATA};
use iosonde_direct::Facts;
use iosonde_direct::cache::{drop_cached, residency};
use iosonde_direct::durability::sync_all;
use iosonde_sys::files::FileExt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

type RunChecks = fn(&Path, &Facts) -> Vec<Check>;

/// All of them, in order.
pub(super) const CHECKS: &[RunChecks] = &[written, synced, awaited];

const BYTES: usize = 1 << 20;
/// What jobs write.
const PATTERN: [u8; 4] = [0x5e, 0x1f, 0x7e, 0x57];
/// Writes from one sync to the next.
const WRITES: u64 = 4;
/// Writes of a job with syncs.
const SYNCED_WRITES: u64 = 48;
/// So many dirty pages more may be others' doing.
const SPARE_PAGES: u64 = 1;

/// The bytes of a job lie in its file, to the last.
fn written(own: &Path, _: &Facts) -> Vec<Check> {
    let engines = [
        ("written_psync", "all that is written, psync", "psync"),
        ("written_libaio", "all that is written, libaio", "libaio"),
        ("written_io_uring", "all that is written, io_uring", "io_uring"),
        ("written_mmap", "all that is written, mmap", "mmap"),
    ];
    let tried = |engine: &str| -> io::Result<Result<String, String>> {
        std::fs::write(own.join(DATA), vec![0; BYTES])?;
        let line = format!(
            "--name=selftest --filename={DATA} --rw=randwrite --bs=64k --size={BYTES} \
             --buffer_pattern=0x5e1f7e57 --ioengine={engine} --iodepth=4"
        );
        let wrote = ran(job(own, &line)?)?;
        let found = std::fs::read(own.join(DATA))?;
        let wrong = found.chunks(PATTERN.len()).filter(|word| *word != PATTERN).count();
        Ok(match wrote.code {
            Some(0) if found.len() != BYTES => {
                Err(format!("{} of {BYTES} bytes are in the file", found.len()))
            }
            Some(0) if wrong > 0 => {
                Err(format!("{} of {BYTES} bytes are not what it wrote", wrong * PATTERN.len()))
            }
            Some(0) => Ok("read by plain calls, it is what the job wrote".to_owned()),
            _ => Err(format!("a job that only writes fails: {}", first_line(&wrote))),
        })
    };
    here(engines).flat_map(|(id, name, engine)| check(id, name, tried(engine))).collect()
}

/// After every fourth write comes a sync: no more than four pages are ever dirty. The writes are slow
/// enough that one sync that is left out is seen.
fn synced(own: &Path, _: &Facts) -> Vec<Check> {
    let kinds = [
        ("syncs_psync", "each sync, psync", "--fsync=4 --ioengine=psync"),
        ("syncs_data", "each fdatasync, psync", "--fdatasync=4 --ioengine=psync"),
        ("syncs_libaio", "each sync, libaio", "--fsync=4 --ioengine=libaio"),
        ("syncs_io_uring", "each sync, io_uring", "--fsync=4 --ioengine=io_uring"),
    ];
    let conclude = |pages| syncs_seen(pages, SPARE_PAGES, "some were not made");
    let tried = |options: &str| dirty_beside(own, &format!("--rate_iops=150 {options}"), conclude);
    kinds.into_iter().flat_map(|(id, name, options)| check(id, name, tried(options))).collect()
}

/// The same as fast as it goes: writes that go on beside a sync which nobody waits for leave many dirty pages.
/// A page whose write-back begins may be counted twice.
fn awaited(own: &Path, _: &Facts) -> Vec<Check> {
    let kinds = [
        ("waits_psync", "waits for syncs, psync", "psync"),
        ("waits_libaio", "waits for syncs, libaio", "libaio"),
        ("waits_io_uring", "waits for syncs, io_uring", "io_uring"),
    ];
    let conclude = |pages| syncs_seen(pages, WRITES, "writes went on before it was done");
    let tried = |engine: &str| {
        let options = "--fsync=4 --time_based=1 --runtime=300ms";
        dirty_beside(own, &format!("{options} --ioengine={engine}"), conclude)
    };
    here(kinds).flat_map(|(id, name, engine)| check(id, name, tried(engine))).collect()
}

/// Run a job that writes pages one after another with these options beside it, and conclude from the largest
/// number of dirty pages.
fn dirty_beside(
    own: &Path,
    options: &str,
    conclude: impl Fn(u64) -> Result<String, String>,
) -> io::Result<Result<String, String>> {
    let page = iosonde_sys::memory::page_bytes() as u64;
    let file = clean_file(own, SYNCED_WRITES * page)?;
    let line = format!(
        "--name=selftest --filename={DATA} --rw=write --bs={page} --size={} {options}",
        SYNCED_WRITES * page
    );
    let mut running = start(own, &line)?;
    let most = dirty_most(&file, &mut running)?;
    let ended = ran(end(own, running)?)?;
    Ok(match ended.code {
        Some(0) => conclude(most / page),
        _ => Err(format!("a job that writes and syncs fails: {}", first_line(&ended))),
    })
}

/// What is concluded from the largest number of dirty pages.
fn syncs_seen(pages: u64, spare: u64, otherwise: &str) -> Result<String, String> {
    let seen = format!("{pages} pages were dirty at most");
    if pages > WRITES + spare {
        Err(format!("{seen}, with a sync requested after each {WRITES}: {otherwise}"))
    } else {
        Ok(format!("{seen}, with one after each {WRITES} writes"))
    }
}

/// The largest number of bytes that were not on the device yet, while the job ran.
fn dirty_most(file: &File, running: &mut Child) -> io::Result<u64> {
    let mut most = 0;
    while running.try_wait()?.is_none() {
        most = most.max(unwritten(file)?);
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(most)
}

/// A file whose pages are clean, and of which none is cached: they are written one by one.
fn clean_file(own: &Path, bytes: u64) -> io::Result<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(true);
    let file = options.open(own.join(DATA))?;
    file.write_all_at(&vec![1; bytes as usize], 0)?;
    sync_all(&file)?;
    drop_cached(&file, 0, 0)?;
    match unwritten(&file)? {
        0 => Ok(file),
        _ => Err(io::Error::other("pages of a file that was synced stay dirty here")),
    }
}

/// Bytes of a file that are not on the device yet.
fn unwritten(file: &File) -> io::Result<u64> {
    let not_shown = |why: &str| io::Error::other(format!("dirty pages are not shown: {why}"));
    let now = residency(file, 0, 0);
    let found = now.known().map(|now| now.unwritten_bytes());
    match found.as_ref().map(|bytes| (bytes.get(), bytes.why())) {
        Some((Some(bytes), _)) => Ok(bytes),
        Some((None, why)) => Err(not_shown(why.unwrap_or("unknown"))),
        None => Err(not_shown(now.why().unwrap_or("unknown"))),
    }
}

/// The end of a job, unless its engine cannot run here.
fn ran(ended: JobEnd) -> io::Result<JobEnd> {
    if ended.code != Some(0) && ended.is_not_for_here() {
        return Err(io::Error::other("it cannot run here"));
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_that_is_left_out_shows_in_dirty_pages() {
        let seen = |pages| syncs_seen(pages, SPARE_PAGES, "some were not made");
        assert!(seen(0).is_ok() && seen(4).is_ok() && seen(5).is_ok());
        assert!(seen(6).unwrap_err().contains("some were not made"));
    }
}
