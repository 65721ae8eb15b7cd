//! Several jobs in our own report: a row for each job and direction, one for many
//! jobs of one name, and the sums of each group.

use super::spark;
use crate::formats::style::{Mark, Style, add_labelled, add_narrow_row, paint};
use crate::percentile_of_all;
use crate::report::*;
use iosonde_base::text::{count, counted, duration, fit, percent, rate};

/// Columns that are not the job's name: direction, IOPS, bandwidth, p50, p99,
/// maximum.
const OTHER_COLUMNS: usize = 7 + 9 + 12 + 10 + 10 + 10;

/// Columns of a job's name at least.
const NAME_COLUMNS_MIN: usize = 10;

/// Jobs of one name from which on they have one row; `--verbose` shows each.
const FOLDED_LEAST: usize = 4;

/// Jobs that have rows together, with their name in the table.
struct Entry<'a> {
    name: String,
    jobs: Vec<&'a JobReport>,
}

/// Whether the table fits.
fn fits(style: &Style) -> bool {
    style.columns >= NAME_COLUMNS_MIN + OTHER_COLUMNS
}

pub(super) fn add_jobs(jobs: &[JobReport], report: &Report, style: &Style, text: &mut String) {
    let names = report.job_names();
    let entries = entries(jobs, &names, style.verbose);
    let longest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let name_columns = (longest + 2)
        .clamp(NAME_COLUMNS_MIN, style.columns.saturating_sub(OTHER_COLUMNS).max(NAME_COLUMNS_MIN));
    if fits(style) {
        let heads = ["IOPS", "bandwidth", "p50", "p99", "max"];
        let head = row(&name_cell("job", name_columns), "", heads);
        text.push_str(&paint(head.trim_end(), Mark::Label, style));
        text.push('\n');
    }
    for entry in &entries {
        match entry.jobs.as_slice() {
            [job] => add_rows(&entry.name, job, name_columns, style, text),
            jobs => add_folded(&entry.name, jobs, name_columns, style, text),
        }
    }
    for group in &report.groups {
        let members = entries.iter().filter(|entry| entry.jobs[0].group == group.id);
        let members: Vec<&Entry> = members.collect();
        add_sum(group, &members, report.groups.len() > 1, name_columns, style, text);
    }
    if let Some(ledger) = &report.ours.ledger {
        spark::add(&ledger.series, style, text);
    }
    text.push('\n');
    add_remarks(jobs, &names, report, style, text);
    add_processor(jobs, style, text);
}

/// What has rows: each job, or all jobs of one name and group where they are many.
fn entries<'a>(jobs: &'a [JobReport], names: &[String], each: bool) -> Vec<Entry<'a>> {
    let like = |job: &JobReport, other: &JobReport| {
        (&job.name, job.group, job.failure.is_some())
            == (&other.name, other.group, other.failure.is_some())
    };
    let mut entries: Vec<Entry> = Vec::new();
    for (job, name) in jobs.iter().zip(names) {
        let number = jobs.iter().filter(|other| like(job, other)).count();
        if each || number < FOLDED_LEAST || job.failure.is_some() {
            let several = if job.clones > 1 { format!(" x{}", job.clones) } else { String::new() };
            entries.push(Entry { name: format!("{name}{several}"), jobs: vec![job] });
            continue;
        }
        match entries.iter_mut().find(|entry| like(entry.jobs[0], job)) {
            Some(entry) => entry.jobs.push(job),
            None => {
                entries.push(Entry { name: format!("{} x{number}", job.name), jobs: vec![job] })
            }
        }
    }
    entries
}

/// Lines about single jobs: what failed, errors, how late recorded I/Os were started.
fn add_remarks(
    jobs: &[JobReport],
    names: &[String],
    report: &Report,
    style: &Style,
    text: &mut String,
) {
    for (job, name) in jobs.iter().zip(names) {
        if let Some(failure) = &job.failure {
            let words = format!("{name}: {}", failure.words());
            add_labelled("failed", &words, Mark::Error, style, text);
        }
    }
    for (job, name) in jobs.iter().zip(names) {
        if let Some(errors) = job.errors.filter(|errors| errors.total > 0) {
            let words = format!("{name}: {} tolerated", errors.total);
            add_labelled("errors", &words, Mark::Error, style, text);
        }
    }
    for (job, name) in report.ours.jobs.iter().zip(names) {
        let quick = job.lateness.as_ref().and_then(|late| Some((late.quick?, late.max_ns)));
        if let Some((quick, max_ns)) = quick {
            let [p50, p99, max] = [quick.p50_ns, quick.p99_ns, max_ns].map(duration);
            let words = format!("{name}: started p50 {p50}, p99 {p99}, max {max} late");
            add_labelled("replay", &words, Mark::Label, style, text);
        }
    }
}

/// A name and the blank after it.
fn name_cell(name: &str, columns: usize) -> String {
    fit(name, columns - 1) + " "
}

fn row(name: &str, dir: &str, cells: [&str; 5]) -> String {
    let [iops, bandwidth, p50, p99, max] = cells;
    format!("{name}{dir:<7}{iops:>9}{bandwidth:>12}{p50:>10}{p99:>10}{max:>10}")
}

fn add_rows(name: &str, job: &JobReport, name_columns: usize, style: &Style, text: &mut String) {
    let mut name = name.to_owned();
    for (dir_name, numbers) in rows_of(job) {
        numbers.add_row(&name_cell(&name, name_columns), dir_name, style, text);
        name.clear();
    }
    if !name.is_empty() {
        text.push_str(&format!("{}no I/O\n", fit(&name, name_columns)));
    }
}

/// The rows of a job: its directions, and its syncs.
fn rows_of(job: &JobReport) -> Vec<(&'static str, Numbers)> {
    let row = |iops, bytes_per_s, latency: &LatencyReport| Numbers {
        iops,
        bytes_per_s,
        p50_ns: latency.quick.map(|quick| quick.p50_ns),
        p99_ns: latency.quick.map(|quick| quick.p99_ns),
        max_ns: (latency.n > 0).then_some(latency.max_ns),
    };
    let shown = job.shown();
    let done = shown.iter().filter(|(_, dir)| dir.issued_ios > 0);
    let rows = done.map(|(name, dir)| {
        (*name, row(dir.iops(), Some(dir.bw_bytes_per_s()), dir.shown_latency()))
    });
    let mut rows: Vec<(&'static str, Numbers)> = rows.collect();
    if job.sync.total_ios > 0 {
        let runtime_ms = shown.iter().map(|(_, dir)| dir.runtime_ms).max().unwrap_or(0);
        let iops = job.sync.total_ios as f64 * 1000.0 / runtime_ms.max(1) as f64;
        rows.push(("sync", row(iops, None, &job.sync.lat)));
    }
    rows
}

/// The sums of jobs that share a row, and from the least to the most of one.
fn add_folded(
    name: &str,
    jobs: &[&JobReport],
    name_columns: usize,
    style: &Style,
    text: &mut String,
) {
    let mut name = name.to_owned();
    let rows: Vec<(&str, Numbers)> = jobs.iter().flat_map(|job| rows_of(job)).collect();
    for dir_name in ["read", "write", "trim", "mixed", "sync"] {
        let of_dir = rows.iter().filter(|(dir, _)| *dir == dir_name).map(|(_, numbers)| numbers);
        let each: Vec<&Numbers> = of_dir.collect();
        if each.is_empty() {
            continue;
        }
        let latencies: Vec<&LatencyReport> =
            jobs.iter().filter_map(|job| latency_of(job, dir_name)).collect();
        let bytes: Option<Vec<u64>> = each.iter().map(|one| one.bytes_per_s).collect();
        let sums = Numbers {
            iops: each.iter().map(|one| one.iops).sum(),
            bytes_per_s: bytes.map(|all| all.iter().sum()),
            p50_ns: percentile_of_all(&latencies, 50.0),
            p99_ns: percentile_of_all(&latencies, 99.0),
            max_ns: each.iter().filter_map(|one| one.max_ns).max(),
        };
        sums.add_row(&name_cell(&name, name_columns), dir_name, style, text);
        name.clear();
        let iops = range(each.iter().map(|one| one.iops), f64::total_cmp, count);
        let p99 = each.iter().filter_map(|one| one.p99_ns);
        let p99 = match p99.clone().count() {
            0 => String::new(),
            _ => format!(", p99 {}", range(p99, u64::cmp, duration)),
        };
        text.push_str(&paint(format!("  each {iops} IOPS{p99}"), Mark::Label, style));
        text.push('\n');
    }
    if !name.is_empty() {
        text.push_str(&format!("{}no I/O\n", fit(&name, name_columns)));
    }
}

/// The latencies that a row of `job` is of.
fn latency_of<'a>(job: &'a JobReport, row: &str) -> Option<&'a LatencyReport> {
    if row == "sync" {
        return (job.sync.total_ios > 0).then_some(&job.sync.lat);
    }
    let mut shown = job.shown().into_iter();
    shown.find(|(name, _)| *name == row).map(|(_, dir)| dir.shown_latency())
}

/// `15.2k to 17.1k`, from the least to the most; one figure where both read alike.
fn range<T: Copy>(
    values: impl Iterator<Item = T> + Clone,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
    words: impl Fn(T) -> String,
) -> String {
    let least = values.clone().min_by(&order).map(&words).unwrap_or_default();
    let most = values.max_by(&order).map(&words).unwrap_or_default();
    if least == most { least } else { format!("{least} to {most}") }
}

/// A row's numbers; what was not measured is `None`.
struct Numbers {
    iops: f64,
    bytes_per_s: Option<u64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

impl Numbers {
    fn add_row(&self, name: &str, dir: &str, style: &Style, text: &mut String) {
        let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let [p50, p99, max] = [self.p50_ns, self.p99_ns, self.max_ns].map(cell);
        let bandwidth = self.bytes_per_s.map_or(String::new(), |bytes| rate(bytes as f64));
        let iops = count(self.iops);
        if !fits(style) {
            let lead = format!("{} {dir}", name.trim_end());
            let latencies = [format!("p50 {p50}"), format!("p99 {p99}"), format!("max {max}")];
            let rates = [format!("{iops} IOPS"), bandwidth].into_iter();
            let cells = rates.filter(|cell| !cell.is_empty()).chain(latencies);
            let cells: Vec<String> = cells.collect();
            return add_narrow_row(lead.trim_start(), &cells, style, text);
        }
        let first = format!("{iops:>9}{bandwidth:>12}");
        let name = paint(name, Mark::Heading, style);
        let first = paint(first, Mark::First, style);
        text.push_str(&format!("{name}{dir:<7}{first}{p50:>10}{p99:>10}{max:>10}\n"));
    }
}

/// The sums of a group, a row for each direction that several entries took.
fn add_sum(
    group: &GroupReport,
    entries: &[&Entry<'_>],
    several: bool,
    name_columns: usize,
    style: &Style,
    text: &mut String,
) {
    let mut name = if several { format!("group {}", group.id) } else { "all".into() };
    for (fio_name, sum) in group.shown() {
        let dir_name = fio_name.to_lowercase();
        let took = |job: &&JobReport| {
            job.shown().iter().any(|(name, dir)| *name == dir_name && dir.issued_ios > 0)
        };
        // The sum of one row is that row.
        if entries.iter().filter(|entry| entry.jobs.iter().any(took)).count() < 2 {
            continue;
        }
        let shown = entries.iter().flat_map(|entry| &entry.jobs).flat_map(|job| job.shown());
        let dirs: Vec<&DirReport> = shown
            .filter(|(name, dir)| *name == dir_name && dir.issued_ios > 0)
            .map(|(_, dir)| dir)
            .collect();
        let ios = dirs.iter().map(|dir| dir.total_ios).sum::<u64>();
        let latencies: Vec<&LatencyReport> = dirs.iter().map(|dir| dir.shown_latency()).collect();
        let max_ns = latencies.iter().filter(|lat| lat.n > 0).map(|lat| lat.max_ns).max();
        let numbers = Numbers {
            iops: ios as f64 * 1000.0 / sum.max_run_ms.max(1) as f64,
            bytes_per_s: Some(sum.agg_bytes_per_s),
            p50_ns: percentile_of_all(&latencies, 50.0),
            p99_ns: percentile_of_all(&latencies, 99.0),
            max_ns,
        };
        numbers.add_row(&name_cell(&name, name_columns), &dir_name, style, text);
        name.clear();
    }
}

fn add_processor(jobs: &[JobReport], style: &Style, text: &mut String) {
    let sum = |part: fn(&CpuUse) -> u64| jobs.iter().map(|job| part(&job.cpu)).sum::<u64>();
    let cpu = CpuUse {
        wall_ms: sum(|cpu| cpu.wall_ms),
        user_ns: sum(|cpu| cpu.user_ns),
        system_ns: sum(|cpu| cpu.system_ns),
        ctx: sum(|cpu| cpu.ctx),
        ..CpuUse::default()
    };
    let words = format!(
        "{} user, {} system of each job's time; {}",
        percent(cpu.user_percent() / 100.0),
        percent(cpu.system_percent() / 100.0),
        counted(cpu.ctx, "context switch")
    );
    add_labelled("cpu", &words, Mark::Label, style, text);
}
