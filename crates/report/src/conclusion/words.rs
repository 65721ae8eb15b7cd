//! The limit of a run as a sentence without its end.

use super::limit::{LimitKind, Limited, is_reached, throttled_share};
use super::stall::Stall;
use super::{Certainty, LimitedBy, TimeShares, limit, time};
use crate::ledger::{JobLedger, Ledger};
use iosonde_base::text::{count, duration, percent, rate};

/// Others that take more of the time than this are named, whatever the limit.
const TAKEN_SHARE: f64 = 0.1;
/// Jobs of one kind that are named.
const NAMED_MOST: usize = 3;

/// What limited the run, and what else its reader must know, without a full stop.
pub(super) fn sentence(ledger: &Ledger, limited: &Limited) -> String {
    let mut parts = vec![first(ledger, limited)];
    if limited.limit != LimitedBy::Stall {
        parts.extend(limited.stall.as_ref().map(stalled));
    }
    parts.extend(missed_rate(ledger));
    let time = limited.time.unwrap_or_default();
    let is_said = [LimitedBy::Processor, LimitedBy::Quota].contains(&limited.limit);
    if time.waiting_for_processor >= TAKEN_SHARE && !is_said {
        let share = percent(time.waiting_for_processor);
        parts.push(format!("its threads waited for a processor for {share} of the time"));
    }
    parts.join("; ")
}

fn first(ledger: &Ledger, limited: &Limited) -> String {
    if let (LimitedBy::Stall, Some(stall)) = (&limited.limit, &limited.stall) {
        let words = stalled(stall);
        let mut rest = words.chars();
        return rest.next().map_or(String::new(), |one| one.to_uppercase().chain(rest).collect());
    }
    let lead = match limited.certainty {
        Certainty::Likely => "Probably limited by",
        _ => "Limited by",
    };
    let ran = || ledger.jobs.iter().filter(|job| job.runtime_ns > 0);
    let mut kinds: Vec<(LimitKind, Vec<&JobLedger>)> = Vec::new();
    for (job, limit) in ran().zip(&limited.jobs) {
        match kinds.iter_mut().find(|(kind, _)| *kind == limit.kind) {
            Some((_, jobs)) => jobs.push(job),
            None => kinds.push((limit.kind, vec![job])),
        }
    }
    match kinds.as_slice() {
        [] => "What limited it is unknown".to_owned(),
        [(LimitKind::Waiting, jobs)] => waiting(jobs, ledger),
        [(kind, jobs)] => format!("{lead} {}", words(*kind, jobs, ledger)),
        several => {
            let each: Vec<String> = several
                .iter()
                .map(|(kind, jobs)| format!("{} by {}", names(jobs), words(*kind, jobs, ledger)))
                .collect();
            format!("{lead} different things: {}", each.join("; "))
        }
    }
}

/// `db, log and 3 more`.
fn names(jobs: &[&JobLedger]) -> String {
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.dedup();
    let named = names[..names.len().min(NAMED_MOST)].join(", ");
    match names.len().saturating_sub(NAMED_MOST) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What limited these jobs, and the evidence.
fn words(kind: LimitKind, jobs: &[&JobLedger], ledger: &Ledger) -> String {
    let shares = time::of_all(jobs.iter().copied()).unwrap_or_default();
    match kind {
        LimitKind::Rate if jobs.iter().all(|job| is_reached(job)) => {
            "the job's own rate, which was reached".to_owned()
        }
        LimitKind::Rate => "the job's own rate".to_owned(),
        LimitKind::Pause => {
            let rests = jobs.iter().map(|job| 1.0 - time::in_flight(job)).fold(1.0, f64::min);
            format!("the job's own think time ({} of the time)", percent(rests))
        }
        LimitKind::NoStorage => "the tester itself, as no storage was involved".to_owned(),
        LimitKind::Simulated => format!("the simulated device at queue depth {}", depth(jobs)),
        LimitKind::Tester => "the tester itself".to_owned(),
        LimitKind::CpuQuota => {
            let limit = match ledger.environment.cgroup_cpus {
                Some(cpus) => format!("the control group's limit of {cpus} processors"),
                None => "a control group's limit of processors".to_owned(),
            };
            format!("{limit} (throttled for {} of the time)", percent(throttled_share(ledger)))
        }
        LimitKind::IoQuota => {
            let used =
                jobs.iter().filter_map(|job| limit::io_quota(job, ledger)).fold(0.0, f64::max);
            format!("the control group's limit of I/O ({} of it used)", percent(used))
        }
        LimitKind::Memory => {
            let known = jobs.iter().filter_map(|job| limit::memory_share(job));
            let least = known.fold(1.0, f64::min);
            {
                let holes = jobs.iter().filter_map(|job| job.reads.as_ref()?.hole_share());
                let were = if holes.fold(0.0, f64::max) > 0.0 { " or were holes" } else { "" };
                format!("memory: {} of the bytes stayed in the page cache{were}", percent(least))
            }
        }
        LimitKind::Processor => processor(&shares, ledger),
        LimitKind::Storage => storage(jobs, &shares, ledger),
        LimitKind::Waiting => "something other than a device".to_owned(),
    }
}

/// Own use of the processors, and what others took, told apart.
fn processor(shares: &TimeShares, ledger: &Ledger) -> String {
    let (own, waited) = (percent(shares.on_processor), percent(shares.waiting_for_processor));
    let running: f64 = ledger.jobs.iter().map(|job| job.cpu.busy_share).sum();
    let all_own = running >= 0.8 * f64::from(ledger.environment.cpus.max(1));
    if shares.on_processor >= shares.waiting_for_processor || all_own {
        format!("the processor (on it {own} of the time, waiting for one {waited})")
    } else {
        format!("others on the processors (waiting for one {waited} of the time, on it {own})")
    }
}

fn storage(jobs: &[&JobLedger], shares: &TimeShares, ledger: &Ledger) -> String {
    let syncs = jobs.iter().map(|job| time::in_syncs(job)).fold(0.0, f64::max);
    let at = if syncs >= 0.5 {
        format!(" (in syncs {} of the time)", percent(syncs))
    } else {
        format!(" (waiting for it {} of the time)", percent(shares.asleep))
    };
    format!("{} at queue depth {}{at}", target_of(jobs, ledger), depth(jobs))
}

/// A job that waits while its devices are idle.
fn waiting(jobs: &[&JobLedger], ledger: &Ledger) -> String {
    let shares = time::of_all(jobs.iter().copied()).unwrap_or_default();
    let busy = jobs.iter().filter_map(|job| limit::device_share(job, ledger)).fold(0.0, f64::max);
    let device = jobs.iter().flat_map(|job| &job.files.devices).next();
    let but = match device {
        Some(device) => format!("but {device} was busy for {}", percent(busy)),
        None => "and not for storage".to_owned(),
    };
    format!(
        "What limited it is unknown: it waited for {} of the time, {but}",
        percent(shares.asleep)
    )
}

fn stalled(stall: &Stall) -> String {
    let (ns, of) = (duration(stall.ns), duration(stall.of_ns));
    let share = percent(stall.share());
    let from = stall.from_ns.map_or(String::new(), |from| format!(", from {} on", duration(from)));
    if stall.of_process {
        format!("stopped: the process was stopped for {ns} of {of} ({share})")
    } else {
        format!("stalled: nothing completed for {ns} of {of} ({share}){from}")
    }
}

/// A rate that was set and not reached, of the job that kept least of it.
fn missed_rate(ledger: &Ledger) -> Option<String> {
    let missed = ledger.jobs.iter().filter(|job| job.options.pace.is_some() && !is_reached(job));
    let worst = missed.filter_map(|job| job.options.pace.as_ref());
    let worst =
        worst.min_by(|a, b| (a.reached / a.requested).total_cmp(&(b.reached / b.requested)))?;
    let (reached, set) = if worst.in_bytes {
        (rate(worst.reached), rate(worst.requested))
    } else {
        (count(worst.reached), format!("{} IOPS", count(worst.requested)))
    };
    Some(format!("the rate set was not reached: {reached} of {set}"))
}

/// The devices right below the files that moved anything, else the file systems.
pub(super) fn target(ledger: &Ledger) -> String {
    let jobs: Vec<&JobLedger> = ledger.jobs.iter().collect();
    target_of(&jobs, ledger)
}

fn target_of(jobs: &[&JobLedger], ledger: &Ledger) -> String {
    let is_idle = |name: &str| {
        let device = ledger.devices.iter().find(|device| device.name == name);
        let used = device.and_then(|device| device.used.known());
        used.is_some_and(|used| used.read_ios + used.write_ios + used.flushes == 0)
    };
    let mut devices: Vec<&str> = Vec::new();
    let mut filesystems: Vec<&str> = Vec::new();
    fn add<'a>(all: &mut Vec<&'a str>, names: impl Iterator<Item = &'a String>) {
        names.for_each(|name| {
            if !all.contains(&name.as_str()) {
                all.push(name);
            }
        });
    }
    for job in jobs {
        add(&mut devices, job.files.devices.iter().filter(|name| !is_idle(name)));
        add(&mut filesystems, job.files.filesystems.iter());
    }
    match if devices.is_empty() { filesystems } else { devices }.as_slice() {
        [] => "the storage".to_owned(),
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, rest @ ..] => format!("{one} and {} other devices", rest.len()),
    }
}

/// The depth of the job with the deepest queue, as it was where that is known.
fn depth(jobs: &[&JobLedger]) -> String {
    let deepest = jobs.iter().max_by_key(|job| job.depth.requested_by_all);
    let Some(depth) = deepest.map(|job| &job.depth) else { return "unknown".to_owned() };
    let requested = depth.requested_by_all.max(u64::from(depth.requested)).max(1);
    match depth.observed_at_device.get() {
        // A device that merges or splits requests has another depth than the job.
        Some(observed) if requested > 1 && observed < requested as f64 * 0.7 => {
            format!("{} ({requested} requested)", count(observed))
        }
        _ => requested.to_string(),
    }
}
