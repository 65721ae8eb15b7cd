//! Where writes went, and how fast when durability counts.

use super::{over_files, places};
use crate::evidence::{DurableAfter, Evidence, JobEvidence};
use iosonde_base::Dir;
use iosonde_report::is_served;
use iosonde_report::ledger::{DeviceDescription, JobLedger, Observed, Writes};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn of(job: &JobEvidence, seen: &Evidence) -> Writes {
    let written = job.bytes[Dir::Write];
    let reported = reported_rate(written, job.runtime_ns);
    let until = job.durability.map(|durability| durability.took_ns);
    Writes {
        completed_bytes: written,
        dirty_at_end_bytes: dirty_at_end(job, seen),
        reported_bytes_per_s: reported,
        durable_bytes_per_s: until
            .map(|&until| per_second(written, job.runtime_ns.saturating_add(until))),
        durable_estimated: job.durability.get().is_some_and(|durability| durability.by_part),
        until_durable_ns: until,
        in_volatile_cache: in_volatile_cache(job, seen),
    }
}

/// What of the job's data was dirty when its clock stopped.
fn dirty_at_end(job: &JobEvidence, seen: &Evidence) -> Observed<u64> {
    let dirty = over_files(job, |file| file.unwritten[1].clone());
    let served = places(job, seen).map(crate::reading::Location::kind).find(|kind| is_served(kind));
    match (served, &dirty) {
        (Some(kind), Observed::Is(0)) => Observed::unknown(format!(
            "{kind} hands data to another program or machine, which may \
                                       keep it in memory"
        )),
        _ => dirty,
    }
}

/// The rate as the report's formats have it: over whole milliseconds, so that
/// one report does not show two figures for it.
fn reported_rate(bytes: u64, ns: u64) -> f64 {
    match ns {
        0 => 0.0,
        _ => per_second(bytes, (ns / 1_000_000).max(1).saturating_mul(1_000_000)),
    }
}

fn per_second(bytes: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { bytes as f64 * 1e9 / ns as f64 }
}

/// Whether the last writes may be in a volatile write cache: no flush followed.
fn in_volatile_cache(job: &JobEvidence, seen: &Evidence) -> Observed<bool> {
    let mut disks = places(job, seen).flat_map(crate::reading::Location::disks);
    if disks.any(|disk| seen.facts_of(&disk.name).is_some_and(DeviceDescription::drops_flushes)) {
        return Observed::Is(true);
    }
    if job.synced_at_end {
        return Observed::Is(false);
    }
    let mut any = Observed::unknown("no device is below its files");
    for disk in places(job, seen).flat_map(crate::reading::Location::disks) {
        match seen.facts_of(&disk.name).and_then(|facts| facts.write_cache.as_deref()) {
            Some("write back") => return Observed::Is(true),
            Some(_) => any = Observed::Is(false),
            None => return Observed::unknown(format!("{} does not report its cache", disk.name)),
        }
    }
    any
}

/// Writes of all jobs.
pub(super) fn together(jobs: &[JobLedger], seen: &Evidence) -> Option<Writes> {
    let all: Vec<&Writes> = jobs.iter().filter_map(|job| job.writes.as_ref()).collect();
    if all.is_empty() {
        return None;
    }
    let writers: Vec<&JobEvidence> =
        seen.jobs.iter().filter(|job| job.touches_storage && job.bytes[Dir::Write] > 0).collect();
    let written: u64 = all.iter().map(|writes| writes.completed_bytes).sum();
    // Jobs that ran one after the other did not share the time.
    let mut waves: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for job in &writers {
        let wave = waves.entry(job.wave).or_default();
        wave.0 = wave.0.max(job.runtime_ns);
        let until = job.durability.get().map_or(0, |durability| durability.took_ns);
        wave.1 = wave.1.max(job.runtime_ns.saturating_add(until));
    }
    let ns: (u64, u64) = waves.values().fold((0, 0), |sum, wave| (sum.0 + wave.0, sum.1 + wave.1));
    let unknown = writers.iter().find_map(|job| match &job.durability {
        Observed::Unknown(why) => Some(why.clone()),
        Observed::Is(_) => None,
    });
    let durable = |value: Observed<()>, of: f64| value.map(|()| of);
    let known = unknown.map_or(Observed::Is(()), Observed::Unknown);
    let longest = |pick: fn(&DurableAfter) -> u64| {
        writers.iter().filter_map(|job| job.durability.get()).map(pick).max().unwrap_or(0)
    };
    Some(Writes {
        completed_bytes: written,
        dirty_at_end_bytes: unwritten_once(&writers, seen),
        reported_bytes_per_s: reported_rate(written, ns.0),
        durable_bytes_per_s: durable(known.clone(), per_second(written, ns.1)),
        until_durable_ns: known.map(|()| longest(|durability| durability.took_ns)),
        durable_estimated: all.iter().any(|writes| writes.durable_estimated),
        in_volatile_cache: match all
            .iter()
            .find(|writes| writes.in_volatile_cache != Observed::Is(false))
        {
            Some(writes) => writes.in_volatile_cache.clone(),
            None => Observed::Is(false),
        },
    })
}

/// Each file once: of several jobs on it the last that looked.
fn unwritten_once(jobs: &[&JobEvidence], seen: &Evidence) -> Observed<u64> {
    let shared = {
        let mut uses: BTreeMap<&Path, usize> = BTreeMap::new();
        for file in jobs.iter().flat_map(|job| &job.inspected) {
            *uses.entry(&file.path).or_default() += 1;
        }
        uses.values().any(|&jobs| jobs > 1)
    };
    if !shared {
        let each: Vec<Observed<u64>> = jobs.iter().map(|job| dirty_at_end(job, seen)).collect();
        return super::sum(&each);
    }
    // Ranges of one file that overlap would count twice; whoever looked last at
    // the same range counts, and ranges are the same for clones of a job.
    let mut last: BTreeMap<(&Path, u64, u64), Observed<u64>> = BTreeMap::new();
    for file in jobs.iter().flat_map(|job| &job.inspected) {
        last.insert((&file.path, file.offset, file.bytes), file.unwritten[1].clone());
    }
    super::sum(last.values())
}
