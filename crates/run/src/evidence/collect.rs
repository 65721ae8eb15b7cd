//! What jobs and conductor saw, put together.

use super::job_readings::JobSeen;
use super::run_readings::RunSeen;
use crate::job::{FileKind, JobPlan, Plan};
use crate::worker::JobResult;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_engine::FsyncCall;
use iosonde_report::ledger::{LatencySummary, LedgerOptions, PaceKept};
use iosonde_stats::{HistogramSnapshot, LaneSnapshot, MomentsSnapshot};
use iosonde_sys::stack::DeviceId;
use iosonde_verify::Checks;
use iosonde_witness::{Evidence, Fact, JobEvidence, VerifyEvidence};
use iosonde_workload::content::Base;
use iosonde_workload::{Cap, Distribution};
use std::collections::HashMap;
use std::path::Path;

/// Everything that was seen of a run.
pub fn evidence(plan: &Plan, results: &[Option<JobResult>], seen: &RunSeen) -> Evidence {
    let mut repeated = repeated(plan);
    let jobs = plan.jobs.iter().zip(results).enumerate();
    let jobs: Vec<JobEvidence> = jobs
        .filter_map(|(at, (job, result))| {
            let result = result.as_ref().filter(|result| !result.never_counted)?;
            let mut evidence = of_job(at, job, result, seen);
            evidence.options.pace = pace(job, result);
            evidence.options.repeats_job = repeated.remove(&at);
            Some(evidence)
        })
        .collect();
    let looked = results.iter().flatten().filter_map(|result| result.seen.as_ref());
    let took = looked.map(|job| job.took).sum::<std::time::Duration>() + seen.took;
    Evidence {
        jobs,
        waves: seen.waves.clone(),
        places: seen.places.0.clone(),
        facts: seen.facts.clone(),
        machine: seen.machine.clone(),
        phases: seen.phases.clone(),
        series: seen.series.clone(),
        tool: concat!("iosonde ", env!("CARGO_PKG_VERSION")).to_owned(),
        clock_read_ns: clock_ns(plan),
        counter_read_ns: took.as_nanos() as u64,
        sync_without_flush: sync_without_flush(FsyncCall::HERE),
        stopped_ns: seen.stopped.as_nanos() as u64,
        limits_meanwhile: seen.limits.clone(),
        holes_below: seen.holes_below.clone(),
    }
}

/// The call, unless it asks the drive to empty its cache.
fn sync_without_flush(call: FsyncCall) -> Option<String> {
    (!call.empties_drive_cache).then(|| call.name.to_owned())
}

fn of_job(at: usize, job: &JobPlan, result: &JobResult, seen: &RunSeen) -> JobEvidence {
    let lanes = &result.snapshot.lanes;
    let looked = result.seen.as_deref();
    let no_storage = no_storage(job);
    let sync = &result.snapshot.sync;
    let writes = lanes[Dir::Write as usize].ios;
    let every = &job.source.sync_every;
    // With others in flight, a sync covers those that came back before it. A sync after each of
    // several writes comes before the next I/O, so the last write may have none.
    let last_synced = job.window.depth == 1 && [every.fsync, every.fdatasync].contains(&1);
    JobEvidence {
        name: job.name.clone(),
        number: job.number,
        wave: seen.wave_of.get(at).copied().unwrap_or(0),
        options: options(job),
        direct: job.open.mode.direct,
        depth: job.window.depth,
        bytes: PerDir(DIRS.map(|dir| lanes[dir as usize].bytes)),
        ios: PerDir(DIRS.map(|dir| lanes[dir as usize].ios)),
        ramped: job.time.ramp.0 > 0 || job.time.ramp_bytes > 0,
        runtime_ns: result.runtime.0,
        checks_ns: result.verify.as_ref().map_or(0, |verify| verify.after_writes.0),
        depth_levels: result.snapshot.depth_level,
        syncs: if every.range > 0 && every.fsync == 0 && every.fdatasync == 0 && !job.end.fsync {
            (0, None)
        } else {
            (sync.ios, sync.lat_histogram.as_ref().or(sync.clat_histogram.as_ref()).map(median))
        },
        end_syncs: end_syncs(job, result),
        sync_times: (shown_moments(sync).mean(), shown_moments(sync).max),
        synced_at_end: writes == 0
            || job.end.fsync
            || job.end.syncfs
            || job.open.mode.sync
            || job.open.mode.dsync
            || last_synced,
        latency: latency(result),
        usage: result.usage,
        run_delay_ns: result.run_delay_ns,
        touches_storage: touches_storage(job, &no_storage),
        no_storage,
        evenly: evenly(job),
        residency: seen.residency.get(at).cloned().unwrap_or_default(),
        thread_io: looked.map_or(Fact::default(), |seen| seen.thread_io.clone()),
        process_io: looked.and_then(|seen| seen.process_io),
        has_helpers: has_helpers(job),
        files: (job.files.len() as u64, job.files.iter().map(|file| file.bytes).sum()),
        inspected: looked.map_or_else(Vec::new, |seen| seen.files.clone()),
        verify: looked.and_then(|looked| verify(job, looked, lanes[Dir::Read as usize].bytes)),
        durability: seen.durability.get(at).cloned().unwrap_or_default(),
        upper_bound_iops: seen.ceilings.get(at).cloned().unwrap_or_default(),
    }
}

/// Whether it moves bytes of files or devices, and does not only act on names.
fn touches_storage(job: &JobPlan, no_storage: &[String]) -> bool {
    let caps = &job.engine.caps;
    let has_files = job.files.iter().any(|file| file.kind != FileKind::None);
    let has_storage = job.files.is_empty() || no_storage.len() < job.files.len();
    !caps.by_name && has_storage && (!caps.diskless && !caps.no_io || has_files)
}

/// Those of its files that the kernel answers itself: /dev/null, /dev/zero, /dev/full,
/// /dev/random (devices.txt of the kernel, "1 char").
fn no_storage(job: &JobPlan) -> Vec<String> {
    let of_kernel = |path: &Path| {
        iosonde_sys::files::status(path).is_ok_and(|status| {
            status.file_type().is_char_device() && DeviceId::from_raw(status.rdev()).major == 1
        })
    };
    let special = job.files.iter().filter(|file| file.kind == FileKind::Character);
    let special = special.filter(|file| of_kernel(&file.path));
    special.map(|file| file.path.display().to_string()).collect()
}

/// Whether each of its I/Os is as likely to fall on any place of its range as on another.
fn evenly(job: &JobPlan) -> bool {
    let source = &job.source;
    let is_random = |dir: Dir| source.percentage_random[dir] == 100;
    source.directions.random
        && matches!(source.distribution, Distribution::Random)
        && DIRS.into_iter().filter(|&dir| job.dirs[dir]).all(is_random)
}

/// Syncs after its last write, if it came so far.
fn end_syncs(job: &JobPlan, result: &JobResult) -> u64 {
    let asked = job.end.fsync || job.end.fdatasync || job.end.syncfs || job.open.sync_on_close;
    let done = result.error.is_none() && result.phases.iter().any(|phase| phase.name == "sync");
    u64::from(asked && done)
}

/// The reads that checked what was written: those of a phase, or all where the
/// job has no others.
fn verify(job: &JobPlan, looked: &JobSeen, read_bytes: u64) -> Option<VerifyEvidence> {
    let plan = job.verify.as_ref().filter(|plan| plan.spec.moves_data)?;
    let among_others = plan.spec.backlogs.verify_after > 0 || plan.spec.checks == Checks::Reads;
    if !among_others {
        let phase = looked.verify.as_ref()?;
        return Some(VerifyEvidence {
            bytes: phase.bytes,
            wrote_it: plan.spec.checks == Checks::Writes,
            thread_io: phase.thread_io.clone(),
            process_io: phase.process_io,
        });
    }
    let all = plan.spec.checks == Checks::Reads || !job.dirs[Dir::Read];
    all.then(|| VerifyEvidence {
        bytes: read_bytes,
        wrote_it: plan.spec.checks == Checks::Writes,
        thread_io: looked.thread_io.clone(),
        process_io: looked.process_io,
    })
}

/// Whether threads other than the job's do I/O for it: kernel workers, or the
/// engine's own.
fn has_helpers(job: &JobPlan) -> bool {
    job.engine.caps.own_threads || job.settings.uses_other_threads()
}

fn options(job: &JobPlan) -> LedgerOptions {
    let dirs = DIRS.into_iter().filter(|&dir| job.dirs[dir]);
    let sizes = dirs.map(|dir| (job.source.sizes[dir].min(), job.source.sizes[dir].max()));
    let (least, most) = sizes.fold((u32::MAX, 0), |all, one| (all.0.min(one.0), all.1.max(one.1)));
    LedgerOptions {
        engine: job.engine.name.to_owned(),
        block_bytes_min: u64::from(least.min(most)),
        block_bytes_max: u64::from(most),
        random: job.source.directions.random,
        pauses: job.pace.pause.is_some() || job.pace.flow.is_some(),
        paced: job.source.pace.is_set() || job.pace.pause.is_some() || job.pace.flow.is_some(),
        sync: job.open.mode.sync || job.open.mode.dsync,
        seed: job.source.randseed,
        polled_by_kernel: job.settings.kernel_thread_polls(),
        compressible: job.fill.writes
            && (!matches!(job.fill.base, Base::Random) || job.fill.repeats.is_some()),
        iec_as_si: job.reporting.iec_as_si.clone(),
        pace: None,
        repeats_job: None,
    }
}

/// The rate of the direction that kept least of what was set for it.
fn pace(job: &JobPlan, result: &JobResult) -> Option<PaceKept> {
    let seconds = result.runtime.0 as f64 / 1e9;
    let of = |dir: Dir| {
        let lane = &result.snapshot.lanes[dir as usize];
        let (in_bytes, requested, done) = match job.source.pace.caps[dir] {
            Cap::Bytes(rate) => (true, rate, lane.bytes),
            Cap::Ios(rate) => (false, rate, lane.ios),
            Cap::Free => return None,
        };
        (requested > 0 && done > 0).then(|| PaceKept {
            in_bytes,
            requested: requested as f64,
            reached: done as f64 / seconds.max(1e-9),
        })
    };
    let kept = |pace: &PaceKept| pace.reached / pace.requested;
    DIRS.into_iter().filter_map(of).min_by(|a, b| kept(a).total_cmp(&kept(b)))
}

/// Jobs that go through the same bytes of the same files in the same order, or most of
/// them, as one before them in their wave: by job, that one's name.
fn repeated(plan: &Plan) -> HashMap<usize, String> {
    let mut found = HashMap::new();
    for wave in &plan.waves {
        let mut latest: HashMap<(Vec<&Path>, u32), usize> = HashMap::new();
        for &at in wave {
            let job = &plan.jobs[at];
            let has_files = job.files.iter().all(|file| file.kind != FileKind::None);
            // Random places are drawn from a seed that holds the job's number.
            if job.source.directions.random || job.files.is_empty() || !has_files {
                continue;
            }
            let paths = job.files.iter().map(|file| file.path.as_path()).collect();
            let size = job.source.sizes[Dir::Read].max();
            if let Some(earlier) = latest.insert((paths, size), at).map(|at| &plan.jobs[at])
                && share_in_common(job, earlier) >= 0.5
            {
                found.insert(at, earlier.name.clone());
            }
        }
    }
    found
}

/// The share of a job's bytes that another one of the same files has, too.
fn share_in_common(job: &JobPlan, other: &JobPlan) -> f64 {
    let (mut common, mut all) = (0, 0);
    for (file, others) in job.files.iter().zip(&other.files) {
        let first = file.offset.max(others.offset);
        let both = file.range_end().min(others.range_end()).saturating_sub(first);
        common += u128::from(both);
        all += u128::from(file.bytes);
    }
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

fn latency(result: &JobResult) -> LatencySummary {
    let mut all: Option<HistogramSnapshot> = None;
    let (mut max_ns, mut ios) = (0, 0);
    for lane in &result.snapshot.lanes {
        // The one of total latencies is there and empty where only completions are counted.
        let kept = [lane.lat_histogram.as_ref(), lane.clat_histogram.as_ref()].into_iter();
        let kept = kept.flatten().find(|histogram| histogram.total() > 0);
        max_ns = max_ns.max(lane.clat.max).max(lane.lat.max);
        ios += lane.ios;
        match (&mut all, kept) {
            (Some(all), Some(kept)) => all.merge(kept),
            (None, Some(kept)) => all = Some(kept.clone()),
            (_, None) => {}
        }
    }
    let at = |percent| all.as_ref().map_or(0, |all| all.percentile(percent));
    let moments = || result.snapshot.lanes.iter().map(shown_moments);
    let n: u64 = moments().map(|one| one.n).sum();
    let mean_ns = moments().map(|one| one.sum).sum::<u128>() as f64 / n.max(1) as f64;
    LatencySummary { ios, mean_ns, p50_ns: at(50.0), p99_ns: at(99.0), max_ns }
}

/// Latencies of a lane: the total ones where they are kept.
fn shown_moments(lane: &LaneSnapshot) -> &MomentsSnapshot {
    if lane.lat.n > 0 { &lane.lat } else { &lane.clat }
}

fn median(histogram: &HistogramSnapshot) -> u64 {
    histogram.percentile(50.0)
}

/// What one look at the first job's clock costs, over a thousand.
fn clock_ns(plan: &Plan) -> Fact<f64> {
    const LOOKS: u32 = 1000;
    let Some(job) = plan.jobs.first() else { return Fact::unknown("there is no job") };
    match iosonde_sys::clock::Clock::pick(job.measure.clock) {
        Ok(clock) => {
            let began = clock.now();
            let mut last = began;
            for _ in 0..LOOKS {
                last = std::hint::black_box(clock.now());
            }
            Fact::Known(clock.ns_between(began, last) as f64 / f64::from(LOOKS))
        }
        Err(error) => Fact::unknown(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::FilePlan;
    use crate::plan::JobBuilder;

    /// A sequential job of 8 MiB on these files, this far into each.
    fn job(paths: &[&str], offset: u64) -> JobPlan {
        let mut job = JobBuilder::new("job", Path::new("/tmp/iosonde-same-offsets"));
        job.set_text("size", "8m").unwrap();
        let mut job = job.plan().unwrap().jobs[0].clone();
        let file = job.files[0].clone();
        let at = |path: &&str| FilePlan { path: path.into(), offset, ..file.clone() };
        job.files = paths.iter().map(at).collect();
        job
    }

    #[test]
    fn a_job_that_reads_most_of_what_another_reads_repeats_it() {
        let repeats = |jobs: [JobPlan; 2]| {
            let plan = Plan { waves: vec![vec![0, 1]], jobs: jobs.to_vec(), ..Plan::default() };
            repeated(&plan).contains_key(&1)
        };
        let mib = 1 << 20;
        assert!(repeats([job(&["a"], 0), job(&["a"], 0)]));
        assert!(repeats([job(&["a", "b"], 0), job(&["a", "b"], 0)]));
        assert!(repeats([job(&["a"], 0), job(&["a"], mib)]));
        assert!(!repeats([job(&["a"], 0), job(&["a"], 5 * mib)]));
        assert!(!repeats([job(&["a"], 0), job(&["b"], 0)]));
        let mut random = job(&["a"], 0);
        random.source.directions.random = true;
        assert!(!repeats([random.clone(), random]));
    }
}
