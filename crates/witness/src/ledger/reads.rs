//! Where reads came from.

use super::around::over_waves;
use super::{over_files, places, sum};
use crate::evidence::{Evidence, JobEvidence};
use crate::reading::{MachineReading, both};
use iosonde_base::Dir;
use iosonde_report::ledger::{JobLedger, Known, Reads};
use iosonde_sys::counters::TaskIo;

/// File systems whose reads the kernel counts for the task that asked: those
/// that send bios of their own, and NFS.
const COUNTED: [&str; 22] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "msdos", "exfat", "ntfs3", "iso9660",
    "udf", "squashfs", "erofs", "bcachefs", "jfs", "hfsplus", "nilfs2", "overlay", "nfs", "nfs4",
    "device",
];
/// File systems that are made of memory.
pub(super) const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];

pub(super) fn of(job: &JobEvidence, seen: &Evidence) -> Reads {
    let asked = job.bytes[Dir::Read];
    let fetched = fetched(job, seen);
    let empty = empty_share(job);
    let mut reads = Reads {
        asked_bytes: asked,
        device_bytes: fetched.clone(),
        cached_before_bytes: over_files(job, |file| file.resident[0].clone()),
        ..Reads::default()
    };
    let Known::Is(fetched) = fetched else {
        let why = || fetched.map(|_| 0);
        (reads.cache_bytes, reads.hole_bytes, reads.ahead_bytes) = (why(), why(), why());
        return reads;
    };
    // What the device did not deliver came out of memory, or is nowhere.
    let rest = asked.saturating_sub(fetched);
    reads.ahead_bytes = Known::Is(fetched.saturating_sub(asked));
    (reads.hole_bytes, reads.holes_by_share) = holes(job, &empty, rest);
    reads.cache_bytes = match (&reads.hole_bytes, rest) {
        (_, 0) => Known::Is(0),
        (Known::Is(holes), rest) => Known::Is(rest.saturating_sub(*holes)),
        (Known::Unknown(why), _) => Known::Unknown(why.clone()),
    };
    reads
}

/// Of `rest` bytes that no device delivered, those that are nowhere on it; and
/// whether that is known by their share of the range only.
fn holes(job: &JobEvidence, empty: &Known<f64>, rest: u64) -> (Known<u64>, bool) {
    let asked = job.bytes[Dir::Read] as f64;
    match empty {
        Known::Is(share) if *share == 0.0 || rest == 0 => (Known::Is(0), false),
        Known::Is(_) if job.bytes[Dir::Write] > 0 => {
            (Known::unknown("the job filled holes while it read"), false)
        }
        // All of the range, or direct I/O, which no memory answers.
        Known::Is(share) if *share > 0.999 || job.direct => (Known::Is(rest), false),
        Known::Is(share) => (Known::Is(rest.min((asked * share) as u64)), true),
        Known::Unknown(why) => (Known::Unknown(why.clone()), false),
    }
}

/// Share of the job's range without data on the device, before it ran.
pub(super) fn empty_share(job: &JobEvidence) -> Known<f64> {
    let (mut empty, mut all) = (0, 0);
    for file in job.looked_at.iter().filter(|file| !file.is_device) {
        match &file.extents {
            Known::Is(extents) => {
                empty += extents.hole_bytes + extents.unwritten_bytes;
                all += extents.looked_at_bytes;
            }
            Known::Unknown(why) => return Known::Unknown(why.clone()),
        }
    }
    match (all, job.looked_at.is_empty()) {
        (_, true) => Known::unknown("none of its files could be looked at"),
        (0, _) => Known::Is(0.0),
        (all, _) => Known::Is(empty as f64 / all as f64),
    }
}

/// Bytes that the device delivered for the job's reads.
fn fetched(job: &JobEvidence, seen: &Evidence) -> Known<u64> {
    let mut kinds = places(job, seen).map(crate::reading::Place::kind).peekable();
    if kinds.peek().is_none() {
        return Known::unknown("it is not known what its files lie on");
    }
    if let Some(kind) = kinds.find(|kind| !COUNTED.contains(kind) && !MEMORY.contains(kind)) {
        return Known::unknown(format!("{kind} does not count whom it fetches bytes for"));
    }
    let thread = job.thread_io.map(|io| io.storage_read_bytes);
    match (&thread, &job.process_io) {
        (Known::Is(own), Some(process)) => Known::Is(process.storage_read_bytes.max(*own)),
        (Known::Is(own), None) if !job.has_helpers || *own >= job.bytes[Dir::Read] => {
            Known::Is(*own)
        }
        (Known::Is(_), None) => Known::unknown(
            "threads of the kernel or the engine read for it, and other jobs ran beside it",
        ),
        (Known::Unknown(why), _) => Known::Unknown(why.clone()),
    }
}

/// Bytes fetched by the whole process while jobs ran: where that cannot be told
/// apart by jobs, it is still the run's.
fn fetched_together(seen: &Evidence) -> Known<u64> {
    let counts = |job: &JobEvidence| {
        let mut kinds = places(job, seen).map(crate::reading::Place::kind).peekable();
        kinds.peek().is_some()
            && kinds.all(|kind| COUNTED.contains(&kind) || MEMORY.contains(&kind))
    };
    let mut jobs = seen.jobs.iter().filter(|job| job.touches_storage);
    if seen.jobs.iter().any(|job| job.ramped) || !jobs.all(counts) {
        return Known::unknown("threads of the kernel or the engine read for the jobs");
    }
    let since = |after: &MachineReading, before: &MachineReading| {
        let read = both(&after.process_io, &before.process_io, TaskIo::since);
        read.map(|read| read.storage_read_bytes)
    };
    over_waves(seen, since, |one, other| one + other)
}

/// Reads of all jobs.
pub(super) fn together(jobs: &[JobLedger], seen: &Evidence) -> Option<Reads> {
    let mut reads = added(jobs)?;
    if reads.device_bytes.get().is_some() {
        return Some(reads);
    }
    let fetched = fetched_together(seen);
    let solid = jobs.iter().all(|job| job.files.empty_share == Known::Is(0.0));
    if let (Known::Is(fetched), true) = (&fetched, solid) {
        reads.cache_bytes = Known::Is(reads.asked_bytes.saturating_sub(*fetched));
        reads.ahead_bytes = Known::Is(fetched.saturating_sub(reads.asked_bytes));
        reads.hole_bytes = Known::Is(0);
        reads.device_bytes = Known::Is(*fetched);
    }
    Some(reads)
}

fn added(jobs: &[JobLedger]) -> Option<Reads> {
    let all: Vec<&Reads> = jobs.iter().filter_map(|job| job.reads.as_ref()).collect();
    let of = |part: fn(&Reads) -> &Known<u64>| sum(all.iter().map(|&reads| part(reads)));
    (!all.is_empty()).then(|| Reads {
        asked_bytes: all.iter().map(|reads| reads.asked_bytes).sum(),
        device_bytes: of(|reads| &reads.device_bytes),
        cache_bytes: of(|reads| &reads.cache_bytes),
        hole_bytes: of(|reads| &reads.hole_bytes),
        holes_by_share: all.iter().any(|reads| reads.holes_by_share),
        ahead_bytes: of(|reads| &reads.ahead_bytes),
        // Jobs on the same file would count it twice.
        cached_before_bytes: match all.as_slice() {
            [one] => one.cached_before_bytes.clone(),
            _ => Known::unknown("told for each job"),
        },
    })
}
