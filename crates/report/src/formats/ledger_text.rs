//! The ledger and the verdict as a few lines for a person.

use super::Style;
use super::native::words::{Mark, bandwidth, bytes, count, paint, time, wrap};
use crate::ledger::*;
use crate::report::Report;

/// The lines at the end of a report; nothing where there is no ledger.
pub fn ledger_text(report: &Report, style: &Style) -> String {
    let Some(ledger) = &report.ours.ledger else { return String::new() };
    let style = &Style { columns: style.columns.max(80), ..*style };
    let mut text = String::from("\n");
    let mut line = |label: &str, words: &str| {
        text.push_str(&paint(format!("  {label:<10}"), Mark::Label, style));
        text.push_str(&wrap(words, 12, style.columns));
        text.push('\n');
    };
    if let Some(reads) = &ledger.reads {
        line("reads", &reads_words(reads));
    }
    if let Some(writes) = &ledger.writes {
        line("writes", &writes_words(writes));
    }
    for words in direct_words(ledger) {
        line("direct", &words);
    }
    if let Some(words) = depth_words(ledger) {
        line("depth", &words);
    }
    if let Some(words) = sync_words(ledger) {
        line("syncs", &words);
    }
    if let Some(words) = tool_words(ledger) {
        line("tool", &words);
    }
    if let Some(words) = phase_words(ledger) {
        line("besides", &words);
    }
    line("on", &environment_words(ledger));
    text.push('\n');
    add_verdict(ledger, style, &mut text);
    text
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        // Not all is not all.
        share if share > 99.95 && share < 100.0 => "99.9 %".to_owned(),
        share => format!("{share:.1} %"),
    }
}

fn reads_words(reads: &Reads) -> String {
    let asked = reads.asked_bytes;
    let device = match &reads.device_bytes {
        Observed::Is(device) => *device,
        Observed::Unknown(why) => {
            return format!("{} asked; where from is unknown: {why}", bytes(asked));
        }
    };
    let mut parts = Vec::new();
    let mut part = |of: u64, what: &str| {
        if let Some(share) = share(of, asked).filter(|_| of > 0) {
            parts.push(format!("{} {what}", percent(share)));
        }
    };
    // What one job fetched ahead of its own reads may be what memory answered to another.
    let ahead = reads.ahead_bytes.get().copied().unwrap_or(0);
    part(device.saturating_sub(ahead).min(asked), "from the device");
    match (&reads.cache_bytes, &reads.hole_bytes) {
        (Observed::Is(cache), Observed::Is(holes)) => {
            part(*cache, "out of memory");
            let how = if reads.holes_by_share { "of holes, by their share" } else { "of holes" };
            part(*holes, how);
        }
        (Observed::Unknown(why), _) | (_, Observed::Unknown(why)) => {
            part(asked.saturating_sub(device), &format!("out of memory or holes ({why})"));
        }
    }
    let ahead = match ahead.saturating_mul(100) > asked {
        true => format!("; {} more read ahead", bytes(ahead)),
        false => String::new(),
    };
    format!("{} asked: {}{ahead}", bytes(asked), parts.join(", "))
}

fn writes_words(writes: &Writes) -> String {
    let asked = writes.asked_bytes;
    let left = match &writes.unwritten_bytes {
        Observed::Is(0) if writes.in_device_cache == Observed::Is(true) => {
            "all at the device, in a cache that forgets".to_owned()
        }
        Observed::Is(0) => "all on the device when the clock stopped".to_owned(),
        Observed::Is(left) => format!(
            "{} ({}) only in memory when the clock stopped",
            bytes((*left).min(asked)),
            percent(writes.unwritten_share().unwrap_or(0.0))
        ),
        Observed::Unknown(why) => format!("what was on the device is unknown: {why}"),
    };
    let told = bandwidth(writes.told_bytes_per_s as u64);
    let durable = match &writes.durable_bytes_per_s {
        Observed::Is(durable) => {
            let part = if writes.durable_by_part { " (by the part that was watched)" } else { "" };
            format!("{} to durability{part}", bandwidth(*durable as u64))
        }
        Observed::Unknown(why) => format!("to durability unknown: {why}"),
    };
    format!("{} asked: {left}; {told} as told, {durable}", bytes(asked))
}

/// A line for each answer, with the jobs it is of where there are several.
fn direct_words(ledger: &Ledger) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    let asked: Vec<&JobLedger> = ledger.jobs.iter().filter(|job| job.direct.asked).collect();
    for job in &asked {
        let DirectLedger { got, why, .. } = &job.direct;
        let words = match got {
            Observed::Is(true) => format!("asked and got: {why}"),
            Observed::Is(false) => format!("asked and not got: {why}"),
            Observed::Unknown(why) => format!("asked; got is unknown: {why}"),
        };
        match lines.iter_mut().find(|(known, _)| *known == words) {
            Some((_, jobs)) => jobs.push(&job.name),
            None => lines.push((words, vec![&job.name])),
        }
    }
    let several = lines.len() > 1 || asked.len() < ledger.jobs.len();
    let with = |(words, mut jobs): (String, Vec<&str>)| {
        jobs.dedup();
        if several { format!("{}: {words}", jobs.join(", ")) } else { words }
    };
    // Many different ones are in the JSON.
    lines.into_iter().take(4).map(with).collect()
}

fn depth_words(ledger: &Ledger) -> Option<String> {
    // Of several the one that asked for most; the JSON has all.
    let known = ledger.jobs.iter().filter(|job| job.depth.device.get().is_some());
    let told = known.max_by_key(|job| job.depth.asked_together)?;
    let DepthLedger { asked, held, device, asked_together } = &told.depth;
    let (held, device) = (held.get()?, device.get()?);
    let together = match *asked_together > u64::from(*asked) {
        true => format!(" by {}, {asked_together} by all beside it", told.name),
        false => String::new(),
    };
    (*asked_together > 1).then(|| {
        format!("{asked} asked{together}; {held:.1} held, {device:.2} at the device on average")
    })
}

fn sync_words(ledger: &Ledger) -> Option<String> {
    let syncs: u64 = ledger.jobs.iter().map(|job| job.syncs.asked).sum();
    let top: Vec<String> = ledger
        .devices
        .iter()
        .filter(|device| device.level == 0)
        .map(|device| {
            let cache = device.facts.write_cache.as_deref().unwrap_or("cache unknown");
            match &device.used {
                Observed::Is(used) => {
                    format!("{} flushes of {} ({cache})", used.flushes, device.name)
                }
                Observed::Unknown(why) => format!("flushes of {} unknown: {why}", device.name),
            }
        })
        .collect();
    (syncs > 0 && !top.is_empty()).then(|| format!("{syncs} asked, {}", top.join(", ")))
}

fn tool_words(ledger: &Ledger) -> Option<String> {
    let job = ledger.jobs.iter().find(|job| job.cpu.iops > 0.0)?;
    let cpu = &job.cpu;
    let ceiling = match &cpu.ceiling_iops {
        Observed::Is(ceiling) => {
            format!("without storage this job reaches {} IOPS here", count(*ceiling))
        }
        Observed::Unknown(why) => format!("its ceiling is unknown: {why}"),
    };
    let clock = match &ledger.tool.clock_ns {
        Observed::Is(ns) => format!(", a look at the clock takes {ns:.0} ns"),
        Observed::Unknown(_) => String::new(),
    };
    // The system counts in ticks of some milliseconds on many machines.
    let own = match cpu.user_ns_per_io as u64 {
        0 => "less time of its own than can be counted".to_owned(),
        ns => format!("{} of its own for each I/O", time(ns)),
    };
    Some(format!("{own}; {ceiling}{clock}"))
}

/// What took time beside the jobs' own phases.
fn phase_words(ledger: &Ledger) -> Option<String> {
    const SHORTEST_NS: u64 = 10_000_000;
    let told = ledger.phases.iter().filter(|phase| phase.duration_ns >= SHORTEST_NS);
    let told: Vec<String> =
        told.map(|phase| format!("{} {}", phase.name, time(phase.duration_ns))).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn environment_words(ledger: &Ledger) -> String {
    let environment = &ledger.environment;
    let mut parts: Vec<String> = Vec::new();
    for facts in &environment.filesystems {
        let fill = facts
            .fill_share
            .get()
            .map_or(String::new(), |fill| format!(" ({:.0} % full)", fill * 100.0));
        parts.push(format!("{}{fill}", facts.kind));
    }
    for device in ledger.devices.iter().filter(|device| device.level == 0).take(4) {
        let facts = &device.facts;
        let words = [facts.model.clone(), facts.scheduler.clone(), facts.write_cache.clone()];
        let words: Vec<String> = words.into_iter().flatten().collect();
        parts.push(format!("{} ({})", device.name, words.join(", ")));
    }
    parts.push(format!("Linux {}", environment.kernel));
    parts.push(format!("{} processors", environment.cpus));
    parts.push(format!("{} of memory", bytes(environment.memory_bytes)));
    if environment.virtual_machine.is_some() {
        parts.push("a virtual machine".to_owned());
    }
    if let Some(kind) = &environment.container {
        parts.push(format!("in a container ({kind})"));
    }
    format!("{}; fingerprint {}", parts.join(", "), environment.fingerprint)
}

fn add_verdict(ledger: &Ledger, style: &Style, text: &mut String) {
    if ledger.jobs.iter().all(|job| job.latency.ios == 0) {
        text.push_str("  verdict   none: no I/O was counted\n");
        return;
    }
    if ledger.verdict.is_empty() {
        let clean = "  verdict   clean: nothing was found that makes these figures mislead";
        text.push_str(&paint(clean, Mark::Good, style));
        text.push('\n');
        return;
    }
    for finding in &ledger.verdict {
        let mark = match finding.severity {
            Severity::Note => Mark::Label,
            Severity::Warning => Mark::Note,
            Severity::Wrong => Mark::Error,
        };
        text.push_str(&paint(format!("  {:<10}", finding.severity.word()), mark, style));
        let words = format!("{} [{}]", finding.sentence, finding.rule);
        text.push_str(&wrap(&words, 12, style.columns));
        text.push('\n');
        if finding.severity > Severity::Note {
            text.push_str("            ");
            text.push_str(&wrap(&format!("-> {}", finding.remedy), 15, style.columns));
            text.push('\n');
        }
    }
    let first = ledger.verdict[0].rule;
    let hint = format!("  (iosonde explain {first} says more)");
    text.push_str(&paint(hint, Mark::Label, style));
    text.push('\n');
}
