//! One job in our own report.

use super::words::{Mark, bandwidth, bytes, count, paint, time};
use super::{Style, add_labelled, failure_words, told_latency};
use crate::formats::DEPTH_LABELS;
use crate::report::*;
use crate::scale::percent;

pub(super) fn add_job(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    add_heading(job, ours, style, text);
    if let Some(failure) = &job.failure {
        add_labelled("failed", &failure_words(failure), Mark::Error, style, text);
    }
    add_first_numbers(job, style, text);
    add_latencies(job, ours, style, text);
    add_depth(job, style, text);
    add_processor(job, style, text);
    add_rare(job, ours, style, text);
}

/// `mix: randrw 4k, psync, depth 1; 2 jobs`.
fn add_heading(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    text.push_str(&paint(&job.name, Mark::Heading, style));
    let what = ours.map_or("", |ours| ours.what.as_str());
    if !what.is_empty() {
        text.push_str(&format!(": {what}"));
    }
    if job.clones > 1 {
        text.push_str(&format!("; {} jobs together", job.clones));
    }
    text.push('\n');
    if let Some(description) = &job.description {
        text.push_str(&format!("  {}\n", description.replace('\n', " ")));
    }
}

/// The three numbers a person wants, a line for each direction.
fn add_first_numbers(job: &JobReport, style: &Style, text: &mut String) {
    let head = format!(
        "\n{:14}{:>10}{:>14}{:>12}{:>14}{:>10}",
        "", "IOPS", "bandwidth", "p99", "moved", "in"
    );
    text.push_str(&paint(head, Mark::Label, style));
    text.push('\n');
    let told = job.told();
    let active: Vec<_> = told.into_iter().filter(|(_, dir)| dir.issued_ios > 0).collect();
    for (name, dir) in &active {
        let p99 = told_latency(dir).quick.map_or("-".into(), |quick| time(quick.p99_ns));
        let first =
            format!("{:>10}{:>14}{p99:>12}", count(dir.iops()), bandwidth(dir.bw_bytes_per_s()));
        text.push_str(&format!("  {name:<12}{}", paint(first, Mark::First, style)));
        let took = time(dir.runtime_ms.saturating_mul(1_000_000));
        text.push_str(&format!("{:>14}{took:>10}\n", bytes(dir.io_bytes)));
    }
    if active.is_empty() {
        text.push_str("  no I/O was done\n");
    }
}

/// A table of latencies: data, syncs, and responses of paced jobs.
fn add_latencies(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    let mut rows: Vec<(String, &LatencyReport)> = Vec::new();
    for (name, dir) in job.told() {
        rows.push((name.into(), told_latency(dir)));
        for prio in &dir.prios {
            rows.push((format!("  prio {}/{}", prio.class, prio.level), &prio.latency));
        }
    }
    rows.push(("sync".into(), &job.sync.lat));
    let response = ours.map(|ours| ["read", "write", "trim"].into_iter().zip(&ours.response.0));
    for (name, latency) in response.into_iter().flatten() {
        // From the moment the I/O was due, not from when it was started.
        rows.extend(latency.as_ref().map(|latency| (format!("{name}, due"), latency)));
    }
    // How late what was recorded was started.
    let lateness = ours.and_then(|ours| ours.lateness.as_ref());
    rows.extend(lateness.map(|lateness| ("start, due".into(), lateness)));
    rows.retain(|(_, latency)| latency.n > 0);
    if rows.is_empty() {
        if job.issued_ios() > 0 {
            text.push_str(&paint("\n  latency was not measured\n", Mark::Label, style));
        }
        return;
    }
    let head: String =
        ["min", "p50", "p90", "p99", "p99.9", "max"].map(|name| format!("{name:>11}")).concat();
    text.push_str(&paint(format!("\n  {:<12}{head}", "latency"), Mark::Label, style));
    text.push('\n');
    for (name, latency) in rows {
        text.push_str(&format!("  {name:<12}{}\n", latency_cells(latency)));
    }
    text.push('\n');
}

fn latency_cells(latency: &LatencyReport) -> String {
    let percentiles = latency
        .quick
        .map(|quick| [quick.p50_ns, quick.p90_ns, quick.p99_ns, quick.p999_ns])
        .map_or(["-"; 4].map(String::from), |percentiles| percentiles.map(time));
    let cells = [time(latency.min_ns)].into_iter().chain(percentiles).chain([time(latency.max_ns)]);
    cells.map(|cell| format!("{cell:>11}")).collect()
}

/// Depths that I/Os were issued at; those too rare to see are left out.
fn add_depth(job: &JobReport, style: &Style, text: &mut String) {
    let whole = job.depth.level.iter().sum::<u64>();
    const RANGES: [&str; 7] = ["1", "2-3", "4-7", "8-15", "16-31", "32-63", "64 and more"];
    let shares: Vec<String> = RANGES
        .iter()
        .zip(job.depth.level)
        .map(|(range, count)| (range, percent(count, whole, 0.0)))
        .filter(|(_, share)| *share >= 0.05)
        .map(|(range, share)| format!("{range} ({share:.1} %)"))
        .collect();
    debug_assert_eq!(RANGES.len(), DEPTH_LABELS.len());
    if !shares.is_empty() {
        add_labelled("depth", &shares.join(", "), Mark::Label, style, text);
    }
}

fn add_processor(job: &JobReport, style: &Style, text: &mut String) {
    let cpu = &job.cpu;
    let per_io = match job.issued_ios() {
        0 => String::new(),
        ios => format!(", {} an I/O", time((cpu.user_ns.saturating_add(cpu.system_ns)) / ios)),
    };
    let words = format!(
        "{:.1} % user, {:.1} % system{per_io}; {} context switches",
        cpu.user_percent(),
        cpu.system_percent(),
        cpu.ctx
    );
    add_labelled("cpu", &words, Mark::Label, style, text);
}

/// What is told only when there is something to tell.
fn add_rare(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    if let Some(errors) = job.errors.filter(|errors| errors.total > 0) {
        let first = iosonde_base::Errno(errors.first_errno);
        let words = format!("{} let pass; the first: {first}", errors.total);
        add_labelled("errors", &words, Mark::Error, style, text);
    }
    let sum = |part: fn(&DirReport) -> u64| job.dirs.0.iter().map(part).sum::<u64>();
    let (short, dropped) = (sum(|dir| dir.short_ios), sum(|dir| dir.drop_ios));
    if short + dropped > 0 {
        let words = format!("{short} I/Os were short and continued, {dropped} given up");
        add_labelled("short", &words, Mark::Note, style, text);
    }
    let LatencyTarget { depth, target_ns, percentile, .. } = job.latency;
    if target_ns > 0 {
        let words = format!("{percentile:.2} % within {}: depth {depth}", time(target_ns));
        add_labelled("target", &words, Mark::Label, style, text);
    }
    if let Some(steady) = &job.steady {
        let sign = if steady.limit_is_percent { " %" } else { "" };
        let attained = if steady.attained { "attained" } else { "not attained" };
        let words = format!(
            "{attained}: {} at {:.3}{sign}, limit {}{sign}",
            steady.what, steady.criterion, steady.limit
        );
        add_labelled("steady", &words, Mark::Label, style, text);
    }
    let phases = ours.map_or(&[][..], |ours| &ours.phases);
    // What took no time to speak of explains nothing.
    const SHORTEST_NS: u64 = 1_000_000;
    let told = |phase: &&JobPhase| phase.name == "run" || phase.duration_ns >= SHORTEST_NS;
    let phases: Vec<&JobPhase> = phases.iter().filter(told).collect();
    if phases.len() > 1 {
        let each = phases.iter().map(|phase| format!("{} {}", phase.name, time(phase.duration_ns)));
        add_labelled("phases", &each.collect::<Vec<_>>().join(", "), Mark::Label, style, text);
    }
}
