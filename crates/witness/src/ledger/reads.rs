//! Where reads came from.

use super::around::over_waves;
use super::{hits, of_disks_below, over_files, places, sum, wave};
use crate::evidence::{Evidence, JobEvidence};
use crate::reading::{FileReading, Location, MachineReading, both};
use iosonde_base::{Dir, PerDir};
use iosonde_report::ledger::{Fact, JobLedger, OtherTraffic, Reads};
use iosonde_sys::counters::{Extents, TaskIo};

/// File systems with reads that the kernel counts for the task that asked: those
/// that send bios of their own, and NFS.
const COUNTED: [&str; 22] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "msdos", "exfat", "ntfs3", "iso9660",
    "udf", "squashfs", "erofs", "bcachefs", "jfs", "hfsplus", "nilfs2", "overlay", "nfs", "nfs4",
    "device",
];
/// File systems that are made of memory.
pub(crate) const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];

pub(super) fn of(job: &JobEvidence, seen: &Evidence, others: &OtherTraffic) -> Reads {
    let requests_per_read = requests_per_read(job, seen, others);
    let hits = |lowest| hits::of_random(job, seen, lowest, &requests_per_read);
    let reads = of_bytes(job, seen, &empty_share(job), &hits);
    Reads { requests_per_read, ..reads }
}

/// Share of the job's range without data on the device while it read: as before the job,
/// unless somebody made holes meanwhile.
fn empty_share(job: &JobEvidence) -> Fact<f64> {
    let before = unallocated_share(job);
    let after = share_without_data(job, |file| (&file.extents_after, &file.unwritten[1]));
    match (&before, &after) {
        (Fact::Known(before), Fact::Known(after))
            if *after > before + 0.001 && job.bytes[Dir::Write] == 0 =>
        {
            // Direct reads meet holes only; nobody knows when they were made.
            if job.direct {
                return Fact::Known(*after);
            }
            Fact::unknown("holes were made in its files while it read")
        }
        _ => before,
    }
}

/// Where the reads came from that checked what was written; `None` for a job
/// that checks nothing, or whose own reads lie among them.
pub(super) fn of_verify(job: &JobEvidence, seen: &Evidence) -> Option<Reads> {
    let verify = job.verify.as_ref().filter(|verify| verify.bytes > 0 && job.touches_storage)?;
    let mut checks = JobEvidence {
        thread_io: verify.thread_io.clone(),
        process_io: verify.process_io,
        ..job.clone()
    };
    checks.bytes = PerDir::default();
    checks.bytes[Dir::Read] = verify.bytes;
    // What the job wrote before it read it is no hole any more.
    let empty = if verify.wrote_it { Fact::Known(0.0) } else { unallocated_share(job) };
    // What the cache held when the job began says nothing about its last phase.
    Some(of_bytes(&checks, seen, &empty, &Fact::Known))
}

/// Where the bytes that `job` read came from. `empty`: the share of its range
/// that has no data on the device; `hits`: bytes that the page cache held, where at least
/// so many were.
fn of_bytes(
    job: &JobEvidence,
    seen: &Evidence,
    empty: &Fact<f64>,
    hits: &dyn Fn(u64) -> Fact<u64>,
) -> Reads {
    let asked = job.bytes[Dir::Read];
    let fetched = fetched(job, seen);
    let mut reads = Reads {
        completed_bytes: asked,
        device_bytes: fetched.clone(),
        cached_at_start_bytes: over_files(job, |file| file.resident[0].clone()),
        ..Reads::default()
    };
    let Fact::Known(fetched) = fetched else {
        let why = || fetched.clone();
        (reads.cache_bytes, reads.hole_bytes, reads.readahead_bytes) = (why(), why(), why());
        return reads;
    };
    // What the device did not deliver came out of memory, or is nowhere.
    let rest = asked.saturating_sub(fetched);
    (reads.hole_bytes, reads.holes_estimated) = holes(job, empty, rest);
    reads.cache_bytes = match &reads.hole_bytes {
        Fact::Known(0) if rest > 0 && is_encoded(job, seen) => of_encoded(job, &reads),
        Fact::Known(holes) => hits(rest.saturating_sub(*holes)),
        Fact::Unknown(why) if rest > 0 => Fact::Unknown(why.clone()),
        Fact::Unknown(_) => hits(0),
    };
    let cached = reads.cache_bytes.get().unwrap_or(0);
    let holes = reads.hole_bytes.get().unwrap_or(0);
    let needed = asked.saturating_sub(cached).saturating_sub(holes);
    reads.readahead_bytes = Fact::Known(fetched.saturating_sub(needed));
    reads
}

/// Whether the files may take fewer bytes on the device than they have.
fn is_encoded(job: &JobEvidence, seen: &Evidence) -> bool {
    /// Compressed and without duplicates, unless they were made otherwise.
    const PACKED: [&str; 3] = ["squashfs", "erofs", "cramfs"];
    job.inspected.iter().any(FileReading::has_encoded_extents)
        || places(job, seen).any(|place| PACKED.contains(&place.kind()))
}

/// Of files that take fewer bytes on the device, those that came from the page cache: none,
/// where nothing was there and nothing was read twice.
fn of_encoded(job: &JobEvidence, reads: &Reads) -> Fact<u64> {
    match reads.cached_at_start_bytes {
        Fact::Known(0) if reads.completed_bytes <= job.files.1 => Fact::Known(0),
        _ => Fact::unknown("compressed data takes fewer bytes on the device"),
    }
}

/// Requests of the disks right below for each read of the job, where nobody else
/// reads from them.
fn requests_per_read(job: &JobEvidence, seen: &Evidence, others: &OtherTraffic) -> Fact<f64> {
    let reads = job.ios[Dir::Read];
    let beside = |other: &&JobEvidence| other.wave == job.wave && other.touches_storage;
    if seen.jobs.iter().filter(beside).count() > 1 {
        return Fact::unknown("other jobs ran with it");
    }
    let Some(wave) = wave(job, seen).filter(|_| reads > 0 && !job.ramped) else {
        return Fact::unknown("its reads were not all counted");
    };
    if others.share.get().is_none_or(|share| share > 0.05) {
        return Fact::unknown("others used the device");
    }
    of_disks_below(job, wave, seen, |used| used.reads)
        .map(|requests| requests as f64 / reads as f64)
}

/// Of `rest` bytes that no device delivered, those that are nowhere on it; and
/// whether that is known by their share of the range only.
fn holes(job: &JobEvidence, empty: &Fact<f64>, rest: u64) -> (Fact<u64>, bool) {
    let asked = job.bytes[Dir::Read] as f64;
    match empty {
        Fact::Known(share) if *share == 0.0 || rest == 0 => (Fact::Known(0), false),
        Fact::Known(_) if job.bytes[Dir::Write] > 0 => {
            (Fact::unknown("the job filled holes while it read"), false)
        }
        // All of the range, or direct I/O, which no memory answers.
        Fact::Known(share) if *share > 0.999 || job.direct => (Fact::Known(rest), false),
        Fact::Known(share) => (Fact::Known(rest.min((asked * share) as u64)), true),
        Fact::Unknown(why) => (Fact::Unknown(why.clone()), false),
    }
}

/// Share of the job's range without data on the device, before it ran.
pub(super) fn unallocated_share(job: &JobEvidence) -> Fact<f64> {
    share_without_data(job, |file| (&file.extents, &file.unwritten[0]))
}

fn share_without_data(
    job: &JobEvidence,
    looked: impl Fn(&FileReading) -> (&Fact<Extents>, &Fact<u64>),
) -> Fact<f64> {
    let (mut empty, mut all) = (0, 0);
    for file in job.inspected.iter().filter(|file| !file.is_device) {
        let (extents, unwritten) = looked(file);
        match extents {
            Fact::Known(extents) => {
                // What is written and not yet on the device is no hole to a reader.
                let dirty = unwritten.get().unwrap_or(0);
                empty += (extents.hole_bytes + extents.unwritten_bytes).saturating_sub(dirty);
                all += extents.looked_at_bytes;
            }
            Fact::Unknown(why) => return Fact::Unknown(why.clone()),
        }
    }
    match (all, job.inspected.is_empty()) {
        (_, true) => Fact::unknown("none of its files could be inspected"),
        (0, _) => Fact::Known(0.0),
        (all, _) => Fact::Known(empty as f64 / all as f64),
    }
}

/// Bytes that the device delivered for the job's reads.
fn fetched(job: &JobEvidence, seen: &Evidence) -> Fact<u64> {
    let mut kinds = places(job, seen).map(Location::kind).peekable();
    if kinds.peek().is_none() {
        return Fact::unknown("the file system of its files is unknown");
    }
    if let Some(kind) = kinds.find(|kind| !COUNTED.contains(kind) && !MEMORY.contains(kind)) {
        return Fact::unknown(format!("{kind} does not count which task it fetches bytes for"));
    }
    if let Some(why) = super::unseen_below(job, seen) {
        return Fact::unknown(why);
    }
    let thread = job.thread_io.as_ref().map(|io| io.storage_read_bytes);
    match (&thread, &job.process_io) {
        (Fact::Known(own), Some(process)) => Fact::Known(process.storage_read_bytes.max(*own)),
        (Fact::Known(own), None) if !job.has_helpers || *own >= job.bytes[Dir::Read] => {
            Fact::Known(*own)
        }
        (Fact::Known(_), None) => {
            Fact::unknown("threads of the kernel or the engine read for it while other jobs ran")
        }
        (Fact::Unknown(why), _) => Fact::Unknown(why.clone()),
    }
}

/// Bytes fetched by the whole process while jobs ran: where that cannot be
/// divided among jobs, it is still the run's.
fn fetched_together(seen: &Evidence) -> Fact<u64> {
    let counts = |job: &JobEvidence| {
        let mut kinds = places(job, seen).map(Location::kind).peekable();
        kinds.peek().is_some()
            && kinds.all(|kind| COUNTED.contains(&kind) || MEMORY.contains(&kind))
            && super::unseen_below(job, seen).is_none()
    };
    let mut jobs = seen.jobs.iter().filter(|job| job.touches_storage);
    if seen.jobs.iter().any(|job| job.ramped) || !jobs.all(counts) {
        return Fact::unknown("threads of the kernel or the engine read for the jobs");
    }
    let since = |after: &MachineReading, before: &MachineReading| {
        let read = both(&after.process_io, &before.process_io, TaskIo::since);
        read.map(|read| read.storage_read_bytes)
    };
    over_waves(seen, since, |one, other| one + other)
}

/// Reads of all jobs.
pub(super) fn together(jobs: &[JobLedger], seen: &Evidence) -> Option<Reads> {
    let mut reads = added(jobs, |job| job.reads.as_ref())?;
    if reads.device_bytes.get().is_some() {
        return Some(reads);
    }
    let fetched = fetched_together(seen);
    let solid = jobs.iter().all(|job| job.files.unallocated_share == Fact::Known(0.0));
    if let (Fact::Known(fetched), true) = (&fetched, solid) {
        reads.cache_bytes = Fact::Known(reads.completed_bytes.saturating_sub(*fetched));
        reads.readahead_bytes = Fact::Known(fetched.saturating_sub(reads.completed_bytes));
        reads.hole_bytes = Fact::Known(0);
        reads.device_bytes = Fact::Known(*fetched);
    }
    Some(reads)
}

/// Reads of all jobs that checked what was written.
pub(super) fn verify_together(jobs: &[JobLedger]) -> Option<Reads> {
    added(jobs, |job| job.verify_reads.as_ref())
}

fn added(jobs: &[JobLedger], reads: fn(&JobLedger) -> Option<&Reads>) -> Option<Reads> {
    let all: Vec<&Reads> = jobs.iter().filter_map(reads).collect();
    let of = |part: fn(&Reads) -> &Fact<u64>| sum(all.iter().map(|&reads| part(reads)));
    (!all.is_empty()).then(|| Reads {
        completed_bytes: all.iter().map(|reads| reads.completed_bytes).sum(),
        device_bytes: of(|reads| &reads.device_bytes),
        cache_bytes: of(|reads| &reads.cache_bytes),
        hole_bytes: of(|reads| &reads.hole_bytes),
        holes_estimated: all.iter().any(|reads| reads.holes_estimated),
        readahead_bytes: of(|reads| &reads.readahead_bytes),
        requests_per_read: match all.as_slice() {
            [one] => one.requests_per_read.clone(),
            _ => Fact::unknown("reported for each job"),
        },
        // Jobs on the same file would count it twice.
        cached_at_start_bytes: match all.as_slice() {
            [one] => one.cached_at_start_bytes.clone(),
            _ => Fact::unknown("reported for each job"),
        },
    })
}
