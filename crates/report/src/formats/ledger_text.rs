//! The ledger and the verdict as a few lines for a person.

use super::findings_text::{findings_folded, findings_text};
use super::style::{Mark, Style, add_labelled, paint};
use crate::conclusion::{Conclusion, Outcome};
use crate::ledger::*;
use crate::report::Report;
use iosonde_base::text::{bytes, count, counted, duration, percent, percent_of, rate, wrap};

/// What the lines of a ledger stand below.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LedgerPlace<'a> {
    /// fio's text, which says nothing of it, with the conclusion.
    FioText(Option<&'a Conclusion>),
    /// Our own text: its table has the reported rate, and the conclusion is its first line.
    OwnText(Option<&'a Conclusion>),
}

impl LedgerPlace<'_> {
    fn has_failed(&self) -> bool {
        let (LedgerPlace::FioText(conclusion) | LedgerPlace::OwnText(conclusion)) = self;
        conclusion.is_some_and(|conclusion| conclusion.outcome == Outcome::Failed)
    }
}

/// The lines at the end of fio's text; nothing where there is no ledger.
pub fn ledger_text(report: &Report, style: &Style) -> String {
    let mut text = String::new();
    if let Some(ledger) = &report.ours.ledger {
        let style = Style { verbose: true, ..*style };
        let place = LedgerPlace::FioText(report.ours.conclusion.as_ref());
        add_ledger(ledger, place, &style, &mut text);
    }
    text
}

/// The ledger and its findings.
pub(super) fn add_ledger(
    ledger: &Ledger,
    below: LedgerPlace<'_>,
    style: &Style,
    text: &mut String,
) {
    text.push('\n');
    let mut line = |label: &str, words: &str| add_labelled(label, words, Mark::Label, style, text);
    if let Some(reads) = &ledger.reads {
        line("reads", &reads_line(reads));
    }
    if let Some(reads) = &ledger.verify_reads {
        line("read back", &reads_line(reads));
    }
    if let Some(writes) = &ledger.writes {
        line("writes", &writes_line(writes, below));
    }
    for words in direct_lines(ledger) {
        line("direct", &words);
    }
    if let Some(words) = depth_line(ledger) {
        line("depth", &words);
    }
    if let Some(words) = sync_line(ledger) {
        line("syncs", &words);
    }
    if style.verbose {
        for (label, words) in
            [("tester", tester_line(ledger, below)), ("also", phases_line(ledger))]
        {
            if let Some(words) = words {
                line(label, &words);
            }
        }
    }
    line("system", &system_line(ledger, style));
    if let LedgerPlace::FioText(Some(conclusion)) = below {
        line("result", &conclusion.text);
    }
    text.push('\n');
    add_verdict(ledger, below, style, text);
}

/// Where reads came from: device, page cache, holes.
fn reads_line(reads: &Reads) -> String {
    let all = reads.completed_bytes;
    let device = match &reads.device_bytes {
        Fact::Known(device) => *device,
        Fact::Unknown(why) => return format!("{}, source unknown: {why}", bytes(all)),
    };
    let mut parts = Vec::new();
    let mut part = |of: u64, from: &str| {
        if of > 0 && all > 0 {
            parts.push(format!("{} from {from}", percent_of(of, all)));
        }
    };
    // What one job read ahead of its own reads may have been a page cache hit of another.
    let ahead = reads.readahead_bytes.get().unwrap_or(0);
    let own = device.saturating_sub(ahead).min(all);
    match decoded_bytes(reads, device) {
        Some(decoded) => {
            let ratio = decoded as f64 / device.max(1) as f64;
            let how =
                format!("the device, which has them as {} ({}:1)", bytes(device), count(ratio));
            part(decoded, &how);
        }
        None => part(own, "the device"),
    }
    match (&reads.cache_bytes, &reads.hole_bytes) {
        (Fact::Known(cache), Fact::Known(holes)) => {
            part(*cache, "the page cache");
            let estimated = if reads.holes_estimated { "holes (estimated)" } else { "holes" };
            part(*holes, estimated);
        }
        (Fact::Unknown(why), Fact::Known(0)) => {
            part(all.saturating_sub(device), &format!("elsewhere ({why})"));
        }
        (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => {
            part(all.saturating_sub(device), &format!("the page cache or holes ({why})"));
        }
    }
    let ahead = if ahead.saturating_mul(100) > all {
        format!("; {} more read ahead", bytes(ahead))
    } else {
        String::new()
    };
    // Direct reads all wait, and large ones are several requests.
    let waited = match reads.requests_per_read {
        Fact::Known(each) if each < 0.9 => {
            format!("; {} of the reads waited for the device", percent(each))
        }
        _ => String::new(),
    };
    format!("{}: {}{ahead}{waited}", bytes(all), parts.join(", "))
}

/// Bytes from the device that it has as fewer, where all others are known: the file system
/// compresses, or keeps what is equal once.
fn decoded_bytes(reads: &Reads, device: u64) -> Option<u64> {
    let elsewhere = reads.cache_bytes.get()?.saturating_add(reads.hole_bytes.get()?);
    let decoded = reads.completed_bytes.saturating_sub(elsewhere);
    (decoded > device.saturating_add(reads.completed_bytes / 100)).then_some(decoded)
}

/// What was durable at the end of the run, and the rates that do not stand
/// above already.
fn writes_line(writes: &Writes, below: LedgerPlace<'_>) -> String {
    let all = writes.completed_bytes;
    let state = match &writes.dirty_at_end_bytes {
        Fact::Known(0) if writes.in_volatile_cache == Fact::Known(true) => {
            "all at the device, in its volatile write cache".to_owned()
        }
        Fact::Known(0) => "all at the device at the end of the run".to_owned(),
        Fact::Known(dirty) => format!(
            "{}{} ({}) still dirty in the page cache at the end of the run",
            if writes.dirty_at_least { "at least " } else { "" },
            bytes((*dirty).min(all)),
            percent_of((*dirty).min(all), all)
        ),
        Fact::Unknown(why) => format!("state at the end of the run unknown: {why}"),
    };
    let durable = match &writes.durable_bytes_per_s {
        Fact::Unknown(why) if state.ends_with(&**why) => "and so is the durable rate".to_owned(),
        Fact::Known(durable) => {
            let how = if writes.durable_estimated {
                "write-back included, extrapolated"
            } else {
                "write-back included"
            };
            format!("durable rate {} ({how})", rate(*durable))
        }
        Fact::Unknown(why) => format!("durable rate unknown: {why}"),
    };
    let reported = match below {
        LedgerPlace::FioText(_) => format!("reported rate {}, ", rate(writes.reported_bytes_per_s)),
        LedgerPlace::OwnText(_) => String::new(),
    };
    format!("{}: {state}; {reported}{durable}{}", bytes(all), work_of_writes(writes))
}

/// What makes the device's work another than the job's: space never written before,
/// and more or fewer bytes than were written.
fn work_of_writes(writes: &Writes) -> String {
    let mut words = String::new();
    if let Some(share) = writes.first_write_share.get().filter(|&share| share >= 0.01) {
        words.push_str(&format!("; {} to space never written before", percent(share)));
    }
    let is_there = writes.dirty_at_end_bytes == Fact::Known(0);
    let each = writes.device_bytes_per_byte.get().filter(|_| is_there);
    if let Some(each) = each.filter(|each| !(0.9..=1.1).contains(each)) {
        words.push_str(&format!("; write amplification {}", count(each)));
    }
    words
}

/// A line for each answer, with the names of its jobs where there are several.
fn direct_lines(ledger: &Ledger) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    let direct: Vec<&JobLedger> = ledger.jobs.iter().filter(|job| job.direct.requested).collect();
    for job in &direct {
        let DirectLedger { honoured, reason, .. } = &job.direct;
        let words = match honoured {
            Fact::Known(true) => format!("requested and honoured: {reason}"),
            Fact::Known(false) => format!("requested and not honoured: {reason}"),
            Fact::Unknown(why) => format!("requested; honoured or not is unknown: {why}"),
        };
        match lines.iter_mut().find(|(known, _)| *known == words) {
            Some((_, jobs)) => jobs.push(&job.name),
            None => lines.push((words, vec![&job.name])),
        }
    }
    let several = lines.len() > 1 || direct.len() < ledger.jobs.len();
    let with = |(words, mut jobs): (String, Vec<&str>)| {
        jobs.dedup();
        if several { format!("{}: {words}", jobs.join(", ")) } else { words }
    };
    // Where there are more than a few, the JSON has all.
    lines.into_iter().take(4).map(with).collect()
}

fn depth_line(ledger: &Ledger) -> Option<String> {
    // Of several jobs the one with the deepest queue; the JSON has all.
    let named = ledger.jobs.iter().zip(ledger.job_names());
    let known = named.filter(|(job, _)| job.depth.observed_at_device.get().is_some());
    let (job, name) = known.max_by_key(|(job, _)| job.depth.requested_by_all)?;
    let DepthLedger { requested, observed_by_job, observed_at_device, requested_by_all } =
        &job.depth;
    let (by_job, at_device) = (observed_by_job.get()?, observed_at_device.get()?);
    let together = if *requested_by_all > u64::from(*requested) {
        format!(" by {name}, {requested_by_all} by all jobs that run with it")
    } else {
        String::new()
    };
    (*requested_by_all > 1).then(|| {
        format!(
            "{requested} requested{together}; {} observed by the job, {} at the device on average",
            count(by_job),
            count(at_device)
        )
    })
}

fn sync_line(ledger: &Ledger) -> Option<String> {
    let syncs: u64 = ledger.jobs.iter().map(|job| job.syncs.requested).sum();
    let without = ledger.jobs.iter().find_map(|job| job.syncs.without_flush.as_ref());
    let without = without.map(|call| format!("{call} does not empty the drive's cache"));
    let devices = ledger.devices.iter().filter(|device| device.level == 0);
    let top: Vec<String> = devices
        .map(|device| {
            let cache = device.facts.write_cache.as_deref().unwrap_or("write cache unknown");
            match &device.used {
                Fact::Known(used) => {
                    format!("{} of {} ({cache})", counted(used.flushes, "flush"), device.name)
                }
                Fact::Unknown(why) => format!("flushes of {} unknown: {why}", device.name),
            }
        })
        .chain(without)
        .collect();
    (syncs > 0 && !top.is_empty()).then(|| format!("{syncs} requested, {}", top.join(", ")))
}

/// What the tester itself cost, and the most that it could have reached.
fn tester_line(ledger: &Ledger, below: LedgerPlace<'_>) -> Option<String> {
    let job = ledger.jobs.iter().find(|job| job.cpu.iops > 0.0)?;
    let bound = match &job.cpu.upper_bound_iops {
        // It stands beside the processor time in our own text.
        Fact::Known(_) if matches!(below, LedgerPlace::OwnText(_)) => String::new(),
        Fact::Known(bound) => format!("; upper bound without storage: {} IOPS", count(*bound)),
        Fact::Unknown(why) => format!("; upper bound without storage unknown: {why}"),
    };
    let clock = match &ledger.tool.clock_read_ns {
        Fact::Known(ns) => format!("; reading the clock takes {}", duration(ns.round() as u64)),
        Fact::Unknown(_) => String::new(),
    };
    // The system counts in ticks of some milliseconds on many machines.
    let overhead = match job.cpu.user_ns_per_io as u64 {
        0 => "overhead: CPU per I/O below the timer's resolution".to_owned(),
        ns => format!("overhead: {} of CPU per I/O", duration(ns)),
    };
    Some(format!("{overhead}{bound}{clock}"))
}

/// What took time beside the jobs' own phases.
fn phases_line(ledger: &Ledger) -> Option<String> {
    const SHORTEST_NS: u64 = 10_000_000;
    let long = ledger.phases.iter().filter(|phase| phase.duration_ns >= SHORTEST_NS);
    let long: Vec<String> =
        long.map(|phase| format!("{} {}", phase.name, duration(phase.duration_ns))).collect();
    (!long.is_empty()).then(|| long.join(", "))
}

fn system_line(ledger: &Ledger, style: &Style) -> String {
    let environment = &ledger.environment;
    let mut parts: Vec<String> = Vec::new();
    for facts in &environment.filesystems {
        let fill = facts.fill_share.get();
        let fill = fill.map_or(String::new(), |fill| format!(" ({} full)", percent(fill)));
        parts.push(format!("{}{fill}", facts.kind));
    }
    for device in ledger.devices.iter().filter(|device| device.level == 0).take(4) {
        let facts = &device.facts;
        let words = [facts.model.clone(), facts.scheduler.clone(), facts.write_cache.clone()];
        let words: Vec<String> = words.into_iter().flatten().collect();
        parts.push(format!("{} ({})", device.name, words.join(", ")));
    }
    parts.push(system(&environment.kernel));
    parts.push(counted(u64::from(environment.cpus), "processor"));
    parts.push(format!("{} of memory", bytes(environment.memory_bytes)));
    if environment.virtual_machine.is_some() {
        parts.push("virtual machine".to_owned());
    }
    if let Some(kind) = &environment.container {
        parts.push(format!("container ({kind})"));
    }
    if style.verbose {
        format!("{}; fingerprint {}", parts.join(", "), environment.fingerprint)
    } else {
        parts.join(", ")
    }
}

fn add_verdict(ledger: &Ledger, below: LedgerPlace<'_>, style: &Style, text: &mut String) {
    if ledger.jobs.iter().all(|job| job.latency.ios == 0) {
        text.push_str("  verdict   none: no I/O was measured\n");
        return;
    }
    let unknown = ledger.unknown_statements();
    for (at, words) in unknown.iter().enumerate() {
        let label = match (ledger.verdict.is_empty(), at) {
            (true, 0) => "verdict",
            (_, 0) => "unknown",
            _ => "",
        };
        let words = if label == "verdict" { format!("unknown: {words}") } else { words.clone() };
        add_labelled(label, &words, Mark::Note, style, text);
    }
    if ledger.verdict.is_empty() && below.has_failed() {
        text.push_str("  verdict   none: the run failed\n");
        return;
    }
    if ledger.verdict.is_empty() && !unknown.is_empty() {
        return;
    }
    if ledger.verdict.is_empty() {
        let clean = format!("  verdict   {}", wrap("clean: no finding", 12, style.columns));
        text.push_str(&paint(clean, Mark::Good, style));
        text.push('\n');
        return;
    }
    let first = &ledger.verdict[0].id;
    let (findings, hint) = if style.verbose {
        (findings_text(&ledger.verdict, style), format!("iosonde explain {first} prints more"))
    } else {
        (
            findings_folded(&ledger.verdict, style),
            format!("--verbose or iosonde explain {first}: what to do"),
        )
    };
    text.push_str(&findings);
    text.push_str(&paint(format!("  ({hint})"), Mark::Label, style));
    text.push('\n');
}

/// A system by its kernel's release, which of Linux stands alone.
pub fn system(kernel: &str) -> String {
    let is_alone = kernel.starts_with(|first: char| first.is_ascii_digit());
    if is_alone || kernel.is_empty() { format!("Linux {kernel}") } else { kernel.to_owned() }
}
