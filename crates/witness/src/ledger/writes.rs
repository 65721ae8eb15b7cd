//! Where writes went, and how fast when durability counts.

use super::{over_files, places, unseen_below};
use crate::evidence::{DurableAfter, Evidence, JobEvidence};
use crate::reading::{Location, both};
use iosonde_base::Dir;
use iosonde_report::is_served;
use iosonde_report::ledger::{Fact, JobLedger, Ledger, Writes};
use iosonde_sys::counters::PageFlow;
use iosonde_sys::stack::Layer;
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn of(job: &JobEvidence, seen: &Evidence, below: &Ledger) -> Writes {
    let written = job.bytes[Dir::Write];
    let reported = reported_rate(written, write_ns(job));
    let durability = durability(job, seen);
    let until = durability.as_ref().map(|durability| durability.took_ns);
    Writes {
        completed_bytes: written,
        dirty_at_end_bytes: dirty_at_end(job, seen),
        dirty_at_least: !counts_dirty(job) && dirty_at_end(job, seen).known().is_some(),
        reported_bytes_per_s: reported,
        durable_bytes_per_s: until
            .as_ref()
            .map(|&until| per_second(written, write_ns(job).saturating_add(until))),
        durable_estimated: durability.known().is_some_and(|durability| durability.by_part),
        until_durable_ns: until,
        in_volatile_cache: in_volatile_cache(job, seen, below),
        first_write_share: first_write_share(job),
        device_bytes_per_byte: Fact::unknown("reported for the run"),
    }
}

/// How long the job wrote: not the time in which it read its data back.
fn write_ns(job: &JobEvidence) -> u64 {
    job.runtime_ns.saturating_sub(job.checks_ns)
}

/// How the job's own data became durable: time in which other jobs ran is none of it.
fn durability(job: &JobEvidence, seen: &Evidence) -> Fact<DurableAfter> {
    /// Until the last job of a wave has been seen to end.
    const MOMENT_NS: u64 = 100_000_000;
    let found = durable_with_others(job, seen);
    match found {
        Fact::Known(durable) if durable.waited_ns > MOMENT_NS => match dirty_at_end(job, seen) {
            Fact::Known(0) => Fact::Known(DurableAfter {
                took_ns: durable.took_ns.saturating_sub(durable.waited_ns),
                ..durable
            }),
            _ => Fact::unknown("other jobs ran on before its data was written out"),
        },
        found => found,
    }
}

/// The same, with the time of other jobs of its wave, where a sync makes data durable.
fn durable_with_others(job: &JobEvidence, seen: &Evidence) -> Fact<DurableAfter> {
    if job.checks_ns > 0 && !job.direct && !job.options.sync {
        return Fact::unknown("its data was read back (verify) while it was written out");
    }
    if let Some(why) = unseen_below(job, seen) {
        return Fact::unknown(why);
    }
    if places(job, seen).any(ignores_syncs) {
        return Fact::unknown("overlayfs is mounted with `volatile`: it ignores every sync");
    }
    if let Some(why) = kept_elsewhere(job, seen).filter(|_| !job.synced_at_end) {
        return Fact::unknown(why);
    }
    job.durability.clone()
}

/// Why nobody here sees whether its data is in memory, where others keep the files.
fn kept_elsewhere(job: &JobEvidence, seen: &Evidence) -> Option<String> {
    let kind = places(job, seen).map(Location::kind).find(|kind| is_served(kind))?;
    Some(format!("{kind} hands data to another program or machine, which may keep it in memory"))
}

/// Whether syncs of files here do nothing (overlayfs, since Linux 5.10; newer kernels show
/// the option by another name).
fn ignores_syncs(place: &Location) -> bool {
    place.filesystem.as_ref().is_some_and(|facts| {
        facts.kind == "overlay"
            && facts
                .options
                .split(',')
                .any(|option| ["volatile", "fsync=volatile"].contains(&option))
    })
}

/// Share of the writes to space without data. What is written again has data then.
fn first_write_share(job: &JobEvidence) -> Fact<f64> {
    let passes = job.bytes[Dir::Write] as f64 / job.files.1.max(1) as f64;
    super::reads::unallocated_share(job).map(|share| share / passes.max(1.0))
}

/// Whether its dirty pages could be counted.
fn counts_dirty(job: &JobEvidence) -> bool {
    over_files(job, |file| file.unwritten[1].clone()).known().is_some()
}

/// What of the job's data was dirty when its clock stopped.
fn dirty_at_end(job: &JobEvidence, seen: &Evidence) -> Fact<u64> {
    let dirty = over_files(job, |file| file.unwritten[1].clone());
    if let (Some(why), Fact::Known(0)) = (unseen_below(job, seen), &dirty) {
        return Fact::unknown(why);
    }
    match (kept_elsewhere(job, seen), &dirty) {
        (Some(why), Fact::Known(0)) => Fact::unknown(why),
        (None, Fact::Unknown(why)) if !job.direct => match dirty_at_least(job, seen) {
            0 => dirty,
            bytes => Fact::Known(bytes),
        },
        _ => dirty,
    }
}

/// Where pages cannot be counted (overlayfs with a hidden upper directory): what the
/// process made dirty, less all that left the page cache meanwhile, of everybody, is
/// dirty still.
fn dirty_at_least(job: &JobEvidence, seen: &Evidence) -> u64 {
    let made = match (&job.process_io, &job.thread_io) {
        (Some(io), _) | (None, Fact::Known(io)) => io.storage_write_bytes,
        (None, Fact::Unknown(_)) => 0,
    };
    let Some(wave) = super::wave(job, seen) else { return 0 };
    let flow = both(&wave.after.pages, &wave.before.pages, PageFlow::since);
    let gone = flow.map(|flow| flow.written_pages.saturating_mul(4096));
    let left = gone.get().map_or(0, |gone| made.saturating_sub(gone));
    // Less is a page more or less of something else.
    if left < job.bytes[Dir::Write] / 100 { 0 } else { left }
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
fn in_volatile_cache(job: &JobEvidence, seen: &Evidence, below: &Ledger) -> Fact<bool> {
    let layers = places(job, seen).flat_map(|place| place.layers.iter().chain(&place.journals));
    let names: Vec<&str> = layers.flat_map(Layer::walk).map(|layer| layer.name.as_str()).collect();
    let mut devices = below.devices.iter().filter(|device| names.contains(&device.name.as_str()));
    if devices.any(|device| below.drops_flushes(device) || device.lost_flushes()) {
        return Fact::Known(true);
    }
    if let Some(why) = unseen_below(job, seen) {
        return Fact::unknown(why);
    }
    let synced = job.synced_at_end && !places(job, seen).any(ignores_syncs);
    let mut any = Fact::unknown("no device is below its files");
    match &seen.sync_without_flush {
        None if synced => return Fact::Known(false),
        Some(call) if synced => {
            any = Fact::unknown(format!("{call} does not empty the drive's cache"));
        }
        _ => {}
    }
    for disk in places(job, seen).flat_map(Location::disks) {
        match seen.facts_of(&disk.name).and_then(|facts| facts.write_cache.as_deref()) {
            Some("write back") => return Fact::Known(true),
            Some(_) => any = Fact::Known(false),
            None => return Fact::unknown(format!("{} does not report its cache", disk.name)),
        }
    }
    any
}

/// Writes of all jobs.
pub(super) fn together(jobs: &[JobLedger], seen: &Evidence, below: &Ledger) -> Option<Writes> {
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
        wave.0 = wave.0.max(write_ns(job));
        let until = durable_with_others(job, seen);
        let until = until.known().map_or(0, |durability| durability.took_ns);
        wave.1 = wave.1.max(write_ns(job).saturating_add(until));
    }
    let ns: (u64, u64) = waves.values().fold((0, 0), |sum, wave| (sum.0 + wave.0, sum.1 + wave.1));
    let unknown = writers.iter().find_map(|job| match durable_with_others(job, seen) {
        Fact::Unknown(why) => Some(why),
        Fact::Known(_) => None,
    });
    let durable = |value: Fact<()>, of: f64| value.map(|()| of);
    let known = unknown.map_or(Fact::Known(()), Fact::Unknown);
    let longest = |pick: fn(&DurableAfter) -> u64| {
        let each = writers.iter().map(|job| durable_with_others(job, seen));
        each.filter_map(|found| found.known().map(pick)).max().unwrap_or(0)
    };
    Some(Writes {
        completed_bytes: written,
        dirty_at_end_bytes: unwritten_once(&writers, seen),
        dirty_at_least: all.iter().any(|writes| writes.dirty_at_least),
        reported_bytes_per_s: reported_rate(written, ns.0),
        durable_bytes_per_s: durable(known.clone(), per_second(written, ns.1)),
        until_durable_ns: known.map(|()| longest(|durability| durability.took_ns)),
        durable_estimated: all.iter().any(|writes| writes.durable_estimated),
        in_volatile_cache: match all
            .iter()
            .find(|writes| writes.in_volatile_cache != Fact::Known(false))
        {
            Some(writes) => writes.in_volatile_cache.clone(),
            None => Fact::Known(false),
        },
        first_write_share: shared_out(&all, written),
        device_bytes_per_byte: received_each(written, below),
    })
}

/// The share of first writes of all jobs, each weighed by its bytes.
fn shared_out(all: &[&Writes], written: u64) -> Fact<f64> {
    let mut bytes = 0.0;
    for writes in all {
        match &writes.first_write_share {
            Fact::Known(share) => bytes += share * writes.completed_bytes as f64,
            Fact::Unknown(why) => return Fact::Unknown(why.clone()),
        }
    }
    Fact::Known(bytes / written.max(1) as f64)
}

/// Bytes that the devices right below received for each byte written.
fn received_each(written: u64, below: &Ledger) -> Fact<f64> {
    if below.other_traffic.share.get().is_some_and(|share| share > 0.05) {
        return Fact::unknown("others used the device");
    }
    let right_below = below.devices.iter().filter(|device| device.level == 0);
    let received: Vec<Fact<u64>> =
        right_below.map(|device| device.used.as_ref().map(|used| used.write_bytes)).collect();
    if received.is_empty() {
        Fact::unknown("no device is below the files")
    } else {
        super::sum(&received).map(|bytes| bytes as f64 / written.max(1) as f64)
    }
}

/// Each file once: of several jobs on it the last that looked.
fn unwritten_once(jobs: &[&JobEvidence], seen: &Evidence) -> Fact<u64> {
    let shared = {
        let mut uses: BTreeMap<&Path, usize> = BTreeMap::new();
        for file in jobs.iter().flat_map(|job| &job.inspected) {
            *uses.entry(&file.path).or_default() += 1;
        }
        uses.values().any(|&jobs| jobs > 1)
    };
    if !shared {
        let each: Vec<Fact<u64>> = jobs.iter().map(|job| dirty_at_end(job, seen)).collect();
        return super::sum(&each);
    }
    // Ranges of one file that overlap would count twice; whoever looked last at
    // the same range counts, and ranges are the same for clones of a job.
    let mut last: BTreeMap<(&Path, u64, u64), Fact<u64>> = BTreeMap::new();
    for file in jobs.iter().flat_map(|job| &job.inspected) {
        last.insert((&file.path, file.offset, file.bytes), file.unwritten[1].clone());
    }
    super::sum(last.values())
}
