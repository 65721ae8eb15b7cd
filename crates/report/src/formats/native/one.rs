//! One job in our own report.

use super::spark;
use super::table::{Row, add_rows};
use crate::conclusion::diagnose;
use crate::formats::DEPTH_LABELS;
use crate::formats::style::{Mark, Style, add_labelled, paint};
use crate::normal;
use crate::report::*;
use iosonde_base::DIRS;
use iosonde_base::text::{
    bytes, count, counted, duration, duration_of_ms, percent, percent_of, rate, short_duration,
    short_percent, wrap,
};

/// One job. `report` is of nothing else.
pub(super) fn add_job(job: &JobReport, report: &Report, style: &Style, text: &mut String) {
    let ours = report.ours.jobs.first();
    add_heading(job, ours, style, text);
    if let Some(failure) = &job.failure {
        add_labelled("failed", &failure.words(), Mark::Error, style, text);
    }
    text.push('\n');
    add_figures(job, ours, style, text);
    if let Some(ledger) = &report.ours.ledger {
        spark::add(&ledger.series, style, text);
    }
    text.push('\n');
    if style.verbose {
        add_depth(job, style, text);
    }
    if style.verbose {
        add_typical(report, style, text);
    }
    add_processor(job, report, style, text);
    add_rare(job, report, style, text);
}

/// `mix: randrw 4k, psync, depth 1; 2 jobs together; 10 s`.
fn add_heading(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    text.push_str(&paint(&job.name, Mark::Heading, style));
    let mut rest = String::new();
    if let Some(ours) = ours.filter(|ours| !ours.what.is_empty()) {
        rest = format!(": {}", ours.what);
    }
    if job.clones > 1 {
        rest.push_str(&format!("; {} jobs together", job.clones));
    }
    if let Some(ms) = job.shown().iter().map(|(_, dir)| dir.runtime_ms).max().filter(|&ms| ms > 0) {
        rest.push_str(&format!("; {}", duration_of_ms(ms)));
    }
    text.push_str(&wrap(&rest, job.name.chars().count(), style.columns));
    text.push('\n');
    if let Some(description) = &job.description {
        text.push_str(&format!("  {}\n", wrap(description, 2, style.columns)));
    }
}

/// The table: a row for each direction, for syncs, and for what is counted
/// from the moment an I/O was due.
fn add_figures(job: &JobReport, ours: Option<&OurJob>, style: &Style, text: &mut String) {
    let mut rows: Vec<Row> = Vec::new();
    for (name, dir) in job.shown() {
        if dir.issued_ios > 0 {
            rows.push(Row::of(name, dir));
        }
        let prio = |prio: &PrioReport| format!("  prio {}/{}", prio.class, prio.level);
        rows.extend(dir.prios.iter().map(|p| Row::latency(prio(p), &p.latency)));
    }
    if rows.is_empty() {
        text.push_str("  no I/O\n");
        return;
    }
    if job.sync.total_ios > 0 {
        rows.push(sync_row(job));
    }
    let response = ours.map(|ours| ["read", "write", "trim"].into_iter().zip(&ours.response.0));
    for (name, latency) in response.into_iter().flatten() {
        // From the moment the I/O was due, not from when it was started.
        rows.extend(latency.as_ref().map(|lat| Row::latency(format!("{name} from due"), lat)));
    }
    // How late the recorded I/Os were started.
    let lateness = ours.and_then(|ours| ours.lateness.as_ref());
    rows.extend(lateness.map(|lateness| Row::latency("start delay".into(), lateness)));
    add_rows(&rows, style, text);
    if job.issued_ios() > 0 && job.shown().iter().all(|(_, dir)| dir.shown_latency().n == 0) {
        text.push_str(&paint("  latency not measured\n", Mark::Label, style));
    }
    if style.verbose {
        add_more_latency(&rows, style, text);
    }
}

/// Syncs are counted and have latencies; they move nothing.
fn sync_row(job: &JobReport) -> Row<'_> {
    let ms = job.shown().iter().map(|(_, dir)| dir.runtime_ms).max().unwrap_or(0);
    let per_s = if ms == 0 { 0.0 } else { job.sync.total_ios as f64 * 1000.0 / ms as f64 };
    Row {
        name: "sync".into(),
        iops: Some(count(per_s)),
        bandwidth: None,
        latency: &job.sync.lat,
        moved: None,
    }
}

/// The figures of latencies that the first table leaves out.
fn add_more_latency(rows: &[Row], style: &Style, text: &mut String) {
    let known: Vec<&Row> = rows.iter().filter(|row| row.latency.n > 0).collect();
    if known.is_empty() {
        return;
    }
    let heads = ["min", "mean", "deviation", "p90", "p99.99", "values"];
    let head = format!("\n  {:<14}", "latency") + &heads.map(|head| format!("{head:>10}")).concat();
    text.push_str(&paint(head, Mark::Label, style));
    text.push('\n');
    for row in known {
        let latency = row.latency;
        let at = |percent| latency.at(percent).map_or("-".into(), duration);
        let cells = [
            duration(latency.min_ns),
            duration(latency.mean_ns.round() as u64),
            duration(latency.stddev_ns.round() as u64),
            at(90.0),
            at(99.99),
            latency.n.to_string(),
        ];
        let cells = cells.map(|cell| format!("{cell:>10}")).concat();
        text.push_str(&format!("  {:<14}{cells}\n", row.name));
    }
}

/// What devices of the same class are known to reach with such work.
fn add_typical(report: &Report, style: &Style, text: &mut String) {
    let Some(ledger) = &report.ours.ledger else { return };
    for job in ledger.jobs.iter().take(1) {
        for band in DIRS.into_iter().filter_map(|dir| normal::of_job(job, dir, ledger)) {
            let words = format!("{}, {}; {}", band.shape.words(), band.words(), normal::PAGE);
            add_labelled("typical", &words, Mark::Label, style, text);
        }
    }
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
        add_labelled("depths", &shares.join(", "), Mark::Label, style, text);
    }
}

fn add_verify(verify: &VerifyReport, report: &Report, style: &Style, text: &mut String) {
    let mark = if verify.counts.wrong > 0 { Mark::Error } else { Mark::Label };
    add_labelled("verify", &verify.words(), mark, style, text);
    add_wrong_blocks(&verify.wrong_blocks, report, style, text);
}

/// How many blocks are wrong in which way, and where the first and the last are.
fn add_wrong_blocks(wrong: &WrongBlocks, report: &Report, style: &Style, text: &mut String) {
    let (Some(first), Some(last)) = (&wrong.first, &wrong.last) else { return };
    if wrong.kinds.len() > 1 {
        let kinds: Vec<String> =
            wrong.kinds.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
        add_labelled("", &format!("wrong blocks: {}", kinds.join(", ")), Mark::Error, style, text);
    }
    let mut add = |which: &str, place: &WrongPlace| {
        let WrongPlace { file, offset, bytes, words, .. } = place;
        let words = format!("{which}: {file} at {offset}, {bytes} bytes: {words}");
        add_labelled("", &words, Mark::Error, style, text);
    };
    if first == last {
        add("wrong block", first);
    } else {
        add("first wrong block", first);
        add("last wrong block", last);
    }
    let words = format!("-> {} shows more", diagnose(report, &first.file, first.offset));
    add_labelled("", &words, Mark::Label, style, text);
}

/// Processor time, and the rate that it would allow without storage.
fn add_processor(job: &JobReport, report: &Report, style: &Style, text: &mut String) {
    let cpu = &job.cpu;
    let used_ns = cpu.user_ns.saturating_add(cpu.system_ns);
    let per_io = match job.issued_ios() {
        0 => String::new(),
        ios => format!(", {} per I/O", duration(used_ns / ios)),
    };
    // Every job takes some: the kernel did not count it.
    let time = match used_ns {
        0 => "time unknown: too short for the kernel to count".to_owned(),
        _ => {
            let [user, system] = [cpu.user_percent(), cpu.system_percent()];
            format!("{} user, {} system{per_io}", percent(user / 100.0), percent(system / 100.0))
        }
    };
    let mut words = format!("{time}; {}", counted(cpu.ctx, "context switch"));
    let ledger = report.ours.ledger.as_ref();
    let bound = ledger.and_then(|ledger| ledger.jobs.first()?.cpu.upper_bound_iops.get());
    if let Some(bound) = bound {
        words.push_str(&format!("; upper bound without storage: {} IOPS", count(bound)));
    }
    add_labelled("cpu", &words, Mark::Label, style, text);
}

/// Lines that few jobs have.
fn add_rare(job: &JobReport, report: &Report, style: &Style, text: &mut String) {
    let ours = report.ours.jobs.first();
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
            short_percent(percentile / 100.0),
            short_duration(target_ns)
        );
        add_labelled("target", &words, Mark::Label, style, text);
    }
    if let Some(steady) = &job.steady {
        add_steady(steady, style, text);
    }
    let phases = ours.map_or(&[][..], |ours| &ours.phases);
    // A shorter phase explains nothing, and how long it ran stands above.
    const SHORTEST_NS: u64 = 1_000_000;
    let shown = |phase: &&JobPhase| phase.name != "run" && phase.duration_ns >= SHORTEST_NS;
    let each = phases.iter().filter(shown);
    let each = each.map(|phase| format!("{} {}", phase.name, duration(phase.duration_ns)));
    let each: Vec<String> = each.collect();
    if !each.is_empty() {
        add_labelled("phases", &each.join(", "), Mark::Label, style, text);
    }
    if let Some(verify) = ours.and_then(|ours| ours.verify.as_ref()) {
        add_verify(verify, report, style, text);
    }
}

fn add_steady(steady: &SteadyResult, style: &Style, text: &mut String) {
    let sign = if steady.limit_is_percent { " %" } else { "" };
    let attained = if steady.attained { "attained" } else { "not attained" };
    let words = format!(
        "{attained}: {} at {:.3}{sign}, limit {}{sign}",
        steady.what, steady.criterion, steady.limit
    );
    add_labelled("steady", &words, Mark::Label, style, text);
}

impl<'a> Row<'a> {
    /// The row of a direction.
    fn of(name: &str, dir: &'a DirReport) -> Row<'a> {
        Row {
            name: name.into(),
            iops: Some(count(dir.iops())),
            bandwidth: Some(rate(dir.bw_bytes_per_s() as f64)),
            latency: dir.shown_latency(),
            moved: Some(bytes(dir.io_bytes)),
        }
    }

    /// A row of latencies only.
    fn latency(name: String, latency: &'a LatencyReport) -> Row<'a> {
        Row { name, iops: None, bandwidth: None, latency, moved: None }
    }
}
