//! From what was seen to where the bytes went.

mod around;
mod changes;
mod direct;
mod fingerprint;
mod flushes;
mod hits;
mod reads;
mod writes;

pub(crate) use changes::changes;
pub(crate) use reads::MEMORY;

use crate::evidence::{Evidence, JobEvidence, Wave};
use crate::reading::Location;
use iosonde_base::Dir;
use iosonde_report::ledger::{
    CpuLedger, DepthLedger, Fact, FilesLedger, JobLedger, Ledger, SpanBytes, SyncLedger, Tool,
};
use iosonde_sys::counters::DiskCounters;
use std::collections::BTreeSet;

/// The ledger of a run, without a verdict.
pub fn ledger(seen: &Evidence) -> Ledger {
    let below = Ledger {
        devices: around::devices(seen),
        other_traffic: around::others(seen),
        ..Ledger::default()
    };
    let jobs: Vec<JobLedger> = seen.jobs.iter().map(|job| job_ledger(job, seen, &below)).collect();
    let mut ledger = Ledger {
        reads: reads::together(&jobs, seen),
        verify_reads: reads::verify_together(&jobs),
        writes: writes::together(&jobs, seen, &below),
        span_bytes: span_bytes(seen),
        phases: seen.phases.clone(),
        machine: around::meanwhile(seen),
        environment: around::environment(seen),
        tool: Tool {
            clock_read_ns: seen.clock_read_ns.clone(),
            counter_read_ns: seen.counter_read_ns,
        },
        series: seen.series.clone(),
        jobs,
        ..below
    };
    depth_of_others(&mut ledger);
    ledger.changes = changes(&ledger);
    ledger.fingerprint = fingerprint::of(&ledger);
    ledger.environment.fingerprint = ledger.fingerprint.of_system();
    ledger
}

/// `below` has the devices and others' traffic, and nothing else yet.
fn job_ledger(job: &JobEvidence, seen: &Evidence, below: &Ledger) -> JobLedger {
    let others = &below.other_traffic;
    let reads =
        (job.touches_storage && job.bytes[Dir::Read] > 0).then(|| reads::of(job, seen, others));
    let writes =
        (job.touches_storage && job.bytes[Dir::Write] > 0).then(|| writes::of(job, seen, below));
    JobLedger {
        name: job.name.clone(),
        number: job.number,
        runtime_ns: job.runtime_ns,
        direct: direct::of(job, reads.as_ref(), seen),
        reads,
        verify_reads: reads::of_verify(job, seen),
        writes,
        depth: depth(job, seen),
        options: job.options.clone(),
        files: files(job, seen),
        syncs: SyncLedger {
            requested: job.syncs.0,
            p50_ns: job.syncs.1,
            without_flush: seen.sync_without_flush.clone().filter(|_| synced(job)),
            mean_ns: job.sync_times.0,
            max_ns: job.sync_times.1,
        },
        latency: job.latency,
        cpu: cpu(job),
    }
}

/// Whether it asked that what it wrote be durable.
fn synced(job: &JobEvidence) -> bool {
    let asked = job.syncs.0 > 0 || job.end_syncs > 0 || job.options.sync;
    asked && job.touches_storage && job.bytes[Dir::Write] > 0
}

/// Bytes that I/Os may fall on: buffered, direct. Ranges that jobs share count
/// once; of a job's files those that were looked at decide.
fn span_bytes(seen: &Evidence) -> SpanBytes {
    let mut known = BTreeSet::new();
    let mut span = SpanBytes::default();
    for job in
        seen.jobs.iter().filter(|job| places(job, seen).flat_map(Location::disks).count() > 0)
    {
        let mut is_new = false;
        for file in &job.inspected {
            is_new |= known.insert((file.path.as_path(), file.offset, file.bytes));
        }
        if is_new {
            let kind = if job.direct { &mut span.direct } else { &mut span.buffered };
            *kind = kind.saturating_add(job.files.1);
        }
    }
    span
}

/// The places of a job's files, as far as they were looked at.
fn places<'a>(job: &'a JobEvidence, seen: &'a Evidence) -> impl Iterator<Item = &'a Location> {
    seen.places.iter().filter(|place| job.inspected.iter().any(|file| file.device == place.device))
}

/// Why nobody sees where the data of a job's files is, below a loop device.
fn unseen_below(job: &JobEvidence, seen: &Evidence) -> Option<String> {
    places(job, seen).flat_map(|place| &place.loops).find_map(|backing| backing.unseen.clone())
}

fn wave<'a>(job: &JobEvidence, seen: &'a Evidence) -> Option<&'a Wave> {
    seen.waves.get(job.wave)
}

/// A count of the disks right below a job's files, of its wave, all together.
fn of_disks_below(
    job: &JobEvidence,
    wave: &Wave,
    seen: &Evidence,
    count: impl Fn(&DiskCounters) -> u64,
) -> Fact<u64> {
    let names: BTreeSet<&str> =
        places(job, seen).flat_map(Location::disks).map(|disk| disk.name.as_str()).collect();
    if names.is_empty() {
        return Fact::unknown("no device is below its files");
    }
    let counts: Vec<Fact<u64>> = names
        .into_iter()
        .map(|name| wave.after.device_since(&wave.before, name).map(|used| count(&used)))
        .collect();
    sum(&counts)
}

/// The first reason why a sum is not known, or the sum.
fn sum<'a>(parts: impl IntoIterator<Item = &'a Fact<u64>>) -> Fact<u64> {
    let mut all = 0u64;
    for part in parts {
        match part {
            Fact::Known(part) => all = all.saturating_add(*part),
            Fact::Unknown(why) => return Fact::Unknown(why.clone()),
        }
    }
    Fact::Known(all)
}

/// A sum over the files looked at, taken for all files of the job.
fn over_files(
    job: &JobEvidence,
    part: impl Fn(&crate::reading::FileReading) -> Fact<u64>,
) -> Fact<u64> {
    if job.inspected.is_empty() {
        return Fact::unknown("none of its files could be inspected");
    }
    let parts: Vec<Fact<u64>> = job.inspected.iter().map(part).collect();
    let (files, looked_at) = (job.files.0.max(1), job.inspected.len() as u64);
    sum(&parts).map(|seen| {
        if files > looked_at {
            (u128::from(seen) * u128::from(files) / u128::from(looked_at)) as u64
        } else {
            seen
        }
    })
}

fn files(job: &JobEvidence, seen: &Evidence) -> FilesLedger {
    let mut filesystems: Vec<String> = places(job, seen).map(|at| at.kind().to_owned()).collect();
    filesystems.dedup();
    let mut devices: Vec<String> =
        places(job, seen).flat_map(Location::disks).map(|disk| disk.name.clone()).collect();
    devices.dedup();
    let options = |place: &Location| {
        let facts = place.filesystem.as_ref();
        facts.is_some_and(|facts| facts.options.split(',').any(|o| o.starts_with("compress")))
    };
    let attributed = job.inspected.iter().any(|file| {
        file.attributes.get().is_some_and(|attributes| attributes.compressed)
            || file.has_encoded_extents()
    });
    FilesLedger {
        files: job.files.0,
        inspected: job.inspected.len() as u64,
        range_bytes: job.files.1,
        compressing: (attributed || places(job, seen).any(options)) && !reserved(job),
        filesystems,
        devices,
        no_storage: job.no_storage.clone(),
        unallocated_share: reads::unallocated_share(job),
    }
}

/// Whether all of its files were reserved before (fallocate): btrfs writes such
/// extents as they are, uncompressed.
fn reserved(job: &JobEvidence) -> bool {
    let all = |file: &crate::reading::FileReading| {
        file.extents.get().is_some_and(|extents| {
            extents.looked_at_bytes > 0
                && extents.unwritten_bytes >= extents.looked_at_bytes / 100 * 99
        })
    };
    !job.inspected.is_empty() && job.inspected.iter().all(all)
}

fn depth(job: &JobEvidence, seen: &Evidence) -> DepthLedger {
    let ios: u64 = job.depth_levels.iter().sum();
    let weighed: u128 =
        (0..).zip(job.depth_levels).map(|(class, ios)| u128::from(ios) << class).sum();
    let together = seen.jobs.iter().filter(|other| other.wave == job.wave && other.touches_storage);
    DepthLedger {
        requested: job.depth,
        observed_by_job: match ios {
            0 => Fact::unknown("no I/O was issued"),
            _ => Fact::Known(weighed as f64 / ios as f64),
        },
        observed_at_device: around::depth_below(job, seen),
        requested_by_all: together.map(|other| u64::from(other.depth)).sum(),
    }
}

/// A device counts the requests of everybody: where others moved much, its depth
/// is not that of the jobs.
fn depth_of_others(ledger: &mut Ledger) {
    let Some(share) = ledger.other_traffic.share.get().filter(|&share| share > 0.2) else {
        return;
    };
    for job in ledger.jobs.iter_mut().filter(|job| job.depth.observed_at_device.get().is_some()) {
        job.depth.observed_at_device = Fact::unknown(format!(
            "{} of the device's traffic was not from this run",
            iosonde_base::text::percent(share)
        ));
    }
}

fn cpu(job: &JobEvidence) -> CpuLedger {
    let ios: u64 = job.ios.0.iter().sum();
    let each = |ns: u64| if ios == 0 { 0.0 } else { ns as f64 / ios as f64 };
    let seconds = job.runtime_ns as f64 / 1e9;
    let of_time = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
    let used = job.usage.user_ns.saturating_add(job.usage.system_ns);
    CpuLedger {
        user_ns_per_io: each(job.usage.user_ns),
        system_ns_per_io: each(job.usage.system_ns),
        busy_share: of_time(used as f64 / 1e9).min(1.0),
        waited_share: match job.run_delay_ns {
            Some(ns) => Fact::Known(of_time(ns as f64 / 1e9).min(1.0)),
            None => Fact::unknown("the kernel does not count it"),
        },
        iops: of_time(ios as f64),
        upper_bound_iops: job.upper_bound_iops.clone(),
    }
}
