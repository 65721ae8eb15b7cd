//! Direct I/O: whether a request was honoured.

use super::MEMORY;
use super::{over_files, places, wave};
use crate::evidence::{Evidence, JobEvidence};
use crate::reading::FileReading;
use iosonde_base::Dir;
use iosonde_base::text::{bytes, percent};
use iosonde_report::ledger::{DirectLedger, Fact, Reads};
use iosonde_sys::counters::PageFlow;

/// Less than this share of the bytes in the page cache is somebody else's look
/// at the file, or its ends that fill no page.
const SLACK: f64 = 0.05;

pub(super) fn of(job: &JobEvidence, reads: Option<&Reads>, seen: &Evidence) -> DirectLedger {
    if !job.direct || !job.touches_storage {
        return DirectLedger {
            requested: job.direct,
            honoured: Fact::unknown("it was not requested"),
            reason: String::new(),
        };
    }
    let verdict = judged(job, reads, seen);
    let (honoured, reason) = match verdict {
        Ok((got, why)) => (Fact::Known(got), why),
        Err(why) => (Fact::unknown(why.clone()), why),
    };
    DirectLedger { requested: true, honoured, reason }
}

/// Whether it was honoured, and how that is known; or why it is not known.
fn judged(
    job: &JobEvidence,
    reads: Option<&Reads>,
    seen: &Evidence,
) -> Result<(bool, String), String> {
    if let Some(place) = places(job, seen).find(|place| MEMORY.contains(&place.kind())) {
        return Ok((
            false,
            format!("{} keeps its files in memory: there is no device below", place.kind()),
        ));
    }
    if let Some(place) = places(job, seen).find(|place| place.kind().starts_with("fuse")) {
        let kind = place.kind();
        return Err(format!("{kind} is served by a program, which may cache data in memory"));
    }
    if let Some(why) = super::unseen_below(job, seen) {
        return Err(why);
    }
    let moved = job.bytes[Dir::Read] + job.bytes[Dir::Write];
    if let Some(found) = by_checksums(job, seen).or_else(|| by_holes(job, seen)) {
        return Ok((false, found));
    }
    let grown = if shares_with_buffered(job, seen) {
        Fact::unknown("another job uses the same file through the page cache")
    } else {
        over_files(job, FileReading::grown_bytes)
    };
    if let Fact::Known(grown) = grown
        && grown > 0
        && grown as f64 > SLACK * (moved.min(job.files.1) as f64)
    {
        let why = format!("{} of the files entered the page cache during the run", bytes(grown));
        return if fetched_all(job, reads) {
            Err(format!("{why}, by this job or by another process that read them"))
        } else {
            Ok((false, why))
        };
    }
    if let Some(reads) = reads {
        match (reads.device_bytes.get(), reads.hole_bytes.get()) {
            // Where holes are not known, they may be the bytes that no device delivered.
            (Some(_), None) => {}
            (Some(device), Some(holes)) => {
                let due = reads.completed_bytes.saturating_sub(holes);
                let is_cached = reads.cache_bytes.get() != Some(0);
                if (device as f64) < (1.0 - SLACK) * due as f64 && is_cached {
                    let share = percent(1.0 - device as f64 / due as f64);
                    return Ok((false, format!("{share} of the reads came from the page cache")));
                }
            }
            (None, _) if job.bytes[Dir::Write] == 0 => {
                return Err("the source of its reads is unknown".to_owned());
            }
            _ => {}
        }
    }
    match (grown, job.bytes[Dir::Write]) {
        (Fact::Unknown(why), 1..) => Err(why.into_owned()),
        (Fact::Unknown(why), 0) if reads.is_none_or(|reads| reads.device_bytes.get().is_none()) => {
            Err(why.into_owned())
        }
        (_, 0) if reads.is_some_and(|reads| reads.hole_bytes == Fact::Known(0)) => {
            Ok((true, "every byte read was fetched from the device".to_owned()))
        }
        _ => Ok((true, "no data of the files entered the page cache".to_owned())),
    }
}

/// Whether the device delivered all that a job read, although its pages are in the page cache
/// too: the kernel read through the cache, or another process did meanwhile.
fn fetched_all(job: &JobEvidence, reads: Option<&Reads>) -> bool {
    job.bytes[Dir::Write] == 0
        && reads.is_some_and(|reads| {
            let device = reads.device_bytes.get().unwrap_or(0);
            device as f64 >= (1.0 - SLACK) * reads.completed_bytes as f64
        })
}

/// Whether what comes into memory of the job's files may be another's.
fn shares_with_buffered(job: &JobEvidence, seen: &Evidence) -> bool {
    let mut beside = seen.jobs.iter().filter(|other| other.wave == job.wave && !other.direct);
    beside.any(|other| {
        let shared = |file: &FileReading| job.inspected.iter().any(|own| own.path == file.path);
        other.touches_storage && other.inspected.iter().any(shared)
    })
}

/// btrfs sends direct writes of files with checksums through the page cache
/// (since Linux 6.14) and drops the pages at once, so that nobody sees them in
/// the files. Seen in the pages that left the page cache meanwhile.
fn by_checksums(job: &JobEvidence, seen: &Evidence) -> Option<String> {
    let place = places(job, seen).find(|place| place.kind() == "btrfs")?;
    let options = &place.filesystem.as_ref()?.options;
    let without = options.split(',').any(|option| matches!(option, "nodatasum" | "nodatacow"));
    let no_copy = |file: &FileReading| file.attributes.get().is_some_and(|flags| flags.no_copy);
    if job.bytes[Dir::Write] == 0 || without || job.inspected.iter().all(no_copy) {
        return None;
    }
    wrote_back(job, seen, job.bytes[Dir::Write]).then(|| {
        "btrfs sends direct writes of files with checksums through the page cache".to_owned()
    })
}

/// ext4 fills holes of files without extents, such as those of ext3, through the page
/// cache, where a crash would else show old data (Linux, ext4_iomap_begin), and drops
/// the pages at once. Past the file's end it need not.
fn by_holes(job: &JobEvidence, seen: &Evidence) -> Option<String> {
    places(job, seen).find(|place| ["ext4", "ext3"].contains(&place.kind()))?;
    let by_tables =
        |file: &&FileReading| file.attributes.get().is_some_and(|flags| !flags.has_extents);
    let holes = job.inspected.iter().filter(by_tables).map(FileReading::hole_bytes_within);
    let filled = holes.sum::<u64>().min(job.bytes[Dir::Write]);
    let share = filled as f64 / job.bytes[Dir::Write].max(1) as f64;
    (share > SLACK && wrote_back(job, seen, filled)).then(|| {
        format!(
            "{} of the bytes written were for holes of files without extents, which ext4 fills \
             through the page cache",
            percent(share)
        )
    })
}

/// Whether about so many bytes left the page cache while the job ran, of everybody.
fn wrote_back(job: &JobEvidence, seen: &Evidence, bytes: u64) -> bool {
    let Some(wave) = wave(job, seen) else { return false };
    let pages = crate::reading::both(&wave.after.pages, &wave.before.pages, PageFlow::since);
    let written = pages.get().map_or(0, |pages| pages.written_pages.saturating_mul(4096));
    written as f64 >= (1.0 - SLACK) * bytes as f64
}
