//! One job in our own report.

use super::paint::{Mark, paint};
use super::{Style, add_labelled, add_narrow_row, failure_words, shown_latency};
use crate::formats::DEPTH_LABELS;
use crate::report::*;
use iosonde_base::text::{bytes, count, counted, duration, percent, percent_of, rate, wrap};

/// Columns of the table of first numbers.
const FIRST_COLUMNS: usize = 74;
/// Columns of the table of latencies.
const LATENCY_COLUMNS: usize = 80;

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
    let mut rest = String::new();
    if let Some(ours) = ours.filter(|ours| !ours.what.is_empty()) {
        rest = format!(": {}", ours.what);
    }
    if job.clones > 1 {
        rest.push_str(&format!("; {} jobs together", job.clones));
    }
    text.push_str(&wrap(&rest, job.name.chars().count(), style.columns));
    text.push('\n');
    if let Some(description) = &job.description {
        text.push_str(&format!("  {}\n", wrap(description, 2, style.columns)));
    }
}

/// IOPS, bandwidth, p99: a line for each direction.
fn add_first_numbers(job: &JobReport, style: &Style, text: &mut String) {
    let shown = job.shown();
    let active: Vec<_> = shown.into_iter().filter(|(_, dir)| dir.issued_ios > 0).collect();
    let fits = style.columns >= FIRST_COLUMNS;
    let head = format!(
        "\n{:14}{:>10}{:>14}{:>12}{:>14}{:>10}",
        "", "IOPS", "bandwidth", "p99", "moved", "in"
    );
    let head = if fits { head } else { String::new() };
    text.push_str(&paint(head, Mark::Label, style));
    text.push('\n');
    for (name, dir) in &active {
        let p99 = shown_latency(dir).quick.map_or("-".into(), |quick| duration(quick.p99_ns));
        let (iops, bandwidth) = (count(dir.iops()), rate(dir.bw_bytes_per_s() as f64));
        let moved = bytes(dir.io_bytes);
        let took = duration(dir.runtime_ms.saturating_mul(1_000_000));
        if fits {
            let first = format!("{iops:>10}{bandwidth:>14}{p99:>12}");
            text.push_str(&format!("  {name:<12}{}", paint(first, Mark::First, style)));
            text.push_str(&format!("{moved:>14}{took:>10}\n"));
        } else {
            let cells = [
                format!("{iops} IOPS"),
                bandwidth,
                format!("p99 {p99}"),
                format!("{moved} in {took}"),
            ];
            add_narrow_row(name, &cells, style, text);
        }
    }
    if active.is_empty() {
        text.push_str("  no I/O\n");
    }
}

/// A table of latencies: data, syncs, and responses of paced jobs.
fn add_latencies(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    let mut rows: Vec<(String, &LatencyReport)> = Vec::new();
    for (name, dir) in job.shown() {
        rows.push((name.into(), shown_latency(dir)));
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
    // How late the recorded I/Os were started.
    let lateness = ours.and_then(|ours| ours.lateness.as_ref());
    rows.extend(lateness.map(|lateness| ("start, due".into(), lateness)));
    rows.retain(|(_, latency)| latency.n > 0);
    if rows.is_empty() {
        if job.issued_ios() > 0 {
            text.push_str(&paint("\n  latency not measured\n", Mark::Label, style));
        }
        return;
    }
    add_latency_rows(&rows, style, text);
}

fn add_latency_rows(rows: &[(String, &LatencyReport)], style: &Style, text: &mut String) {
    const NAMES: [&str; 6] = ["min", "p50", "p90", "p99", "p99.9", "max"];
    if style.columns < LATENCY_COLUMNS {
        text.push('\n');
        for (name, latency) in rows {
            let cells = NAMES.iter().zip(latency_cells(latency));
            let cells: Vec<String> = cells.map(|(name, cell)| format!("{name} {cell}")).collect();
            add_narrow_row(&format!("{name} latency"), &cells, style, text);
        }
    } else {
        let right = |cells: [String; 6]| cells.map(|cell| format!("{cell:>11}")).concat();
        let head = format!("\n  {:<12}{}", "latency", right(NAMES.map(String::from)));
        text.push_str(&paint(head, Mark::Label, style));
        text.push('\n');
        for (name, latency) in rows {
            text.push_str(&format!("  {name:<12}{}\n", right(latency_cells(latency))));
        }
    }
    text.push('\n');
}

/// Extremes and percentiles; `-` for what was not kept.
fn latency_cells(latency: &LatencyReport) -> [String; 6] {
    let percentiles = latency
        .quick
        .map(|quick| [quick.p50_ns, quick.p90_ns, quick.p99_ns, quick.p999_ns])
        .map_or(["-"; 4].map(String::from), |percentiles| percentiles.map(duration));
    let [p50, p90, p99, p999] = percentiles;
    [duration(latency.min_ns), p50, p90, p99, p999, duration(latency.max_ns)]
}

/// Depths that I/Os were issued at; those too rare to see are left out.
fn add_depth(job: &JobReport, style: &Style, text: &mut String) {
    let whole = job.depth.level.iter().sum::<u64>();
    const RANGES: [&str; 7] = ["1", "2-3", "4-7", "8-15", "16-31", "32-63", "64 and more"];
    let shares: Vec<String> = RANGES
        .iter()
        .zip(job.depth.level)
        // Less than 0.05 % is left out.
        .filter(|(_, count)| count.saturating_mul(2000) >= whole.max(1))
        .map(|(range, count)| format!("{range} ({})", percent_of(count, whole)))
        .collect();
    debug_assert_eq!(RANGES.len(), DEPTH_LABELS.len());
    if !shares.is_empty() {
        add_labelled("depth", &shares.join(", "), Mark::Label, style, text);
    }
}

fn add_verify(verify: &VerifyReport, style: &Style, text: &mut String) {
    let mut parts = vec![
        counted(verify.written, "write"),
        format!("{} checked", verify.checked),
        format!("{} wrong", verify.wrong),
    ];
    let more = [
        (verify.unreadable, "unreadable"),
        (verify.replaced, "replaced by later writes"),
        (verify.failed, "failed"),
        (verify.trimmed, "trimmed"),
        (verify.unsynced, "without a sync after them"),
        (verify.unchecked, "not checked"),
    ];
    let some = more.iter().filter(|(number, _)| *number > 0);
    parts.extend(some.map(|(number, what)| format!("{number} {what}")));
    let mark = if verify.wrong > 0 { Mark::Error } else { Mark::Label };
    add_labelled("verify", &parts.join(", "), mark, style, text);
}

fn add_processor(job: &JobReport, style: &Style, text: &mut String) {
    let cpu = &job.cpu;
    let per_io = match job.issued_ios() {
        0 => String::new(),
        ios => format!(", {} per I/O", duration((cpu.user_ns.saturating_add(cpu.system_ns)) / ios)),
    };
    let words = format!(
        "{} user, {} system{per_io}; {}",
        percent(cpu.user_percent() / 100.0),
        percent(cpu.system_percent() / 100.0),
        counted(cpu.ctx, "context switch")
    );
    add_labelled("cpu", &words, Mark::Label, style, text);
}

/// Lines that few jobs have.
fn add_rare(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    if let Some(errors) = job.errors.filter(|errors| errors.total > 0) {
        let first = iosonde_base::Errno(errors.first_errno);
        let words = format!("{} tolerated; the first: {first}", errors.total);
        add_labelled("errors", &words, Mark::Error, style, text);
    }
    let sum = |part: fn(&DirReport) -> u64| job.dirs.0.iter().map(part).sum::<u64>();
    let (short, dropped) = (sum(|dir| dir.short_ios), sum(|dir| dir.drop_ios));
    if short + dropped > 0 {
        let words = format!("{} short and continued, {dropped} dropped", counted(short, "I/O"));
        add_labelled("short", &words, Mark::Note, style, text);
    }
    let LatencyTarget { depth, target_ns, percentile, .. } = job.latency;
    if target_ns > 0 {
        let words = format!(
            "{} within {}: depth {depth}",
            percent(percentile / 100.0),
            duration(target_ns)
        );
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
    // A shorter phase explains nothing.
    const SHORTEST_NS: u64 = 1_000_000;
    let shown = |phase: &&JobPhase| phase.name == "run" || phase.duration_ns >= SHORTEST_NS;
    let phases: Vec<&JobPhase> = phases.iter().filter(shown).collect();
    if phases.len() > 1 {
        let each =
            phases.iter().map(|phase| format!("{} {}", phase.name, duration(phase.duration_ns)));
        add_labelled("phases", &each.collect::<Vec<_>>().join(", "), Mark::Label, style, text);
    }
    if let Some(verify) = ours.and_then(|ours| ours.verify) {
        add_verify(&verify, style, text);
    }
}
